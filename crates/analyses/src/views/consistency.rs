//! Maximal views, overlaps and the chain property (paper 001, section 3.2).
//!
//! *Work.*
//! A maximal view is compared once for all threads that have it, and with the views of each group of threads once ([`super::projection`]).
//! Two views diverge only if each has a field of the maximal one that the other does not have: so of a group it is asked only if it has two fields of the maximal view, and a view of a single field is compared with nothing.

use std::hash::Hash;
use std::ops::AddAssign;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use untorn_model::{LockId, ThreadId, VarId};

use super::catalog::SeenId;
use super::overlaps::Overlaps;
use super::projection::{Projection, Way};
use super::rest;
use super::together::{Threads, TogetherIndex};
use crate::lock_sets::LockSets;
use crate::stacks::{ContextId, Stacks};

/// Two views of one thread that diverge against a maximal view of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Indices of the views.
    pub maximal: usize,
    pub diverging: [usize; 2],
    /// Who has the maximal view, and whose views diverge.
    pub threads: [ThreadId; 2],
    /// For how many pairs of threads it is the same.
    pub times: u64,
    /// The diverging views in the catalog, and the innermost region of which one execution generated both.
    pub seen: [SeenId; 2],
    pub region: ContextId,
    /// What the diverging views have in common with the maximal one.
    pub fields: Vec<VarId>,
}

/// How many views there are, and how they get along; those of different threads are different ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub views: u64,
    pub maximal: u64,
    /// For how many maximal views and other threads the chain property fails.
    pub incompatible: u64,
    /// How many maximal views were not compared at all, since enough work was done.
    pub left_out: u64,
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
    pub projection: &'a Projection<'a>,
    pub sets: &'a LockSets,
    pub stacks: &'a Stacks,
    pub together: &'a TogetherIndex<'a>,
    /// How many steps are taken with one maximal view after the other, and then with all that are left.
    pub most_work: u64,
    pub most_work_together: u64,
}

/// Compares all views, and hands over the conflicts; `sort` tells what stands for a set of fields across instances.
///
/// At least one conflict for each maximal view and thread that are incompatible, those of threads with the same views together; all of those that have a region around them, up to [`ALL_PAIRS`].
pub fn compare<S: Hash + Eq>(
    compared: Compared<'_>,
    sort: impl Fn(&[VarId]) -> S,
    conflict: &mut dyn FnMut(Conflict),
) -> Counts {
    let projection = compared.projection;
    let views = 0..projection.views.len();
    let mut containing: HashMap<VarId, Vec<usize>, FxBuildHasher> = HashMap::default();
    for view in views.clone() {
        for &var in projection.vars(view) {
            containing.entry(var).or_default().push(view);
        }
    }
    let mut check = Check {
        compared,
        projection,
        signatures: (views.clone())
            .map(|view| signature(projection.vars(view)))
            .collect(),
        containing,
        overlaps: Overlaps::new(projection.views.len()),
        work: 0,
        counts: Counts::default(),
        conflict,
    };
    check.counts.views = (views.clone())
        .map(|view| projection.threads(view).len() as u64)
        .sum();
    let maximal = check.maximal_views();
    // Comparing may take as long as this did.
    check.work = 0;
    check.counts.maximal = maximal.iter().map(|one| one.owners.len() as u64).sum();
    let all = by_turns(maximal, |one| sort(projection.vars(one.view)));
    for (at, one) in all.iter().enumerate() {
        if check.work >= compared.most_work {
            rest::compare(&mut check, &all[at..]);
            break;
        }
        check.against(one);
    }
    check.counts
}

/// One of each sort, then another one of each, and so on: what is left out in the end is most likely more of the same.
fn by_turns<S: Hash + Eq>(all: Vec<Maximal>, sort: impl Fn(&Maximal) -> S) -> Vec<Maximal> {
    let mut known: HashMap<S, u32, FxBuildHasher> = HashMap::default();
    let mut turns: Vec<(u32, Maximal)> = (all.into_iter())
        .map(|one| {
            let turn = known.entry(sort(&one)).or_insert(0);
            *turn += 1;
            (*turn, one)
        })
        .collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, one)| one).collect()
}

/// A maximal view, for all threads that have it under the same locks.
#[derive(Clone, Debug)]
pub(super) struct Maximal {
    /// That of the first group.
    pub view: usize,
    /// Sorted.
    pub locks: Vec<LockId>,
    groups: HashSet<u32, FxBuildHasher>,
    pub owners: Vec<ThreadId>,
}

/// A bit for each field; of a subset they are a subset.
fn signature(vars: &[VarId]) -> u64 {
    (vars.iter()).fold(0, |bits, var| {
        bits | 1 << (var.0.wrapping_mul(0x9E37_79B9) >> 26)
    })
}

