//! Which lock operations can be moved anywhere (paper 000, section 4.3).
//!
//! A lock is treated as a field is: it is local to a thread, to a second thread, or shared, and then a set of locks that were held at all its operations is narrowed.
//! There is no read-shared state, and a lock is no protection of itself.
//!
//! The set is narrowed by releases too: a lock that outlives its protector can be waited for, so its operations can no longer be moved.

use untorn_model::{Event, LockId, Op, ThreadId};

use super::Refinements;
use crate::lock_sets::{LockSetId, LockSets, Without};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Untouched,
    ThreadLocal,
    ThreadLocal2,
    Shared,
}

#[derive(Clone, Copy, Debug)]
struct OfLock {
    state: State,
    owner: ThreadId,
    /// Locks held at every operation since this one is shared.
    protecting: LockSetId,
}

/// The states of all locks.
#[derive(Clone, Debug)]
pub struct LockMovers {
    locks: Vec<OfLock>,
    refinements: Refinements,
}

impl LockMovers {
    pub fn new(refinements: Refinements) -> Self {
        Self {
            locks: Vec::new(),
            refinements,
        }
    }

    /// Makes room for locks of these numbers; call it before each batch.
    pub fn grow(&mut self, locks: usize) {
        if self.locks.len() < locks {
            let untouched = self.untouched();
            self.locks.resize(locks, untouched);
        }
    }

    fn untouched(&self) -> OfLock {
        OfLock {
            state: if self.refinements.thread_local_locks {
                State::Untouched
            } else {
                State::Shared
            },
            owner: ThreadId(0),
            protecting: LockSetId::ALL,
        }
    }

    /// Takes that locks are gone.
    pub fn forget_gone(&mut self, gone: &[Event], without: &mut Without<'_>) {
        let untouched = self.untouched();
        for event in gone {
            if let Op::GoneLock(lock) = event.op {
                self.locks[lock.index()] = untouched;
            }
        }
        for this in &mut self.locks {
            this.protecting = without.of(this.protecting);
        }
    }

    /// Takes an operation on a lock and tells whether it can be moved both ways.
    ///
    /// `others` are the other locks that the thread holds exclusively.
    #[inline]
    pub fn operate(
        &mut self,
        sets: &mut LockSets,
        thread: ThreadId,
        lock: LockId,
        others: LockSetId,
    ) -> bool {
        let this = &mut self.locks[lock.index()];
        match this.state {
            State::Shared => {}
            State::ThreadLocal | State::ThreadLocal2 if this.owner == thread => return true,
            State::Untouched => {
                this.state = State::ThreadLocal;
                this.owner = thread;
                return true;
            }
            State::ThreadLocal if self.refinements.thread_local_2_locks => {
                this.state = State::ThreadLocal2;
                this.owner = thread;
                return true;
            }
            State::ThreadLocal | State::ThreadLocal2 => this.state = State::Shared,
        }
        if !self.refinements.protected_locks {
            return false;
        }
        this.protecting = sets.meet(this.protecting, others);
        !this.protecting.is_empty()
    }
}
