//! # lockset
//!
//! Finds fields that no lock protects in all accesses: races.
//!
//! *Paper.* Eraser as the Atomizer paper refines it (000, sections 4.1 and 4.4).
//! A field that only one thread uses, that is handed to a second thread and then used by that one only, or that is only read once it is shared, needs no lock.
//! From the write on that makes it shared and modified, two sets are narrowed: the locks held at every access, and the locks held at every write.
//! When the first is empty the field races; when the second is not, only reads are unprotected, and the race is a *benign candidate*.
//!
//! *Why it matters.* A race is not yet a torn operation, but a torn operation on unlocked data begins with one.
//!
//! ```text
//! T1|w(x)   T2|w(x)   T1|acq(m)  T1|w(x)  T1|rel(m)   T2|r(x)      x races: T2 reads without m
//! ```
//!
//! *Where we differ.* A lock held shared protects reads, not writes.
//! An update counts as a write.
//! A field whose accesses are all volatile is not reported: it is synchronization and no data race, though its accesses still cannot be moved (see [`atomizer`](crate::atomizer)).
//! Races are reported once per field of a class.
//!
//! *Guarantee.* May miss: a race in the first hand-over of a field, and one whose unprotected access did not occur.
//! May over-report: accesses ordered by fork, join, signals or a queue look unprotected.

mod sharing;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Value, json};
use untorn_findings::{Evidence, Finding, Kind, Race, Verdict};
use untorn_model::{Event, Kinds, Tables};
use untorn_trace::{Batch, Error};

use crate::assumptions::{Assumptions, Resolved};
use crate::locks_held::LocksHeld;
use crate::permits::Permits;
use crate::symbols::Symbol;
use crate::{Analysis, Context, Describe, Outcome};

pub use sharing::{Kept, Protection, Raced, Sharing};

/// What to take for granted; only `guarded` and `no_warn` matter here.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub assumptions: Assumptions,
}

/// The lockset analysis.
#[derive(Clone, Debug)]
pub struct Lockset {
    locks: LocksHeld,
    permits: Permits,
    sharing: Sharing,
    assumed: Resolved,
    races: BTreeMap<Symbol, Races>,
}

/// The races on one field.
#[derive(Clone, Debug)]
struct Races {
    /// A harmful instance if there is one: it explains more than a benign one.
    shown: Raced,
    instances: u64,
}

impl Lockset {
    pub fn new(options: Options) -> Self {
        Self {
            locks: LocksHeld::default(),
            permits: Permits::default(),
            sharing: Sharing::new(false, true),
            assumed: Resolved::new(options.assumptions),
            races: BTreeMap::new(),
        }
    }

    /// Forgets what is gone; races are kept.
    fn forget(&mut self, gone: &[Event], tables: &Tables) {
        let (races, assumed) = (&mut self.races, &self.assumed);
        (self.sharing).forget_gone(gone, tables, |raced| note(races, assumed, tables, raced));
        self.permits.forget_gone(gone, &mut self.locks);
        self.locks.forget_gone(gone);
        if let Some(mut without) = self.locks.sets.without(gone) {
            self.sharing.rename(&mut without);
        }
    }

    fn finding(tables: &Tables, symbol: Symbol, races: &Races) -> Finding {
        let benign = races.shown.benign;
        let name = symbol.name(tables);
        let message = if benign {
            format!("{name} is written under a lock and read without it")
        } else {
            format!("no lock protects all accesses of {name}")
        };
        let describe = Describe::without_lines(tables);
        let accesses = (races.shown.kept.iter().zip(1..))
            .map(|(kept, n)| describe.step(n, kept.index, &kept.event))
            .collect();
        let race = Race {
            variable: tables.var_name(races.shown.var),
            benign_candidate: benign,
            accesses,
        };
        let evidence = Evidence {
            races: vec![race],
            ..Evidence::default()
        };
        let region = symbol.region(tables);
        let mut finding = Finding::new(
            "lockset",
            Kind::Race,
            Verdict::Suspected,
            region,
            message,
            evidence,
        );
        finding.occurrences = races.instances;
        finding
    }
}

/// Counts a race with those on the same field, unless a lock is taken for granted.
fn note(races: &mut BTreeMap<Symbol, Races>, assumed: &Resolved, tables: &Tables, raced: Raced) {
    if assumed.is_guarded(raced.var) {
        return;
    }
    match races.entry(Symbol::of(tables, raced.var)) {
        Entry::Vacant(entry) => {
            entry.insert(Races {
                shown: raced,
                instances: 1,
            });
        }
        Entry::Occupied(mut entry) => {
            let known = entry.get_mut();
            known.instances += 1;
            if known.shown.benign && !raced.benign {
                known.shown = raced;
            }
        }
    }
}

/// The counts that lockset and atomizer share.
pub(crate) fn counts(locks: &LocksHeld, sharing: &Sharing) -> serde_json::Map<String, Value> {
    let mut counts = serde_json::Map::new();
    counts.insert("locks".to_owned(), locks.locks_used().into());
    counts.insert("most_locks_held".to_owned(), locks.most_held().into());
    counts.insert("lockset_pairs".to_owned(), sharing.pairs().into());
    counts
}

impl Analysis for Lockset {
    fn name(&self) -> &'static str {
        "lockset"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ACCESSES.union(Kinds::LOCKS).union(Kinds::SIGNALS)
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        let tables = context.tables;
        self.locks.grow(tables.threads.len(), tables.locks.len());
        self.sharing.grow(tables);
        self.assumed.grow(tables);
        for part in batch.parts() {
            if part.is_gone() {
                self.forget(part.events, tables);
                continue;
            }
            for (index, event) in part.indexed() {
                if let Some((var, _)) = event.op.access() {
                    if self.assumed.is_silenced(event.site) {
                        continue;
                    }
                    let held = self.locks.held(event.thread);
                    let sets = &mut self.locks.sets;
                    (self.sharing).access(tables, sets, held, index, event, var);
                } else if let Some(op) = self.permits.lock_op(event, tables) {
                    self.locks.apply(event.thread, op);
                }
            }
        }
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let tables = context.tables;
        for raced in self.sharing.take_racy() {
            note(&mut self.races, &self.assumed, tables, raced);
        }
        let (mut racy, mut benign) = (Vec::new(), Vec::new());
        for (symbol, races) in &self.races {
            // The shown one is benign only if all are.
            let list = if races.shown.benign {
                &mut benign
            } else {
                &mut racy
            };
            list.push(symbol.name(tables));
            (outcome.findings).push(Self::finding(tables, *symbol, races));
        }
        let mut stats = counts(&self.locks, &self.sharing);
        stats.insert("racy_fields".to_owned(), json!(racy));
        stats.insert("benign_candidates".to_owned(), json!(benign));
        outcome.stats.insert(self.name().to_owned(), stats.into());
        Ok(())
    }
}
