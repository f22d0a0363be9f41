//! One test binary, so that the crate is linked once.

mod algebra;
mod builder;
mod examples;
mod guards;
mod inference;
mod interleavings;
mod notation;
mod structured;
mod terms;
mod verdicts;
