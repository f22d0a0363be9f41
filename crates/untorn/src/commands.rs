//! One module per command of the command line.

pub mod analyze;
pub mod generate;
pub mod profile;
pub mod record;
pub mod report;
pub mod run;
pub mod trace;
mod watching;
