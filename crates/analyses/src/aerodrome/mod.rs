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

use serde_json::{Map, Value};
use smallvec::SmallVec;
use untorn_model::{Event, EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

use self::clocks::{Clocks, Order, StampId, Time};
use crate::accesses::Access;
use crate::ancestry::{Edge, NodeId};
use crate::interleaving::Effort;
use crate::online::{self, Online, Seen};
use crate::suspects::{Reason, Why};
use crate::sync_order::Marked;
use crate::transactions::Nesting;
use crate::{Analysis, Context, Outcome};

pub use crate::online::Options;

/// An open region of a thread.
#[derive(Clone, Copy, Debug)]
struct OpenRegion {
    first_part: u64,
    torn: bool,
    observed: bool,
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
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

/// The analysis; see the [module](self).
#[derive(Clone, Debug)]
pub struct Aerodrome {
    seen: Seen<StampId>,
    clocks: Clocks,
    threads: Vec<ThreadState>,
    joins: u64,
    torn: u64,
    observed: u64,
    /// What the event at hand comes after, and by which order.
    sources: SmallVec<[(Marked<StampId>, Order); 8]>,
}

impl Aerodrome {
    pub fn new(options: Options) -> Self {
        Self {
            seen: Seen::new(options),
            clocks: Clocks::default(),
            threads: Vec::new(),
            joins: 0,
            torn: 0,
            observed: 0,
            sources: SmallVec::new(),
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

    fn learn(&mut self, index: EventIndex, thread: ThreadId) {
        let t = thread.index();
        let returned = |clocks: &Clocks, order| clocks.known(order, t, t).part();
        let before = returned(&self.clocks, Order::All);
        let before_exact = returned(&self.clocks, Order::ExactData);
        let mut nodes: SmallVec<[NodeId; 8]> = SmallVec::new();
        for &(source, order) in &self.sources {
            let stamp = self.clocks.stamp(source.mark);
            let other = source.thread.index();
            self.joins += 1;
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
            state.node = self.seen.graph.single(state.node, nodes);
            return false;
        }
        let mut closes = false;
        for &node in nodes {
            closes |= self.seen.graph.edge(node, state.node) == Edge::Closing;
        }
        closes
    }

    fn suspect_cycle(&mut self, index: EventIndex, thread: ThreadId) {
        self.seen.counts.first_violation.get_or_insert(index);
        let state = &mut self.threads[thread.index()];
        if std::mem::replace(&mut state.violating, true) {
            return;
        }
        self.seen.counts.violating += 1;
        // A torn transaction is suspected for that already.
        if let (false, Some(execution)) = (state.torn, self.seen.transactions.transaction(thread)) {
            let reason = Reason {
                region: execution.region,
                why: Why::Cycle,
            };
            self.seen
                .suspects
                .suspect(index, thread, &self.seen.transactions, reason);
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
                self.observed += u64::from(!region.observed);
                std::mem::replace(&mut region.observed, true)
            }
            _ => {
                self.torn += u64::from(!region.torn);
                std::mem::replace(&mut region.torn, true) || region.observed
            }
        };
        self.threads[thread.index()].torn = true;
        let open = self.seen.transactions.open(thread);
        if let (false, Some(blamed)) = (told, open.get(innermost)) {
            let reason = Reason {
                region: blamed.region,
                why,
            };
            self.seen
                .suspects
                .suspect(index, thread, &self.seen.transactions, reason);
        }
    }

    /// No stamp or node may be in flight here, since all are renumbered.
    #[inline]
    fn collect_if_crowded(&mut self) {
        let marks = self.seen.accesses.len();
        let slack = self.seen.options.slack;
        if self.seen.graph.is_crowded(marks, slack) || self.clocks.is_crowded(marks, slack) {
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
        let mut nodes = self.seen.graph.collect();
        let mut stamps = self.clocks.collect(&oldest);
        let mut rename = |stamp| stamps.rename(stamp, |node| nodes.rename(node));
        self.seen.accesses.retain(&mut rename);
        self.seen.sync.retain(&mut rename);
        for state in &mut self.threads {
            state.learned();
            state.node = nodes.rename(state.node).unwrap_or(NodeId::NONE);
        }
        stamps.finish();
        nodes.finish();
    }
}

impl Online for Aerodrome {
    type Mark = StampId;
    const NAME: &str = "aerodrome";
    const EFFORT: Effort = Effort::All;

    fn seen(&mut self) -> &mut Seen<StampId> {
        &mut self.seen
    }

    fn grow(&mut self, threads: usize) {
        self.clocks.grow(threads);
        self.threads.resize_with(threads, ThreadState::default);
    }

    fn forked(&mut self, at: Marked<StampId>) {
        self.sources.push((at, Order::All));
    }

    #[inline]
    fn access(&mut self, index: EventIndex, event: &Event, tables: &Tables) {
        let thread = event.thread.index();
        let state = &self.threads[thread];
        if state.regions.is_empty() {
            self.seen.counts.outside += 1;
        } else {
            self.seen.counts.inside += 1;
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
        if stamped && self.seen.accesses.is_known(&access, tables) {
            return;
        }
        let (sources, clocks) = (&mut self.sources, &self.clocks);
        self.seen
            .accesses
            .conflicts(&access, tables, |marked, exact| {
                let order = if exact { Order::ExactData } else { Order::All };
                // What is known by data is known by all.
                if is_new(clocks, thread, marked, order) {
                    sources.push((marked, order));
                }
            });
        self.follow_sources(index, event);
        let mark = self.stamp(thread);
        self.seen.accesses.record(&access, mark);
    }

    fn begin(&mut self, index: EventIndex, event: &Event) {
        let nesting = self.seen.transactions.step(index, event);
        let state = &mut self.threads[event.thread.index()];
        state.next_part();
        state.regions.push(OpenRegion {
            first_part: state.time.part(),
            torn: false,
            observed: false,
        });
        if let Nesting::Outermost(_) = nesting {
            self.seen.counts.transactions += 1;
            state.node = self.seen.graph.begin(state.node);
            state.violating = false;
            state.torn = false;
        }
        self.follow_sources(index, event);
        self.collect_if_crowded();
    }

    fn end(&mut self, index: EventIndex, event: &Event) {
        let nesting = self.seen.transactions.step(index, event);
        let state = &mut self.threads[event.thread.index()];
        state.next_part();
        state.regions.pop();
        if let Nesting::OutermostEnd(_) = nesting {
            state.node = self.seen.graph.end(state.node);
            self.seen.suspects.end(event.thread, index);
        }
    }

    fn synchronize(&mut self, index: EventIndex, event: &Event) {
        let thread = event.thread.index();
        if self.seen.options.sync_edges {
            let last = match event.op {
                Op::Join(joined) if self.seen.has_started(joined) => {
                    Some(self.stamp(joined.index()))
                }
                _ => None,
            };
            let (sources, clocks) = (&mut self.sources, &self.clocks);
            self.seen.sync.acquire(
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
        if self.seen.options.sync_edges && event.op.releases().is_some() {
            let mark = self.stamp(thread);
            self.seen.sync.release(event, mark);
        }
    }

    /// Lets the event at hand come after its sources.
    #[inline]
    fn follow_sources(&mut self, index: EventIndex, event: &Event) {
        if !self.sources.is_empty() {
            self.learn(index, event.thread);
        }
    }

    fn own_counts(&self) -> Map<String, Value> {
        [
            ("joins", self.joins),
            ("torn_executions", self.torn),
            ("observed_executions", self.observed),
        ]
        .map(|(name, count)| (name.to_owned(), count.into()))
        .into_iter()
        .collect()
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
        let joins = aerodrome.joins;
        assert!(joins > 5000, "{joins} joins");
        assert!(most < 300, "{most} stamps");
    }
}
