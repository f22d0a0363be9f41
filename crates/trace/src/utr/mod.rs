//! The `.utr` trace file: per-thread streams in checksummed chunks, with a schedule or with edges, and its tables embedded.
//!
//! FORMAT.md describes the bytes.
//! [`OrderedWriter`] keeps a total order exactly; [`StreamWriter`] keeps per-thread streams and the edges between them, which the reader merges.

mod columns;
mod format;
mod lanes;
mod linearizer;
mod mapping;
mod opcode;
mod reader;
mod schedule;
mod tables;
mod trace_file;
mod varint;
mod writer;

pub use reader::UtrSource;
pub use writer::{Edge, OrderedWriter, StreamWriter, UtrOptions};

pub(crate) use format::{ChunkKind, MAGIC, VERSION, repair};
pub(crate) use trace_file::{Next, TraceFile};
