//! Which earlier events a synchronization operation comes after.
//!
//! Release-like operations leave a mark `M` on their synchronizer; acquire-like ones are told the marks that order them.
//! Only marks that matter are kept: a later mark of the same thread implies the earlier ones, and taking a lock implies every release before it.
//! A mark is whatever the analysis calls a point of a thread: a graph node, a clock, a position.

use untorn_model::{Event, LockId, LockMode, Op, ThreadId};

/// A mark and the thread that left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marked<M> {
    pub thread: ThreadId,
    pub mark: M,
}

/// The latest mark of each thread, for events that are not ordered among themselves.
#[derive(Clone, Debug)]
pub struct LatestMarks<M>(Vec<Marked<M>>);

impl<M> Default for LatestMarks<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: Copy> LatestMarks<M> {
    pub fn set(&mut self, thread: ThreadId, mark: M) {
        match self.0.iter_mut().find(|marked| marked.thread == thread) {
            Some(marked) => marked.mark = mark,
            None => self.0.push(Marked { thread, mark }),
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn as_slice(&self) -> &[Marked<M>] {
        &self.0
    }
}

#[derive(Clone, Debug)]
struct LockMarks<M> {
    /// The latest exclusive release.
    exclusive: Option<Marked<M>>,
    /// Shared releases since the latest exclusive acquisition.
    shared: LatestMarks<M>,
    notified: LatestMarks<M>,
    signalled: LatestMarks<M>,
}

impl<M> Default for LockMarks<M> {
    fn default() -> Self {
        Self {
            exclusive: None,
            shared: LatestMarks::default(),
            notified: LatestMarks::default(),
            signalled: LatestMarks::default(),
        }
    }
}

/// The order that locks, wait sets, signals and thread lives impose.
#[derive(Clone, Debug)]
pub struct SyncOrder<M> {
    locks: Vec<LockMarks<M>>,
    /// By forked thread.
    forks: Vec<Option<Marked<M>>>,
}

impl<M> Default for SyncOrder<M> {
    fn default() -> Self {
        Self {
            locks: Vec::new(),
            forks: Vec::new(),
        }
    }
}

impl<M: Copy> SyncOrder<M> {
    /// Shows every mark that is kept, so that it can be called otherwise from now on.
    pub fn each_mark(&mut self, mut visit: impl FnMut(&mut M)) {
        for lock in &mut self.locks {
            let all = (lock.exclusive.iter_mut())
                .chain(&mut lock.shared.0)
                .chain(&mut lock.notified.0)
                .chain(&mut lock.signalled.0);
            for marked in all {
                visit(&mut marked.mark);
            }
        }
        for marked in self.forks.iter_mut().flatten() {
            visit(&mut marked.mark);
        }
    }

    /// Where the thread was forked; to be asked at its first event, which comes after that.
    pub fn forked_at(&self, thread: ThreadId) -> Option<Marked<M>> {
        self.forks.get(thread.index()).copied().flatten()
    }

    /// Tells `after` each mark of another thread that `event` directly comes after.
    ///
    /// Leave the event's own mark with [`Self::release`] once its predecessors are known.
    /// `last` is the mark of a thread's last event: what a join comes after.
    #[inline]
    pub fn acquire(
        &mut self,
        event: &Event,
        last: impl FnOnce(ThreadId) -> Option<M>,
        mut after: impl FnMut(Marked<M>),
    ) {
        let mut others = |marks: &[Marked<M>]| {
            for marked in marks {
                if marked.thread != event.thread {
                    after(*marked);
                }
            }
        };
        match event.op {
            Op::Acquire(mode, lock) => {
                let marks = self.lock(lock);
                others(marks.exclusive.as_slice());
                if mode == LockMode::Exclusive {
                    others(marks.shared.as_slice());
                    marks.shared.clear();
                }
            }
            Op::Wake(lock) => {
                let marks = self.lock(lock);
                others(marks.exclusive.as_slice());
                others(marks.shared.as_slice());
                marks.shared.clear();
                others(marks.notified.as_slice());
            }
            Op::Await(lock) => others(self.lock(lock).signalled.as_slice()),
            Op::Join(thread) => {
                if let Some(mark) = last(thread) {
                    others(&[Marked { thread, mark }]);
                }
            }
            _ => {}
        }
    }

    /// Leaves the mark of `event` on what it releases.
    #[inline]
    pub fn release(&mut self, event: &Event, mark: M) {
        let thread = event.thread;
        match event.op {
            Op::Release(LockMode::Exclusive, lock) | Op::Wait(lock) => {
                self.lock(lock).exclusive = Some(Marked { thread, mark });
            }
            Op::Release(LockMode::Shared, lock) => self.lock(lock).shared.set(thread, mark),
            Op::Notify(lock) => self.lock(lock).notified.set(thread, mark),
            Op::Signal(lock) => self.lock(lock).signalled.set(thread, mark),
            Op::Fork(forked) => {
                if self.forks.len() <= forked.index() {
                    self.forks.resize(forked.index() + 1, None);
                }
                self.forks[forked.index()] = Some(Marked { thread, mark });
            }
            _ => {}
        }
    }

    /// Every mark kept, to be renamed when the analysis renumbers its marks; dropped where `rename` yields `None`.
    pub fn retain(&mut self, mut rename: impl FnMut(M) -> Option<M>) {
        let mut keep = |marked: &mut Marked<M>| match rename(marked.mark) {
            Some(mark) => {
                marked.mark = mark;
                true
            }
            None => false,
        };
        for lock in &mut self.locks {
            lock.exclusive.take_if(|marked| !keep(marked));
            for marks in [&mut lock.shared, &mut lock.notified, &mut lock.signalled] {
                marks.0.retain_mut(&mut keep);
            }
        }
        for fork in &mut self.forks {
            fork.take_if(|marked| !keep(marked));
        }
    }

    /// Forgets locks that are gone: their ids stand for others from now on.
    pub fn forget_gone(&mut self, gone: &[Event]) {
        for event in gone {
            if let Op::GoneLock(lock) = event.op
                && let Some(marks) = self.locks.get_mut(lock.index())
            {
                *marks = LockMarks::default();
            }
        }
    }

    fn lock(&mut self, lock: LockId) -> &mut LockMarks<M> {
        if self.locks.len() <= lock.index() {
            self.locks.resize_with(lock.index() + 1, LockMarks::default);
        }
        &mut self.locks[lock.index()]
    }
}

#[cfg(test)]
mod tests {
    use untorn_model::SiteId;

    use super::*;

    fn event(thread: u32, op: Op) -> Event {
        Event {
            thread: ThreadId(thread),
            site: SiteId::UNKNOWN,
            op,
        }
    }

    /// Feeds the operations, each marked with its position, and returns what each comes directly after.
    fn orders(ops: &[(u32, Op)]) -> Vec<Vec<usize>> {
        let mut order = SyncOrder::default();
        (ops.iter().enumerate())
            .map(|(i, &(thread, op))| {
                let event = event(thread, op);
                let mut after = Vec::new();
                let last = |t: ThreadId| ops[..i].iter().rposition(|(u, _)| *u == t.0);
                order.acquire(&event, last, |marked| after.push(marked.mark));
                order.release(&event, i);
                after
            })
            .collect()
    }

    #[test]
    fn shared_holds_come_after_exclusive_ones_only() {
        use LockMode::{Exclusive, Shared};
        let m = LockId(2);
        let after = orders(&[
            (0, Op::Acquire(Exclusive, m)),
            (0, Op::Release(Exclusive, m)),
            (1, Op::Acquire(Shared, m)),
            (2, Op::Acquire(Shared, m)),
            (1, Op::Release(Shared, m)),
            (2, Op::Release(Shared, m)),
            (3, Op::Acquire(Exclusive, m)),
            (3, Op::Release(Exclusive, m)),
            (1, Op::Acquire(Exclusive, m)),
        ]);
        assert_eq!(after[2], [1]);
        assert_eq!(after[3], [1]);
        assert_eq!(after[6], [1, 4, 5]);
        assert_eq!(after[8], [7]);
    }

    #[test]
    fn a_wake_hears_every_notification_and_takes_the_lock_after_its_holder() {
        let m = LockId(0);
        let after = orders(&[
            (0, Op::Wait(m)),
            (1, Op::Notify(m)),
            (2, Op::Notify(m)),
            (2, Op::Release(LockMode::Exclusive, m)),
            (0, Op::Wake(m)),
        ]);
        assert_eq!(after[4], [3, 1, 2]);
    }

    #[test]
    fn a_join_comes_after_the_last_event_and_awaiting_after_all_signals() {
        let m = LockId(0);
        let after = orders(&[
            (1, Op::Signal(m)),
            (1, Op::Signal(m)),
            (2, Op::Signal(m)),
            (0, Op::Await(m)),
            (0, Op::Join(ThreadId(1))),
            (0, Op::Join(ThreadId(7))),
        ]);
        assert_eq!(after[3], [1, 2]);
        assert_eq!(after[4], [1]);
        assert!(after[5].is_empty());
    }
}
