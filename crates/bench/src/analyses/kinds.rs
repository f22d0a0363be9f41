//! Synthetic traces: what programs do that is hard on one analysis or another.
//!
//! All have 8 threads and 10,000 locations; each thread runs transactions one after another, and a scheduler lets one thread after the other do some events.

use std::collections::VecDeque;

use untorn_model::{
    AccessFlags, Event, Lock, LockId, LockKind, LockMode, Object, Op, Part, Region, RegionId,
    RegionKind, Site, SiteId, StrId, Tables, Thread, ThreadId, Var, VarId,
};

pub const THREADS: u32 = 8;
pub const VARIABLES: u32 = 10_000;
const LOCKS: u32 = 16;
const REGIONS: u32 = 40;
/// What each thread of [`Kind::Repeated`] chooses from, so that all of them have no more than a thousand views.
const REPEATED: u32 = 100;

/// A fixed sequence of numbers that looks random.
#[derive(Clone, Debug)]
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }
}

/// What the threads do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Each thread has its own locations and its own lock.
    ThreadLocal,
    /// Transactions hold one lock, so none overlaps another.
    GlobalLock,
    /// Transactions of all threads overlap; each takes one of 16 locks on its way and gives it up before its end.
    Overlapping,
    /// As before, but each takes two locks one after the other, so that many are torn.
    Torn,
    /// Written once, then read by all.
    ReadShared,
    /// Transactions of half a million events that share little.
    Long,
    /// Transactions of two accesses.
    Short,
    /// As with 16 locks, but each thread does one of a hundred things again and again, as programs do.
    Repeated,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::ThreadLocal,
        Self::GlobalLock,
        Self::Overlapping,
        Self::Torn,
        Self::ReadShared,
        Self::Long,
        Self::Short,
        Self::Repeated,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::ThreadLocal => "thread-local",
            Self::GlobalLock => "global lock",
            Self::Overlapping => "16 locks",
            Self::Torn => "16 locks torn",
            Self::ReadShared => "read-shared",
            Self::Long => "long",
            Self::Short => "short",
            Self::Repeated => "repeated",
        }
    }

    /// Whether critical sections repeat themselves; elsewhere each has a view of its own, and comparing them is quadratic.
    pub const fn has_few_views(self) -> bool {
        matches!(
            self,
            Self::ReadShared | Self::Long | Self::Short | Self::Repeated
        )
    }

    /// How many events a thread does before the next has its turn.
    const fn turn(self) -> u32 {
        match self {
            Self::Overlapping | Self::Torn | Self::Repeated => 5,
            Self::Short => 4,
            _ => 20,
        }
    }

    /// The operations of a transaction.
    fn transaction(self, thread: u32, noise: &mut Noise, ops: &mut VecDeque<Op>) {
        let region = RegionId(noise.below(REGIONS));
        let lock = |lock| Op::Acquire(LockMode::Exclusive, LockId(lock));
        let unlock = |lock| Op::Release(LockMode::Exclusive, LockId(lock));
        let access = |ops: &mut VecDeque<Op>, noise: &mut Noise, first: u32, count: u32| {
            let var = VarId(first + noise.below(count));
            ops.push_back(if noise.below(3) == 0 {
                Op::Write(AccessFlags::PLAIN, var)
            } else {
                Op::Read(AccessFlags::PLAIN, var)
            });
        };
        let own = VARIABLES / THREADS;
        let per_lock = VARIABLES / LOCKS;
        ops.push_back(Op::Begin(region));
        match self {
            Self::ThreadLocal => {
                ops.push_back(lock(thread));
                for _ in 0..16 {
                    access(ops, noise, thread * own, own);
                }
                ops.push_back(unlock(thread));
            }
            Self::GlobalLock => {
                ops.push_back(lock(0));
                for _ in 0..16 {
                    access(ops, noise, 0, VARIABLES);
                }
                ops.push_back(unlock(0));
            }
            Self::Overlapping | Self::Torn => {
                let sections = 1 + u32::from(self == Self::Torn);
                for _ in 0..sections {
                    let held = noise.below(LOCKS);
                    ops.push_back(lock(held));
                    for _ in 0..14 / sections {
                        access(ops, noise, held * per_lock, per_lock);
                    }
                    ops.push_back(unlock(held));
                }
                for _ in 0..2 {
                    // After its locked part, so that others come after it while it is open.
                    ops.push_back(Op::Read(AccessFlags::VOLATILE, VarId(VARIABLES + thread)));
                }
            }
            Self::ReadShared => {
                for _ in 0..18 {
                    let var = VarId(noise.below(VARIABLES));
                    ops.push_back(Op::Read(AccessFlags::PLAIN, var));
                }
            }
            Self::Long => {
                for i in 0..500_000 {
                    if i % 5000 == 0 {
                        let held = noise.below(LOCKS);
                        ops.push_back(lock(held));
                        access(ops, noise, held, 1);
                        ops.push_back(unlock(held));
                    }
                    access(ops, noise, thread * own, own);
                }
            }
            Self::Short => {
                let var = VarId(noise.below(VARIABLES));
                ops.push_back(Op::Read(AccessFlags::PLAIN, var));
                ops.push_back(Op::Write(AccessFlags::PLAIN, var));
            }
            Self::Repeated => {
                let chosen = noise.below(REPEATED);
                let held = chosen % LOCKS;
                let mut same = Noise(u64::from(chosen) << 32);
                ops.push_back(lock(held));
                for _ in 0..16 {
                    access(ops, &mut same, held * per_lock, per_lock);
                }
                ops.push_back(unlock(held));
            }
        }
        ops.push_back(Op::End(region));
    }
}

