//! The conflict relation: which two events of different threads may not be exchanged.
//!
//! Two events conflict if they touch overlapping locations and one writes, or if the first is release-like and the second acquire-like on one [`Synchronizer`].
//! Locks, wait sets and thread lives are distinct synchronizers.
//! Two shared holds of one read-write lock do not conflict.

use crate::{LockId, LockMode, Op, ThreadId};

/// How an access treats its location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    Read,
    /// A write or an update.
    Write,
}

/// Something that orders threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Synchronizer {
    Lock(LockId),
    WaitSet(LockId),
    /// A latch, future or semaphore.
    Signal(LockId),
    /// From the fork of a thread to its first event.
    Start(ThreadId),
    /// From the last event of a thread to its join.
    Finish(ThreadId),
}

/// One half of a synchronization edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncHalf {
    pub on: Synchronizer,
    pub mode: LockMode,
}

impl Op {
    /// Whether the access reads only, or also writes; `None` for what is no access.
    #[inline]
    pub const fn access_kind(self) -> Option<AccessKind> {
        match self {
            Self::Read(..) => Some(AccessKind::Read),
            Self::Write(..) | Self::Update(..) => Some(AccessKind::Write),
            _ => None,
        }
    }

    /// What this operation releases.
    ///
    /// The last event of a thread is release-like on [`Synchronizer::Finish`] as well; only the stream knows which one that is.
    #[inline]
    pub const fn releases(self) -> Option<SyncHalf> {
        let (on, mode) = match self {
            Self::Release(mode, lock) => (Synchronizer::Lock(lock), mode),
            Self::Wait(lock) => (Synchronizer::Lock(lock), LockMode::Exclusive),
            Self::Notify(lock) => (Synchronizer::WaitSet(lock), LockMode::Exclusive),
            Self::Signal(lock) => (Synchronizer::Signal(lock), LockMode::Exclusive),
            Self::Fork(thread) => (Synchronizer::Start(thread), LockMode::Exclusive),
            _ => return None,
        };
        Some(SyncHalf { on, mode })
    }

    /// What this operation acquires; a wake takes the lock back and hears the notification, so there may be two.
    ///
    /// The first event of a thread is acquire-like on [`Synchronizer::Start`] as well.
    #[inline]
    pub const fn acquires(self) -> [Option<SyncHalf>; 2] {
        const fn one(on: Synchronizer, mode: LockMode) -> [Option<SyncHalf>; 2] {
            [Some(SyncHalf { on, mode }), None]
        }
        match self {
            Self::Acquire(mode, lock) => one(Synchronizer::Lock(lock), mode),
            Self::Wake(lock) => [
                Some(SyncHalf {
                    on: Synchronizer::Lock(lock),
                    mode: LockMode::Exclusive,
                }),
                Some(SyncHalf {
                    on: Synchronizer::WaitSet(lock),
                    mode: LockMode::Exclusive,
                }),
            ],
            Self::Await(lock) => one(Synchronizer::Signal(lock), LockMode::Exclusive),
            Self::Join(thread) => one(Synchronizer::Finish(thread), LockMode::Exclusive),
            _ => [None, None],
        }
    }
}

/// Whether a release in one mode conflicts with a later acquisition of the same synchronizer in the other.
#[inline]
pub const fn modes_conflict(released: LockMode, acquired: LockMode) -> bool {
    matches!(released, LockMode::Exclusive) || matches!(acquired, LockMode::Exclusive)
}

/// Whether two accesses of one location conflict.
#[inline]
pub const fn accesses_conflict(a: AccessKind, b: AccessKind) -> bool {
    matches!(a, AccessKind::Write) || matches!(b, AccessKind::Write)
}
