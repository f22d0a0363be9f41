//! Orders of events that no serial execution has, and the findings made of them.
//!
//! A [`Tear`] is a path of single events that leaves a region and enters it again; a [`Cycle`] runs through whole transactions and blames nobody.
//! What the exact checkers find they report through these two, so that all evidence has one form.

mod conflicts;
mod cycles;
mod family;
mod finding;
mod paths;
mod slice;
mod tears;

use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, ThreadId};

use crate::transactions::Execution;

pub(crate) use conflicts::UNSEEN;
pub(crate) use cycles::cycle;
pub(crate) use slice::{Reader, Slice};
pub(crate) use tears::{Effort, tears};

/// An event with its place in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    pub index: EventIndex,
    pub event: Event,
}

/// Two events of which the first must come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    pub from: At,
    pub to: At,
    pub kind: EdgeKind,
    /// Rests on overlapping locations, a range, a whole or an interval.
    pub approximate: bool,
}

impl Hop {
    /// Whether an *observed* verdict may rest on it.
    pub fn is_exact_data(&self) -> bool {
        self.kind == EdgeKind::Data && !self.approximate
    }
}

/// A transaction on the way of a path or cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    pub thread: ThreadId,
    /// The outermost region; absent for a single event outside of all.
    pub execution: Option<Execution>,
    /// The first event.
    pub begin: EventIndex,
    /// The last event, if the transaction ended in the trace.
    pub end: Option<EventIndex>,
}

impl Member {
    pub fn holds(&self, at: &At) -> bool {
        self.thread == at.event.thread
            && self.begin <= at.index
            && self.end.is_none_or(|end| at.index <= end)
    }
}

/// A path of single events that leaves a region and enters it again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tear {
    pub thread: ThreadId,
    /// The regions that hold both ends of the path, outermost first; the last one is blamed.
    pub regions: Vec<Execution>,
    /// The end of the outermost region, if it ended in the trace.
    pub end: Option<EventIndex>,
    /// From thread to thread; each begins in the thread in which the one before ends, and not before it.
    pub hops: Vec<Hop>,
    /// The transactions of other threads that the path passes.
    pub others: Vec<Member>,
    /// It passes only threads that the blamed region itself started, and comes back from one whose end the region has awaited.
    pub domestic: bool,
}

/// A cycle of transactions of which none is torn by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// In the order of the cycle.
    pub members: Vec<Member>,
    /// From each member to the next, and from the last to the first; program order where both are of one thread.
    pub hops: Vec<Hop>,
}
