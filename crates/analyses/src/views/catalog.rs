//! The distinct views of each thread, `V(t)` of the paper, with what a report says about them.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

use hashbrown::{HashMap, HashSet, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use untorn_model::{LockId, Tables, ThreadId, VarId};

use super::sections::{Access, compact};
use crate::lock_sets::{LockSetId, Without};
use crate::stacks::ContextId;

/// A view of one thread under one lock, in the catalog.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeenId(u32);

impl SeenId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a view came about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    pub lock: LockId,
    /// The locks of the critical sections around it.
    pub enclosing: LockSetId,
    pub context: ContextId,
    pub seen: SeenId,
}

/// A view of one thread under one lock, with the same locks around it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    thread: ThreadId,
    lock: LockId,
    enclosing: LockSetId,
    /// Where it came about, the first few places; `known` of them.
    contexts: [ContextId; CONTEXTS],
    known: u32,
    start: usize,
    end: usize,
}

/// So many places of one view are remembered: enough to find a region around two views, and no more memory for a view that many methods generate.
const CONTEXTS: usize = 6;

/// Some locations.
pub type Vars = HashSet<VarId, FxBuildHasher>;

/// All views that occurred.
#[derive(Debug, Default)]
pub struct Catalog {
    accesses: Vec<Access>,
    seen: Vec<Seen>,
    ids: HashTable<u32>,
}

fn hash(thread: ThreadId, lock: LockId, enclosing: LockSetId, accesses: &[Access]) -> u64 {
    let mut hasher = BuildHasherDefault::<FxHasher>::default().build_hasher();
    (thread, lock, enclosing).hash(&mut hasher);
    for access in accesses {
        hasher.write_u32(access.var.0);
    }
    hasher.finish()
}

fn same_vars(a: &[Access], b: &[Access]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.var == b.var)
}

impl Catalog {
    /// Takes what a critical section accessed.
    pub fn record(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        enclosing: LockSetId,
        context: ContextId,
        accesses: &[Access],
    ) -> SeenId {
        let hashed = hash(thread, lock, enclosing, accesses);
        let (all, seen) = (&self.accesses, &self.seen);
        let known = self.ids.find(hashed, |&id| {
            let it = &seen[id as usize];
            it.thread == thread
                && it.lock == lock
                && it.enclosing == enclosing
                && same_vars(&all[it.start..it.end], accesses)
        });
        if let Some(&id) = known {
            self.seen[id as usize].came_about_in(context);
            return SeenId(id);
        }
        let start = self.accesses.len();
        self.accesses.extend_from_slice(accesses);
        let id = self.seen.len() as u32;
        self.seen.push(Seen {
            thread,
            lock,
            enclosing,
            contexts: [context; CONTEXTS],
            known: 1,
            start,
            end: self.accesses.len(),
        });
        let (all, seen) = (&self.accesses, &self.seen);
        self.ids.insert_unique(hashed, id, |&id| {
            let it = &seen[id as usize];
            hash(it.thread, it.lock, it.enclosing, &all[it.start..it.end])
        });
        SeenId(id)
    }

    /// Whether all accesses of a view, by its number, are of other locations than these.
    fn is_apart_from(&self, seen: usize, vars: &Vars) -> bool {
        let it = &self.seen[seen];
        (self.accesses[it.start..it.end].iter()).all(|access| !vars.contains(&access.var))
    }

    /// The locations of all views that have one of these, these included; `None` if there is no such view.
    pub fn around(&self, vars: &Vars) -> Option<Vars> {
        let mut around = vars.clone();
        let mut any = false;
        for (i, it) in self.seen.iter().enumerate() {
            if !self.is_apart_from(i, vars) {
                any = true;
                let accesses = &self.accesses[it.start..it.end];
                around.extend(accesses.iter().map(|access| access.var));
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
        let mut renamed = Vec::with_capacity(old.seen.len());
        for (i, it) in old.seen.iter().enumerate() {
            if !old.is_apart_from(i, gone) {
                renamed.push(None);
                continue;
            }
            let (lock, enclosing) = match &mut without {
                Some(without) => (without.lock(it.lock), without.of(it.enclosing)),
                None => (it.lock, it.enclosing),
            };
            let accesses = &old.accesses[it.start..it.end];
            let new = self.record(it.thread, lock, enclosing, it.contexts[0], accesses);
            for &context in &it.contexts[1..it.known as usize] {
                self.seen[new.index()].came_about_in(context);
            }
            renamed.push(Some(new));
        }
        renamed
    }

    /// The views restricted to some locations, sorted by thread; equal ones of a thread are one, empty ones none.
    ///
    /// Who accesses a location accesses all that share storage with it.
    /// With `among`, only those that have one of these locations.
    pub fn project(
        &self,
        tables: &Tables,
        among: Option<&Vars>,
        keep: impl Fn(VarId) -> bool,
    ) -> Vec<View> {
        let mut views: Vec<View> = Vec::new();
        let mut ids: HashMap<(ThreadId, Vec<VarId>), usize, FxBuildHasher> = HashMap::default();
        for (i, it) in self.seen.iter().enumerate() {
            if among.is_some_and(|vars| self.is_apart_from(i, vars)) {
                continue;
            }
            let mut accesses = self.accesses[it.start..it.end].to_vec();
            if tables.any_overlaps() {
                for access in &self.accesses[it.start..it.end] {
                    let others = tables.overlapping(access.var);
                    accesses.extend(others.iter().map(|&var| Access { var, ..*access }));
                }
                compact(&mut accesses);
            }
            accesses.retain(|access| keep(access.var));
            if accesses.is_empty() {
                continue;
            }
            let vars: Vec<VarId> = accesses.iter().map(|access| access.var).collect();
            let at = *ids
                .entry((it.thread, vars))
                .or_insert_with_key(|(_, vars)| {
                    views.push(View {
                        thread: it.thread,
                        vars: vars.clone(),
                        accesses,
                        origins: Vec::new(),
                    });
                    views.len() - 1
                });
            views[at].origins.extend(it.origins(SeenId(i as u32)));
        }
        views.sort_by_key(|view| view.thread);
        views
    }
}

impl Seen {
    fn came_about_in(&mut self, context: ContextId) {
        let known = self.known as usize;
        if known < CONTEXTS && !self.contexts[..known].contains(&context) {
            self.contexts[known] = context;
            self.known += 1;
        }
    }

    fn origins(&self, seen: SeenId) -> impl Iterator<Item = Origin> {
        (self.contexts[..self.known as usize].iter()).map(move |&context| Origin {
            lock: self.lock,
            enclosing: self.enclosing,
            context,
            seen,
        })
    }
}

/// A view of one thread, however often and in whatever ways it came about.
#[derive(Clone, Debug)]
pub struct View {
    pub thread: ThreadId,
    /// Sorted.
    pub vars: Vec<VarId>,
    /// With the places of its first occurrence.
    pub accesses: Vec<Access>,
    pub origins: Vec<Origin>,
}
