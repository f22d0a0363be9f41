//! Maximal views, overlaps and the chain property (paper 001, section 3.2).

use std::hash::Hash;
use std::ops::AddAssign;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use untorn_model::{LockId, ThreadId, VarId};

use super::catalog::{Origin, View};
use super::together::TogetherIndex;
use crate::lock_sets::LockSets;
use crate::stacks::{ContextId, Stacks};

/// Two views of one thread that diverge against a maximal view of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Indices of the views.
    pub maximal: usize,
    pub diverging: [usize; 2],
    /// How the diverging views came about, and the innermost region of which one execution generated both.
    pub origins: [Origin; 2],
    pub region: ContextId,
    /// What the diverging views have in common with the maximal one.
    pub fields: Vec<VarId>,
}

/// How many views there are, and how they get along.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub views: usize,
    pub maximal: usize,
    /// For how many maximal views and other threads the chain property fails.
    pub incompatible: usize,
    /// How many maximal views were not compared, since enough work was done.
    pub left_out: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.views += more.views;
        self.maximal += more.maximal;
        self.incompatible += more.incompatible;
        self.left_out += more.left_out;
    }
}

/// Up to so many distinct overlaps all pairs are looked at, beyond only neighbours in size, which keeps the cost in bounds and never loses the verdict.
const ALL_PAIRS: usize = 64;

/// Up to so many ways in which a view came about are tried for a common region.
const ORIGINS: usize = 8;

/// All that is compared, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    pub views: &'a [View],
    pub sets: &'a LockSets,
    pub stacks: &'a Stacks,
    pub together: &'a TogetherIndex<'a>,
    pub most_work: u64,
}

/// Compares all views, which are sorted by thread, and hands over the conflicts; `sort` tells what stands for a set of fields across instances.
///
/// At least one conflict for each maximal view and thread that are incompatible; all of those that have a region around them, up to [`ALL_PAIRS`].
pub fn compare<S: Hash + Eq>(
    compared: Compared<'_>,
    sort: impl Fn(&[VarId]) -> S,
    conflict: &mut dyn FnMut(Conflict),
) -> Counts {
    let Compared {
        views,
        sets,
        stacks,
        together,
        most_work,
    } = compared;
    debug_assert!(views.is_sorted_by_key(|view| view.thread));
    let mut containing: HashMap<VarId, Vec<usize>, FxBuildHasher> = HashMap::default();
    for (i, view) in views.iter().enumerate() {
        for &var in &view.vars {
            containing.entry(var).or_default().push(i);
        }
    }
    let mut check = Check {
        work: 0,
        signatures: views.iter().map(|view| signature(&view.vars)).collect(),
        views,
        sets,
        stacks,
        together,
        containing,
        overlaps: vec![Vec::new(); views.len()],
        counts: Counts::default(),
        conflict,
    };
    let maximal: Vec<usize> = (0..views.len()).filter(|&i| check.is_maximal(i)).collect();
    check.counts.views = views.len();
    check.counts.maximal = maximal.len();
    // One of each sort first, so that what is left out is most likely more of the same.
    let mut sorts = HashSet::with_hasher(FxBuildHasher);
    let (first, rest): (Vec<usize>, Vec<usize>) =
        (maximal.into_iter()).partition(|&i| sorts.insert((views[i].thread, sort(&views[i].vars))));
    for i in first.into_iter().chain(rest) {
        if check.work < most_work {
            check.against(i);
        } else {
            check.counts.left_out += 1;
        }
    }
    check.counts
}

/// A bit for each field; of a subset they are a subset.
fn signature(vars: &[VarId]) -> u64 {
    (vars.iter()).fold(0, |bits, var| {
        bits | 1 << (var.0.wrapping_mul(0x9E37_79B9) >> 26)
    })
}

struct Check<'a> {
    views: &'a [View],
    sets: &'a LockSets,
    stacks: &'a Stacks,
    together: &'a TogetherIndex<'a>,
    /// The views that have a field, sorted.
    containing: HashMap<VarId, Vec<usize>, FxBuildHasher>,
    signatures: Vec<u64>,
    work: u64,
    /// By view what it has in common with the maximal view looked at; empty in between.
    overlaps: Vec<Vec<VarId>>,
    counts: Counts,
    conflict: &'a mut dyn FnMut(Conflict),
}

/// Views with the same overlap.
struct Overlap {
    fields: Vec<VarId>,
    views: Vec<usize>,
}

fn is_subset(a: &[VarId], b: &[VarId]) -> bool {
    if a.len() > b.len() {
        return false;
    }
    let mut rest = b.iter();
    a.iter().all(|var| rest.any(|other| other == var))
}

