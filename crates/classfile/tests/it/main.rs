//! The reader and the editor on real classes in real JVMs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod editing;
mod hostile;
mod instrumenting;
mod reading;
mod round_trip;
mod stress;
mod support;
