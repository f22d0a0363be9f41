//! Finds how a transaction is torn, in the stretch of the trace that it spans.
//!
//! Every path that leaves a transaction and enters it again lies between its first and its last event.
//! One pass over these tells, for each thread, the latest part of the transaction that has reached it, and by which hops.
//! Where a part comes back that is later than any that came back before, a smallest pair of leaving and entering events is found; the innermost region that holds it is blamed.
//! Of the paths that reach a thread from one part the shortest is kept.
//! Parts are told apart only where a region begins or ends, since nothing else changes the blame.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, ThreadId};
use untorn_trace::Error;

use super::conflicts::{Conflicts, Incoming, Order, Point};
use super::slice::Slice;
use super::{Hop, Tear};
use crate::transactions::{Execution, Nesting, Transactions};

/// More distinct regions torn within one transaction help nobody.
const MOST_TEARS: usize = 64;
/// A bound on the hops kept: a search in a transaction of many millions of inner regions gives up there.
const MOST_HOPS: usize = 1 << 22;

/// A step from one thread to another, and how it was reached.
#[derive(Clone, Copy, Debug)]
struct HopFrom {
    previous: u32,
    from: EventIndex,
    to: EventIndex,
    kind: EdgeKind,
    approximate: bool,
    /// The part of the transaction that the path left, as the event with which that part began; from 1, 0 for none.
    part: u64,
    /// How many hops the path has.
    length: u32,
}

impl HopFrom {
    /// Later parts first, since they blame smaller regions; of paths that left the same part, the shortest, which is the easiest to read.
    fn rank(&self) -> (u64, Reverse<u32>) {
        (self.part, Reverse(self.length))
    }
}

/// A tear with indices in place of events.
#[derive(Clone, Debug)]
struct Found {
    regions: Vec<Execution>,
    hops: Vec<HopFrom>,
}

struct Search {
    thread: ThreadId,
    conflicts: Conflicts,
    transactions: Transactions,
    /// By thread: the hop by which the latest part of the transaction reached it.
    reached: Vec<u32>,
    /// The first stands for nothing.
    hops: Vec<HopFrom>,
    /// The latest part that came back.
    returned: u64,
    incoming: Vec<Incoming>,
    found: Vec<Found>,
}

impl Search {
    fn new(thread: ThreadId, order: Order, slice: &Slice<'_>) -> Self {
        Self {
            thread,
            conflicts: Conflicts::new(order, slice.tables),
            transactions: Transactions::default(),
            reached: vec![0; slice.tables.threads.len()],
            hops: vec![HopFrom {
                previous: 0,
                from: EventIndex(0),
                to: EventIndex(0),
                kind: EdgeKind::Program,
                approximate: false,
                part: 0,
                length: 0,
            }],
            returned: 0,
            incoming: Vec::new(),
            found: Vec::new(),
        }
    }

