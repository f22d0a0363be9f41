//! Java programs to watch, written here: drivers over libraries that nobody here wrote, and kernels.
//!
//! Tests run the drivers to show that the agent changes nothing; the benchmark runs both to show what it costs.
//! The libraries are the pinned jars of `xtask/corpus.toml`.

pub mod programs;

pub use programs::{COMPUTE, Class, DRIVERS, Folder, HELLO, KERNELS, Kind, Program};
