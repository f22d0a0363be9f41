//! Which regions ought to be atomic.
//!
//! One [`Specification`] serves static and dynamic analyses alike.
//! It decides from the [`ClassFacts`] of one class file alone, so that the agent, which sees classes one by one as they load, and the program model, which sees them all, come to the same answer.
//! One rule of thumb proposes more in a run than in a check ([`Stage`]), since a run can find out what was not meant to be one step.
//!
//! A region is a method or a synchronized block in it.
//! A heuristic proposes regions, patterns include or exclude more, and every decision names the [`Rule`] that made it.
//!
//! *Invariant.* This crate reads no class file and no sources: whoever does fills in the facts.

mod facts;
mod heuristic;
mod pattern;
mod specification;

pub use facts::{
    ClassFacts, FieldFacts, MethodFacts, Waiting, is_interrupting_call, is_starting_call,
    is_task_type, makes_concurrent, runs_elsewhere, waiting_call,
};
pub use heuristic::{Heuristic, Stage};
pub use pattern::{Pattern, PatternError, name_matches};
pub use specification::{
    Assume, Assumption, Atomicity, Decision, Guard, ReadError, Rule, Specification,
};
