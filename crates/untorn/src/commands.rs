//! One module per command of the command line.

pub mod analyze;
pub mod check;
pub mod generate;
pub mod profile;
pub mod trace;
