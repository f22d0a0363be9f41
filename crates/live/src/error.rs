//! What can keep a program from being watched.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no command to run")]
    NoCommand,
    #[error("{command}: {source}")]
    Spawn {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error(
        "libuntorn_agent.so is neither beside {beside} nor where UNTORN_AGENT says; build it with `cargo build --release -p untorn-agent`"
    )]
    NoAgent { beside: PathBuf },
    #[error(
        "UNTORN_AGENT names {path}, which is no file; it should be libuntorn_agent.so, or not be set"
    )]
    NoSuchAgent { path: PathBuf },
    #[error("the socket for the program's processes: {0}")]
    Socket(#[source] io::Error),
    #[error("waiting for the program: {0}")]
    Wait(#[source] io::Error),
    #[error("a process that wanted to be watched could not be let in: {0}")]
    Accept(#[source] io::Error),
    #[error("a thread of the reader failed; this is a defect of untorn")]
    Failed,
    #[error(transparent)]
    Channel(#[from] untorn_channel::Error),
}
