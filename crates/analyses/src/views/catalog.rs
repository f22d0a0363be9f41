//! The distinct views, and who generated which: `V(t)` of the paper.
//!
//! A view is kept once, whoever generated it, so that many threads that do the same cost a number each.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

use hashbrown::{HashSet, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use untorn_model::{LockId, ThreadId, VarId};

use super::sections::Access;
use crate::lock_sets::{LockSetId, Without};
use crate::stacks::ContextId;

/// A view under one lock, in the catalog.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeenId(pub u32);

impl SeenId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A view under one lock, with the same locks around it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub lock: LockId,
    /// The locks of the critical sections around it.
    pub enclosing: LockSetId,
    /// It has these locations.
    first: OccurrenceId,
}

/// Where views came about: equal for all threads that run the same code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OccurrenceId(u32);

#[derive(Clone, Copy, Debug)]
struct Occurrence {
    context: ContextId,
    start: usize,
    end: usize,
}

/// A view of a thread, and where the thread generated it first.
#[derive(Clone, Copy, Debug)]
pub struct Generated {
    pub seen: SeenId,
    at: OccurrenceId,
}

/// Some locations.
pub type Vars = HashSet<VarId, FxBuildHasher>;

/// All views that occurred.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    accesses: Vec<Access>,
    occurrences: Vec<Occurrence>,
    occurrence_ids: HashTable<u32>,
    seen: Vec<Seen>,
    ids: HashTable<u32>,
    /// By thread the views that it generated, each once.
    of_threads: Vec<Vec<Generated>>,
    known: HashSet<(ThreadId, SeenId), FxBuildHasher>,
}

fn hash(lock: LockId, enclosing: LockSetId, accesses: &[Access]) -> u64 {
    let mut hasher = BuildHasherDefault::<FxHasher>::default().build_hasher();
    (lock, enclosing).hash(&mut hasher);
    for access in accesses {
        hasher.write_u32(access.var.0);
    }
    hasher.finish()
}

fn hash_places(context: ContextId, accesses: &[Access]) -> u64 {
    let mut hasher = BuildHasherDefault::<FxHasher>::default().build_hasher();
    context.hash(&mut hasher);
    for access in accesses {
        hasher.write_u32(access.var.0);
        hasher.write_u32(access.site.0);
    }
    hasher.finish()
}

fn same_vars(a: &[Access], b: &[Access]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.var == b.var)
}

impl Catalog {
    /// Takes what a thread accessed in a critical section.
    pub fn record(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        enclosing: LockSetId,
        context: ContextId,
        accesses: &[Access],
    ) -> SeenId {
        let hashed = hash(lock, enclosing, accesses);
        let known = self.ids.find(hashed, |&id| {
            let it = &self.seen[id as usize];
            it.lock == lock && it.enclosing == enclosing && same_vars(self.accesses(it), accesses)
        });
        if let Some(&id) = known {
            let seen = SeenId(id);
            if self.is_new(thread, seen) {
                let at = self.occurrence(context, accesses);
                self.of_threads[thread.index()].push(Generated { seen, at });
            }
            return seen;
        }
        let first = self.occurrence(context, accesses);
        let id = self.seen.len() as u32;
        self.seen.push(Seen {
            lock,
            enclosing,
            first,
        });
        let (all, occurrences, seen) = (&self.accesses, &self.occurrences, &self.seen);
        self.ids.insert_unique(hashed, id, |&id| {
            let it = &seen[id as usize];
            let at = occurrences[it.first.0 as usize];
            hash(it.lock, it.enclosing, &all[at.start..at.end])
        });
        let seen = SeenId(id);
        if self.is_new(thread, seen) {
            self.of_threads[thread.index()].push(Generated { seen, at: first });
        }
        seen
    }

