//! The reader and the editor on real classes in real JVMs.

mod instrumenting;
mod reading;
mod round_trip;
mod stress;
mod support;
