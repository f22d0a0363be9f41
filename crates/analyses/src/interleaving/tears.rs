//! Finds how a transaction is torn, in the stretch of the trace that it spans.
//!
//! Every path that leaves a transaction and enters it again lies between its first and its last event.
//! One pass over these tells, for each thread, the latest part of the transaction that has reached it, and by which hops.
//! Where a part comes back that is later than any that came back before, a smallest pair of leaving and entering events is found; the innermost region that holds it is blamed.
//! Of the paths that reach a thread from one part the shortest is kept.
//! Parts are told apart only where a region begins or ends, since nothing else changes the blame.
//!
//! A region that starts threads and awaits their ends lets them come between its parts on purpose.
//! A path is *domestic* to a region if it passes only threads that the region started, they or their children, and comes back from one whose end was awaited by then: it shows nothing that fork and join do not.
//! Hops are the dependences of figure 5 of the DoubleChecker paper, so a path comes back from whoever accessed the location last.
//!
//! A region is observed to be torn if some path of exact data conflicts tears it that is not domestic to it, whatever others there are.
//! So once the transaction has started a thread, the search by exact data keeps more than one path to each thread: of two paths, one may have left a later part and the other be domestic to fewer of the open regions.
//! The regions to which a path is domestic begin before the earliest fork of a thread on its way, its *origin*; a path to follow is one that no other excels in both.
//! These are at most one more than the regions open, so the pass is linear in the events times how deep the transaction nests, and that only after a fork.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, ThreadId};
use untorn_trace::Error;

use super::conflicts::{Conflicts, Incoming, Order, Point};
use super::family::Family;
use super::paths::{Found, HopFrom, MOST_TEARS, add, begin_of};
use super::slice::Slice;
use super::{Hop, Tear};
use crate::transactions::{Nesting, Transactions};

/// A bound on the hops that some path still needs: a search that needs more gives up.
const MOST_HOPS: usize = 1 << 20;

/// So few hops are not worth looking which are needed.
const FEW_HOPS: usize = 1 << 14;

struct Search {
    thread: ThreadId,
    /// Whether paths that are domestic to fewer regions are followed beside the best.
    ranks: bool,
    conflicts: Conflicts,
    transactions: Transactions,
    /// By thread: the hop by which the latest part of the transaction reached it, with others behind it.
    reached: Vec<u32>,
    /// The first stands for nothing; each comes after those that it refers to.
    hops: Vec<HopFrom>,
    /// When to look which of them are needed.
    collect_at: usize,
    /// The latest part that came back.
    returned: u64,
    /// The latest part that came back by a path that is domestic to no region.
    foreign_returned: u64,
    /// Open regions known to be torn by a path that is not domestic to them.
    known: Vec<EventIndex>,
    incoming: Vec<Incoming>,
    candidates: Vec<HopFrom>,
    found: Vec<Found>,
    /// For each torn region, once there are domestic paths, one that is not domestic to it.
    foreign: Vec<Found>,
}

impl Search {
    fn new(thread: ThreadId, order: Order, slice: &Slice<'_>) -> Self {
        Self {
            thread,
            ranks: order == Order::ExactData,
            conflicts: Conflicts::new(order, slice.tables),
            transactions: Transactions::default(),
            reached: vec![0; slice.tables.threads.len()],
            hops: vec![HopFrom {
                previous: 0,
                next: 0,
                from: EventIndex(0),
                to: EventIndex(0),
                kind: EdgeKind::Program,
                approximate: false,
                part: 0,
                length: 0,
                origin: u64::MAX,
            }],
            collect_at: FEW_HOPS,
            returned: 0,
            foreign_returned: 0,
            known: Vec::new(),
            incoming: Vec::new(),
            candidates: Vec::new(),
            found: Vec::new(),
            foreign: Vec::new(),
        }
    }

