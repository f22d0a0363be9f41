//! The project's file `untorn.toml`: packages, specification, suppressions, and defaults for every option.
//!
//! *Invariant.* This crate reads text and decides; it looks at no files, no clock and no command line.

mod config;
mod date;
mod suppression;

pub use config::{Config, Defaults, FILE_NAME, ReadError, schema};
pub use date::Date;
pub use suppression::{Complaint, Subject, SubjectError, Suppression, apply};
