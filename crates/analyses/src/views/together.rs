//! Which views came about in one execution of a region.
//!
//! Two views tear a region only if one execution of it generated both; that two executions did so one after the other is nobody's fault.
//! An execution leaves the set of views it generated; equal sets of a region are kept once, with two of the threads that left them.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::{HashMap, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use untorn_model::ThreadId;

use super::catalog::SeenId;
use crate::stacks::ContextId;

/// So many views are remembered in all sets together; beyond, a region that only later executions show is missed, and the fields are reported instead.
const MOST: usize = 8 << 20;

/// Duplicates in an execution are removed when there are so many.
const COMPACT_AT: usize = 64;

#[derive(Clone, Debug, Default)]
struct Execution {
    views: Vec<SeenId>,
    compact_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    region: ContextId,
    threads: Threads,
    start: usize,
    end: usize,
}

/// Threads that did something: one, or two of several, so that there is one other than any given thread if there is one at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads {
    first: ThreadId,
    second: ThreadId,
}

impl Threads {
    pub const fn one(thread: ThreadId) -> Self {
        Self {
            first: thread,
            second: thread,
        }
    }

    fn add(&mut self, other: Self) {
        if self.first == self.second {
            self.second = if other.first == self.first {
                other.second
            } else {
                other.first
            };
        }
    }

    /// One of the first threads and another one of the second ones, if there are two.
    pub fn apart(all: &[ThreadId], from: Self) -> Option<(ThreadId, ThreadId)> {
        let other = |one: ThreadId| all.iter().copied().find(|&thread| thread != one);
        [from.first, from.second]
            .into_iter()
            .find_map(|one| Some((other(one)?, one)))
    }
}

/// The sets of views by region.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// By thread the executions that are open, outermost first.
    open: Vec<Vec<Execution>>,
    views: Vec<SeenId>,
    sets: Vec<Set>,
    known: HashTable<u32>,
    spare: Vec<Execution>,
}

fn hash(region: ContextId, views: &[SeenId]) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one((region, views))
}

impl Together {
    pub fn grow(&mut self, threads: usize) {
        if self.open.len() < threads {
            self.open.resize(threads, Vec::new());
        }
    }

    pub fn begin(&mut self, thread: ThreadId) {
        let execution = self.spare.pop().unwrap_or_default();
        self.open[thread.index()].push(execution);
    }

    /// A view came about in the innermost execution.
    pub fn view(&mut self, thread: ThreadId, view: SeenId) {
        if let Some(execution) = self.open[thread.index()].last_mut()
            && execution.views.last() != Some(&view)
        {
            execution.push(view);
        }
    }

    /// Ends the innermost execution, which is one of this region.
    pub fn end(&mut self, thread: ThreadId, region: ContextId) {
        let open = &mut self.open[thread.index()];
        let Some(mut execution) = open.pop() else {
            return;
        };
        execution.compact();
        if let Some(outer) = open.last_mut() {
            for &view in &execution.views {
                outer.push(view);
            }
        }
        if execution.views.len() > 1 {
            self.keep(region, &execution.views, Threads::one(thread));
        }
        execution.views.clear();
        self.spare.push(execution);
    }

    fn keep(&mut self, region: ContextId, views: &[SeenId], threads: Threads) {
        let hashed = hash(region, views);
        let (all, sets) = (&self.views, &self.sets);
        let of = |id: u32| {
            let set = &sets[id as usize];
            (set.region, &all[set.start..set.end])
        };
        if let Some(&known) = self.known.find(hashed, |&id| of(id) == (region, views)) {
            self.sets[known as usize].threads.add(threads);
            return;
        }
        if self.views.len() + views.len() > MOST {
            return;
        }
        let start = self.views.len();
        self.views.extend_from_slice(views);
        self.sets.push(Set {
            region,
            threads,
            start,
            end: self.views.len(),
        });
        let (all, sets) = (&self.views, &self.sets);
        self.known
            .insert_unique(hashed, sets.len() as u32 - 1, |&id| {
                let set = &sets[id as usize];
                hash(set.region, &all[set.start..set.end])
            });
    }

    /// Takes that views have other ids, or are forgotten.
    pub fn rename(&mut self, renamed: &[Option<SeenId>]) {
        let rename = |views: &[SeenId]| -> Vec<SeenId> {
            let mut views: Vec<SeenId> = (views.iter())
                .filter_map(|view| renamed.get(view.index()).copied().flatten())
                .collect();
            views.sort_unstable();
            views.dedup();
            views
        };
        for execution in self.open.iter_mut().flatten() {
            execution.views = rename(&execution.views);
        }
        let old = std::mem::take(&mut self.sets);
        let old_views = std::mem::take(&mut self.views);
        self.known.clear();
        for set in old {
            let views = rename(&old_views[set.start..set.end]);
            if views.len() > 1 {
                self.keep(set.region, &views, set.threads);
            }
        }
    }

    /// The sets by view, for questions at the end of the trace.
    pub fn index(&self) -> TogetherIndex<'_> {
        let mut sets_of: HashMap<SeenId, Vec<u32>, FxBuildHasher> = HashMap::default();
        for (i, set) in self.sets.iter().enumerate() {
            for &view in &self.views[set.start..set.end] {
                sets_of.entry(view).or_default().push(i as u32);
            }
        }
        TogetherIndex {
            together: self,
            sets_of,
        }
    }
}

impl Execution {
    fn push(&mut self, view: SeenId) {
        self.views.push(view);
        if self.views.len() >= self.compact_at.max(COMPACT_AT) {
            self.compact();
            self.compact_at = 2 * self.views.len();
        }
    }

    fn compact(&mut self) {
        self.views.sort_unstable();
        self.views.dedup();
    }
}

/// Answers in which regions two views came about together.
#[derive(Clone, Debug)]
pub struct TogetherIndex<'a> {
    together: &'a Together,
    sets_of: HashMap<SeenId, Vec<u32>, FxBuildHasher>,
}

impl TogetherIndex<'_> {
    /// The regions of which one execution generated both views, and by whom.
    pub fn regions(&self, a: SeenId, b: SeenId) -> impl Iterator<Item = (ContextId, Threads)> {
        let (of_a, of_b) = (self.sets(a), self.sets(b));
        // Both lists are sorted; walk through the shorter one.
        let (few, many) = if of_a.len() < of_b.len() {
            (of_a, of_b)
        } else {
            (of_b, of_a)
        };
        few.iter()
            .filter(|set| many.binary_search(set).is_ok())
            .map(|&set| {
                let set = &self.together.sets[set as usize];
                (set.region, set.threads)
            })
    }

    fn sets(&self, view: SeenId) -> &[u32] {
        self.sets_of.get(&view).map_or(&[], Vec::as_slice)
    }
}
