//! Paths of hops from a transaction to other threads and back, while they are searched for.

use std::cmp::Reverse;

use untorn_findings::EdgeKind;
use untorn_model::EventIndex;

use crate::transactions::Execution;

/// More distinct regions torn within one transaction help nobody.
pub(super) const MOST_TEARS: usize = 64;

/// A step from one thread to another, and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopFrom {
    pub previous: u32,
    /// The next best path to the same thread, domestic to fewer regions; 0 for none.
    pub next: u32,
    pub from: EventIndex,
    pub to: EventIndex,
    pub kind: EdgeKind,
    pub approximate: bool,
    /// The part of the transaction that the path left, as the event with which that part began; from 1, 0 for none.
    pub part: u64,
    /// How many hops the path has.
    pub length: u32,
    /// The least of [`Family::origin`](super::family::Family::origin) on the way; foreign too if the path has come back from a thread that was not awaited.
    pub origin: u64,
}

impl HopFrom {
    /// Later parts first, since they blame smaller regions; of paths that left the same part, the shortest, which is the easiest to read.
    pub fn rank(&self) -> (u64, Reverse<u32>) {
        (self.part, Reverse(self.length))
    }
}

/// Parts and origins count from 1, as one more than an event.
pub(super) fn begin_of(region: &Execution) -> u64 {
    region.begin.0 + 1
}

/// A tear with indices in place of events.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub regions: Vec<Execution>,
    pub hops: Vec<HopFrom>,
    pub origin: u64,
}

impl Found {
    pub fn blamed(&self) -> Option<EventIndex> {
        self.regions.last().map(|region| region.begin)
    }

    pub fn is_domestic(&self) -> bool {
        (self.regions.last()).is_some_and(|region| self.origin >= begin_of(region))
    }

    /// Whether it tears that region, the blamed one or one around it, and is not domestic to it.
    pub fn is_foreign_to(&self, region: EventIndex) -> bool {
        self.holds(region) && self.origin < region.0 + 1
    }

    pub fn holds(&self, region: EventIndex) -> bool {
        self.regions.iter().any(|held| held.begin == region)
    }
}

/// Adds a tear, once for each region; one that is not domestic replaces one that is.
pub(super) fn add(all: &mut Vec<Found>, new: Found) {
    let known = (all.iter()).position(|found| found.blamed() == new.blamed());
    match known {
        Some(at) if all[at].is_domestic() && !new.is_domestic() => all[at] = new,
        None if all.len() < MOST_TEARS => all.push(new),
        _ => {}
    }
}
