//! Finds a shortest cycle of transactions through a given one, in a stretch of the trace.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, Op, ThreadId};
use untorn_trace::Error;

use super::conflicts::{Conflicts, Incoming, Order, Point, UNSEEN};
use super::slice::Slice;
use super::{Cycle, Hop};

/// How far back a cycle is looked for.
const LONGEST: u64 = 1 << 22;

#[derive(Clone, Copy, Debug)]
struct EdgeBetween {
    from: EventIndex,
    to: EventIndex,
    kind: EdgeKind,
    approximate: bool,
}

struct Graph {
    conflicts: Conflicts,
    depths: Vec<u32>,
    /// By thread: its transaction and its latest event there.
    current: Vec<Option<(u32, EventIndex)>>,
    transactions: u32,
    successors: HashMap<u32, Vec<(u32, EdgeBetween)>, FxBuildHasher>,
    incoming: Vec<Incoming>,
}

impl Graph {
    fn step(&mut self, index: EventIndex, event: &Event, slice: &Slice<'_>) {
        if event.op.is_gone() {
            return self.conflicts.forget(event, slice.tables);
        }
        if event.op == UNSEEN {
            return;
        }
        let thread = event.thread.index();
        let Some(depth) = self.depths.get_mut(thread) else {
            return;
        };
        let previous = self.current[thread];
        let fresh = *depth == 0 || previous.is_none();
        match event.op {
            Op::Begin(_) => *depth += 1,
            Op::End(_) => *depth = depth.saturating_sub(1),
            _ => {}
        }
        if fresh {
            self.transactions += 1;
        }
        let own = match previous {
            Some((own, _)) if !fresh => own,
            _ => self.transactions - 1,
        };
        self.current[thread] = Some((own, index));
        if let Some((before, last)) = previous
            && before != own
        {
            let program = EdgeBetween {
                from: last,
                to: index,
                kind: EdgeKind::Program,
                approximate: false,
            };
            self.connect(before, own, program);
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        self.conflicts.incoming(event, slice.tables, &mut incoming);
        for edge in incoming.drain(..) {
            let between = EdgeBetween {
                from: edge.from.index(slice.begin),
                to: index,
                kind: edge.kind,
                approximate: edge.approximate,
            };
            self.connect(edge.from.note, own, between);
        }
        self.incoming = incoming;
        self.conflicts
            .record(event, Point::new(index, own, slice.begin));
    }

    fn connect(&mut self, from: u32, to: u32, edge: EdgeBetween) {
        let successors = self.successors.entry(from).or_default();
        match successors.iter_mut().find(|(other, _)| *other == to) {
            None => successors.push((to, edge)),
            // Data says more than synchronization.
            Some((_, known)) if known.kind == EdgeKind::Sync && edge.kind == EdgeKind::Data => {
                *known = edge;
            }
            Some(_) => {}
        }
    }

    /// The edges of a shortest cycle through a transaction.
    fn cycle_through(&self, start: u32) -> Option<Vec<EdgeBetween>> {
        let mut reached: HashMap<u32, (u32, EdgeBetween), FxBuildHasher> = HashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (next, edge) in self.successors.get(&node).into_iter().flatten() {
                if reached.contains_key(next) {
                    continue;
                }
                reached.insert(*next, (node, *edge));
                if *next == start {
                    let mut edges = Vec::new();
                    let mut at = start;
                    loop {
                        let (previous, edge) = reached[&at];
                        edges.push(edge);
                        at = previous;
                        if at == start {
                            edges.reverse();
                            return Some(edges);
                        }
                    }
                }
                queue.push_back(*next);
            }
        }
        None
    }
}

/// A shortest cycle through the transaction that fills the slice; `None` if it lies too far back.
///
/// A cycle may have begun before the transaction did, so the slice is widened until one is found.
pub(crate) fn cycle(
    slice: &Slice<'_>,
    thread: ThreadId,
    sync_edges: bool,
) -> Result<Option<Cycle>, Error> {
    let mut wider = *slice;
    let mut more = slice.last.0 - slice.begin.0 + 256;
    loop {
        wider.begin = EventIndex(slice.begin.0.saturating_sub(more));
        if let Some(edges) = search(&wider, slice.begin, thread, sync_edges)? {
            return with_events(&wider, &edges).map(Some);
        }
        if wider.begin.0 == 0 || more > LONGEST {
            return Ok(None);
        }
        more *= 2;
    }
}

fn search(
    slice: &Slice<'_>,
    begin: EventIndex,
    thread: ThreadId,
    sync_edges: bool,
) -> Result<Option<Vec<EdgeBetween>>, Error> {
    let order = if sync_edges { Order::All } else { Order::Data };
    let mut graph = Graph {
        conflicts: Conflicts::new(order, slice.tables),
        depths: slice.depths_before()?,
        current: vec![None; slice.tables.threads.len()],
        transactions: 0,
        successors: HashMap::default(),
        incoming: Vec::new(),
    };
    let mut start = None;
    slice.each(|index, event| {
        graph.step(index, event, slice);
        if index == begin {
            start = graph.current[thread.index()];
        }
    })?;
    Ok(start.and_then(|(start, _)| graph.cycle_through(start)))
}

fn with_events(slice: &Slice<'_>, edges: &[EdgeBetween]) -> Result<Cycle, Error> {
    let mut hops = Vec::with_capacity(edges.len());
    for edge in edges {
        hops.push(Hop {
            from: slice.at(edge.from)?,
            to: slice.at(edge.to)?,
            kind: edge.kind,
            approximate: edge.approximate,
        });
    }
    let wanted: Vec<_> = (hops.iter())
        .map(|hop| (hop.from.event.thread, hop.from.index))
        .collect();
    Ok(Cycle {
        members: slice.members(&wanted)?,
        hops,
    })
}
