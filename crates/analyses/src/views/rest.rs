//! Maximal views that are too many to be compared one by one, compared together.
//!
//! Two views diverge against a maximal view if it has a field that only the one has and a field that only the other has.
//! So the maximal views are kept by the *pairs of fields* that they have, a few of different threads for each pair, and two views of a thread are looked at once, and not once for each maximal view.
//! Each two views of a thread that diverge against some maximal view of another one are found, unless that one alone has other locks than [`MOST`] others with the two fields; against how many they do is not counted.
//!
//! *Work.* The squares of the sizes of maximal views, and for each thread those of the number of its views.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::VarId;

use super::consistency::{Check, Maximal, Overlap};

/// For each pair of fields so many maximal views are kept, of different threads or under different locks.
const MOST: usize = 4;

/// With so many of them two views are compared.
const MOST_TRIED: usize = 8;

/// The maximal views, by pairs of fields, the lesser first: their indices.
type Pairs = HashMap<(VarId, VarId), Vec<u32>, FxBuildHasher>;

/// Compares all views with maximal views; those for which there is no time are counted.
pub(super) fn compare(check: &mut Check<'_>, all: &[Maximal]) {
    let room = check.compared.most_work_together;
    check.work = 0;
    let mut pairs = Pairs::default();
    for (i, one) in (0..).zip(all) {
        let vars = check.projection.vars(one.view);
        let cost = (vars.len() * vars.len()) as u64;
        if check.work + cost > room {
            check.counts.left_out += one.owners.len() as u64;
            continue;
        }
        check.work += cost;
        for (at, &x) in vars.iter().enumerate() {
            for &y in &vars[at + 1..] {
                let known = pairs.entry((x, y)).or_default();
                let is_other = |&other: &u32| differs(&all[other as usize], one);
                if known.len() < MOST && known.iter().all(is_other) {
                    known.push(i);
                }
            }
        }
    }
    check.work = 0;
    let views = &check.projection.views;
    let mut first = 0;
    for of_group in views.chunk_by(|a, b| a.group == b.group) {
        let end = first + of_group.len();
        for a in first..end {
            for b in a + 1..end {
                if check.work >= room {
                    let owners = all.iter().map(|one| one.owners.len() as u64);
                    check.counts.left_out = owners.sum();
                    return;
                }
                look(check, all, &pairs, [a, b]);
            }
        }
        first = end;
    }
}

/// Whether one maximal view can tear apart what another one cannot: by other threads, or under other locks.
fn differs(one: &Maximal, other: &Maximal) -> bool {
    one.locks != other.locks || one.owners.len() == 1 && one.owners != other.owners
}

/// Looks for maximal views against which two views of a group diverge.
fn look(check: &mut Check<'_>, all: &[Maximal], pairs: &Pairs, [a, b]: [usize; 2]) {
    let projection = check.projection;
    let (of_a, of_b) = (projection.vars(a), projection.vars(b));
    let without = |some: &[VarId], others: &[VarId]| -> Vec<VarId> {
        let lacks = |var: &&VarId| others.binary_search(var).is_err();
        some.iter().filter(lacks).copied().collect()
    };
    let (only_a, only_b) = (without(of_a, of_b), without(of_b, of_a));
    check.work += 1 + (of_a.len() + of_b.len()) as u64;
    let mut tried: Vec<u32> = Vec::new();
    for &x in &only_a {
        for &y in &only_b {
            check.work += 1;
            for &one in pairs.get(&(x.min(y), x.max(y))).into_iter().flatten() {
                if tried.len() < MOST_TRIED && !tried.contains(&one) {
                    tried.push(one);
                    hand_over(check, &all[one as usize], [a, b]);
                }
            }
        }
    }
}

/// Hands over that two views diverge against a maximal view, if it is one of another thread and they count against it.
fn hand_over(check: &mut Check<'_>, maximal: &Maximal, views: [usize; 2]) {
    let group = check.projection.views[views[0]].group;
    let counts = |view| check.counts(view, &maximal.locks).next().is_some();
    if check.pairs(maximal, group) == 0 || !views.into_iter().all(counts) {
        return;
    }
    let whole = check.projection.vars(maximal.view);
    let [left, right] = views.map(|view| Overlap {
        fields: (check.projection.vars(view).iter())
            .filter(|var| whole.binary_search(var).is_ok())
            .copied()
            .collect(),
        views: vec![view],
    });
    check.work += (whole.len() + left.fields.len() + right.fields.len()) as u64;
    if let Some(conflict) = check.diverge(maximal, &left, &right) {
        check.counts.incompatible += check.pairs(maximal, group);
        (check.conflict)(conflict);
    }
}
