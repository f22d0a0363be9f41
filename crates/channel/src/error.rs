//! What can go wrong between the two sides.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("shared memory of {megabytes} MiB for the log: {source}")]
    Memory {
        megabytes: u64,
        #[source]
        source: io::Error,
    },
    #[error("connection between the program and untorn: {0}")]
    Io(#[from] io::Error),
    #[error(
        "the agent speaks version {theirs} of the protocol and this untorn version {ours}; use the agent library that came with it"
    )]
    Version { theirs: u32, ours: u32 },
    #[error("process {pid} ({program}) ran unwatched: {why}")]
    Refused {
        pid: u32,
        program: String,
        why: String,
    },
    #[error("the other side of the connection sent what cannot be read: {0}")]
    Malformed(&'static str),
}
