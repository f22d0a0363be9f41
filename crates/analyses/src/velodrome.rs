//! **velodrome** finds regions that a recorded run tears, by a graph of transactions.
//!
//! *What it finds.*
//! A transaction is an execution of a region that ought to be atomic, or a single event outside of all regions.
//! One transaction comes before another if two of their events conflict in that order, or if both are of one thread.
//! If that order has a cycle, no serial execution of the transactions explains the run: the region that closed the cycle was torn by another thread.
//!
//! *Why it matters.*
//! A torn region can lose updates and see states that its author never meant to exist, even where every single access is well synchronized:
//! ```text
//! A|begin(deposit)|1
//! A|r(balance)|2
//! B|w(balance)|3     another thread writes between the read and the write
//! A|w(balance)|4     and its update is lost
//! A|end(deposit)|5
//! ```
//!
//! *Paper.* Velodrome (Flanagan, Freund and Yi), as paper 002 section 2 describes it.
//! *Where we differ.*
//! The graph is contracted to what can still close a cycle (see [`ancestry`](crate::ancestry)), so that the check of an edge does not search the graph and memory does not grow with the trace.
//! Blame and evidence come from reading the suspicious stretch of the trace again, event by event, and not from the path that a search of the graph happened to take:
//! the region is blamed exactly if a path of single events leaves it and enters it again.
//! An event outside of all regions gets a node only where something new reaches it; otherwise its predecessor's stands for it, which changes no cycle.
//!
//! *Guarantee.*
//! A finding for every strongly connected component of transactions, and none outside of one; the first violating event is that of the shortest prefix with a cycle.
//! An edge that closes a cycle is reported and not added, so later cycles are not blamed on it.
//! It may miss regions that are torn in a component of which another region is reported: [`aerodrome`](crate::aerodrome) finds all.
//! With synchronization edges it reports cycles that no data shows; these are at most *suspected*.
//! Repeated executions of a region are examined only a few times; the rest is counted.
//! Together the examined ones read no more events again than the trace has (at least 16 million); what lies beyond is reported without its path.

