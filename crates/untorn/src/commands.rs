//! One module per command of the command line.

pub mod analyze;
pub mod check;
mod demoted;
pub mod exercise;
mod facts;
mod filtering;
pub mod generate;
pub mod infer;
mod looked;
pub mod multi_run;
pub mod profile;
pub mod record;
pub mod refine;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod spec;
pub mod status;
pub mod trace;
mod unthreaded;
mod watching;
