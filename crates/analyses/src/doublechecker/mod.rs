//! DoubleChecker: finds torn regions with a cheap imprecise analysis that picks what an exact one looks at.
//!
//! # What it finds
//! The same as aerodrome: every region that the run tears, with the events that tore it, and transactions that no serial order explains.
//! It is exact on a trace: whatever it reports as *observed* happened, every region that data alone tears is reported so, and every set of transactions that are in each other's way is reported at least once.
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
//! *Imprecise cycle detection* (`icd.rs`) follows who owns which object, and draws an edge between transactions whenever ownership changes: a superset of all dependences, at the granularity of objects.
//! *Precise cycle detection* looks only at transactions in strongly connected components of that graph, and at every conflict of theirs.
//!
//! # Where we differ from the paper
//! - A log is a list of positions in the trace (`logs.rs`), read again when needed; nothing is copied, so long transactions cost no memory.
//!   The paper logs no access twice that a transaction makes again without an edge in between (section 4): here there is no entry to spare, and in a run the program itself leaves such accesses out.
//! - Components are searched for whenever the graph has doubled, and at the end, instead of at the end of each transaction (`graph.rs`).
//!   A transaction takes part as soon as it runs, none is dropped before it was searched, and a component that grows keeps what it has: so every component is found, in time linear in the edges.
//! - The precise analysis runs once, over all transactions in components together, when the trace has ended.
//!   A cycle lies within one component, so looking at several at once neither adds nor loses any; and no transaction is replayed twice however often its component grew.
//!   All in all that is one pass for the imprecise analysis and at most one for the precise one.
//! - Edges are drawn from fewer transactions: an object remembers when it was last accessed, a shared one by which threads, and each thread counts the objects it made shared (`icd.rs`, `ownership.rs`).
//!   A running program could not afford that; in a trace it costs a store, and spares the precise analysis most of what only ran at the same time.
//! - The precise analysis is our aerodrome, where the paper's is Velodrome on the logged accesses.
//!   Velodrome adds no edge that closes a cycle, so where an order of locks closes one first, it may never come to the transaction next to it that the data tear; and it is content with one torn region of several in each other.
//! - While a program runs with this analysis alone, the program's own order takes the place of ownership (`dependences.rs`): only transactions in components are decoded at all, and seen by the precise analysis when the run has ended.
//!   What may lie on a cycle is kept on disk if it is much; beyond a limit transactions are left out, and the report says how many.
//!
//! # Modes
//! *Single-run* does both.
//! *First-run* does the imprecise part and yields a [`Profile`]: the static regions in components, and whether events outside of regions were in any.
//! *Second-run* looks only at what one or more profiles name (the analysis inside of [`Selected`]); over the trace that made the profile it finds what single-run finds, over another run it may miss what was in no component before.
//! A first run inside of a program tells of a conflict's source no more than that it lies between two transactions of its thread, so its profile holds the regions of all in between (`first.rs`).
//! For comparison: a second run that always looks at events outside of regions, velodrome as the second run (in [`Selected`] likewise), and the precise part alone.
//!
//! # Limits
//! It sees one order of events: a region that could be torn in another order is not reported.
//! With synchronization edges a region can be reported that is torn by the order of its locks alone; that is *suspected*, never *observed*.

mod dependences;
mod first;
mod graph;
mod icd;
mod logs;
mod ownership;
mod profile;
mod scc;
mod selection;

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use untorn_model::{EventIndex, Kinds, Op, Tables, ThreadId};
use untorn_trace::{Batch, Error};

pub use dependences::Dependences;
pub use first::{FirstRun, Suspicious};
pub use profile::{Profile, ProfileError, StaticRegion};
pub use selection::{Selected, Selection};

use crate::aerodrome::{self, Aerodrome};
use crate::{Analysis, Context, Outcome};
use graph::{Limits, Stretch};
use icd::Icd;
use logs::{Excerpt, Logs};

/// The name on the command line and in findings.
const NAME: &str = "doublechecker";
/// Counts of the imprecise analysis alone.
const IMPRECISE: [&str; 4] = [
    "graph_edges",
    "sccs",
    "most_graph_nodes",
    "suspect_stretches",
];

/// Which of the two analyses run, and on what.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// Both; a second run too, inside of [`Selected`].
    #[default]
    SingleRun,
    /// The imprecise analysis alone; the profile is put here when the trace has ended.
    FirstRun(Arc<OnceLock<Profile>>),
    /// The precise analysis alone, on everything: also where [`Dependences`] chose what there is.
    PreciseOnly,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether synchronization orders transactions, as data conflicts do.
    pub sync_edges: bool,
    pub mode: Mode,
    /// How many executions of a region are examined for evidence.
    pub examined: u32,
    /// How many transactions and stretches are kept before some are dropped or joined; the default is right but for tests.
    pub keep: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync_edges: true,
            mode: Mode::SingleRun,
            examined: aerodrome::Options::default().examined,
            keep: None,
        }
    }
}

/// The analysis; see the [module](self).
#[derive(Clone, Debug)]
pub struct DoubleChecker {
    mode: Mode,
    precise: aerodrome::Options,
    /// The precise analysis, where it sees everything.
    online: Option<Aerodrome>,
    icd: Icd<Logs>,
    /// How many events there were, also those that were not looked at.
    end: u64,
    /// Whether ids were used again.
    reused: bool,
    suspects: Vec<Stretch>,
}

