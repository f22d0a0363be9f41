//! Which events can follow which: the one place that knows what a well-formed run looks like.
//!
//! Every reader passes its events through a [`Checker`], so an analysis never meets an end without a begin or a release by a thread that does not hold the lock.
//! The checker also tells outermost lock operations from re-entrant ones, so no analysis counts depths.
//!
//! What is checked:
//! - a region ends in the thread that began it, innermost first; an end without a name closes the innermost region, whatever its name;
//! - a method is left by the thread that entered it, innermost first (methods and regions may interleave: an exception can leave several at once);
//! - a lock is released in the mode and by the thread that holds it, and acquired only if no other thread holds it in a conflicting mode;
//! - `wait` needs the exclusive hold and gives it up at any depth; the thread's next event is the `wake`, which restores it;
//! - a thread is forked at most once, before its first event and not by itself; after its join it is silent.
//!
//! What is not: a thread may start without a fork (the recording may have begun later), be joined by several threads, and end with open regions or held locks.
//! A notification needs no lock, since some libraries signal without one.
//!
//! That an object is gone is not asked about, since only recordings that saw to it say so; a lock that is gone must not be held.
//!
//! An event that is refused leaves the checker as it was, so a lenient reader can go on.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;
use untorn_model::{Event, LockId, LockMode, MethodId, Op, RegionId, Tables, ThreadId};

/// What is wrong with an event in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    AfterJoin(ThreadId),
    /// Something other than the wake follows a wait.
    WhileWaiting(ThreadId, LockId),
    UnmatchedEnd(ThreadId),
    /// The region that is open is not the one that is ended.
    MismatchedEnd {
        thread: ThreadId,
        open: RegionId,
        ended: RegionId,
    },
    UnmatchedExit(ThreadId, MethodId),
    MismatchedExit {
        thread: ThreadId,
        open: MethodId,
        left: MethodId,
    },
    NotHeld(ThreadId, LockMode, LockId),
    HeldBy {
        thread: ThreadId,
        lock: LockId,
        holder: ThreadId,
    },
    HeldShared(ThreadId, LockId),
    WakeWithoutWait(ThreadId, LockId),
    /// A lock that is held cannot be gone.
    GoneWhileHeld(ThreadId, LockId),
    ForkOfSelf(ThreadId),
    /// The thread has events, was forked or was joined before.
    ForkOfRunning(ThreadId, ThreadId),
    JoinOfSelf(ThreadId),
    /// A recording says "outermost" of what is re-entrant, or the reverse.
    WrongDepth(ThreadId, LockId),
}

impl Violation {
    /// One line for people.
    pub fn describe(&self, tables: &Tables) -> String {
        let thread = |id| tables.thread_name(id);
        let lock = |id| tables.lock_name(id);
        let region = |id: RegionId| match tables.regions.get(id) {
            Some(region) => format!("region {}", tables.text(region.name)),
            None => "a region without a name".to_owned(),
        };
        let method = |id| tables.method_name(id);
        match *self {
            Self::AfterJoin(t) => format!("{} was joined before and has ended", thread(t)),
            Self::WhileWaiting(t, l) => {
                format!("{} waits on {} and has not woken", thread(t), lock(l))
            }
            Self::UnmatchedEnd(t) => format!("{} ends a region but none is open", thread(t)),
            Self::MismatchedEnd {
                thread: t,
                open,
                ended,
            } => format!(
                "{} ends {} but {} is the innermost open one",
                thread(t),
                region(ended),
                region(open)
            ),
            Self::UnmatchedExit(t, m) => {
                format!("{} leaves {} but is in no method", thread(t), method(m))
            }
            Self::MismatchedExit {
                thread: t,
                open,
                left,
            } => format!(
                "{} leaves {} but is in {}",
                thread(t),
                method(left),
                method(open)
            ),
            Self::NotHeld(t, mode, l) => format!(
                "{} does not hold {}{}",
                thread(t),
                lock(l),
                match mode {
                    LockMode::Exclusive => "",
                    LockMode::Shared => " in shared mode",
                }
            ),
            Self::HeldBy {
                thread: t,
                lock: l,
                holder,
            } => format!(
                "{} takes {}, which {} holds",
                thread(t),
                lock(l),
                thread(holder)
            ),
            Self::HeldShared(t, l) => format!(
                "{} takes {}, which other threads hold in shared mode",
                thread(t),
                lock(l)
            ),
            Self::WakeWithoutWait(t, l) => {
                format!("{} wakes on {} without waiting on it", thread(t), lock(l))
            }
            Self::GoneWhileHeld(t, l) => {
                format!(
                    "{} tells that {} is gone, but it is held",
                    thread(t),
                    lock(l)
                )
            }
            Self::ForkOfSelf(t) => format!("{} forks itself", thread(t)),
            Self::ForkOfRunning(t, u) => format!(
                "{} forks {}, which runs, has ended or was forked before",
                thread(t),
                thread(u)
            ),
            Self::JoinOfSelf(t) => format!("{} joins itself", thread(t)),
            Self::WrongDepth(t, l) => format!(
                "{} uses {} re-entrantly, but the recording says otherwise",
                thread(t),
                lock(l)
            ),
        }
    }
}

