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

use serde_json::json;
use smallvec::SmallVec;
use untorn_model::{Event, EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

use crate::accesses::{Access, Accesses};
use crate::ancestry::{Ancestry, Edge, NodeId};
use crate::interleaving::Effort;
use crate::suspects::{Reason, Suspects, Why};
use crate::sync_order::{Marked, SyncOrder};
use crate::transactions::{Nesting, Transactions};
use crate::{Analysis, Context, Outcome};

#[derive(Clone, Debug)]
pub struct Options {
    /// Whether synchronization orders transactions, as in the paper, or data conflicts alone.
    pub sync_edges: bool,
    /// How many executions of a region are examined for evidence.
    pub examined: u32,
    /// How much may be left uncollected before it is worth looking: a matter of speed and memory alone.
    pub slack: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync_edges: true,
            examined: 3,
            slack: 1 << 14,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
    started: bool,
    /// The open transaction, or what the next event comes after.
    node: NodeId,
    in_transaction: bool,
    /// Whether the open transaction is suspected already.
    suspected: bool,
    /// By other thread, the serial of the latest node that is known to come before.
    known: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    transactions: u64,
    inside: u64,
    outside: u64,
    edges: u64,
    closing: u64,
    torn_or_cyclic: u64,
    singles: u64,
    first_violation: Option<EventIndex>,
}

/// The analysis; see the [module](self).
#[derive(Clone, Debug)]
pub struct Velodrome {
    options: Options,
    transactions: Transactions,
    accesses: Accesses<NodeId>,
    sync: SyncOrder<NodeId>,
    graph: Ancestry,
    threads: Vec<ThreadState>,
    suspects: Suspects,
    counts: Counts,
    /// What the event at hand comes after.
    sources: SmallVec<[Marked<NodeId>; 8]>,
    next: EventIndex,
}

impl Velodrome {
    pub fn new(options: Options) -> Self {
        Self {
            suspects: Suspects::new(options.examined),
            options,
            transactions: Transactions::default(),
            accesses: Accesses::default(),
            sync: SyncOrder::default(),
            graph: Ancestry::default(),
            threads: Vec::new(),
            counts: Counts::default(),
            sources: SmallVec::new(),
            next: EventIndex(0),
        }
    }

    #[inline]
    fn step(&mut self, index: EventIndex, event: &Event, tables: &Tables) {
        let state = &mut self.threads[event.thread.index()];
        if !state.started {
            state.started = true;
            if self.options.sync_edges {
                self.sources.extend(self.sync.forked_at(event.thread));
            }
        }
        match event.op {
            Op::Read(..) | Op::Write(..) | Op::Update(..) => self.access(index, event, tables),
            Op::Begin(_) => self.begin(index, event),
            Op::End(_) => self.end(index, event),
            Op::Enter(_) | Op::Exit(_) | Op::Reacquire(..) | Op::Rerelease(..) => {
                self.follow_sources(index, event);
            }
            _ => self.synchronize(index, event),
        }
    }

    #[inline]
    fn access(&mut self, index: EventIndex, event: &Event, tables: &Tables) {
        let state = &self.threads[event.thread.index()];
        if state.in_transaction {
            self.counts.inside += 1;
        } else {
            self.counts.outside += 1;
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
        if self.accesses.is_known(&access, tables) && self.sources.is_empty() {
            return;
        }
        let (sources, graph) = (&mut self.sources, &self.graph);
        self.accesses.conflicts(&access, tables, |marked, _| {
            if is_new(state, graph, marked) {
                sources.push(marked);
            }
        });
        self.follow_sources(index, event);
        let mark = self.threads[event.thread.index()].node;
        self.accesses.record(&access, mark);
    }

    fn synchronize(&mut self, index: EventIndex, event: &Event) {
        if self.options.sync_edges {
            let (threads, sources, graph) = (&self.threads, &mut self.sources, &self.graph);
            let state = &threads[event.thread.index()];
            self.sync.acquire(
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
        if self.options.sync_edges {
            self.sync
                .release(event, self.threads[event.thread.index()].node);
        }
    }

    fn begin(&mut self, index: EventIndex, event: &Event) {
        if let Nesting::Outermost(_) = self.transactions.step(index, event) {
            self.counts.transactions += 1;
            let state = &mut self.threads[event.thread.index()];
            state.node = self.graph.begin(state.node);
            state.in_transaction = true;
            state.suspected = false;
        }
        self.follow_sources(index, event);
        self.collect_if_crowded();
    }

    fn end(&mut self, index: EventIndex, event: &Event) {
        if let Nesting::OutermostEnd(_) = self.transactions.step(index, event) {
            let state = &mut self.threads[event.thread.index()];
            state.node = self.graph.end(state.node);
            state.in_transaction = false;
            self.suspects.end(event.thread, index);
        }
    }

    /// Adds the edges from the sources to the event at hand.
    #[inline]
    fn follow_sources(&mut self, index: EventIndex, event: &Event) {
        if !self.sources.is_empty() {
            self.add_edges(index, event.thread);
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
            let node = self.graph.single(state.node, &nodes);
            self.counts.singles += u64::from(node != state.node);
            state.node = node;
            for source in &sources {
                state.know(&self.graph, *source);
            }
            self.collect_if_crowded();
        }
    }

    fn add_edge(&mut self, index: EventIndex, thread: ThreadId, source: Marked<NodeId>) {
        let state = &mut self.threads[thread.index()];
        match self.graph.edge(source.mark, state.node) {
            Edge::Added => {
                self.counts.edges += 1;
                state.know(&self.graph, source);
            }
            Edge::Irrelevant => state.know(&self.graph, source),
            Edge::Closing => {
                self.counts.closing += 1;
                self.counts.first_violation.get_or_insert(index);
                if state.suspected {
                    return;
                }
                state.suspected = true;
                self.counts.torn_or_cyclic += 1;
                if let Some(execution) = self.transactions.transaction(thread) {
                    let reason = Reason {
                        region: execution.region,
                        why: Why::Cycle,
                    };
                    self.suspects
                        .suspect(index, thread, &self.transactions, reason);
                }
            }
        }
    }

    /// No node may be in flight here, since all are renumbered.
    fn collect_if_crowded(&mut self) {
        let marks = self.accesses.len();
        if self.graph.is_crowded(marks, self.options.slack) {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let mut collection = self.graph.collect();
        self.accesses.retain(|node| collection.rename(node));
        self.sync.retain(|node| collection.rename(node));
        for state in &mut self.threads {
            state.node = collection.rename(state.node).unwrap_or(NodeId::NONE);
        }
        collection.finish();
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
        "velodrome"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn needs_replay(&self) -> bool {
        true
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.accesses.grow(context.tables);
        if self.threads.len() < context.tables.threads.len() {
            self.threads
                .resize_with(context.tables.threads.len(), ThreadState::default);
        }
        for part in batch.parts() {
            if part.is_gone() {
                self.accesses.forget_gone(part.events, context.tables);
                self.sync.forget_gone(part.events);
                continue;
            }
            for (index, event) in part.indexed() {
                self.step(index, event, context.tables);
            }
        }
        self.next = EventIndex(batch.first.0 + batch.events.len() as u64);
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let suspects = std::mem::replace(&mut self.suspects, Suspects::new(self.options.examined));
        let findings = suspects.findings(
            self.name(),
            Effort::FirstObserved,
            self.options.sync_edges,
            context,
            self.next,
        )?;
        outcome.findings.extend(findings);
        let counts = &self.counts;
        let stats = json!({
            "transactions": counts.transactions,
            "accesses_inside": counts.inside,
            "accesses_outside": counts.outside,
            "single_event_nodes": counts.singles,
            "edges": counts.edges,
            "closing_edges": counts.closing,
            "violating_transactions": counts.torn_or_cyclic,
            "first_violation": counts.first_violation.map(|index| index.0),
        });
        outcome.stats.insert(self.name().to_owned(), stats);
        Ok(())
    }
}
