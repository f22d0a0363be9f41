//! Which arguments a slot may have: what its scope knows, and what fits all that flows.
//!
//! Candidates of values grow along the flows; then those are taken away that no other side of a flow can have.
//! What is left is small, and mostly `none` alone, so that the solver gets little to do.

use rustc_hash::FxHashSet;

use super::{Family, Ghosts, Origin};
use crate::input::{Actuals, Arg, Flow, Slot};
use crate::locks::{Lock, Locks};
use crate::substitution::Substitution;

/// The most candidates of one slot.
const MOST: usize = 10;
/// How far candidates of values travel.
const ROUNDS: usize = 8;

/// Slots with their candidates, and the flows between those that have a choice.
pub fn settle(
    ghosts: &mut Ghosts,
    locks: &mut Locks,
    known: Vec<Vec<Lock>>,
) -> (Vec<Slot>, Vec<Flow>) {
    let mut allowed = known;
    for (open, own) in ghosts.open.iter().zip(&mut allowed) {
        match open.origin {
            Origin::Nothing | Origin::Value => own.clear(),
            Origin::New(method) => {
                own.extend(ghosts.made.get(&method).into_iter().flatten());
            }
            Origin::Method(_) | Origin::Field(_) => {}
        }
        own.truncate(MOST);
        own.push(Locks::NONE);
    }
    grow(ghosts, locks, &mut allowed);
    prune(ghosts, locks, &mut allowed);
    let slots = allowed
        .iter()
        .zip(&ghosts.open)
        .map(|(own, open)| Slot {
            candidates: own.iter().copied().filter(|&l| l != Locks::NONE).collect(),
            protecting: ghosts.protected.contains(&open.family),
        })
        .collect();
    let settled = |arg: Arg| match arg {
        Arg::Slot(slot) => allowed[slot.index()] == [Locks::NONE],
        Arg::Lock(lock) => lock == Locks::NONE,
        Arg::Unknown => false,
    };
    let flows = ghosts
        .flows
        .iter()
        .filter(|flow| !(settled(flow.from) && settled(flow.to)))
        .cloned()
        .collect();
    (slots, flows)
}

fn choices(allowed: &[Vec<Lock>], arg: Arg) -> Vec<Lock> {
    match arg {
        Arg::Slot(slot) => allowed[slot.index()].clone(),
        Arg::Lock(lock) => vec![lock],
        Arg::Unknown => Vec::new(),
    }
}

/// What a lock expression may be on the other side.
fn images(locks: &mut Locks, allowed: &[Vec<Lock>], lock: Lock, actuals: &Actuals) -> Vec<Lock> {
    let root = locks.root_of(lock);
    let arg = actuals.0.iter().find(|(r, _)| *r == root);
    let targets: Vec<Option<Lock>> = match arg {
        Some(&(_, Arg::Unknown)) => vec![None],
        Some(&(_, arg)) => choices(allowed, arg).into_iter().map(Some).collect(),
        None => {
            return Substitution::new().apply(locks, lock).into_iter().collect();
        }
    };
    targets
        .into_iter()
        .filter_map(|target| Substitution::new().with(root, target).apply(locks, lock))
        .collect()
}

fn grow(ghosts: &Ghosts, locks: &mut Locks, allowed: &mut [Vec<Lock>]) {
    for _ in 0..ROUNDS {
        let mut changed = false;
        for flow in &ghosts.flows {
            let Arg::Slot(to) = flow.to else { continue };
            let free = matches!(
                ghosts.open[to.index()].origin,
                Origin::Value | Origin::New(_)
            );
            if !free || allowed[to.index()].len() > MOST {
                continue;
            }
            for from in choices(allowed, flow.from) {
                for image in images(locks, allowed, from, &flow.actuals) {
                    let own = &mut allowed[to.index()];
                    if !own.contains(&image) {
                        own.push(image);
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return;
        }
    }
}

fn prune(ghosts: &mut Ghosts, locks: &mut Locks, allowed: &mut [Vec<Lock>]) {
    let mut lost: FxHashSet<Family> = FxHashSet::default();
    loop {
        let mut changed = false;
        for flow in &ghosts.flows {
            let from: Vec<(Lock, Vec<Lock>)> = choices(allowed, flow.from)
                .into_iter()
                .map(|lock| (lock, images(locks, allowed, lock, &flow.actuals)))
                .collect();
            let to = choices(allowed, flow.to);
            let fits = |own: &[Lock]| own.iter().any(|image| to.contains(image));
            if let Arg::Slot(slot) = flow.from {
                let kept = from.iter().filter(|(_, own)| fits(own)).map(|(l, _)| *l);
                changed |= keep(&mut allowed[slot.index()], kept.collect());
                if allowed[slot.index()].is_empty() {
                    lost.insert(ghosts.open[slot.index()].family);
                }
            }
            if let Arg::Slot(slot) = flow.to {
                let kept = to
                    .iter()
                    .copied()
                    .filter(|lock| from.iter().any(|(_, own)| own.contains(lock)));
                changed |= keep(&mut allowed[slot.index()], kept.collect());
                if allowed[slot.index()].is_empty() {
                    lost.insert(ghosts.open[slot.index()].family);
                }
            }
            if let (Arg::Lock(_), Arg::Lock(_)) = (flow.from, flow.to)
                && !from.iter().any(|(_, own)| fits(own))
            {
                // Two fixed sides that differ: no slot tells the family, so all are given up.
                lost.extend(ghosts.ghosts.keys().copied());
            }
        }
        if !changed || !lost.is_empty() {
            ghosts.lost.extend(lost);
            return;
        }
    }
}

fn keep(own: &mut Vec<Lock>, kept: Vec<Lock>) -> bool {
    let changed = kept.len() < own.len();
    *own = kept;
    changed
}