impl Check<'_> {
    fn is_maximal(&self, i: usize) -> bool {
        let view = &self.views[i];
        // Whoever contains the view contains its rarest field.
        let candidates = (view.vars.iter())
            .map(|&var| self.of_thread(var, view.thread).1)
            .min_by_key(|views| views.len());
        !candidates.into_iter().flatten().any(|&j| {
            let other = &self.views[j];
            self.signatures[i] & !self.signatures[j] == 0
                && other.vars.len() > view.vars.len()
                && is_subset(&view.vars, &other.vars)
        })
    }

    /// The views that have a field: of the threads before one, its own, and of those after it.
    fn of_thread(&self, var: VarId, thread: ThreadId) -> (&[usize], &[usize], &[usize]) {
        let all = self.containing.get(&var).map_or(&[][..], Vec::as_slice);
        let start = all.partition_point(|&i| self.views[i].thread < thread);
        let (before, rest) = all.split_at(start);
        let own = rest.partition_point(|&i| self.views[i].thread == thread);
        let (own, after) = rest.split_at(own);
        (before, own, after)
    }

    /// Compares the views of all other threads with a maximal view.
    fn against(&mut self, maximal: usize) {
        let view = &self.views[maximal];
        let mut locks: Vec<LockId> = view.origins.iter().map(|origin| origin.lock).collect();
        locks.sort_unstable();
        locks.dedup();
        let mut met = Vec::new();
        let mut overlaps = std::mem::take(&mut self.overlaps);
        for &var in &view.vars {
            let (before, _, after) = self.of_thread(var, view.thread);
            for &i in before.iter().chain(after) {
                if overlaps[i].is_empty() {
                    met.push(i);
                }
                overlaps[i].push(var);
            }
        }
        self.overlaps = overlaps;
        self.work += met.len() as u64;
        let mut by_thread: HashMap<ThreadId, Vec<usize>, FxBuildHasher> = HashMap::default();
        let mut threads = Vec::new();
        for &i in &met {
            if self.counts(i, &locks).next().is_some() {
                let thread = self.views[i].thread;
                (by_thread.entry(thread))
                    .or_insert_with(|| {
                        threads.push(thread);
                        Vec::new()
                    })
                    .push(i);
            }
        }
        threads.sort_unstable();
        for thread in threads {
            self.chain(maximal, &by_thread[&thread], &locks);
        }
        for i in met {
            self.overlaps[i].clear();
        }
    }

    /// The ways in which a view came about that count against a maximal view under these locks.
    ///
    /// Within a section on one of the locks the view of that section counts instead.
    fn counts<'b>(&'b self, view: usize, locks: &'b [LockId]) -> impl Iterator<Item = &'b Origin> {
        self.views[view].origins.iter().filter(move |origin| {
            let own = locks.binary_search(&origin.lock).is_ok();
            let enclosing = self.sets.locks(origin.enclosing);
            own || !enclosing
                .iter()
                .any(|lock| locks.binary_search(lock).is_ok())
        })
    }

    /// The chain property of one thread's overlaps.
    fn chain(&mut self, maximal: usize, views: &[usize], locks: &[LockId]) {
        let mut overlaps: Vec<Overlap> = Vec::new();
        let mut order: Vec<usize> = views.to_vec();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.overlaps[a], &self.overlaps[b]);
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        });
        for i in order {
            match overlaps.last_mut() {
                Some(last) if last.fields == self.overlaps[i] => last.views.push(i),
                _ => overlaps.push(Overlap {
                    fields: self.overlaps[i].clone(),
                    views: vec![i],
                }),
            }
        }
        // In the order of size a chain is one in which each contains its neighbour.
        let holds = (overlaps.windows(2)).all(|pair| is_subset(&pair[0].fields, &pair[1].fields));
        if holds {
            return;
        }
        self.counts.incompatible += 1;
        // Without a region around them the smallest are enough.
        let mut bare = false;
        for (i, a) in overlaps.iter().enumerate() {
            let others = if overlaps.len() <= ALL_PAIRS {
                &overlaps[i + 1..]
            } else {
                overlaps.get(i + 1..i + 2).unwrap_or(&[])
            };
            for b in others {
                if is_subset(&a.fields, &b.fields) {
                    continue;
                }
                self.work += (ORIGINS * ORIGINS) as u64;
                let Some(conflict) = self.diverge(maximal, a, b, locks) else {
                    continue;
                };
                let outside = conflict.region == ContextId::ROOT;
                if !outside || !bare {
                    bare |= outside;
                    (self.conflict)(conflict);
                }
            }
        }
    }

    /// Two overlaps that diverge, by the views that have the deepest region around them.
    fn diverge(
        &self,
        maximal: usize,
        a: &Overlap,
        b: &Overlap,
        locks: &[LockId],
    ) -> Option<Conflict> {
        let ways = |overlap: &Overlap| -> Vec<(usize, Origin)> {
            (overlap.views.iter())
                .flat_map(|&view| self.counts(view, locks).map(move |origin| (view, *origin)))
                .take(ORIGINS)
                .collect()
        };
        let mut best: Option<(u32, _, _, _)> = None;
        let (left, right) = (ways(a), ways(b));
        for left in left {
            for &other in &right {
                let region = self.region(left.1, other.1);
                let depth = self.stacks.depth(region);
                if best.is_none_or(|(known, ..)| depth > known) {
                    best = Some((depth, region, left, other));
                }
            }
        }
        let (_, region, left, right) = best?;
        let mut fields: Vec<VarId> = a.fields.iter().chain(&b.fields).copied().collect();
        fields.sort_unstable();
        fields.dedup();
        Some(Conflict {
            maximal,
            diverging: [left.0, right.0],
            origins: [left.1, right.1],
            region,
            fields,
        })
    }

    /// The innermost region of which one execution generated both views; the root if there is none.
    fn region(&self, a: Origin, b: Origin) -> ContextId {
        (self.together.regions(a.seen, b.seen))
            .max_by_key(|&region| self.stacks.depth(region))
            .unwrap_or(ContextId::ROOT)
    }
}