    fn step(&mut self, index: EventIndex, event: &Event, family: &Family, slice: &Slice<'_>) {
        if self.hops.len() >= self.collect_at {
            self.collect();
        }
        if self.hops.len() > MOST_HOPS {
            return;
        }
        if event.op.is_gone() {
            return self.conflicts.forget(event, slice.tables);
        }
        let own = event.thread == self.thread;
        if own {
            self.nest(index, event);
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        self.conflicts.incoming(event, slice.tables, &mut incoming);
        let several = self.ranks && !family.is_alone();
        for edge in incoming.drain(..) {
            if !own || edge.thread != self.thread {
                self.follow(index, event, &edge, family, several, slice);
            }
        }
        self.incoming = incoming;
        if !self.candidates.is_empty() {
            let mut candidates = std::mem::take(&mut self.candidates);
            match (own, several) {
                (true, _) => self.come_back(&candidates, several),
                (false, false) => self.reach(event.thread, &candidates),
                (false, true) => self.reach_by_several(event.thread, &candidates),
            }
            candidates.clear();
            self.candidates = candidates;
        }
        let note = self.reached[event.thread.index()];
        self.conflicts
            .record(event, Point::new(index, note, slice.begin));
    }

    /// Forgets the hops that are on no path to a thread or to an event that another one may come after.
    fn collect(&mut self) {
        let mut name = vec![0u32; self.hops.len()];
        name[0] = 1;
        for at in &self.reached {
            name[*at as usize] = 1;
        }
        self.conflicts.each_note(|at| name[*at as usize] = 1);
        for at in (0..self.hops.len()).rev() {
            if name[at] != 0 {
                let HopFrom { previous, next, .. } = self.hops[at];
                name[previous as usize] = 1;
                name[next as usize] = 1;
            }
        }
        let mut kept = 0;
        for at in 0..self.hops.len() {
            if name[at] != 0 {
                let hop = self.hops[at];
                self.hops[kept] = HopFrom {
                    previous: name[hop.previous as usize],
                    next: name[hop.next as usize],
                    ..hop
                };
                name[at] = kept as u32;
                kept += 1;
            }
        }
        self.hops.truncate(kept);
        for at in &mut self.reached {
            *at = name[*at as usize];
        }
        self.conflicts.each_note(|at| *at = name[*at as usize]);
        self.collect_at = FEW_HOPS.max(2 * kept);
    }

    /// A new part where the transaction's own nesting changes.
    fn nest(&mut self, index: EventIndex, event: &Event) {
        match self.transactions.step(index, event) {
            Nesting::Unchanged => return,
            Nesting::InnerEnd(ended) => self.known.retain(|region| *region < ended.begin),
            _ => {}
        }
        self.hops.push(HopFrom {
            part: index.0 + 1,
            ..self.hops[0]
        });
        self.reached[event.thread.index()] = self.hops.len() as u32 - 1;
    }

    /// Goes on along an edge with the paths that have reached its source.
    fn follow(
        &mut self,
        index: EventIndex,
        event: &Event,
        edge: &Incoming,
        family: &Family,
        several: bool,
        slice: &Slice<'_>,
    ) {
        let mut at = edge.from.note;
        loop {
            let hop = self.hops[at as usize];
            if hop.part == 0 {
                return;
            }
            let origin = if event.thread != self.thread {
                family.origin(event.thread)
            } else if family.has_awaited(edge.thread) {
                hop.origin
            } else {
                Family::FOREIGN
            };
            self.candidates.push(HopFrom {
                previous: at,
                next: 0,
                from: edge.from.index(slice.begin),
                to: index,
                kind: edge.kind,
                approximate: edge.approximate,
                length: hop.length + 1,
                origin: hop.origin.min(origin),
                ..hop
            });
            at = hop.next;
            if at == 0 || !several {
                return;
            }
        }
    }

    /// Keeps the best path to another thread.
    fn reach(&mut self, thread: ThreadId, candidates: &[HopFrom]) {
        let reached = &mut self.reached[thread.index()];
        if let Some(best) = candidates.iter().max_by_key(|hop| hop.rank())
            && best.rank() > self.hops[*reached as usize].rank()
        {
            *reached = self.hops.len() as u32;
            self.hops.push(*best);
        }
    }

    /// Whether a path that has reached the thread is as good as this one in both.
    fn excels(&self, thread: ThreadId, other: &HopFrom) -> bool {
        let mut at = self.reached[thread.index()];
        while at != 0 {
            let hop = &self.hops[at as usize];
            if hop.rank() >= other.rank() && hop.origin <= other.origin {
                return true;
            }
            at = hop.next;
        }
        false
    }

    /// Keeps the best path to another thread, and those that are domestic to fewer of the open regions than all better ones.
    fn reach_by_several(&mut self, thread: ThreadId, candidates: &[HopFrom]) {
        if candidates.iter().all(|hop| self.excels(thread, hop)) {
            return;
        }
        // The paths that are there come first among equals.
        let mut all: Vec<(HopFrom, Option<u32>)> = Vec::new();
        let mut at = self.reached[thread.index()];
        while at != 0 {
            let hop = self.hops[at as usize];
            all.push((hop, Some(at)));
            at = hop.next;
        }
        let there = all.len();
        all.extend(candidates.iter().map(|hop| (*hop, None)));
        all.sort_by_key(|(hop, _)| Reverse(hop.rank()));
        let open = self.transactions.open(self.thread);
        let mut least = u64::MAX;
        let mut first = true;
        all.retain(|(hop, _)| {
            // The innermost open region that this path tears, and to which all better ones are domestic.
            let within = hop.part.min(least);
            let held = open.partition_point(|region| begin_of(region) <= within);
            let adds = held > 0 && hop.origin < begin_of(&open[held - 1]);
            if std::mem::take(&mut first) || adds {
                least = least.min(hop.origin);
                return true;
            }
            false
        });
        let is_known = |(_, known): &(HopFrom, Option<u32>)| known.is_some();
        if all.len() == there && all.iter().all(is_known) {
            return;
        }
        let mut next = 0;
        for (hop, known) in all.into_iter().rev() {
            next = match known {
                Some(known) if hop.next == next => known,
                _ => {
                    self.hops.push(HopFrom { next, ..hop });
                    self.hops.len() as u32 - 1
                }
            };
        }
        self.reached[thread.index()] = next;
    }

    /// Paths enter the transaction again.
    fn come_back(&mut self, candidates: &[HopFrom], several: bool) {
        let best = candidates.iter().max_by_key(|hop| hop.rank());
        if let Some(best) = best.filter(|best| best.part > self.returned) {
            self.returned = best.part;
            if !several {
                // Nobody was started yet, so no path is domestic.
                self.foreign_returned = best.part;
            }
            let tear = self.tear(best);
            if !tear.regions.is_empty() {
                add(&mut self.found, tear);
            }
        }
        if several {
            for hop in candidates {
                self.come_back_foreign(hop);
            }
        }
    }

    /// Notes a path for the regions that it tears and is not domestic to, unless one is known for each of them.
    fn come_back_foreign(&mut self, hop: &HopFrom) {
        let open = self.transactions.open(self.thread);
        let torn = open.iter().rev().map(begin_of);
        let fresh: Vec<EventIndex> = torn
            .skip_while(|begin| *begin > hop.part)
            .take_while(|begin| *begin > hop.origin.max(self.foreign_returned))
            .map(|begin| EventIndex(begin - 1))
            .filter(|begin| !self.known.contains(begin))
            .collect();
        if fresh.is_empty() {
            return;
        }
        self.known.extend(fresh);
        if hop.origin == Family::FOREIGN {
            self.foreign_returned = hop.part;
        }
        if self.foreign.len() < MOST_TEARS {
            let tear = self.tear(hop);
            self.foreign.push(tear);
        }
    }

    fn tear(&self, last: &HopFrom) -> Found {
        let mut hops = vec![*last];
        let mut at = last.previous;
        // The chain ends in a part of the transaction itself, which follows nothing.
        while self.hops[at as usize].previous != 0 {
            hops.push(self.hops[at as usize]);
            at = self.hops[at as usize].previous;
        }
        hops.reverse();
        let regions = self.transactions.holding(self.thread, hops[0].from);
        Found {
            regions: regions.to_vec(),
            hops,
            origin: last.origin,
        }
    }

    fn has_foreign(&self) -> bool {
        !self.foreign.is_empty() || self.found.iter().any(|found| !found.is_domestic())
    }

    /// Whether each region that is blamed, here or by another search, and torn by exact data is so by a path that is not domestic to it.
    fn is_settled(&self, others: &[Found]) -> bool {
        let paths = || self.found.iter().chain(&self.foreign);
        let mut blamed = self.found.iter().chain(others).filter_map(Found::blamed);
        blamed.all(|region| {
            paths().any(|path| path.is_foreign_to(region))
                || !paths().any(|path| path.holds(region))
        })
    }

    /// The tears that blame somebody, and all paths that show a region torn.
    fn into_found(self) -> (Vec<Found>, Vec<Found>) {
        let (mut found, mut paths) = (self.found, self.foreign);
        let beside = paths.len();
        paths.extend_from_slice(&found);
        for tear in found.iter_mut().filter(|tear| tear.is_domestic()) {
            let blamed = tear.blamed();
            let foreign = |path: &&Found| blamed.is_some_and(|blamed| path.is_foreign_to(blamed));
            if let Some(path) = paths.iter().find(foreign) {
                tear.hops.clone_from(&path.hops);
                tear.origin = path.origin;
            }
        }
        // A smaller pair that is domestic does not stand for one that is not.
        for path in &paths[..beside] {
            let blamed = path.blamed();
            let is_finer = |other: &Found| {
                blamed.is_some_and(|begin| other.is_foreign_to(begin)) && other.blamed() != blamed
            };
            if !paths.iter().any(is_finer) {
                add(&mut found, path.clone());
            }
        }
        (found, paths)
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
///
/// The transaction may go on after the slice: what tears a region only by its own threads there is looked at to its end.
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
    let mut family = Family::new(thread, slice.tables.threads.len());
    slice.each_until(|index, event| {
        family.follow(index, event);
        exact.step(index, event, &family, slice);
        all.step(index, event, &family, slice);
        if effort == Effort::FirstObserved && exact.has_foreign() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    // After its own threads somebody else may come.
    let blamed = exact.found.len();
    let whole = slice.until(end);
    if !exact.is_settled(&all.found) {
        let rest = Slice {
            begin: EventIndex(slice.last.0 + 1),
            ..whole
        };
        let mut paths = exact.foreign.len();
        rest.each_until(|index, event| {
            family.follow(index, event);
            exact.step(index, event, &family, slice);
            if std::mem::replace(&mut paths, exact.foreign.len()) != exact.foreign.len()
                && exact.is_settled(&all.found)
            {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        exact.found.truncate(blamed);
    }
    let (mut found, paths) = exact.into_found();
    if effort == Effort::FirstObserved && found.iter().any(|found| !found.is_domestic()) {
        found.retain(|found| !found.is_domestic());
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
            if known.is_domestic() {
                *known = tear;
            }
            continue;
        }
        // A smaller region inside of this one is torn by data alone, and so is this one.
        let foreign = paths.iter().find(|path| path.is_foreign_to(blamed));
        let within = foreign.or_else(|| paths.iter().find(|path| path.holds(blamed)));
        if let Some(inner) = within {
            tear.hops.clone_from(&inner.hops);
            tear.origin = inner.origin;
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
        domestic: found.is_domestic(),
    })
}
