//! What decides, while a program runs, which stretches of its threads an analysis will want to see.
//!
//! A reader that only looks for regions and edges tells of these, and keeps the rest as it is; so most of what a program does need never be taken apart.
//! It stands here, between the reader of live runs and the analyses, so that neither knows the other.

use std::ops::Range;

/// What becomes of a stretch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It will be looked at: it is said once.
    Wanted,
    /// It must be kept for now: said anew by every search.
    Undecided,
}

/// Hears of all threads in one order that respects their edges; positions count what a thread did.
pub trait TransactionFilter {
    /// A thread that was in no region enters one.
    fn begin(&mut self, thread: u32, at: u64);

    /// The thread, in a region, does something that others may depend on; told of the first in each region.
    fn act(&mut self, thread: u32, at: u64);

    /// The thread has left its outermost region.
    fn end(&mut self, thread: u32);

    /// Whatever that thread did before a position comes before what this one does from here on.
    fn depend(&mut self, thread: u32, at: u64, on: u32, before: u64);

    /// Whether the thread is in a region in which it has done something before that position.
    fn is_amid(&self, thread: u32, before: u64) -> bool;

    /// Where what may still be wanted of a thread begins, at the latest where it stands.
    fn floor(&self, thread: u32, now: u64) -> u64;

    /// Whether it is time for a search.
    fn is_due(&self) -> bool;

    /// Decides what can be decided; what it does not speak of will never be wanted.
    ///
    /// `now` is where each thread stands; with `last` there is nothing to come.
    fn search(&mut self, now: &[u64], last: bool, tell: &mut dyn FnMut(Decision, u32, Range<u64>));
}
