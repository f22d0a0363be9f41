//! Method consistency: methods whose variables the locks of a program take apart, found without running it.
//!
//! Paper: von Praun and Gross, "Static Detection of Atomicity Violations in Object-Oriented Programs", whole.
//! A *method view* is what a method accesses, with all it calls; a *lock view* is what is accessed while a lock is held.
//! A method is *consistent* if the lock views that overlap its view form a chain, views of threads that cannot run beside it aside.
//!
//! Guarantee: none in either direction, as in the paper.
//! It finds every read under a lock of what concurrent threads write under a lock, where the reading method does more than that one critical section.
//! It misses torn methods whose critical sections all write the same variables (a counter incremented twice), and whatever needs no lock or is not reached by the program model.
//! It over-reports where order comes from elsewhere: an enclosing lock on another object, initialization before use, start and join.
//!
//! Differences from the paper: see [`execution`], [`section`] (a filter of ours, on by default) and [`report`].
//! Fields of no concurrent use (all accesses by one thread that exists once) are left out like unshared objects.
//!
//! *Invariant.* The domain, the per-method analysis and the whole-program report are three parts: [`domain`], [`execution`], [`report`].

mod domain;
mod evidence;
mod execution;
mod groups;
mod options;
mod report;
mod section;

pub use options::Options;
pub use report::{Outcome, Stats, check};
