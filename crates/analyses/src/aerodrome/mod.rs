//! **aerodrome** finds *all* regions that a recorded run tears, by vector clocks.
//!
//! *What it finds.*
//! A region is torn if a path of single events, each before the next by a conflict or in one thread, leaves it, passes another thread, and enters it again.
//! Here a chain over two other threads tears `report`, which no pair of accesses shows:
//! ```text
//! A|begin(report)|1
//! A|r(orders)|2      report sees the old orders
//! B|w(orders)|3      B writes them anew,
//! C|r(orders)|4
//! C|w(total)|5       and C computes their total,
//! A|r(total)|6       which report sees beside the old orders
//! A|end(report)|7
//! ```
//!
//! *Why it matters.*
//! [`velodrome`](crate::velodrome) reports each group of transactions that tear each other, but perhaps only one region of it; this analysis leaves none out.
//!
//! *Paper.* AeroDrome (Mathur and Viswanathan), beyond the papers that this project builds on.
//! *Where we differ.*
//! Clocks are of single events here, not of transactions: an entry of a thread for itself that grows tells that a part of its region has come back through others, and which part.
//! Each clock has two halves, one by all conflicts and one by exact data conflicts, so that a region is called *observed* exactly if data alone tears it.
//! Cycles of whole transactions, in which perhaps nobody is torn, are found by the set of open transactions that reach a node ([`ancestry`](crate::ancestry)): a clock reduced to what can still close a cycle.
//! So cycles through a thread's earlier transactions are found as well, and none is reported late.
//!
//! *Guarantee.*
//! Verdict and first violating event are those of velodrome.
//! The blamed regions are all innermost torn ones, and no others; each has a path found by reading its part of the trace again.
//! Repeated executions of a region are examined only a few times; the rest is counted.
//! With synchronization edges it reports regions that no data tears; these are at most *suspected*.
//!
//! *Cost.* An access that brings nothing new costs a comparison; one that does costs a pass over a clock, which has two numbers a thread.
//! Memory follows the clocks that locations and locks still refer to; those that no open transaction has reached are forgotten.

mod clocks;

