//! Which arguments a slot may have: what its scope knows, and what fits all that flows.
//!
//! Candidates of values grow along the flows; then those are taken away that no other side of a flow can have.
//! What is left is small, and mostly `none` alone, so that the solver gets little to do.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{Family, Ghosts, Origin};
use crate::input::{Actuals, Arg, Flow, Slot, SlotId};
use crate::locks::{Lock, Locks};
use crate::substitution::Substitution;

/// The most candidates of one slot.
const MOST: usize = 10;

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
    allow_internal(ghosts, &mut allowed);
    let uses = Uses::of(ghosts);
    let mut lost: FxHashSet<Family> = ghosts.lost.clone();
    grow(ghosts, locks, &uses, &mut allowed);
    prune(ghosts, locks, &uses, &mut allowed, &mut lost);
    ghosts.lost.extend(lost);
    let slots = allowed
        .iter()
        .zip(&ghosts.open)
        .map(|(own, open)| Slot {
            candidates: own.iter().copied().filter(|&l| l != Locks::NONE).collect(),
            protecting: ghosts.protected.contains(&open.family),
        })
        .collect();
    let flows = ghosts
        .flows
        .iter()
        .filter(|flow| !(only_none(&allowed, flow.from) && only_none(&allowed, flow.to)))
        .cloned()
        .collect();
    (slots, flows)
}

/// Where an internally synchronized object may be, its argument is `always_held`; a new object of another class never has it.
fn allow_internal(ghosts: &Ghosts, allowed: &mut [Vec<Lock>]) {
    for (index, (open, own)) in ghosts.open.iter().zip(allowed).enumerate() {
        let slot = SlotId(index as u32);
        let possible = match open.origin {
            Origin::New(_) => {
                ghosts.internal_slots.contains(&slot)
                    && !ghosts.allocations.iter().any(|&(_, other)| other == slot)
            }
            Origin::Field(_) | Origin::Method(_) => true,
            Origin::Value | Origin::Nothing => false,
        };
        if possible && ghosts.internal.mixes(open.family) {
            own.push(Locks::ALWAYS_HELD);
        }
    }
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

/// Which flows to look at again when a slot changes.
struct Uses(Vec<Vec<u32>>);

impl Uses {
    fn of(ghosts: &Ghosts) -> Uses {
        let mut uses = vec![Vec::new(); ghosts.open.len()];
        for (index, flow) in ghosts.flows.iter().enumerate() {
            let actuals = flow.actuals.0.iter().map(|&(_, arg)| arg);
            for arg in actuals.chain([flow.from, flow.to]) {
                if let Arg::Slot(slot) = arg {
                    uses[slot.index()].push(index as u32);
                }
            }
        }
        Uses(uses)
    }
}

/// Flows still to be looked at, each once.
struct Work {
    queue: VecDeque<u32>,
    queued: Vec<bool>,
}

impl Work {
    fn all(flows: usize) -> Work {
        Work {
            queue: (0..flows as u32).collect(),
            queued: vec![true; flows],
        }
    }

    fn next(&mut self) -> Option<usize> {
        let index = self.queue.pop_front()? as usize;
        self.queued[index] = false;
        Some(index)
    }

    fn changed(&mut self, uses: &Uses, slot: SlotId) {
        for &flow in &uses.0[slot.index()] {
            if !std::mem::replace(&mut self.queued[flow as usize], true) {
                self.queue.push_back(flow);
            }
        }
    }
}

fn grow(ghosts: &Ghosts, locks: &mut Locks, uses: &Uses, allowed: &mut [Vec<Lock>]) {
    let mut work = Work::all(ghosts.flows.len());
    while let Some(index) = work.next() {
        let flow = &ghosts.flows[index];
        let Arg::Slot(to) = flow.to else { continue };
        let free = matches!(
            ghosts.open[to.index()].origin,
            Origin::Value | Origin::New(_)
        );
        if !free || only_none(allowed, flow.from) {
            continue;
        }
        let before = allowed[to.index()].len();
        for from in choices(allowed, flow.from) {
            for image in images(locks, allowed, from, &flow.actuals) {
                let own = &mut allowed[to.index()];
                if own.len() <= MOST && !own.contains(&image) {
                    own.push(image);
                }
            }
        }
        if allowed[to.index()].len() > before {
            work.changed(uses, to);
        }
    }
}

fn only_none(allowed: &[Vec<Lock>], arg: Arg) -> bool {
    match arg {
        Arg::Slot(slot) => allowed[slot.index()] == [Locks::NONE],
        Arg::Lock(lock) => lock == Locks::NONE,
        Arg::Unknown => false,
    }
}

/// Takes away what no other side of a flow can have; a family with nothing left is lost.
fn prune(
    ghosts: &Ghosts,
    locks: &mut Locks,
    uses: &Uses,
    allowed: &mut [Vec<Lock>],
    lost: &mut FxHashSet<Family>,
) {
    let family = |arg: Arg| match arg {
        Arg::Slot(slot) => Some(ghosts.open[slot.index()].family),
        _ => None,
    };
    let mut work = Work::all(ghosts.flows.len());
    while let Some(index) = work.next() {
        let flow = &ghosts.flows[index];
        let own = family(flow.from).or(family(flow.to));
        if own.is_some_and(|own| lost.contains(&own))
            || (only_none(allowed, flow.from) && only_none(allowed, flow.to))
        {
            continue;
        }
        let from: Vec<(Lock, Vec<Lock>)> = choices(allowed, flow.from)
            .into_iter()
            .map(|lock| (lock, images(locks, allowed, lock, &flow.actuals)))
            .collect();
        let to = choices(allowed, flow.to);
        let fits = |own: &[Lock]| own.iter().any(|image| to.contains(image));
        if own.is_none() && !from.iter().any(|(_, own)| fits(own)) {
            // Two fixed sides that differ: no slot tells the family, so all are given up.
            lost.extend(ghosts.by_family.keys().copied());
            return;
        }
        let kept_from = from.iter().filter(|(_, own)| fits(own)).map(|(l, _)| *l);
        let kept_to = to
            .iter()
            .copied()
            .filter(|lock| from.iter().any(|(_, own)| own.contains(lock)));
        let sides: [(Arg, Vec<Lock>); 2] = [
            (flow.from, kept_from.collect()),
            (flow.to, kept_to.collect()),
        ];
        for (side, kept) in sides {
            let Arg::Slot(slot) = side else { continue };
            let own = &mut allowed[slot.index()];
            if kept.is_empty() {
                lost.insert(ghosts.open[slot.index()].family);
            } else if kept.len() < own.len() {
                *own = kept;
                work.changed(uses, slot);
            }
        }
    }
}
