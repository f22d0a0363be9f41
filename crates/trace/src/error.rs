//! What can be wrong with a trace, and where.

use std::fmt;
use std::io;

/// Where in a trace something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of a text trace, from 1.
    Line(u64),
    /// A byte of a file, from 0.
    Offset(u64),
    /// An event of the total order, from 0.
    Event(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, ":{line}"),
            Self::Offset(offset) => write!(f, " at offset {offset}"),
            Self::Event(index) => write!(f, " at event {index}"),
        }
    }
}

/// An error that ends the reading or writing of a trace.
///
/// Each prints as one line that begins with the file it speaks of.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{file}: {source}")]
    Io {
        file: String,
        #[source]
        source: io::Error,
    },
    /// What is there cannot be read.
    #[error("{file}{place}: {what}")]
    Malformed {
        file: String,
        place: Place,
        what: String,
    },
    /// Events that no run can have produced.
    #[error("{file}{place}: {what}")]
    IllFormed {
        file: String,
        place: Place,
        what: String,
    },
    #[error("{file}: more than four billion {what}")]
    TooMany { file: String, what: &'static str },
    #[error("{file}: is empty")]
    Empty { file: String },
    #[error("{file}: is a directory; name a trace file")]
    Directory { file: String },
    #[error("{file}: neither a .utr trace nor a text trace (binary data)")]
    NotATrace { file: String },
    #[error("{file}: .utr version {version}, but this program reads version {known} only")]
    Version {
        file: String,
        version: u16,
        known: u16,
    },
    /// The recorded order contradicts itself.
    #[error("{file}: no order of the events is possible: {first} and {second} wait for each other")]
    Cycle {
        file: String,
        first: String,
        second: String,
    },
    /// A writer was given what it cannot write; nothing of it is in the file.
    #[error("{file}: cannot write {what}")]
    Unwritable { file: String, what: &'static str },
}

impl Error {
    pub(crate) fn io(file: &str, source: io::Error) -> Self {
        Self::Io {
            file: file.to_owned(),
            source,
        }
    }
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
    /// Events that a lenient reader left out because they cannot follow what came before.
    RefusedEvents {
        file: String,
        count: u64,
        first_line: u64,
        /// What is wrong with the first.
        first: String,
    },
    /// Events left out because something that must come before them is missing.
    DroppedEvents { file: String, count: u64 },
}