impl DoubleChecker {
    pub fn new(options: Options) -> Self {
        let limits = options.keep.map_or_else(Limits::default, |keep| Limits {
            collect: keep,
            condense: keep,
        });
        let logs = options.keep.map_or_else(Logs::default, Logs::with_limit);
        let precise = aerodrome::Options {
            sync_edges: options.sync_edges,
            examined: options.examined,
            ..aerodrome::Options::default()
        };
        Self {
            online: matches!(options.mode, Mode::PreciseOnly)
                .then(|| Aerodrome::new(precise.clone())),
            mode: options.mode,
            precise,
            icd: Icd::new(options.sync_edges, limits, logs),
            end: 0,
            reused: false,
            suspects: Vec::new(),
        }
    }

    /// What was passed to the precise analysis: stretches of single threads, known when the trace has ended.
    pub fn suspects(&self) -> impl Iterator<Item = (ThreadId, Range<EventIndex>)> {
        (self.suspects.iter()).map(|s| (s.thread, EventIndex(s.start)..EventIndex(s.end)))
    }

    /// Which static regions are in the suspected stretches.
    fn profile(tables: &Tables, excerpt: &Excerpt<'_>) -> Result<Profile, Error> {
        let mut profile = Profile::default();
        let mut depths = vec![0u32; tables.threads.len()];
        let mut known = vec![false; tables.regions.len()];
        excerpt.read(|batch| {
            for event in batch.events {
                let depth = &mut depths[event.thread.index()];
                match event.op {
                    Op::Begin(region) => {
                        *depth += 1;
                        if *depth > 1 {
                            continue;
                        }
                        let is_known = known.get_mut(region.index());
                        if is_known.is_none_or(|known| !std::mem::replace(known, true)) {
                            let (thread, site) = (event.thread, event.site);
                            profile.add(StaticRegion::of(tables, region, thread, site));
                        }
                    }
                    Op::End(_) => *depth = depth.saturating_sub(1),
                    Op::Enter(_) | Op::Exit(_) | Op::GoneObject(_) | Op::GoneLock(_) => {}
                    _ if *depth == 0 => profile.add_unary(),
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok(profile)
    }

    /// Reports what the precise analysis found, as its own.
    fn report(
        mut precise: Aerodrome,
        is_alone: bool,
        context: &Context<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let mut found = Outcome::default();
        precise.finish(context, &mut found)?;
        let stats = (outcome.stats.get_mut(NAME).and_then(Value::as_object_mut))
            .zip(found.stats.get_mut(precise.name()));
        if let Some((stats, precise)) = stats {
            let first = precise["first_violation"].take();
            stats.insert("first_violation".to_owned(), first);
            if is_alone {
                // Nothing was counted before, and there is no graph of dependences.
                for (name, of_precise) in [
                    ("regular_transactions", "transactions"),
                    ("accesses_inside", "accesses_inside"),
                    ("accesses_outside", "accesses_outside"),
                ] {
                    stats.insert(name.to_owned(), precise[of_precise].take());
                }
                stats.retain(|name, _| !IMPRECISE.contains(&name.as_str()));
            }
        }
        for mut finding in found.findings {
            finding.analyses = vec![NAME.to_owned()];
            for interleaving in &mut finding.evidence.interleavings {
                NAME.clone_into(&mut interleaving.analysis);
            }
            outcome.findings.push(finding);
        }
        Ok(())
    }

    fn check_precisely(
        &self,
        context: &Context<'_>,
        excerpt: &Excerpt<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        // Also when it looks for evidence it is to see nothing but the suspects, or it would misjudge where transactions begin.
        let context = &Context {
            replay: Some(excerpt),
            ..*context
        };
        let mut precise = Aerodrome::new(self.precise.clone());
        excerpt.read(|batch| precise.batch(batch, context))?;
        Self::report(precise, false, context, outcome)
    }
}

impl Analysis for DoubleChecker {
    fn name(&self) -> &'static str {
        NAME
    }

    fn subscribes(&self) -> Kinds {
        let kinds = Kinds::ACCESSES.union(Kinds::REGIONS);
        if self.precise.sync_edges {
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
        if let Some(precise) = &mut self.online {
            return precise.batch(batch, context);
        }
        self.icd.grow(context.tables);
        for part in batch.parts() {
            if part.is_gone() {
                self.icd.forget_gone(part.events);
                continue;
            }
            for (index, event) in part.indexed() {
                self.icd.event(index.0, event);
            }
        }
        self.reused |= batch.kinds.intersects(Kinds::GONE);
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        // The profile of a first run is made once, at the end.
        let many = !matches!(self.mode, Mode::FirstRun(_));
        many.then(|| Box::new(self.clone()) as Box<dyn Analysis>)
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
        if let Some(precise) = self.online.take() {
            return Self::report(precise, true, context, outcome);
        }
        let source = context.replay.ok_or_else(|| Error::Io {
            file: "trace".to_owned(),
            source: io::Error::new(
                io::ErrorKind::Unsupported,
                "it cannot be read a second time",
            ),
        })?;
        let excerpt = Excerpt {
            stretches: &self.suspects,
            source,
            reused: self.reused,
        };
        if let Mode::FirstRun(profile) = &self.mode {
            // Only the first trace counts if one analysis is used for several.
            let _ = profile.set(Self::profile(context.tables, &excerpt)?);
            return Ok(());
        }
        self.check_precisely(context, &excerpt, outcome)
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
