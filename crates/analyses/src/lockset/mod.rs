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

use serde_json::{Value, json};
use untorn_findings::{Evidence, Finding, Kind, Race, Verdict};
use untorn_model::{Kinds, Tables, VarId};
use untorn_trace::{Batch, Error};

use crate::assumptions::{Assumptions, Resolved};
use crate::locks_held::{LockOp, LocksHeld};
use crate::symbols::Symbol;
use crate::{Analysis, Context, Describe, Outcome};

pub use sharing::{Kept, Protection, Sharing};

/// What to take for granted; only `guarded` and `no_warn` matter here.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub assumptions: Assumptions,
}

/// The lockset analysis.
#[derive(Debug)]
pub struct Lockset {
    locks: LocksHeld,
    sharing: Sharing,
    assumed: Resolved,
}

impl Lockset {
    pub fn new(options: Options) -> Self {
        Self {
            locks: LocksHeld::default(),
            sharing: Sharing::new(false, true),
            assumed: Resolved::new(options.assumptions),
        }
    }

    fn races(&self, tables: &Tables) -> BTreeMap<Symbol, Vec<VarId>> {
        let mut races: BTreeMap<Symbol, Vec<VarId>> = BTreeMap::new();
        for (var, _) in self.sharing.racy() {
            if !self.assumed.is_guarded(var) {
                races.entry(Symbol::of(tables, var)).or_default().push(var);
            }
        }
        races
    }

    fn is_benign(&self, var: VarId) -> bool {
        (self.sharing.sets_of(var)).is_some_and(|(_, write)| !write.is_empty())
    }

    fn finding(&self, tables: &Tables, symbol: Symbol, vars: &[VarId]) -> Finding {
        // A harmful instance explains more than a benign one.
        let shown = vars.iter().copied().find(|&var| !self.is_benign(var));
        let shown = shown.unwrap_or(vars[0]);
        let benign = self.is_benign(shown);
        let name = symbol.name(tables);
        let message = if benign {
            format!("{name} is written under a lock and read without it")
        } else {
            format!("no lock protects all accesses of {name}")
        };
        let describe = Describe::without_lines(tables);
        let accesses = (self.sharing.kept(shown).iter().zip(1..))
            .map(|(kept, n)| describe.step(n, kept.index, &kept.event))
            .collect();
        let race = Race {
            variable: tables.var_name(shown),
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
        finding.occurrences = vars.len() as u64;
        finding
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
        Kinds::ACCESSES.union(Kinds::LOCKS)
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        let tables = context.tables;
        self.locks.grow(tables.threads.len(), tables.locks.len());
        self.sharing.grow(tables);
        self.assumed.grow(tables);
        for (index, event) in batch.indexed() {
            if let Some((var, _)) = event.op.access() {
                if self.assumed.is_silenced(event.site) {
                    continue;
                }
                let held = self.locks.held(event.thread);
                let sets = &mut self.locks.sets;
                (self.sharing).access(tables, sets, held, index, event, var);
            } else if let Some(op) = LockOp::of(event.op) {
                self.locks.apply(event.thread, op);
            }
        }
        Ok(())
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let tables = context.tables;
        let races = self.races(tables);
        let (mut racy, mut benign) = (Vec::new(), Vec::new());
        for (symbol, vars) in &races {
            let all_benign = vars.iter().all(|&var| self.is_benign(var));
            let list = if all_benign { &mut benign } else { &mut racy };
            list.push(symbol.name(tables));
            (outcome.findings).push(self.finding(tables, *symbol, vars));
        }
        let mut stats = counts(&self.locks, &self.sharing);
        stats.insert("racy_fields".to_owned(), json!(racy));
        stats.insert("benign_candidates".to_owned(), json!(benign));
        outcome.stats.insert(self.name().to_owned(), stats.into());
        Ok(())
    }
}