pub(super) struct Check<'a> {
    pub compared: Compared<'a>,
    pub projection: &'a Projection<'a>,
    /// The views that have a field, sorted, and so by group.
    containing: HashMap<VarId, Vec<usize>, FxBuildHasher>,
    signatures: Vec<u64>,
    pub work: u64,
    /// What views have in common with the maximal view looked at; nothing in between.
    overlaps: Overlaps,
    pub counts: Counts,
    pub conflict: &'a mut dyn FnMut(Conflict),
}

/// Views with the same overlap.
pub(super) struct Overlap {
    pub fields: Vec<VarId>,
    pub views: Vec<usize>,
}

/// A view of a group whose overlap is a node of [`Overlaps`].
#[derive(Clone, Copy)]
struct Met {
    group: u32,
    overlap: u32,
    view: usize,
}

fn is_subset(a: &[VarId], b: &[VarId]) -> bool {
    if a.len() > b.len() {
        return false;
    }
    let mut rest = b.iter();
    a.iter().all(|var| rest.any(|other| other == var))
}

impl<'a> Check<'a> {
    fn group(&self, view: usize) -> u32 {
        self.projection.views[view].group
    }

    /// The maximal views of all groups, equal ones under the same locks together.
    fn maximal_views(&mut self) -> Vec<Maximal> {
        let mut all: Vec<Maximal> = Vec::new();
        let mut known: HashMap<(u32, Vec<LockId>), usize, FxBuildHasher> = HashMap::default();
        for view in 0..self.projection.views.len() {
            if !self.is_maximal(view) {
                continue;
            }
            let mut locks: Vec<LockId> = self.projection.ways(view).map(|way| way.lock).collect();
            locks.sort_unstable();
            locks.dedup();
            let fields = self.projection.views[view].fields;
            let at = *known
                .entry((fields, locks))
                .or_insert_with_key(|(_, locks)| {
                    all.push(Maximal {
                        view,
                        locks: locks.clone(),
                        groups: HashSet::default(),
                        owners: Vec::new(),
                    });
                    all.len() - 1
                });
            all[at].groups.insert(self.group(view));
            all[at].owners.extend(self.projection.threads(view));
        }
        all
    }

    /// Beyond the bound a view counts as maximal unless a larger one was met: what is asked of it is then asked of the larger one, too, and the answer is the same.
    fn is_maximal(&mut self, view: usize) -> bool {
        let vars = self.projection.vars(view);
        let group = self.group(view);
        // Whoever contains the view contains its rarest field.
        let candidates = (vars.iter())
            .map(|&var| self.of_group(var, group))
            .min_by_key(|views| views.len())
            .unwrap_or_default();
        let room = self.compared.most_work.saturating_sub(self.work) as usize;
        let candidates = &candidates[..candidates.len().min(room.max(1))];
        let larger = candidates.iter().position(|&other| {
            let more = self.projection.vars(other);
            self.signatures[view] & !self.signatures[other] == 0
                && more.len() > vars.len()
                && is_subset(vars, more)
        });
        self.work += larger.unwrap_or(candidates.len()) as u64;
        larger.is_none()
    }

    /// The views of a group that have a field.
    fn of_group(&self, var: VarId, group: u32) -> &[usize] {
        let all = self.all_with(var);
        let start = all.partition_point(|&view| self.group(view) < group);
        let rest = &all[start..];
        &rest[..rest.partition_point(|&view| self.group(view) == group)]
    }

    fn all_with(&self, var: VarId) -> &[usize] {
        self.containing.get(&var).map_or(&[], Vec::as_slice)
    }