    fn step(&mut self, index: EventIndex, event: &Event, slice: &Slice<'_>) {
        if self.hops.len() > MOST_HOPS {
            return;
        }
        let own = event.thread == self.thread;
        if own && self.transactions.step(index, event) != Nesting::Unchanged {
            self.hops.push(HopFrom {
                part: index.0 + 1,
                ..self.hops[0]
            });
            self.reached[event.thread.index()] = self.hops.len() as u32 - 1;
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        self.conflicts.incoming(event, slice.tables, &mut incoming);
        let best = (incoming.iter())
            .filter(|edge| !own || edge.thread != self.thread)
            .max_by_key(|edge| self.hops[edge.from.note as usize].rank())
            .copied();
        incoming.clear();
        self.incoming = incoming;
        if let Some(edge) = best {
            self.enter(index, event, &edge, slice);
        }
        let note = self.reached[event.thread.index()];
        self.conflicts
            .record(event, Point::new(index, note, slice.begin));
    }

    fn enter(&mut self, index: EventIndex, event: &Event, edge: &Incoming, slice: &Slice<'_>) {
        let HopFrom { part, length, .. } = self.hops[edge.from.note as usize];
        let hop = HopFrom {
            previous: edge.from.note,
            from: edge.from.index(slice.begin),
            to: index,
            kind: edge.kind,
            approximate: edge.approximate,
            part,
            length: length + 1,
        };
        if event.thread != self.thread {
            let reached = &mut self.reached[event.thread.index()];
            if hop.rank() > self.hops[*reached as usize].rank() {
                *reached = self.hops.len() as u32;
                self.hops.push(hop);
            }
        } else if part > self.returned {
            self.returned = part;
            self.tear(hop);
        }
    }

    fn tear(&mut self, last: HopFrom) {
        let mut hops = vec![last];
        let mut at = last.previous;
        // The chain ends in a part of the transaction itself, which follows nothing.
        while self.hops[at as usize].previous != 0 {
            hops.push(self.hops[at as usize]);
            at = self.hops[at as usize].previous;
        }
        hops.reverse();
        let regions = self
            .transactions
            .holding(self.thread, hops[0].from)
            .to_vec();
        let begins = regions.last().map(|region| region.begin);
        let known = (self.found.iter())
            .any(|found| found.regions.last().map(|region| region.begin) == begins);
        if !known && begins.is_some() && self.found.len() < MOST_TEARS {
            self.found.push(Found { regions, hops });
        }
    }
}

/// How much to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// The first region that exact data conflicts tear; if there is none, all others.
    FirstObserved,
    All,
}

/// Every region of the transaction in the slice that is torn, each once, by exact data conflicts where these suffice.
pub(crate) fn tears(
    slice: &Slice<'_>,
    thread: ThreadId,
    end: Option<EventIndex>,
    sync_edges: bool,
    effort: Effort,
) -> Result<Vec<Tear>, Error> {
    let everything = if sync_edges { Order::All } else { Order::Data };
    let mut exact = Search::new(thread, Order::ExactData, slice);
    let mut all = Search::new(thread, everything, slice);
    slice.each_until(|index, event| {
        exact.step(index, event, slice);
        all.step(index, event, slice);
        if effort == Effort::FirstObserved && !exact.found.is_empty() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let mut found = exact.found;
    if effort == Effort::FirstObserved && !found.is_empty() {
        all.found.clear();
    }
    for mut tear in all.found {
        let Some(blamed) = tear.regions.last().map(|region| region.begin) else {
            continue;
        };
        let is_blamed = |other: &Found| other.regions.last().is_some_and(|r| r.begin == blamed);
        if found.iter().any(is_blamed) {
            continue;
        }
        // A smaller region inside of this one is torn by data alone, and so is this one.
        let within = found
            .iter()
            .find(|other| other.regions.iter().any(|region| region.begin == blamed));
        if let Some(inner) = within {
            tear.hops.clone_from(&inner.hops);
        }
        found.push(tear);
    }
    found
        .into_iter()
        .map(|found| with_events(slice, thread, end, &found))
        .collect()
}

fn with_events(
    slice: &Slice<'_>,
    thread: ThreadId,
    end: Option<EventIndex>,
    found: &Found,
) -> Result<Tear, Error> {
    let mut hops = Vec::with_capacity(found.hops.len());
    for hop in &found.hops {
        hops.push(Hop {
            from: slice.at(hop.from)?,
            to: slice.at(hop.to)?,
            kind: hop.kind,
            approximate: hop.approximate,
        });
    }
    let mut wanted: Vec<_> = (hops.iter().flat_map(|hop| [hop.from, hop.to]))
        .filter(|at| at.event.thread != thread)
        .map(|at| (at.event.thread, at.index))
        .collect();
    wanted.dedup();
    let mut others = slice.members(&wanted)?;
    others.dedup();
    Ok(Tear {
        thread,
        regions: found.regions.clone(),
        end,
        hops,
        others,
    })
}