/// The names behind the ids.
pub fn tables() -> Option<Tables> {
    let mut tables = Tables::default();
    let text = |tables: &mut Tables, text: &str| -> Option<StrId> { tables.strings.intern(text) };
    for i in 0..THREADS {
        let name = text(&mut tables, &format!("T{i}"))?;
        tables.threads.push(Thread { name })?;
    }
    for i in 0..VARIABLES + THREADS {
        let name = text(&mut tables, &format!("o{}", i / 4))?;
        if i % 4 == 0 {
            tables.objects.push(Object {
                class: None,
                name: Some(name),
            })?;
        }
        let part = text(&mut tables, [".a", ".b", ".c", ".d"][i as usize % 4])?;
        tables.add_var(Var {
            object: untorn_model::ObjectId(i / 4),
            part: Part::Text(part),
        })?;
    }
    for i in 0..LOCKS {
        let name = text(&mut tables, &format!("m{i}"))?;
        tables.locks.push(Lock {
            kind: LockKind::Monitor,
            object: None,
            name,
        })?;
    }
    for i in 0..REGIONS {
        let name = text(&mut tables, &format!("op{i}"))?;
        tables.regions.push(Region {
            kind: RegionKind::Block,
            method: None,
            name,
            site: SiteId::UNKNOWN,
        })?;
    }
    let file = text(&mut tables, "Bank.java");
    for line in 1..=200 {
        tables.sites.push(Site {
            method: None,
            file,
            line,
        })?;
    }
    Some(tables)
}

/// An endless trace of some kind.
#[derive(Debug)]
pub struct Generator {
    kind: Kind,
    noise: Noise,
    threads: Vec<VecDeque<Op>>,
    held_by: Vec<Option<u32>>,
    next: u32,
    started: bool,
}

impl Generator {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            noise: Noise(1),
            threads: vec![VecDeque::new(); THREADS as usize],
            held_by: vec![None; LOCKS as usize],
            next: 0,
            started: false,
        }
    }

    /// Replaces `into` by the next events, about as many as asked for.
    pub fn fill(&mut self, into: &mut Vec<Event>, count: usize) {
        into.clear();
        if !self.started {
            self.started = true;
            self.start(into);
        }
        while into.len() < count {
            self.next = (self.next + 1 + self.noise.below(2)) % THREADS;
            self.turn(self.next, into);
        }
    }

    /// The first thread writes everything and forks the others.
    fn start(&mut self, into: &mut Vec<Event>) {
        for var in 0..VARIABLES {
            self.emit(0, Op::Write(AccessFlags::PLAIN, VarId(var)), into);
        }
        for thread in 1..THREADS {
            self.emit(0, Op::Fork(ThreadId(thread)), into);
        }
    }

    fn emit(&mut self, thread: u32, op: Op, into: &mut Vec<Event>) {
        into.push(Event {
            thread: ThreadId(thread),
            site: SiteId(self.noise.below(200)),
            op,
        });
    }

    fn turn(&mut self, thread: u32, into: &mut Vec<Event>) {
        for _ in 0..self.kind.turn() {
            let ops = &mut self.threads[thread as usize];
            if ops.is_empty() {
                self.kind.transaction(thread, &mut self.noise, ops);
            }
            let Some(&op) = ops.front() else { return };
            match op {
                Op::Acquire(_, lock) => {
                    let holder = &mut self.held_by[lock.index()];
                    if holder.is_some() {
                        return;
                    }
                    *holder = Some(thread);
                }
                Op::Release(_, lock) => self.held_by[lock.index()] = None,
                _ => {}
            }
            ops.pop_front();
            self.emit(thread, op, into);
        }
    }
}
