//! The faces of a findings document.
//!
//! *Invariant.* A face takes a [`Document`](untorn_findings::Document) and yields text: it reads no trace, no class file and no terminal.

pub mod text;
