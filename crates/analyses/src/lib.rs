//! The trace analyses: events in, findings out.
//!
//! Each analysis is a module that carries the paper's name for the algorithm and implements [`Analysis`].
//! [`run`] feeds any number of them with one pass over a [`Source`](untorn_trace::Source).
//!
//! *Invariant.* Analyses know no files, flags or terminals.

pub mod accesses;
pub mod aerodrome;
mod analysis;
pub mod ancestry;
pub mod assumptions;
pub mod atomizer;
pub mod count;
pub mod demotion;
mod describe;
pub mod doublechecker;
mod executions;
pub mod interleaving;
pub mod lengths;
pub mod lock_sets;
pub mod locks_held;
pub mod lockset;
mod online;
mod permits;
pub mod silenced;
pub mod stacks;
mod surroundings;
mod suspects;
pub mod symbols;
pub mod sync_order;
pub mod transactions;
pub mod velodrome;
pub mod views;

pub use analysis::{Analysis, Context, Interim, Outcome, run, run_and_tell};
pub use describe::Describe;
pub use transactions::{Execution, Nesting, Transactions};
