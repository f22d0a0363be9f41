//! Types for atomicity: proves methods atomic by reduction, from locks that protect fields.
//!
//! After *Types for Atomicity: Static Checking and Inference for Java* (Flanagan, Freund, Lifshin, Qadeer).
//! [`basic`] and [`algebra`] are its section 4, [`path`] its rules over control-flow graphs, [`infer`] its section 6, [`guards`] the part it calls Rcc/Sat, [`notation`] its way of writing types; [`analysis`] puts them together.
//!
//! *Architecture invariant.* This crate knows programs only as [`input::Program`]; it reads no class files and prints nothing.

pub mod algebra;
pub mod analysis;
pub mod basic;
pub mod guards;
pub mod holding;
pub mod infer;
pub mod input;
pub mod locks;
pub mod notation;
pub mod path;
pub mod substitution;
