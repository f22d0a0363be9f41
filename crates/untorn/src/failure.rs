//! Why a command could not do its work; each prints as one line and ends with status 2.

use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Trace(#[from] untorn_trace::Error),
    #[error(transparent)]
    Live(#[from] untorn_live::Error),
    #[error("no JVM of this command could be watched; does it run java?")]
    NothingWatched,
    #[error(transparent)]
    Program(#[from] untorn_program::LoadError),
    #[error(transparent)]
    Types(#[from] untorn_types::report::Error),
    #[error("{path}: {source}")]
    File {
        path: String,
        #[source]
        source: io::Error,
    },
    /// What a file says makes no sense.
    #[error("{path}: {what}")]
    Input { path: String, what: String },
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    #[error("standard output was closed")]
    OutputClosed,
    #[error("cannot write the findings as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    pub fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.display().to_string(),
            source,
        }
    }

    /// A failed write to standard output.
    pub fn output(source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::Output(source)
        }
    }
}