    fn is_new(&mut self, thread: ThreadId, seen: SeenId) -> bool {
        if self.of_threads.len() <= thread.index() {
            self.of_threads.resize(thread.index() + 1, Vec::new());
        }
        let last = self.of_threads[thread.index()].last();
        last.is_none_or(|last| last.seen != seen) && self.known.insert((thread, seen))
    }

    fn occurrence(&mut self, context: ContextId, accesses: &[Access]) -> OccurrenceId {
        let hashed = hash_places(context, accesses);
        let (all, occurrences) = (&self.accesses, &self.occurrences);
        let known = self.occurrence_ids.find(hashed, |&id| {
            let it = &occurrences[id as usize];
            it.context == context && all[it.start..it.end] == *accesses
        });
        if let Some(&id) = known {
            return OccurrenceId(id);
        }
        let start = self.accesses.len();
        self.accesses.extend_from_slice(accesses);
        let id = self.occurrences.len() as u32;
        self.occurrences.push(Occurrence {
            context,
            start,
            end: self.accesses.len(),
        });
        let (all, occurrences) = (&self.accesses, &self.occurrences);
        self.occurrence_ids.insert_unique(hashed, id, |&id| {
            let it = &occurrences[id as usize];
            hash_places(it.context, &all[it.start..it.end])
        });
        OccurrenceId(id)
    }

    /// All views, by their ids.
    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// What a view has, with the places of its first occurrence.
    pub fn accesses(&self, seen: &Seen) -> &[Access] {
        self.places(seen.first).1
    }

    fn places(&self, at: OccurrenceId) -> (ContextId, &[Access]) {
        let at = self.occurrences[at.0 as usize];
        (at.context, &self.accesses[at.start..at.end])
    }

    /// By thread the views that it generated, each once.
    pub fn of_threads(&self) -> &[Vec<Generated>] {
        &self.of_threads
    }

    /// Where a thread generated a view first, and what it accessed there.
    pub fn generated(&self, thread: ThreadId, seen: SeenId) -> Option<(ContextId, &[Access])> {
        let own = self.of_threads.get(thread.index())?;
        let it = own.iter().find(|generated| generated.seen == seen)?;
        Some(self.places(it.at))
    }

    /// Whether all accesses of a view are of other locations than these.
    pub fn is_apart_from(&self, seen: &Seen, vars: &Vars) -> bool {
        let accesses = self.accesses(seen);
        accesses.iter().all(|access| !vars.contains(&access.var))
    }

    /// The locations of all views that have one of these, these included; `None` if there is no such view.
    pub fn around(&self, vars: &Vars) -> Option<Vars> {
        let mut around = vars.clone();
        let mut any = false;
        for seen in &self.seen {
            if !self.is_apart_from(seen, vars) {
                any = true;
                around.extend(self.accesses(seen).iter().map(|access| access.var));
            }
        }
        any.then_some(around)
    }

    /// Drops the views that have a location which is gone, and renames locks that are gone; where each view is now, if it is.
    pub fn forget(
        &mut self,
        gone: &Vars,
        without: Option<&mut Without<'_>>,
    ) -> Vec<Option<SeenId>> {
        let old = std::mem::take(self);
        let mut without = without;
        // Each view that stays, under its locks from now on.
        let stays: Vec<Option<(LockId, LockSetId)>> = (old.seen.iter())
            .map(|it| {
                let stays = old.is_apart_from(it, gone);
                stays.then(|| match &mut without {
                    Some(without) => (without.lock(it.lock), without.of(it.enclosing)),
                    None => (it.lock, it.enclosing),
                })
            })
            .collect();
        let mut renamed = vec![None; old.seen.len()];
        for (thread, own) in (0..).zip(&old.of_threads) {
            for generated in own {
                if let Some((lock, enclosing)) = stays[generated.seen.index()] {
                    let (context, accesses) = old.places(generated.at);
                    let new = self.record(ThreadId(thread), lock, enclosing, context, accesses);
                    renamed[generated.seen.index()] = Some(new);
                }
            }
        }
        renamed
    }
}