use serde_json::{Map, Value};
use smallvec::SmallVec;
use untorn_model::{Event, EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

use crate::accesses::Access;
use crate::ancestry::{Ancestry, Edge, NodeId};
use crate::interleaving::Effort;
use crate::online::{self, Online, Seen};
use crate::suspects::{Reason, Why};
use crate::sync_order::Marked;
use crate::transactions::Nesting;
use crate::{Analysis, Context, Outcome};

pub use crate::online::Options;

#[derive(Clone, Debug, Default)]
struct ThreadState {
    /// The open transaction, or what the next event comes after.
    node: NodeId,
    in_transaction: bool,
    /// Whether the open transaction is suspected already.
    suspected: bool,
    /// By other thread, the serial of the latest node that is known to come before.
    known: Vec<u64>,
}

/// The analysis; see the [module](self).
#[derive(Clone, Debug)]
pub struct Velodrome {
    seen: Seen<NodeId>,
    threads: Vec<ThreadState>,
    edges: u64,
    closing: u64,
    singles: u64,
    /// What the event at hand comes after.
    sources: SmallVec<[Marked<NodeId>; 8]>,
}

impl Velodrome {
    pub fn new(options: Options) -> Self {
        Self {
            seen: Seen::new(options),
            threads: Vec::new(),
            edges: 0,
            closing: 0,
            singles: 0,
            sources: SmallVec::new(),
        }
    }

    fn add_edges(&mut self, index: EventIndex, thread: ThreadId) {
        let sources = std::mem::take(&mut self.sources);
        if self.threads[thread.index()].in_transaction {
            for source in sources {
                self.add_edge(index, thread, source);
            }
        } else {
            let nodes: SmallVec<[NodeId; 8]> = sources.iter().map(|source| source.mark).collect();
            let state = &mut self.threads[thread.index()];
            let node = self.seen.graph.single(state.node, &nodes);
            self.singles += u64::from(node != state.node);
            state.node = node;
            for source in &sources {
                state.know(&self.seen.graph, *source);
            }
            self.collect_if_crowded();
        }
    }

    fn add_edge(&mut self, index: EventIndex, thread: ThreadId, source: Marked<NodeId>) {
        let state = &mut self.threads[thread.index()];
        match self.seen.graph.edge(source.mark, state.node) {
            Edge::Added => {
                self.edges += 1;
                state.know(&self.seen.graph, source);
            }
            Edge::Irrelevant => state.know(&self.seen.graph, source),
            Edge::Closing => {
                self.closing += 1;
                self.seen.counts.first_violation.get_or_insert(index);
                if state.suspected {
                    return;
                }
                state.suspected = true;
                self.seen.counts.violating += 1;
                if let Some(execution) = self.seen.transactions.transaction(thread) {
                    let reason = Reason {
                        region: execution.region,
                        why: Why::Cycle,
                    };
                    self.seen
                        .suspects
                        .suspect(index, thread, &self.seen.transactions, reason);
                }
            }
        }
    }

    /// No node may be in flight here, since all are renumbered.
    fn collect_if_crowded(&mut self) {
        let marks = self.seen.accesses.len();
        if self.seen.graph.is_crowded(marks, self.seen.options.slack) {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let mut collection = self.seen.graph.collect();
        self.seen.accesses.retain(|node| collection.rename(node));
        self.seen.sync.retain(|node| collection.rename(node));
        for state in &mut self.threads {
            state.node = collection.rename(state.node).unwrap_or(NodeId::NONE);
        }
        collection.finish();
    }
}

impl Online for Velodrome {
    type Mark = NodeId;
    const NAME: &str = "velodrome";
    const EFFORT: Effort = Effort::FirstObserved;

    fn seen(&mut self) -> &mut Seen<NodeId> {
        &mut self.seen
    }

    fn grow(&mut self, threads: usize) {
        self.threads.resize_with(threads, ThreadState::default);
    }

    fn forked(&mut self, at: Marked<NodeId>) {
        self.sources.push(at);
    }

    #[inline]
    fn access(&mut self, index: EventIndex, event: &Event, tables: &Tables) {
        let state = &self.threads[event.thread.index()];
        if state.in_transaction {
            self.seen.counts.inside += 1;
        } else {
            self.seen.counts.outside += 1;
        }
        let (Some((var, flags)), Some(kind)) = (event.op.access(), event.op.access_kind()) else {
            return;
        };
        let access = Access {
            thread: event.thread,
            var,
            flags,
            kind,
            mark: state.node,
        };
        if self.seen.accesses.is_known(&access, tables) && self.sources.is_empty() {
            return;
        }
        let (sources, graph) = (&mut self.sources, &self.seen.graph);
        self.seen.accesses.conflicts(&access, tables, |marked, _| {
            if is_new(state, graph, marked) {
                sources.push(marked);
            }
        });
        self.follow_sources(index, event);
        let mark = self.threads[event.thread.index()].node;
        self.seen.accesses.record(&access, mark);
    }

    fn begin(&mut self, index: EventIndex, event: &Event) {
        if let Nesting::Outermost(_) = self.seen.transactions.step(index, event) {
            self.seen.counts.transactions += 1;
            let state = &mut self.threads[event.thread.index()];
            state.node = self.seen.graph.begin(state.node);
            state.in_transaction = true;
            state.suspected = false;
        }
        self.follow_sources(index, event);
        self.collect_if_crowded();
    }

    fn end(&mut self, index: EventIndex, event: &Event) {
        if let Nesting::OutermostEnd(_) = self.seen.transactions.step(index, event) {
            let state = &mut self.threads[event.thread.index()];
            state.node = self.seen.graph.end(state.node);
            state.in_transaction = false;
            self.seen.suspects.end(event.thread, index);
        }
    }

    fn synchronize(&mut self, index: EventIndex, event: &Event) {
        if self.seen.options.sync_edges {
            let (threads, sources, graph) = (&self.threads, &mut self.sources, &self.seen.graph);
            let state = &threads[event.thread.index()];
            self.seen.sync.acquire(
                event,
                |thread| threads.get(thread.index()).map(|other| other.node),
                |marked| {
                    if is_new(state, graph, marked) {
                        sources.push(marked);
                    }
                },
            );
        }
        self.follow_sources(index, event);
        if let Op::Join(joined) = event.op {
            // It does nothing any more, so what it knows, one number for each other thread, is no use.
            self.threads[joined.index()].known = Vec::new();
        }
        if self.seen.options.sync_edges {
            self.seen
                .sync
                .release(event, self.threads[event.thread.index()].node);
        }
    }

    /// Adds the edges from the sources to the event at hand.
    #[inline]
    fn follow_sources(&mut self, index: EventIndex, event: &Event) {
        if !self.sources.is_empty() {
            self.add_edges(index, event.thread);
        }
    }

    fn own_counts(&self) -> Map<String, Value> {
        [
            ("single_event_nodes", self.singles),
            ("edges", self.edges),
            ("closing_edges", self.closing),
        ]
        .map(|(name, count)| (name.to_owned(), count.into()))
        .into_iter()
        .collect()
    }
}

impl ThreadState {
    fn know(&mut self, graph: &Ancestry, source: Marked<NodeId>) {
        let other = source.thread.index();
        if self.known.len() <= other {
            self.known.resize(other + 1, 0);
        }
        self.known[other] = self.known[other].max(graph.serial(source.mark));
    }
}

/// Whether an edge from the source is not implied by what comes before the thread's node already.
#[inline]
fn is_new(state: &ThreadState, graph: &Ancestry, source: Marked<NodeId>) -> bool {
    source.mark != NodeId::NONE
        && state
            .known
            .get(source.thread.index())
            .is_none_or(|known| *known < graph.serial(source.mark))
}

impl Analysis for Velodrome {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn needs_replay(&self) -> bool {
        true
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        online::batch(self, batch, context.tables);
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        online::finish(self, context, outcome)
    }
}
