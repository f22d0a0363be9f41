//! Which locks each thread holds, exclusively and in any mode.
//!
//! The set of a thread is an interned number that changes only when the thread takes or gives up a lock, so asking is free.
//! Locks need not nest.

use untorn_model::{Event, LockId, LockMode, Op, ThreadId};

use crate::lock_sets::{LockSetId, LockSets};

/// The locks that one thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Held so that nobody else has the lock: protects writes.
    pub exclusive: LockSetId,
    /// Held exclusively or shared: protects reads, since nobody else can hold the lock to write.
    pub any: LockSetId,
}

impl Held {
    pub const NONE: Self = Self {
        exclusive: LockSetId::EMPTY,
        any: LockSetId::EMPTY,
    };
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    lock: LockId,
    mode: LockMode,
    /// What the thread held before.
    before: Held,
}

#[derive(Clone, Debug)]
struct OfThread {
    held: Held,
    holds: Vec<Hold>,
}

/// The locks held by every thread at one point of the trace.
#[derive(Clone, Debug, Default)]
pub struct LocksHeld {
    pub sets: LockSets,
    threads: Vec<OfThread>,
    most: usize,
    used: Vec<bool>,
    /// How many locks were used that are gone.
    used_before: usize,
}

/// What an operation does to a lock, seen from outside of re-entrance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOp {
    Take(LockMode, LockId),
    GiveUp(LockMode, LockId),
}

impl LockOp {
    /// What an operation takes or gives up; waiting gives a lock up and takes it back.
    #[inline]
    pub const fn of(op: Op) -> Option<Self> {
        match op {
            Op::Acquire(mode, lock) => Some(Self::Take(mode, lock)),
            Op::Release(mode, lock) => Some(Self::GiveUp(mode, lock)),
            Op::Wake(lock) => Some(Self::Take(LockMode::Exclusive, lock)),
            Op::Wait(lock) => Some(Self::GiveUp(LockMode::Exclusive, lock)),
            _ => None,
        }
    }
}

impl LocksHeld {
    /// Makes room for threads and locks of these numbers; call it before each batch.
    pub fn grow(&mut self, threads: usize, locks: usize) {
        if self.threads.len() < threads {
            let none = OfThread {
                held: Held::NONE,
                holds: Vec::new(),
            };
            self.threads.resize(threads, none);
        }
        if self.used.len() < locks {
            self.used.resize(locks, false);
        }
    }

    /// What a thread holds now.
    #[inline]
    pub fn held(&self, thread: ThreadId) -> Held {
        self.threads[thread.index()].held
    }

    /// What a thread holds now, the longest held first; a lock held in both modes occurs twice.
    pub fn in_order(&self, thread: ThreadId) -> impl Iterator<Item = (LockId, LockMode)> {
        (self.threads[thread.index()].holds.iter()).map(|hold| (hold.lock, hold.mode))
    }

    /// Applies a lock operation of a thread.
    #[inline]
    pub fn apply(&mut self, thread: ThreadId, op: LockOp) {
        match op {
            LockOp::Take(mode, lock) => self.take(thread, mode, lock),
            LockOp::GiveUp(mode, lock) => self.give_up(thread, mode, lock),
        }
    }

    fn take(&mut self, thread: ThreadId, mode: LockMode, lock: LockId) {
        self.used[lock.index()] = true;
        let thread = &mut self.threads[thread.index()];
        let before = thread.held;
        thread.holds.push(Hold { lock, mode, before });
        thread.held = plus(&mut self.sets, before, mode, lock);
        self.most = self.most.max(thread.holds.len());
    }

    fn give_up(&mut self, thread: ThreadId, mode: LockMode, lock: LockId) {
        let thread = &mut self.threads[thread.index()];
        match thread.holds.last() {
            Some(last) if last.lock == lock && last.mode == mode => {
                thread.held = last.before;
                thread.holds.pop();
            }
            _ => thread.give_up_inner(&mut self.sets, mode, lock),
        }
    }

    /// Takes that locks are gone, which nobody holds.
    pub fn forget_gone(&mut self, gone: &[Event]) {
        for event in gone {
            if let Op::GoneLock(lock) = event.op {
                let used = std::mem::take(&mut self.used[lock.index()]);
                self.used_before += usize::from(used);
            }
        }
    }

    /// How many locks were taken at least once.
    pub fn locks_used(&self) -> usize {
        self.used_before + self.used.iter().filter(|used| **used).count()
    }

    /// How many locks a thread held at once at most.
    pub fn most_held(&self) -> usize {
        self.most
    }
}

impl OfThread {
    /// Gives up a lock that is not the last one taken.
    #[cold]
    fn give_up_inner(&mut self, sets: &mut LockSets, mode: LockMode, lock: LockId) {
        let wanted = |hold: &Hold| hold.lock == lock && hold.mode == mode;
        let Some(at) = self.holds.iter().rposition(wanted) else {
            return;
        };
        let mut held = self.holds.remove(at).before;
        for hold in &mut self.holds[at..] {
            hold.before = held;
            held = plus(sets, held, hold.mode, hold.lock);
        }
        self.held = held;
    }
}

fn plus(sets: &mut LockSets, held: Held, mode: LockMode, lock: LockId) -> Held {
    let any = sets.with(held.any, lock);
    let exclusive = match mode {
        LockMode::Exclusive if held.exclusive == held.any => any,
        LockMode::Exclusive => sets.with(held.exclusive, lock),
        LockMode::Shared => held.exclusive,
    };
    Held { exclusive, any }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use untorn_trace::generate::{Shape, random_trace};

    use super::*;

    #[test]
    fn the_sets_are_those_of_a_plain_list_of_holds() {
        for seed in 0..300 {
            let (tables, events) = random_trace(seed, &Shape::default(), 200);
            let mut locks = LocksHeld::default();
            locks.grow(tables.threads.len(), tables.locks.len());
            let mut plain: Vec<Vec<(LockMode, LockId)>> = vec![Vec::new(); tables.threads.len()];
            for event in &events {
                let Some(op) = LockOp::of(event.op) else {
                    continue;
                };
                locks.apply(event.thread, op);
                let holds = &mut plain[event.thread.index()];
                match op {
                    LockOp::Take(mode, lock) => holds.push((mode, lock)),
                    LockOp::GiveUp(mode, lock) => {
                        let at = holds.iter().rposition(|&hold| hold == (mode, lock));
                        holds.remove(at.unwrap());
                    }
                }
                let set = |only_exclusive: bool| -> Vec<LockId> {
                    let kept = |(mode, _): &&(LockMode, LockId)| {
                        !only_exclusive || *mode == LockMode::Exclusive
                    };
                    let set: BTreeSet<LockId> =
                        holds.iter().filter(kept).map(|hold| hold.1).collect();
                    set.into_iter().collect()
                };
                let held = locks.held(event.thread);
                assert_eq!(locks.sets.locks(held.exclusive), set(true), "seed {seed}");
                assert_eq!(locks.sets.locks(held.any), set(false), "seed {seed}");
            }
        }
    }
}
