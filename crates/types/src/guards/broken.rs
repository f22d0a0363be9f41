//! Why a field has no guard: the access at which its best candidate is not held, and by which calls.

use rustc_hash::FxHashSet;

use super::encode::names;
use super::problem::{AccessUse, Point, Problem};
use crate::input::{Discipline, FieldId, Guard, MethodId, NodeId};
use crate::locks::{Lock, Locks};

/// A field without the guard that it might have had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The field.
    pub field: FieldId,
    /// The candidate that fewest accesses break, or the declared guard; none for a final field that is written.
    pub candidate: Option<Lock>,
    /// How many accesses break it.
    pub accesses: usize,
    /// How many keep it, of those that should.
    pub kept: usize,
    /// The first of them that breaks it.
    pub reason: Reason,
}

/// Which fields to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those without a guard.
    Failed,
    /// Those with a guard for writes only.
    Weak,
}

/// What stands against a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An access where it is not held.
    Access {
        /// The method of the access.
        method: MethodId,
        /// Its node.
        node: NodeId,
        /// Calls through which the lock could have been held and is not, nearest first; empty if no caller is to blame.
        through: Vec<(MethodId, NodeId)>,
    },
    /// No access by itself: the candidate is at odds with the guards or ghosts of other fields.
    Conflict,
}

/// Explains every failed field, or every field whose guard holds for its writes only.
pub(super) fn find(
    locks: &mut Locks,
    problem: &Problem,
    discipline: &Discipline,
    holds: &[Vec<Lock>],
    failed: &[bool],
    wanted: Wanted,
) -> Vec<Broken> {
    let mut accesses: Vec<Vec<&AccessUse>> = vec![Vec::new(); problem.fields.len()];
    for access in &problem.accesses {
        if let Some(list) = accesses.get_mut(access.field.index()) {
            list.push(access);
        }
    }
    let mut found = Vec::new();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); problem.methods.len()];
    for (index, call) in problem.calls.iter().enumerate() {
        if let Some(list) = callers.get_mut(call.method.index()) {
            list.push(index);
        }
    }
    let search = Search {
        problem,
        discipline,
        holds,
        callers,
    };
    for (index, field) in problem.fields.iter().enumerate() {
        let weak = match discipline.guards.get(index) {
            Some(&Guard::WriteGuardedBy(lock)) if field.fixed.is_none() => Some(lock),
            _ => None,
        };
        let asked = match wanted {
            Wanted::Failed => failed[index],
            Wanted::Weak => weak.is_some() && !failed[index],
        };
        if !asked {
            continue;
        }
        let (candidates, writes_only) = match field.fixed {
            None if weak.is_some() => (weak.into_iter().collect(), false),
            Some(Guard::GuardedBy(lock)) => (vec![lock], false),
            Some(Guard::WriteGuardedBy(lock)) => (vec![lock], true),
            Some(Guard::Final) => {
                found.extend(written(FieldId(index as u32), &accesses[index]));
                continue;
            }
            _ => (field.candidates.clone(), true),
        };
        let mut best: Option<Broken> = None;
        for candidate in candidates {
            let mut broken = Broken {
                field: FieldId(index as u32),
                candidate: Some(candidate),
                accesses: 0,
                kept: 0,
                reason: Reason::Conflict,
            };
            for access in &accesses[index] {
                if writes_only && !access.write {
                    continue;
                }
                if let Some(through) = search.fails(locks, access, candidate) {
                    if broken.accesses == 0 {
                        let Point { method, node, .. } = access.point;
                        broken.reason = Reason::Access {
                            method,
                            node,
                            through,
                        };
                    }
                    broken.accesses += 1;
                } else {
                    broken.kept += 1;
                }
            }
            if best.as_ref().is_none_or(|b| broken.accesses < b.accesses) {
                best = Some(broken);
            }
        }
        found.extend(best);
    }
    found
}

/// A final field that is written where other threads can know its object.
fn written(field: FieldId, accesses: &[&AccessUse]) -> Option<Broken> {
    let mut writes = accesses.iter().filter(|access| access.write);
    let Point { method, node, .. } = writes.next()?.point;
    let reason = Reason::Access {
        method,
        node,
        through: Vec::new(),
    };
    Some(Broken {
        field,
        candidate: None,
        accesses: writes.count() + 1,
        kept: 0,
        reason,
    })
}

struct Search<'a> {
    problem: &'a Problem,
    discipline: &'a Discipline,
    holds: &'a [Vec<Lock>],
    callers: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// The calls to blame if the guard is not held at the access; nothing if it is.
    fn fails(
        &self,
        locks: &mut Locks,
        access: &AccessUse,
        guard: Lock,
    ) -> Option<Vec<(MethodId, NodeId)>> {
        let theta = access.actuals.substitution(&self.discipline.slots);
        let Some(lock) = theta.apply(locks, guard) else {
            return Some(Vec::new());
        };
        if locks.is_special(lock) {
            return Some(Vec::new());
        }
        let names = names(locks, lock, access.write);
        let mut blame = None;
        for name in names {
            let mut visited = FxHashSet::default();
            let failed = self.unmet(locks, &access.point, name, &mut visited);
            blame = Some(failed?);
        }
        blame
    }

    /// Walks up the callers until one fails to hold the lock.
    fn unmet(
        &self,
        locks: &mut Locks,
        point: &Point,
        lock: Lock,
        visited: &mut FxHashSet<(MethodId, Lock)>,
    ) -> Option<Vec<(MethodId, NodeId)>> {
        let mut work = vec![(point, lock, Vec::new())];
        while let Some((point, lock, trail)) = work.pop() {
            let Some(method) = self.problem.methods.get(point.method.index()) else {
                return Some(trail);
            };
            let given = lock == Locks::TLL
                || (lock == Locks::ALWAYS_HELD && !trail.is_empty())
                || point.held.contains(&lock)
                || (!point.blurred && self.holds[point.method.index()].contains(&lock));
            if given {
                continue;
            }
            if point.blurred || method.open || !method.may_hold.contains(&lock) {
                return Some(trail);
            }
            if !visited.insert((point.method, lock)) {
                continue;
            }
            for &index in &self.callers[point.method.index()] {
                let call = &self.problem.calls[index];
                let mut trail = trail.clone();
                trail.push((call.point.method, call.point.node));
                let theta = call.actuals.substitution(&self.discipline.slots);
                match theta.apply(locks, lock) {
                    Some(lock) => work.push((&call.point, lock, trail)),
                    None => return Some(trail),
                }
            }
        }
        None
    }
}
