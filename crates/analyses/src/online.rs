//! What velodrome and aerodrome do alike: they look at each event once, as it comes, and ask which earlier events it comes after.
//!
//! They differ in what stands for a point of a thread (their *mark*: a node of a graph, a clock) and in what they conclude from an order.
//! The trait [`Online`] has the latter; the walk over a batch, the bookkeeping of threads' beginnings and the report stand here once.

use serde_json::{Map, Value, json};
use untorn_model::{Event, EventIndex, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

use crate::accesses::Accesses;
use crate::ancestry::Ancestry;
use crate::interleaving::Effort;
use crate::suspects::Suspects;
use crate::sync_order::{Marked, SyncOrder};
use crate::transactions::Transactions;
use crate::{Context, Outcome};

#[derive(Clone, Debug)]
pub struct Options {
    /// Whether synchronization orders events, as in the papers, or data conflicts alone.
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
pub struct Counts {
    pub transactions: u64,
    pub inside: u64,
    pub outside: u64,
    pub violating: u64,
    pub first_violation: Option<EventIndex>,
}

/// What was seen so far; `M` is what stands for a point of a thread.
#[derive(Clone, Debug)]
pub struct Seen<M> {
    pub options: Options,
    pub transactions: Transactions,
    pub accesses: Accesses<M>,
    pub sync: SyncOrder<M>,
    pub graph: Ancestry,
    pub suspects: Suspects,
    pub counts: Counts,
    /// By thread, whether it has had an event.
    started: Vec<bool>,
    next: EventIndex,
}

impl<M: Copy + Default + PartialEq> Seen<M> {
    pub fn new(options: Options) -> Self {
        Self {
            suspects: Suspects::new(options.examined),
            options,
            transactions: Transactions::default(),
            accesses: Accesses::default(),
            sync: SyncOrder::default(),
            graph: Ancestry::default(),
            counts: Counts::default(),
            started: Vec::new(),
            next: EventIndex(0),
        }
    }

    pub fn has_started(&self, thread: ThreadId) -> bool {
        self.started[thread.index()]
    }
}

/// An analysis of events as they come.
pub(crate) trait Online {
    type Mark: Copy + Default + PartialEq;
    const NAME: &str;
    const EFFORT: Effort;

    fn seen(&mut self) -> &mut Seen<Self::Mark>;

    /// Makes room for so many threads.
    fn grow(&mut self, threads: usize);

    /// The first event of a thread comes after where it was forked.
    fn forked(&mut self, at: Marked<Self::Mark>);

    fn access(&mut self, index: EventIndex, event: &Event, tables: &Tables);
    fn begin(&mut self, index: EventIndex, event: &Event);
    fn end(&mut self, index: EventIndex, event: &Event);
    fn synchronize(&mut self, index: EventIndex, event: &Event);

    /// Lets the event come after what was collected for it.
    fn follow_sources(&mut self, index: EventIndex, event: &Event);

    /// What this analysis counts besides.
    fn own_counts(&self) -> Map<String, Value>;
}

#[inline]
fn step<A: Online>(analysis: &mut A, index: EventIndex, event: &Event, tables: &Tables) {
    let seen = analysis.seen();
    let started = &mut seen.started[event.thread.index()];
    if !*started {
        *started = true;
        if seen.options.sync_edges
            && let Some(at) = seen.sync.forked_at(event.thread)
        {
            analysis.forked(at);
        }
    }
    match event.op {
        Op::Read(..) | Op::Write(..) | Op::Update(..) => analysis.access(index, event, tables),
        Op::Begin(_) => analysis.begin(index, event),
        Op::End(_) => analysis.end(index, event),
        Op::Enter(_) | Op::Exit(_) | Op::Reacquire(..) | Op::Rerelease(..) => {
            analysis.follow_sources(index, event);
        }
        _ => analysis.synchronize(index, event),
    }
}

pub(crate) fn batch<A: Online>(analysis: &mut A, batch: &Batch<'_>, tables: &Tables) {
    let threads = tables.threads.len();
    let seen = analysis.seen();
    seen.accesses.grow(tables);
    if seen.started.len() < threads {
        seen.started.resize(threads, false);
        analysis.grow(threads);
    }
    for part in batch.parts() {
        if part.is_gone() {
            let seen = analysis.seen();
            seen.accesses.forget_gone(part.events, tables);
            seen.sync.forget_gone(part.events);
            continue;
        }
        for (index, event) in part.indexed() {
            step(analysis, index, event, tables);
        }
    }
    analysis.seen().next = EventIndex(batch.first.0 + batch.events.len() as u64);
}

pub(crate) fn finish<A: Online>(
    analysis: &mut A,
    context: &Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let own = analysis.own_counts();
    let seen = analysis.seen();
    let suspects = std::mem::replace(&mut seen.suspects, Suspects::new(seen.options.examined));
    let sync_edges = seen.options.sync_edges;
    let findings = suspects.findings(A::NAME, A::EFFORT, sync_edges, context, seen.next)?;
    outcome.findings.extend(findings);
    let counts = &seen.counts;
    let mut stats = json!({
        "transactions": counts.transactions,
        "accesses_inside": counts.inside,
        "accesses_outside": counts.outside,
        "violating_transactions": counts.violating,
        "first_violation": counts.first_violation.map(|index| index.0),
    });
    if let Value::Object(all) = &mut stats {
        all.extend(own);
    }
    outcome.stats.insert(A::NAME.to_owned(), stats);
    Ok(())
}
