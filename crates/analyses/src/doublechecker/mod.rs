//! DoubleChecker: finds torn regions with a cheap imprecise analysis that picks what an exact one looks at.
//!
//! # What it finds
//! The same as velodrome: transactions that no serial order explains, with the region that was torn and the events that tore it.
//! It is exact on a trace: whatever it reports as *observed* happened, and every set of transactions that are in each other's way is reported at least once.
//!
//! ```text
//! A|begin(deposit)|Bank.java:7
//! A|r(account.balance)|Bank.java:8      (1)
//! B|w(account.balance)|Bank.java:8      (2)
//! A|w(account.balance)|Bank.java:9      (3)
//! A|end|Bank.java:10
//! ```
//! `deposit` is torn: (1) comes before (2), and (2) before (3), so B's write is in the middle of A's `deposit`.
//!
//! # How
//! Biswas, Huang, Sengupta, Bond: *DoubleChecker: Efficient Sound and Precise Atomicity Checking*, PLDI 2014, sections 3 and 4.
//! *Imprecise cycle detection* ([`icd`]) follows who owns which object, and draws an edge between transactions whenever ownership changes: a superset of all dependences, at the granularity of objects.
//! *Precise cycle detection* looks only at transactions in strongly connected components of that graph, and at every conflict of theirs.
//!
//! # Where we differ from the paper
//! - A log is a list of positions in the trace ([`suspects`]), read again when needed; nothing is copied, so long transactions cost no memory.
//! - Components are searched for whenever the graph has doubled, and at the end, instead of at the end of each transaction ([`graph`]).
//!   A transaction takes part as soon as it runs, none is dropped before it was searched, and a component that grows keeps what it has: so every component is found, in time linear in the edges.
//! - The precise analysis runs once, over all transactions in components together, when the trace has ended.
//!   A cycle lies within one component, so looking at several at once neither adds nor loses any; and no transaction is replayed twice however often its component grew.
//!   All in all that is one pass for the imprecise analysis and at most one for the precise one.
//! - The precise analysis is our velodrome: the paper's, too, is Velodrome on the logged accesses.
//!
//! # Modes
//! *Single-run* does both.
//! *First-run* does the imprecise part and yields a [`Profile`]: the static regions in components, and whether events outside of regions were in any.
//! *Second-run* looks only at what one or more profiles name; over the trace that made the profile it finds what single-run finds, over another run it may miss what was in no component before.
//! For comparison: a second run that always looks at events outside of regions, velodrome as the second run ([`Selected`]), and the precise part alone.
//!
//! # Limits
//! It sees one order of events: a region that could be torn in another order is not reported.
//! With synchronization edges a region can be reported that is torn by the order of its locks alone; that is *suspected*, never *observed*.

mod graph;
mod icd;
mod ownership;
mod profile;
mod scc;
mod selection;
mod suspects;

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use untorn_model::{EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error, Replay};

pub use profile::{Profile, ProfileError, StaticRegion};
pub use selection::{Selected, Selection};

use crate::velodrome::{self, Velodrome};
use crate::{Analysis, Context, Outcome};
use graph::{Limits, Stretch};
use icd::Icd;
use suspects::{Suspects, replay};

/// The name on the command line and in findings.
const NAME: &str = "doublechecker";

/// Which of the two analyses run, and on what.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    #[default]
    SingleRun,
    /// The imprecise analysis alone; the profile is put here when the trace has ended.
    FirstRun(Arc<OnceLock<Profile>>),
    /// Both, on what the selection keeps.
    SecondRun(Box<Selection>),
    /// The precise analysis alone, on everything.
    PreciseOnly,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether synchronization orders transactions, as data conflicts do.
    pub sync_edges: bool,
    pub mode: Mode,
    /// How many transactions and stretches are kept before some are dropped or joined; the default is right but for tests.
    pub keep: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync_edges: true,
            mode: Mode::SingleRun,
            keep: None,
        }
    }
}

/// The analysis; see the [module](self).
#[derive(Debug)]
pub struct DoubleChecker {
    mode: Mode,
    sync_edges: bool,
    icd: Icd<Suspects>,
    /// How many events there were, also those that were not looked at.
    end: u64,
    suspects: Vec<Stretch>,
}

impl DoubleChecker {
    pub fn new(options: Options) -> Self {
        let limits = options.keep.map_or_else(Limits::default, |keep| Limits {
            collect: keep,
            condense: keep,
        });
        let suspects = options
            .keep
            .map_or_else(Suspects::default, Suspects::with_limit);
        Self {
            mode: options.mode,
            sync_edges: options.sync_edges,
            icd: Icd::new(options.sync_edges, limits, suspects),
            end: 0,
            suspects: Vec::new(),
        }
    }

