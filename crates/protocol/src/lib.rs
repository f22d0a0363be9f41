//! A model of the protocol by which the agent's runtime orders accesses, searched state by state.
//!
//! `docs/internals/tracking.md` describes the protocol and says why it is exact; this crate checks that description for a few threads and objects, in every interleaving, with the store buffers of x86.
//! Each step names the method of the runtime that it stands for, so that both can be read side by side.
//!
//! Checked in every state that can be reached:
//! - *Order:* of two conflicting accesses, the log puts the one that was performed first before the other ([`log`]).
//! - *Exclusion:* between its record and its access no thread loses the word to another.
//! - *Progress:* from every state all threads can come to their ends ([`search`]).
//! - *Nothing lost:* no object is given up unless a thread strayed, and one that has ended holds no word.
//!
//! That the model can fail is tested: each fence and each check of the protocol can be taken away ([`checks`]), and each mutation is caught.
//!
//! *Architecture invariant:* nothing depends on this crate, and it on none of the product's; it is there for the tests and `cargo xtask model`.

pub mod checks;
pub mod log;
pub mod scenario;
pub mod scenarios;
pub mod search;
pub mod state;
pub mod steps;

use checks::Checks;
use scenario::Scenario;
use state::State;
use steps::Step;

/// What the threads do, and which checks are in force.
#[derive(Debug, Clone)]
pub struct Model {
    pub scenario: Scenario,
    pub checks: Checks,
}

impl Model {
    pub fn successors(&self, state: &State, out: &mut Vec<(Step, State)>) {
        steps::successors(&self.scenario, self.checks, state, out);
    }
}
