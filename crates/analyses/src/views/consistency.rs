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
        overlaps: Overlaps::new(views.len()),
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
    /// What views have in common with the maximal view looked at; nothing in between.
    overlaps: Overlaps,
    counts: Counts,
    conflict: &'a mut dyn FnMut(Conflict),
}

/// By view what it has in common with the maximal view looked at.
///
/// Overlaps are nodes of a tree: each has one field more than its parent, in the order of the maximal view.
/// So equal ones are the same node, and a field is added in constant time.
struct Overlaps {
    /// By view; the root is nothing.
    nodes: Vec<u32>,
    tree: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    field: VarId,
    /// How many fields it has.
    size: u32,
    /// The node with the field that is being added as well; before it is known, the node itself.
    with: u32,
    /// Which field that is, counted from 1.
    step: u32,
}

impl Overlaps {
    const NOTHING: u32 = 0;

    fn new(views: usize) -> Self {
        let root = Node {
            parent: Self::NOTHING,
            field: VarId(0),
            size: 0,
            with: Self::NOTHING,
            step: 0,
        };
        Self {
            nodes: vec![Self::NOTHING; views],
            tree: vec![root],
        }
    }

    /// Adds a field, by its number from 1, to a view's overlap; whether it is the first one.
    fn add(&mut self, view: usize, step: u32, field: VarId) -> bool {
        let before = self.nodes[view];
        let node = self.tree[before as usize];
        let after = if node.step == step {
            node.with
        } else {
            let made = self.tree.len() as u32;
            self.tree.push(Node {
                parent: before,
                field,
                size: node.size + 1,
                with: made,
                step: 0,
            });
            self.tree[before as usize].with = made;
            self.tree[before as usize].step = step;
            made
        };
        self.nodes[view] = after;
        before == Self::NOTHING
    }

    fn fields(&self, mut node: u32) -> Vec<VarId> {
        let mut fields = Vec::with_capacity(self.tree[node as usize].size as usize);
        while node != Self::NOTHING {
            let Node { parent, field, .. } = self.tree[node as usize];
            fields.push(field);
            node = parent;
        }
        fields.reverse();
        fields
    }

    /// Forgets the overlaps of these views, which are all that have one.
    fn clear(&mut self, views: &[usize]) {
        for &view in views {
            self.nodes[view] = Self::NOTHING;
        }
        self.tree.truncate(1);
        self.tree[0].step = 0;
    }
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
        let mut overlaps = std::mem::replace(&mut self.overlaps, Overlaps::new(0));
        for (step, &var) in (1..).zip(&view.vars) {
            let (before, _, after) = self.of_thread(var, view.thread);
            for &i in before.iter().chain(after) {
                if overlaps.add(i, step, var) {
                    met.push(i);
                }
            }
            self.work += (before.len() + after.len()) as u64;
        }
        self.overlaps = overlaps;
        self.work += met.len() as u64;
        // A stable sort: views of the same overlap stay in the order in which they were met.
        let mut counting: Vec<(ThreadId, u32, usize)> = (met.iter())
            .filter(|&&i| self.counts(i, &locks).next().is_some())
            .map(|&i| (self.views[i].thread, self.overlaps.nodes[i], i))
            .collect();
        counting.sort_by_key(|&(thread, node, _)| (thread, node));
        for of_thread in counting.chunk_by(|a, b| a.0 == b.0) {
            self.chain(maximal, of_thread, &locks);
        }
        self.overlaps.clear(&met);
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

    /// The chain property of one thread's overlaps, which are sorted.
    fn chain(&mut self, maximal: usize, views: &[(ThreadId, u32, usize)], locks: &[LockId]) {
        let mut overlaps: Vec<Overlap> = (views.chunk_by(|a, b| a.1 == b.1))
            .map(|alike| Overlap {
                fields: self.overlaps.fields(alike[0].1),
                views: alike.iter().map(|&(.., view)| view).collect(),
            })
            .collect();
        overlaps.sort_by(|a, b| {
            let sizes = a.fields.len().cmp(&b.fields.len());
            sizes.then_with(|| a.fields.cmp(&b.fields))
        });
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
