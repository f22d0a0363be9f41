//! Which locks a thread holds, by its records alone.
//!
//! A stretch that is looked at may begin within a lock that was taken before, and end before it is given up.
//! Whoever looks at it must be told.

use untorn_channel::Record;
use untorn_channel::record::LockOp;

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    pub lock: u64,
    pub shared: bool,
    /// How often it was taken.
    pub depth: u32,
    /// It is given up by an open wait.
    pub waiting: bool,
}

/// Writes locks that are held as records after which they are.
pub fn encode(holds: &[Hold], into: &mut Vec<u64>) {
    for hold in holds {
        let record = |op| Record::Lock {
            op,
            site: 0,
            lock: hold.lock,
        };
        let op = if hold.shared {
            LockOp::AcquireShared
        } else {
            LockOp::Acquire
        };
        into.extend((0..hold.depth).map(|_| record(op).encode()));
        if hold.waiting {
            into.push(record(LockOp::Wait).encode());
        }
    }
}

/// The locks of one thread.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    /// In the order in which they were taken.
    all: Vec<Hold>,
}

impl Holds {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn all(&self) -> &[Hold] {
        &self.all
    }

    pub fn clear(&mut self) {
        self.all.clear();
    }

    /// The open wait on a lock.
    pub fn waiting(&self, lock: u64) -> Option<&Hold> {
        self.all
            .iter()
            .find(|hold| hold.waiting && hold.lock == lock)
    }

    pub fn depth(&self, lock: u64) -> u32 {
        let held = |hold: &&Hold| hold.lock == lock && !hold.shared && !hold.waiting;
        self.all.iter().find(held).map_or(0, |hold| hold.depth)
    }

    #[inline]
    pub fn follow(&mut self, op: LockOp, lock: u64) {
        let find = |all: &[Hold], shared: bool| {
            all.iter()
                .rposition(|hold| hold.lock == lock && hold.shared == shared)
        };
        match op {
            LockOp::Acquire | LockOp::AcquireShared => {
                let shared = op == LockOp::AcquireShared;
                match find(&self.all, shared) {
                    Some(at) => self.all[at].depth += 1,
                    None => self.all.push(Hold {
                        lock,
                        shared,
                        depth: 1,
                        waiting: false,
                    }),
                }
            }
            LockOp::Release | LockOp::ReleaseShared => {
                if let Some(at) = find(&self.all, op == LockOp::ReleaseShared) {
                    self.all[at].depth -= 1;
                    if self.all[at].depth == 0 {
                        self.all.remove(at);
                    }
                }
            }
            LockOp::Wait | LockOp::Wake => {
                if let Some(at) = find(&self.all, false) {
                    self.all[at].waiting = op == LockOp::Wait;
                }
            }
            LockOp::Notify | LockOp::Signal | LockOp::Await => {}
        }
    }
}