    /// The groups that have two of the fields, sorted, and perhaps some that have one.
    fn groups_with_two(&mut self, vars: &[VarId]) -> Vec<u32> {
        // Whoever has two fields has one besides the most frequent.
        let most = vars.iter().copied().max_by_key(|&v| self.all_with(v).len());
        let mut groups: Vec<u32> = (vars.iter())
            .filter(|&&var| Some(var) != most)
            .flat_map(|&var| self.all_with(var))
            .map(|&view| self.group(view))
            .collect();
        self.work += groups.len() as u64;
        groups.dedup();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Compares the views of all other threads with a maximal view.
    fn against(&mut self, maximal: &Maximal) {
        let vars = self.projection.vars(maximal.view);
        self.work += 1;
        if vars.len() < 2 {
            return;
        }
        let mut groups = self.groups_with_two(vars);
        groups.retain(|&group| self.pairs(maximal, group) > 0);
        let mut met = Vec::new();
        let mut overlaps = std::mem::replace(&mut self.overlaps, Overlaps::new(0));
        for (step, &var) in (1..).zip(vars) {
            for &group in &groups {
                let views = self.of_group(var, group);
                for &view in views {
                    if overlaps.add(view, step, var) {
                        met.push(view);
                    }
                }
                self.work += 2 + views.len() as u64;
            }
        }
        self.overlaps = overlaps;
        self.work += met.len() as u64;
        // A stable sort: views of the same overlap stay in the order in which they were met.
        let mut counting: Vec<Met> = (met.iter())
            .filter(|&&view| self.counts(view, &maximal.locks).next().is_some())
            .map(|&view| Met {
                group: self.group(view),
                overlap: self.overlaps.of(view),
                view,
            })
            .collect();
        counting.sort_by_key(|met| (met.group, met.overlap));
        for of_group in counting.chunk_by(|a, b| a.group == b.group) {
            self.chain(maximal, of_group);
        }
        self.overlaps.clear(&met);
    }

    /// How many threads of a group there are for each that has the maximal view, itself not counted.
    pub fn pairs(&self, maximal: &Maximal, group: u32) -> u64 {
        let threads = self.projection.groups[group as usize].len() as u64;
        let own = u64::from(maximal.groups.contains(&group));
        threads * (maximal.owners.len() as u64 - own)
    }

    /// The ways in which a view came about that count against a maximal view under these locks.
    ///
    /// Within a section on one of the locks the view of that section counts instead.
    pub fn counts(&self, view: usize, locks: &[LockId]) -> impl Iterator<Item = &'a Way> {
        let sets = self.compared.sets;
        self.projection.ways(view).filter(move |way| {
            let own = locks.binary_search(&way.lock).is_ok();
            let mut enclosing = sets.locks(way.enclosing).iter();
            own || !enclosing.any(|lock| locks.binary_search(lock).is_ok())
        })
    }

    /// The chain property of one group's overlaps, which are sorted.
    fn chain(&mut self, maximal: &Maximal, views: &[Met]) {
        if views.first().map(|met| met.overlap) == views.last().map(|met| met.overlap) {
            return;
        }
        let mut overlaps: Vec<Overlap> = (views.chunk_by(|a, b| a.overlap == b.overlap))
            .map(|alike| Overlap {
                fields: self.overlaps.fields(alike[0].overlap),
                views: alike.iter().map(|met| met.view).collect(),
            })
            .collect();
        overlaps.sort_by(|a, b| {
            let sizes = a.fields.len().cmp(&b.fields.len());
            sizes.then_with(|| a.fields.cmp(&b.fields))
        });
        self.work += overlaps.len() as u64;
        // In the order of size a chain is one in which each contains its neighbour.
        let holds = (overlaps.windows(2)).all(|pair| is_subset(&pair[0].fields, &pair[1].fields));
        if holds {
            return;
        }
        let pairs = self.pairs(maximal, views[0].group);
        self.counts.incompatible += pairs;
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
                let Some(conflict) = self.diverge(maximal, a, b) else {
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
    pub fn diverge(&self, maximal: &Maximal, a: &Overlap, b: &Overlap) -> Option<Conflict> {
        let seen = |overlap: &Overlap| -> Vec<(usize, SeenId)> {
            (overlap.views.iter())
                .flat_map(|&view| {
                    self.counts(view, &maximal.locks)
                        .map(move |way| (view, way))
                })
                .flat_map(|(view, way)| way.seen.iter().map(move |&seen| (view, seen)))
                .take(ORIGINS)
                .collect()
        };
        let (left, right) = (seen(a), seen(b));
        let mut best = None;
        let mut deepest = 0;
        for &left in &left {
            for &right in &right {
                let Some((region, threads)) = self.region(maximal, left.1, right.1) else {
                    continue;
                };
                let depth = self.compared.stacks.depth(region);
                if depth > deepest {
                    deepest = depth;
                    best = Some((region, threads, left, right));
                }
            }
        }
        let (region, threads, left, right) = match best {
            Some(best) => best,
            None => {
                let (&left, &right) = (left.first()?, right.first()?);
                let own = self.projection.threads(left.0);
                let threads = own.iter().find_map(|&thread| {
                    let one = Threads::one(thread);
                    Threads::apart(&maximal.owners, one)
                });
                (ContextId::ROOT, threads?, left, right)
            }
        };
        let mut fields: Vec<VarId> = a.fields.iter().chain(&b.fields).copied().collect();
        fields.sort_unstable();
        fields.dedup();
        Some(Conflict {
            maximal: maximal.view,
            diverging: [left.0, right.0],
            threads: threads.into(),
            times: self.pairs(maximal, self.group(left.0)),
            seen: [left.1, right.1],
            region,
            fields,
        })
    }

    /// The innermost region of which one execution generated both views, in another thread than one with the maximal view.
    fn region(
        &self,
        maximal: &Maximal,
        a: SeenId,
        b: SeenId,
    ) -> Option<(ContextId, (ThreadId, ThreadId))> {
        (self.compared.together.regions(a, b))
            .filter_map(|(region, by)| Some((region, Threads::apart(&maximal.owners, by)?)))
            .max_by_key(|&(region, _)| self.compared.stacks.depth(region))
    }
}
