//! Types for atomicity: proves methods atomic by reduction, from locks that protect fields.
//!
//! After *Types for Atomicity: Static Checking and Inference for Java* (Flanagan, Freund, Lifshin, Qadeer).
//! [`basic`] and [`algebra`] are its section 4, [`path`] its rules over control-flow graphs, [`infer`] its section 6, [`guards`] the part it calls Rcc/Sat, [`notation`] its way of writing types; [`analysis`] puts them together.
//!
//! [`front`] makes its input of the program model, [`annotations`] puts in what programmers declare, and [`report`] makes findings of its verdicts.
//!
//! *Architecture invariant.* Everything but [`front`], [`annotations`] and [`report`] knows programs only as [`input::Program`]; nothing here reads files or prints.

pub mod algebra;
pub mod analysis;
pub mod annotations;
pub mod basic;
pub mod front;
pub mod guards;
pub mod holding;
pub mod infer;
pub mod input;
pub mod locks;
pub mod notation;
pub mod ought;
pub mod path;
pub mod report;
pub mod substitution;