    /// What was passed to the precise analysis: stretches of single threads, known when the trace has ended.
    pub fn suspects(&self) -> impl Iterator<Item = (ThreadId, Range<EventIndex>)> {
        (self.suspects.iter()).map(|s| (s.thread, EventIndex(s.start)..EventIndex(s.end)))
    }

    /// Which static regions are in the suspected stretches.
    fn profile(&self, tables: &Tables, source: &dyn Replay) -> Result<Profile, Error> {
        let mut profile = Profile::default();
        let mut depths = vec![0u32; tables.threads.len()];
        let mut known = vec![false; tables.regions.len()];
        replay(&self.suspects, source, |batch| {
            for event in batch.events {
                let depth = &mut depths[event.thread.index()];
                match event.op {
                    Op::Begin(region) => {
                        *depth += 1;
                        let is_known = known.get_mut(region.index());
                        let is_new = is_known.is_none_or(|known| !std::mem::replace(known, true));
                        if *depth == 1 && is_new {
                            let (thread, site) = (event.thread, event.site);
                            profile.add(StaticRegion::of(tables, region, thread, site));
                        }
                    }
                    Op::End(_) => *depth = depth.saturating_sub(1),
                    _ if *depth == 0 => profile.add_unary(),
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok(profile)
    }

    fn check_precisely(
        &self,
        context: &Context<'_>,
        source: &dyn Replay,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let mut precise = Velodrome::new(velodrome::Options {
            sync_edges: self.sync_edges,
            ..velodrome::Options::default()
        });
        let mut selection = match &self.mode {
            Mode::SecondRun(selection) => Some(selection.clone().rewound()),
            _ => None,
        };
        replay(&self.suspects, source, |batch| match &mut selection {
            None => precise.batch(batch, context),
            Some(selection) => selection::runs(
                batch,
                |_, event| selection.keeps(context.tables, event),
                &mut |run| precise.batch(run, context),
            ),
        })?;
        let mut found = Outcome::default();
        precise.finish(context, &mut found)?;
        for mut finding in found.findings {
            finding.analyses = vec![NAME.to_owned()];
            for interleaving in &mut finding.evidence.interleavings {
                NAME.clone_into(&mut interleaving.analysis);
            }
            outcome.findings.push(finding);
        }
        Ok(())
    }
}

impl Analysis for DoubleChecker {
    fn name(&self) -> &'static str {
        NAME
    }

    fn subscribes(&self) -> Kinds {
        let kinds = Kinds::ACCESSES.union(Kinds::REGIONS);
        if self.sync_edges {
            kinds.union(Kinds::SYNC)
        } else {
            kinds
        }
    }

    fn needs_replay(&self) -> bool {
        true
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.end = batch.first.0 + batch.events.len() as u64;
        self.icd.grow(context.tables);
        match &mut self.mode {
            Mode::PreciseOnly => {}
            Mode::SecondRun(selection) => {
                for (index, event) in batch.indexed() {
                    if selection.keeps(context.tables, event) {
                        self.icd.event(index.0, event);
                    }
                }
            }
            Mode::SingleRun | Mode::FirstRun(_) => {
                for (index, event) in batch.indexed() {
                    self.icd.event(index.0, event);
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        self.icd.finish(self.end);
        self.suspects = if matches!(self.mode, Mode::PreciseOnly) {
            everything(context.tables, self.end)
        } else {
            std::mem::take(&mut self.icd.suspects).into_stretches()
        };
        let counts = self.icd.counts;
        let stats = json!({
            "regular_transactions": counts.regular_transactions,
            "accesses_inside": counts.accesses_inside,
            "accesses_outside": counts.accesses_outside,
            "graph_edges": self.icd.graph.cross_edges,
            "sccs": self.icd.graph.components,
            "most_graph_nodes": self.icd.graph.most_nodes,
            "suspect_stretches": self.suspects.len(),
        });
        outcome.stats.insert(NAME.to_owned(), stats);
        let source = context.replay.ok_or_else(|| Error::Io {
            file: "trace".to_owned(),
            source: io::Error::new(
                io::ErrorKind::Unsupported,
                "it cannot be read a second time",
            ),
        })?;
        if let Mode::FirstRun(profile) = &self.mode {
            // Only the first trace counts if one analysis is used for several.
            let _ = profile.set(self.profile(context.tables, source)?);
            return Ok(());
        }
        self.check_precisely(context, source, outcome)
    }
}

fn everything(tables: &Tables, end: u64) -> Vec<Stretch> {
    (tables.threads.iter())
        .map(|(thread, _)| Stretch {
            thread,
            start: 0,
            end,
        })
        .collect()
}
