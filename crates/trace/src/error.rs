//! What can be wrong with a trace, and where.

use std::io;

/// An error that ends the reading or writing of a trace.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{file}: {source}")]
    Io {
        file: String,
        #[source]
        source: io::Error,
    },
}

/// Something the user should know that did not end the reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The file ends in the middle; everything before is used.
    Truncated { file: String, offset: u64 },
    /// Lines that a lenient reader could not understand.
    SkippedLines {
        file: String,
        count: u64,
        first_line: u64,
    },
    /// Events left out because something that must come before them is missing.
    DroppedEvents { file: String, count: u64 },
}
