//! Semaphores that are used as locks.
//!
//! A semaphore counts as a lock for as long as one thread at a time has a permit and gives it back itself.
//! One that admits a second thread, or gets a permit from a thread that has none, is none from then on: what its holder still holds counts until it gives it back.
//! So a bounded pool may protect accesses until its second user comes, which is a miss of the kind that locksets have anyway.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::{Event, LockId, LockMode, Op, Tables, ThreadId};

use crate::locks_held::{LockOp, LocksHeld};

/// How the names of semaphores begin.
const CLASS: &str = "java.util.concurrent.Semaphore";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Free,
    /// One thread has a permit, and whether nobody else had one meanwhile.
    Held(ThreadId, bool),
    NoLock,
}

/// The semaphores of a trace, by what they are used for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permits(HashMap<LockId, Use, FxBuildHasher>);

impl Permits {
    /// What an operation does to a lock, or to a semaphore that is used as one.
    #[inline]
    pub(crate) fn lock_op(&mut self, event: &Event, tables: &Tables) -> Option<LockOp> {
        match event.op {
            Op::Await(on) => self.take(event.thread, on, tables),
            Op::Signal(on) => self.give_back(event.thread, on),
            op => LockOp::of(op),
        }
    }

    fn take(&mut self, thread: ThreadId, on: LockId, tables: &Tables) -> Option<LockOp> {
        let used = self.0.entry(on).or_insert_with(|| {
            let is_one = (tables.locks.get(on))
                .is_some_and(|lock| tables.text(lock.name).starts_with(CLASS));
            if is_one { Use::Free } else { Use::NoLock }
        });
        match *used {
            Use::Free => {
                *used = Use::Held(thread, true);
                Some(LockOp::Take(LockMode::Exclusive, on))
            }
            Use::Held(holder, _) => {
                *used = Use::Held(holder, false);
                None
            }
            Use::NoLock => None,
        }
    }

    fn give_back(&mut self, thread: ThreadId, on: LockId) -> Option<LockOp> {
        let used = self.0.entry(on).or_insert(Use::NoLock);
        match *used {
            Use::Held(holder, alone) if holder == thread => {
                *used = if alone { Use::Free } else { Use::NoLock };
                Some(LockOp::GiveUp(LockMode::Exclusive, on))
            }
            Use::Held(holder, _) => {
                *used = Use::Held(holder, false);
                None
            }
            Use::Free | Use::NoLock => {
                *used = Use::NoLock;
                None
            }
        }
    }

    /// Takes that locks are gone, whose numbers may stand for others: permits that were never given back go with them.
    pub(crate) fn forget_gone(&mut self, gone: &[Event], held: &mut LocksHeld) {
        for event in gone {
            if let Op::GoneLock(lock) = event.op
                && let Some(Use::Held(holder, _)) = self.0.remove(&lock)
            {
                held.apply(holder, LockOp::GiveUp(LockMode::Exclusive, lock));
            }
        }
    }
}
