//! Traces: streams of events in a total order, from files and back.
//!
//! A [`Source`] yields events batch by batch; it does not matter to its reader whether they come from a text trace, a `.utr` file or a live run.
//! [`open`] tells what a file is; [`text`] and [`utr`] read and write the two formats; [`wellformed`] checks what every reader yields; [`generate`] makes random traces for tests.
//! A [`Replay`] reads a stretch of the order again, so that analyses need no copies of what they may want to look at later.

mod error;
pub mod exercise;
pub mod generate;
pub mod info;
pub mod lives;
mod memory;
mod open;
mod source;
mod spool;
pub mod text;
mod transaction_filter;
pub mod utr;
pub mod wellformed;

pub use error::{Error, Note, Place};
pub use memory::VecSource;
pub use open::{Compression, OpenOptions, open, open_stdin};
pub use source::{Batch, Progress, Replay, Source};
pub use spool::spool;
pub use text::{TextOptions, TextSource, TextWriter};
pub use transaction_filter::{Decision, TransactionFilter};
pub use utr::{Edge, OrderedWriter, StreamWriter, UtrOptions, UtrSource};
