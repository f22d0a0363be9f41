//! What can go wrong between the two sides.

use std::io;

use crate::protocol::BUILD;

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
    #[error("untorn did not let this process in, and says why ({0}); the agent is {BUILD}")]
    Refused(#[source] io::Error),
    #[error(
        "the agent library is {theirs} and this untorn is {BUILD}: build them together, or use the libuntorn_agent.so that came with this untorn"
    )]
    OtherBuild { theirs: String },
    #[error("process {pid} ({program}) ran unwatched: {why}")]
    Unwatched {
        pid: u32,
        program: String,
        why: String,
    },
    #[error("the other side of the connection sent what cannot be read: {0}")]
    Malformed(&'static str),
}