use serde_json::json;
use smallvec::SmallVec;
use untorn_model::{Event, EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

use self::clocks::{Clocks, Order, StampId, Time};
use crate::accesses::{Access, Accesses};
use crate::ancestry::{Ancestry, Edge, NodeId};
use crate::interleaving::Effort;
use crate::suspects::{Reason, Suspects, Why};
use crate::sync_order::{Marked, SyncOrder};
use crate::transactions::{Nesting, Transactions};
use crate::{Analysis, Context, Outcome};

#[derive(Clone, Debug)]
pub struct Options {
    /// Whether synchronization orders events, or data conflicts alone.
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

/// An open region of a thread.
#[derive(Clone, Copy, Debug)]
struct OpenRegion {
    first_part: u64,
    torn: bool,
    observed: bool,
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
    started: bool,
    time: Time,
    /// Stands for the events of the thread now; none until one is needed.
    stamp: StampId,
    /// The open transaction, or what the next event comes after.
    node: NodeId,
    /// Whether the open transaction is known to close a cycle.
    violating: bool,
    /// Whether a region of the open transaction is known to be torn.
    torn: bool,
    /// Outermost first.
    regions: Vec<OpenRegion>,
}

impl ThreadState {
    fn next_part(&mut self) {
        self.time = Time::first_of(self.time.part() + 1);
        self.stamp = StampId::NONE;
    }

    /// Notes that what the thread passes on has changed.
    fn learned(&mut self) {
        if self.stamp != StampId::NONE {
            self.time = self.time.next();
            self.stamp = StampId::NONE;
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Counts {
    transactions: u64,
    inside: u64,
    outside: u64,
    joins: u64,
    torn: u64,
    observed: u64,
    violating: u64,
    first_violation: Option<EventIndex>,
}

/// The analysis; see the [module](self).
#[derive(Clone, Debug)]
pub struct Aerodrome {
    options: Options,
    transactions: Transactions,
    accesses: Accesses<StampId>,
    sync: SyncOrder<StampId>,
    clocks: Clocks,
    graph: Ancestry,
    threads: Vec<ThreadState>,
    suspects: Suspects,
    counts: Counts,
    /// What the event at hand comes after, and by which order.
    sources: SmallVec<[(Marked<StampId>, Order); 8]>,
    next: EventIndex,
}

impl Aerodrome {
    pub fn new(options: Options) -> Self {
        Self {
            suspects: Suspects::new(options.examined),
            options,
            transactions: Transactions::default(),
            accesses: Accesses::default(),
            sync: SyncOrder::default(),
            clocks: Clocks::default(),
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
            if self.options.sync_edges
                && let Some(fork) = self.sync.forked_at(event.thread)
            {
                self.sources.push((fork, Order::All));
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
        let thread = event.thread.index();
        let state = &self.threads[thread];
        if state.regions.is_empty() {
            self.counts.outside += 1;
        } else {
            self.counts.inside += 1;
        }
        let (Some((var, flags)), Some(kind)) = (event.op.access(), event.op.access_kind()) else {
            return;
        };
        let access = Access {
            thread: event.thread,
            var,
            flags,
            kind,
            mark: state.stamp,
        };
        let stamped = state.stamp != StampId::NONE && self.sources.is_empty();
        if stamped && self.accesses.is_known(&access, tables) {
            return;
        }
        let (sources, clocks) = (&mut self.sources, &self.clocks);
        self.accesses.conflicts(&access, tables, |marked, exact| {
            let order = if exact { Order::ExactData } else { Order::All };
            // What is known by data is known by all.
            if is_new(clocks, thread, marked, order) {
                sources.push((marked, order));
            }
        });
        self.follow_sources(index, event);
        let mark = self.stamp(thread);
        self.accesses.record(&access, mark);
    }

    fn synchronize(&mut self, index: EventIndex, event: &Event) {
        let thread = event.thread.index();
        if self.options.sync_edges {
            let last = match event.op {
                Op::Join(joined) if self.threads[joined.index()].started => {
                    Some(self.stamp(joined.index()))
                }
                _ => None,
            };
            let (sources, clocks) = (&mut self.sources, &self.clocks);
            self.sync.acquire(
                event,
                |_| last,
                |marked| {
                    if is_new(clocks, thread, marked, Order::All) {
                        sources.push((marked, Order::All));
                    }
                },
            );
        }
        self.follow_sources(index, event);
        if self.options.sync_edges && event.op.releases().is_some() {
            let mark = self.stamp(thread);
            self.sync.release(event, mark);
        }
    }

    /// The stamp that stands for the thread's events now.
    #[inline]
    fn stamp(&mut self, thread: usize) -> StampId {
        let state = &mut self.threads[thread];
        if state.stamp == StampId::NONE {
            state.stamp = self.clocks.leave(thread, state.time, state.node);
        }
        state.stamp
    }

    fn begin(&mut self, index: EventIndex, event: &Event) {
        let nesting = self.transactions.step(index, event);
        let state = &mut self.threads[event.thread.index()];
        state.next_part();
        state.regions.push(OpenRegion {
            first_part: state.time.part(),
            torn: false,
            observed: false,
        });
        if let Nesting::Outermost(_) = nesting {
            self.counts.transactions += 1;
            state.node = self.graph.begin(state.node);
            state.violating = false;
            state.torn = false;
        }
        self.follow_sources(index, event);
        self.collect_if_crowded();
    }

    fn end(&mut self, index: EventIndex, event: &Event) {
        let nesting = self.transactions.step(index, event);
        let state = &mut self.threads[event.thread.index()];
        state.next_part();
        state.regions.pop();
        if let Nesting::OutermostEnd(_) = nesting {
            state.node = self.graph.end(state.node);
            self.suspects.end(event.thread, index);
        }
    }

    /// Lets the event at hand come after its sources.
    #[inline]
    fn follow_sources(&mut self, index: EventIndex, event: &Event) {
        if !self.sources.is_empty() {
            self.learn(index, event.thread);
        }
    }

    fn learn(&mut self, index: EventIndex, thread: ThreadId) {
        let t = thread.index();
        let returned = |clocks: &Clocks, order| clocks.known(order, t, t).part();
        let before = returned(&self.clocks, Order::All);
        let before_exact = returned(&self.clocks, Order::ExactData);
        let mut nodes: SmallVec<[NodeId; 8]> = SmallVec::new();
        for &(source, order) in &self.sources {
            let stamp = self.clocks.stamp(source.mark);
            let other = source.thread.index();
            self.counts.joins += 1;
            if self.clocks.learn(Order::All, t, other, &stamp) && stamp.node != NodeId::NONE {
                nodes.push(stamp.node);
            }
            if order == Order::ExactData {
                self.clocks.learn(Order::ExactData, t, other, &stamp);
            }
        }
        self.sources.clear();
        self.threads[t].learned();
        let closes = self.enter(thread, &nodes);
        if !self.threads[t].regions.is_empty() {
            let after = returned(&self.clocks, Order::ExactData);
            if after > before_exact {
                self.blame(index, thread, after, Why::Observed);
            }
            let after = returned(&self.clocks, Order::All);
            if after > before {
                self.blame(index, thread, after, Why::Torn);
            }
        }
        if closes {
            self.suspect_cycle(index, thread);
        }
        self.collect_if_crowded();
    }

    /// Adds the edges between transactions; tells whether one closes a cycle.
    fn enter(&mut self, thread: ThreadId, nodes: &[NodeId]) -> bool {
        let state = &mut self.threads[thread.index()];
        if state.regions.is_empty() {
            state.node = self.graph.single(state.node, nodes);
            return false;
        }
        let mut closes = false;
        for &node in nodes {
            closes |= self.graph.edge(node, state.node) == Edge::Closing;
        }
        closes
    }

    fn suspect_cycle(&mut self, index: EventIndex, thread: ThreadId) {
        self.counts.first_violation.get_or_insert(index);
        let state = &mut self.threads[thread.index()];
        if std::mem::replace(&mut state.violating, true) {
            return;
        }
        self.counts.violating += 1;
        // A torn transaction is suspected for that already.
        if let (false, Some(execution)) = (state.torn, self.transactions.transaction(thread)) {
            let reason = Reason {
                region: execution.region,
                why: Why::Cycle,
            };
            self.suspects
                .suspect(index, thread, &self.transactions, reason);
        }
    }

    /// Blames the innermost region that holds the part that came back.
    fn blame(&mut self, index: EventIndex, thread: ThreadId, part: u64, why: Why) {
        let regions = &mut self.threads[thread.index()].regions;
        let held = regions.partition_point(|region| region.first_part <= part);
        let Some(innermost) = held.checked_sub(1) else {
            return;
        };
        let region = &mut regions[innermost];
        // What data tears is torn: there is no need to examine it for both reasons.
        let told = match why {
            Why::Observed => {
                self.counts.observed += u64::from(!region.observed);
                std::mem::replace(&mut region.observed, true)
            }
            _ => {
                self.counts.torn += u64::from(!region.torn);
                std::mem::replace(&mut region.torn, true) || region.observed
            }
        };
        self.threads[thread.index()].torn = true;
        let open = self.transactions.open(thread);
        if let (false, Some(blamed)) = (told, open.get(innermost)) {
            let reason = Reason {
                region: blamed.region,
                why,
            };
            self.suspects
                .suspect(index, thread, &self.transactions, reason);
        }
    }

    /// No stamp or node may be in flight here, since all are renumbered.
    #[inline]
    fn collect_if_crowded(&mut self) {
        let marks = self.accesses.len();
        let slack = self.options.slack;
        if self.graph.is_crowded(marks, slack) || self.clocks.is_crowded(marks, slack) {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let oldest: Vec<Time> = (self.threads.iter())
            .map(|state| match state.regions.first() {
                Some(outermost) => Time::first_of(outermost.first_part),
                None => Time(u64::MAX),
            })
            .collect();
        let mut nodes = self.graph.collect();
        let mut stamps = self.clocks.collect(&oldest);
        let mut rename = |stamp| stamps.rename(stamp, |node| nodes.rename(node));
        self.accesses.retain(&mut rename);
        self.sync.retain(&mut rename);
        for state in &mut self.threads {
            state.learned();
            state.node = nodes.rename(state.node).unwrap_or(NodeId::NONE);
        }
        stamps.finish();
        nodes.finish();
    }
}

/// Whether the thread does not come after the stamp yet.
#[inline]
fn is_new(clocks: &Clocks, thread: usize, source: Marked<StampId>, order: Order) -> bool {
    source.mark != StampId::NONE
        && clocks.known(order, thread, source.thread.index()) < clocks.stamp(source.mark).time
}

impl Analysis for Aerodrome {
    fn name(&self) -> &'static str {
        "aerodrome"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn needs_replay(&self) -> bool {
        true
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.accesses.grow(context.tables);
        let threads = context.tables.threads.len();
        if self.threads.len() < threads {
            self.clocks.grow(threads);
            self.threads.resize_with(threads, ThreadState::default);
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
            Effort::All,
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
            "joins": counts.joins,
            "violating_transactions": counts.violating,
            "torn_executions": counts.torn,
            "observed_executions": counts.observed,
            "first_violation": counts.first_violation.map(|index| index.0),
        });
        outcome.stats.insert(self.name().to_owned(), stats);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use untorn_trace::{Source, VecSource};

    use super::*;

    /// Two endless transactions that hand a location to and fro learn something at every event.
    #[test]
    fn memory_does_not_grow_with_a_transaction_that_never_ends() {
        let mut text = "A|begin(a)|1\nB|begin(b)|2\n".to_owned();
        text.push_str(&"A|w(x)|3\nB|w(x)|4\n".repeat(3000));
        let mut source = VecSource::from_text(&text).unwrap();
        let mut events = Vec::new();
        let mut aerodrome = Aerodrome::new(Options {
            slack: 100,
            ..Options::default()
        });
        let mut first = EventIndex(0);
        let mut most = 0;
        loop {
            let kinds = source.fill(&mut events).unwrap();
            if events.is_empty() {
                break;
            }
            let batch = Batch {
                first,
                events: &events,
                kinds,
            };
            let context = Context {
                source: None,
                tables: source.tables(),
                replay: None,
            };
            aerodrome.batch(&batch, &context).unwrap();
            first.0 += events.len() as u64;
            most = most.max(aerodrome.clocks.len());
        }
        let joins = aerodrome.counts.joins;
        assert!(joins > 5000, "{joins} joins");
        assert!(most < 300, "{most} stamps");
    }
}