/// The locks one thread holds, with their depths.
///
/// Depth concerns one thread alone, so a writer of per-thread streams can tell re-entrant operations too.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    depth: HashMap<(LockId, LockMode), u64, FxBuildHasher>,
}

impl Holds {
    /// Enters the lock once more; whether that is the outermost time.
    pub fn acquire(&mut self, mode: LockMode, lock: LockId) -> bool {
        let depth = self.depth.entry((lock, mode)).or_default();
        *depth += 1;
        *depth == 1
    }

    /// Leaves the lock once; whether that gives it up, or `None` if it is not held.
    pub fn release(&mut self, mode: LockMode, lock: LockId) -> Option<bool> {
        match self.depth.entry((lock, mode)) {
            Entry::Vacant(_) => None,
            Entry::Occupied(mut entry) => {
                *entry.get_mut() -= 1;
                let free = *entry.get() == 0;
                if free {
                    entry.remove();
                }
                Some(free)
            }
        }
    }

    pub fn holds(&self, mode: LockMode, lock: LockId) -> bool {
        self.depth.contains_key(&(lock, mode))
    }

    /// The operation with its right depth, as far as this thread's own operations tell; what is not held stays as it is.
    ///
    /// A wait keeps the lock in this view: between a wait and its wake the thread does nothing, so nobody can tell.
    pub fn resolve(&mut self, op: Op) -> Op {
        match op {
            Op::Acquire(mode, lock) | Op::Reacquire(mode, lock) => {
                if self.acquire(mode, lock) {
                    Op::Acquire(mode, lock)
                } else {
                    Op::Reacquire(mode, lock)
                }
            }
            Op::Release(mode, lock) | Op::Rerelease(mode, lock) => match self.release(mode, lock) {
                Some(false) => Op::Rerelease(mode, lock),
                _ => Op::Release(mode, lock),
            },
            other => other,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Life {
    #[default]
    Unseen,
    Forked,
    Running,
    Waiting,
    Joined,
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
    regions: Vec<RegionId>,
    calls: Vec<MethodId>,
    /// Shared holds only: a lock itself knows its exclusive one.
    shared: Holds,
    /// The lock a waiting thread has given up, and how deeply it was held.
    waiting: Option<(LockId, u64)>,
}

#[derive(Clone, Debug, Default)]
struct LockState {
    exclusive: Option<ThreadId>,
    /// How deeply the exclusive holder has entered.
    depth: u64,
    /// How many threads hold it shared.
    shared: u32,
}

/// Checks a totally ordered stream, event by event.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// Apart from the other state of a thread, since accesses look at nothing else.
    lives: Vec<Life>,
    threads: Vec<ThreadState>,
    locks: Vec<LockState>,
}

impl Checker {
    /// Accepts the next event, and gives a lock operation its right depth.
    ///
    /// Memory grows with the ids that occur, so ids must have been validated against their tables.
    #[inline]
    pub fn admit(&mut self, event: &mut Event) -> Result<(), Violation> {
        if self.is_harmless(event) {
            return Ok(());
        }
        self.admit_slowly(event)
    }

    /// Whether the event is an access by a thread that runs: nothing to check, nothing to remember.
    #[inline]
    fn is_harmless(&self, event: &Event) -> bool {
        let access = matches!(event.op, Op::Read(..) | Op::Write(..) | Op::Update(..));
        access && self.lives.get(event.thread.index()) == Some(&Life::Running)
    }

    /// As [`Checker::admit`], for recordings in which depths are resolved: a wrong one is a violation.
    #[inline]
    pub fn verify(&mut self, event: &Event) -> Result<(), Violation> {
        if self.is_harmless(event) {
            return Ok(());
        }
        self.verify_slowly(event)
    }

    fn verify_slowly(&mut self, event: &Event) -> Result<(), Violation> {
        let mut admitted = *event;
        self.admit_slowly(&mut admitted)?;
        if admitted.op == event.op {
            return Ok(());
        }
        match event.op {
            Op::Acquire(_, lock)
            | Op::Reacquire(_, lock)
            | Op::Release(_, lock)
            | Op::Rerelease(_, lock) => Err(Violation::WrongDepth(event.thread, lock)),
            _ => Ok(()),
        }
    }

    fn admit_slowly(&mut self, event: &mut Event) -> Result<(), Violation> {
        let t = event.thread;
        if let Op::GoneLock(lock) = event.op
            && !self.is_free(lock)
        {
            return Err(Violation::GoneWhileHeld(t, lock));
        }
        if event.op.is_gone() {
            return Ok(());
        }
        self.know(t);
        match (self.lives[t.index()], event.op) {
            (Life::Joined, _) => return Err(Violation::AfterJoin(t)),
            (Life::Waiting, Op::Wake(lock)) => {
                self.wake(t, lock)?;
                return Ok(());
            }
            (Life::Waiting, _) => {
                if let Some((lock, _)) = self.threads[t.index()].waiting {
                    return Err(Violation::WhileWaiting(t, lock));
                }
            }
            _ => {}
        }
        self.apply(event)?;
        let life = &mut self.lives[t.index()];
        if *life != Life::Waiting {
            *life = Life::Running;
        }
        Ok(())
    }

    /// The event itself, for a thread that may have events.
    fn apply(&mut self, event: &mut Event) -> Result<(), Violation> {
        let t = event.thread;
        match event.op {
            Op::Read(..)
            | Op::Write(..)
            | Op::Update(..)
            | Op::Notify(_)
            | Op::Signal(_)
            | Op::Await(_)
            | Op::GoneObject(_)
            | Op::GoneLock(_) => {}
            Op::Acquire(mode, lock) | Op::Reacquire(mode, lock) => {
                event.op = if self.take(t, mode, lock, 1)? {
                    Op::Acquire(mode, lock)
                } else {
                    Op::Reacquire(mode, lock)
                };
            }
            Op::Release(mode, lock) | Op::Rerelease(mode, lock) => {
                let free = (self.give(t, mode, lock)).ok_or(Violation::NotHeld(t, mode, lock))?;
                event.op = if free {
                    Op::Release(mode, lock)
                } else {
                    Op::Rerelease(mode, lock)
                };
            }
            Op::Wait(lock) => {
                let state = (self.locks.get_mut(lock.index()))
                    .filter(|state| state.exclusive == Some(t))
                    .ok_or(Violation::NotHeld(t, LockMode::Exclusive, lock))?;
                state.exclusive = None;
                self.threads[t.index()].waiting = Some((lock, state.depth));
                self.lives[t.index()] = Life::Waiting;
            }
            Op::Wake(lock) => return Err(Violation::WakeWithoutWait(t, lock)),
            Op::Fork(child) => {
                self.know(child);
                if child == t {
                    return Err(Violation::ForkOfSelf(t));
                }
                if self.lives[child.index()] != Life::Unseen {
                    return Err(Violation::ForkOfRunning(t, child));
                }
                self.lives[child.index()] = Life::Forked;
            }
            Op::Join(child) => {
                self.know(child);
                if child == t {
                    return Err(Violation::JoinOfSelf(t));
                }
                self.lives[child.index()] = Life::Joined;
            }
            Op::Begin(region) => self.threads[t.index()].regions.push(region),
            Op::End(ended) => {
                let regions = &mut self.threads[t.index()].regions;
                match regions.last() {
                    None => return Err(Violation::UnmatchedEnd(t)),
                    Some(&open) if ended != RegionId::ANONYMOUS && ended != open => {
                        return Err(Violation::MismatchedEnd {
                            thread: t,
                            open,
                            ended,
                        });
                    }
                    Some(_) => regions.pop(),
                };
            }
            Op::Enter(method) => self.threads[t.index()].calls.push(method),
            Op::Exit(left) => {
                let calls = &mut self.threads[t.index()].calls;
                match calls.last() {
                    None => return Err(Violation::UnmatchedExit(t, left)),
                    Some(&open) if open != left => {
                        return Err(Violation::MismatchedExit {
                            thread: t,
                            open,
                            left,
                        });
                    }
                    Some(_) => calls.pop(),
                };
            }
        }
        Ok(())
    }

    /// Whether nobody holds a lock.
    pub fn is_free(&self, lock: LockId) -> bool {
        (self.locks.get(lock.index()))
            .is_none_or(|state| state.exclusive.is_none() && state.shared == 0)
    }

    fn know(&mut self, thread: ThreadId) {
        if self.lives.len() <= thread.index() {
            self.lives.resize(thread.index() + 1, Life::default());
            (self.threads).resize_with(thread.index() + 1, ThreadState::default);
        }
    }

    /// Enters a lock so many times; whether the thread did not hold it in this mode before.
    fn take(
        &mut self,
        t: ThreadId,
        mode: LockMode,
        lock: LockId,
        depth: u64,
    ) -> Result<bool, Violation> {
        if self.locks.len() <= lock.index() {
            (self.locks).resize_with(lock.index() + 1, LockState::default);
        }
        let state = &mut self.locks[lock.index()];
        let own = &mut self.threads[t.index()].shared;
        match (mode, state.exclusive) {
            (_, Some(holder)) if holder != t => {
                return Err(Violation::HeldBy {
                    thread: t,
                    lock,
                    holder,
                });
            }
            (LockMode::Exclusive, Some(_)) => {
                state.depth += depth;
                return Ok(false);
            }
            (LockMode::Exclusive, None) => {
                let others =
                    state.shared > 0 && state.shared > u32::from(own.holds(LockMode::Shared, lock));
                if others {
                    return Err(Violation::HeldShared(t, lock));
                }
                state.exclusive = Some(t);
                state.depth = depth;
            }
            (LockMode::Shared, _) => {
                let outermost = own.acquire(LockMode::Shared, lock);
                state.shared += u32::from(outermost);
                return Ok(outermost);
            }
        }
        Ok(true)
    }

    /// Leaves a lock once; whether that gives it up, or `None` if it is not held.
    fn give(&mut self, t: ThreadId, mode: LockMode, lock: LockId) -> Option<bool> {
        let state = self.locks.get_mut(lock.index())?;
        match mode {
            LockMode::Exclusive if state.exclusive == Some(t) => {
                state.depth -= 1;
                if state.depth == 0 {
                    state.exclusive = None;
                }
                Some(state.depth == 0)
            }
            LockMode::Exclusive => None,
            LockMode::Shared => {
                let free = self.threads[t.index()].shared.release(mode, lock)?;
                state.shared -= u32::from(free);
                Some(free)
            }
        }
    }

    fn wake(&mut self, t: ThreadId, lock: LockId) -> Result<(), Violation> {
        let Some((_, depth)) = self.threads[t.index()]
            .waiting
            .filter(|&(waited, _)| waited == lock)
        else {
            return Err(Violation::WakeWithoutWait(t, lock));
        };
        self.take(t, LockMode::Exclusive, lock, depth)?;
        self.threads[t.index()].waiting = None;
        self.lives[t.index()] = Life::Running;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
