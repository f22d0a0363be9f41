//! Finds how a transaction is torn, in the stretch of the trace that it spans.
//!
//! Every path that leaves a transaction and enters it again lies between its first and its last event.
//! One pass over these tells, for each thread, the latest part of the transaction that has reached it, and by which hops.
//! Where a part comes back that is later than any that came back before, a smallest pair of leaving and entering events is found; the innermost region that holds it is blamed.
//! Of the paths that reach a thread from one part the shortest is kept.
//! Parts are told apart only where a region begins or ends, since nothing else changes the blame.
//!
//! A transaction that starts threads and awaits their ends lets them come between its parts on purpose.
//! A path that passes no other threads, and comes back after the end of the last one was awaited, is *domestic*: it shows nothing that fork and join do not.
//! Once the transaction has started a thread, a further search looks for paths of the same regions that are not.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, Op, ThreadId};
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
    /// All threads on the way were started by the transaction, and the last one's end was awaited if it comes back.
    domestic: bool,
}

impl HopFrom {
    /// Later parts first, since they blame smaller regions; of paths that left the same part, the shortest, which is the easiest to read.
    fn rank(&self) -> (u64, Reverse<u32>) {
        (self.part, Reverse(self.length))
    }
}

/// What a thread is to the transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kin {
    Foreign,
    /// Started by the transaction, or by a thread that it started.
    Child,
    /// And its end was awaited.
    Joined,
}

/// A tear with indices in place of events.
#[derive(Clone, Debug)]
struct Found {
    regions: Vec<Execution>,
    hops: Vec<HopFrom>,
    domestic: bool,
}

impl Found {
    fn blamed(&self) -> Option<EventIndex> {
        self.regions.last().map(|region| region.begin)
    }
}

#[derive(Clone)]
struct Search {
    thread: ThreadId,
    /// By thread.
    kin: Vec<Kin>,
    /// Paths through children alone are not followed.
    foreign_only: bool,
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
            kin: vec![Kin::Foreign; slice.tables.threads.len()],
            foreign_only: false,
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
                domestic: true,
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
        if event.op.is_gone() {
            return self.conflicts.forget(event, slice.tables);
        }
        let own = event.thread == self.thread;
        if matches!(event.op, Op::Fork(_) | Op::Join(_)) {
            self.follow_lives(event);
        }
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

    fn follow_lives(&mut self, event: &Event) {
        if event.thread != self.thread && self.kin[event.thread.index()] == Kin::Foreign {
            return;
        }
        match event.op {
            Op::Fork(child) => self.kin[child.index()] = Kin::Child,
            Op::Join(child) if self.kin[child.index()] == Kin::Child => {
                self.kin[child.index()] = Kin::Joined;
            }
            _ => {}
        }
    }

    fn enter(&mut self, index: EventIndex, event: &Event, edge: &Incoming, slice: &Slice<'_>) {
        let HopFrom {
            part,
            length,
            domestic,
            ..
        } = self.hops[edge.from.note as usize];
        let domestic = domestic
            && if event.thread == self.thread {
                self.kin[edge.thread.index()] == Kin::Joined
            } else {
                self.kin[event.thread.index()] != Kin::Foreign
            };
        if domestic && self.foreign_only {
            return;
        }
        let hop = HopFrom {
            previous: edge.from.note,
            from: edge.from.index(slice.begin),
            to: index,
            kind: edge.kind,
            approximate: edge.approximate,
            part,
            length: length + 1,
            domestic,
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
        if !regions.is_empty() {
            let domestic = last.domestic;
            add(
                &mut self.found,
                Found {
                    regions,
                    hops,
                    domestic,
                },
            );
        }
    }

    fn has_foreign(&self) -> bool {
        self.found.iter().any(|found| !found.domestic)
    }
}

/// Adds a tear, once for each region; one that is not domestic replaces one that is.
fn add(all: &mut Vec<Found>, new: Found) {
    let known = (all.iter()).position(|found| found.blamed() == new.blamed());
    match known {
        Some(at) if all[at].domestic && !new.domestic => all[at] = new,
        None if all.len() < MOST_TEARS => all.push(new),
        _ => {}
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
    let mut foreign: Option<Search> = None;
    slice.each_until(|index, event| {
        if foreign.is_none() && event.thread == thread && matches!(event.op, Op::Fork(_)) {
            // Up to here there are no children, so the two are the same.
            foreign = Some(Search {
                foreign_only: true,
                ..exact.clone()
            });
        }
        exact.step(index, event, slice);
        all.step(index, event, slice);
        if let Some(foreign) = &mut foreign {
            foreign.step(index, event, slice);
        }
        let observed = exact.has_foreign() || foreign.as_ref().is_some_and(Search::has_foreign);
        if effort == Effort::FirstObserved && observed {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let mut found = exact.found;
    // Only in place of a domestic one: which regions are blamed is the same either way.
    for tear in foreign.into_iter().flat_map(|search| search.found) {
        if found.iter().any(|known| known.blamed() == tear.blamed()) {
            add(&mut found, tear);
        }
    }
    if effort == Effort::FirstObserved && found.iter().any(|found| !found.domestic) {
        found.retain(|found| !found.domestic);
        all.found.clear();
    }
    for mut tear in all.found {
        let Some(blamed) = tear.blamed() else {
            continue;
        };
        if let Some(known) = found
            .iter_mut()
            .find(|other| other.blamed() == Some(blamed))
        {
            // Of what fork and join alone explain, fork and join are the better evidence.
            if known.domestic {
                *known = tear;
            }
            continue;
        }
        // A smaller region inside of this one is torn by data alone, and so is this one.
        let within = found
            .iter()
            .find(|other| other.regions.iter().any(|region| region.begin == blamed));
        if let Some(inner) = within {
            tear.hops.clone_from(&inner.hops);
            tear.domestic = inner.domestic;
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
        domestic: found.domestic,
    })
}
