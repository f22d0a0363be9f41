//! The agent: a library that a JVM loads, which rewrites classes as they are loaded and tells the reader what ids stand for.
//!
//! What the rewritten classes call is Java (`java/java/lang`), compiled by the build script and defined into the boot loader here.
//! Records go from there straight into shared memory; nothing of this crate runs per event.
//!
//! *Architecture invariant:* the program comes first.
//! No callback panics into the JVM, no failure stops it, and a class that cannot be handled is loaded as it is and counted.
//!
//! *Architecture invariant:* no analysis logic here.

mod agent;
mod attach;
mod callbacks;
pub mod counts;
mod faults;
mod frames;
pub mod instrument;
pub mod jdk;
mod jvm;
pub mod loaders;
mod natives;
pub mod options;
pub mod registry;
mod runtime;
mod steps;
mod twice;

pub use agent::Agent;
pub use registry::Registry;
