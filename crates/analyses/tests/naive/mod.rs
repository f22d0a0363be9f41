//! The rules of paper 000 written down as they stand, with plain sets and no cache, to compare with.

use std::collections::{BTreeMap, BTreeSet};

use untorn_analyses::atomizer::{Mode, Refinements};
use untorn_model::{
    AccessFlags, Event, LockId, LockMode, MethodId, Op, RegionId, SiteId, Tables, ThreadId, VarId,
};

type Locks = BTreeSet<LockId>;

/// A candidate set: `None` is the set of all locks.
type Candidates = Option<Locks>;

fn meet(a: &Candidates, b: &Locks) -> Locks {
    match a {
        None => b.clone(),
        Some(a) => a.intersection(b).copied().collect(),
    }
}

fn meet_all(a: &Candidates, b: &Candidates) -> Candidates {
    match b {
        None => a.clone(),
        Some(b) => Some(meet(a, b)),
    }
}

fn is_empty(set: &Candidates) -> bool {
    set.as_ref().is_some_and(BTreeSet::is_empty)
}

#[derive(Clone, PartialEq, Debug, Default)]
pub enum State {
    #[default]
    Untouched,
    Local(ThreadId),
    Local2(ThreadId),
    ReadShared,
    Modified,
}

#[derive(Clone, Debug, Default)]
pub struct OfVar {
    pub state: State,
    pub access: Candidates,
    pub write: Candidates,
    pub plain: bool,
    pub unprotected: bool,
    pub harmful: bool,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub mode: Mode,
    pub refinements: Refinements,
    pub from_the_start: bool,
    pub silenced: BTreeSet<SiteId>,
    pub guarded: BTreeSet<VarId>,
    pub atomic_regions: BTreeSet<RegionId>,
    pub mover_methods: BTreeSet<MethodId>,
    /// `P` of Figure 8; `Some(None)` is a guard that stands for no lock of the trace.
    pub guards: BTreeMap<VarId, Option<LockId>>,
}

impl Settings {
    pub fn new(mode: Mode, refinements: Refinements) -> Self {
        Self {
            mode,
            refinements,
            from_the_start: false,
            silenced: BTreeSet::new(),
            guarded: BTreeSet::new(),
            atomic_regions: BTreeSet::new(),
            mover_methods: BTreeSet::new(),
            guards: BTreeMap::new(),
        }
    }
}

/// An execution of a block that is violated: the events of entry, commit and violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violated {
    pub region: RegionId,
    pub entry: usize,
    pub commit: usize,
    pub violation: usize,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    region: RegionId,
    entry: usize,
    commit: Option<usize>,
    violated: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Frame {
    Region,
    Method(MethodId),
}

#[derive(Clone, Debug, Default)]
struct OfThread {
    holds: Vec<(LockMode, LockId)>,
    blocks: Vec<Block>,
    frames: Vec<Frame>,
    /// The number of frames when the outermost assumed method was entered.
    assumed_at: Option<usize>,
}

impl OfThread {
    fn exclusive(&self) -> Locks {
        (self
            .holds
            .iter()
            .filter(|(mode, _)| *mode == LockMode::Exclusive))
        .map(|hold| hold.1)
        .collect()
    }

    fn any(&self) -> Locks {
        self.holds.iter().map(|hold| hold.1).collect()
    }
}

#[derive(Clone, Debug, Default)]
struct OfLock {
    state: State,
    protecting: Candidates,
}

pub struct Naive<'a> {
    tables: &'a Tables,
    settings: Settings,
    pub vars: BTreeMap<VarId, OfVar>,
    locks: BTreeMap<LockId, OfLock>,
    threads: BTreeMap<ThreadId, OfThread>,
    pub pairs: BTreeSet<(Vec<LockId>, Vec<LockId>)>,
    pub violated: Vec<Violated>,
    /// Forbidden accesses outside of blocks: how often, by location.
    pub undisciplined: BTreeMap<VarId, u64>,
}

impl<'a> Naive<'a> {
    pub fn run(tables: &'a Tables, events: &[Event], settings: Settings) -> Self {
        let mut naive = Self {
            tables,
            settings,
            vars: BTreeMap::new(),
            locks: BTreeMap::new(),
            threads: BTreeMap::new(),
            pairs: BTreeSet::new(),
            violated: Vec::new(),
            undisciplined: BTreeMap::new(),
        };
        for at in 0..events.len() {
            naive.event(events, at);
        }
        naive
    }

    fn event(&mut self, events: &[Event], at: usize) {
        let event = &events[at];
        let t = event.thread;
        let silenced = self.settings.silenced.contains(&event.site);
        match event.op {
            Op::Read(..) | Op::Write(..) | Op::Update(..) if silenced => {}
            Op::Read(flags, var) | Op::Write(flags, var) | Op::Update(flags, var) => {
                self.access(events, at, flags, var);
            }
            Op::Acquire(mode, lock) => self.take(events, at, mode, lock, silenced),
            Op::Wake(lock) => self.take(events, at, LockMode::Exclusive, lock, silenced),
            Op::Release(mode, lock) => self.give_up(events, at, mode, lock, silenced),
            Op::Wait(lock) => self.give_up(events, at, LockMode::Exclusive, lock, silenced),
            Op::Reacquire(..) if !silenced && !self.settings.refinements.reentrant => {
                self.right(events, at);
            }
            Op::Rerelease(..) if !silenced && !self.settings.refinements.reentrant => {
                self.left(events, at);
            }
            Op::Begin(region) => {
                let assumed = self.settings.atomic_regions.contains(&region);
                if assumed {
                    self.non(events, at);
                }
                let thread = self.threads.entry(t).or_default();
                thread.frames.push(Frame::Region);
                thread.blocks.push(Block {
                    region,
                    entry: at,
                    commit: None,
                    violated: false,
                });
                if assumed && thread.assumed_at.is_none() {
                    thread.assumed_at = Some(thread.frames.len());
                }
            }
            Op::Enter(method) => {
                let thread = self.threads.entry(t).or_default();
                thread.frames.push(Frame::Method(method));
                let assumed = self.settings.mover_methods.contains(&method);
                if assumed && thread.assumed_at.is_none() {
                    thread.assumed_at = Some(thread.frames.len());
                }
            }
            Op::End(_) => {
                let thread = self.threads.entry(t).or_default();
                let last = thread.frames.iter().rposition(|f| *f == Frame::Region);
                thread.frames.truncate(last.unwrap());
                thread.blocks.pop();
                thread.leave();
            }
            Op::Exit(method) => {
                let thread = self.threads.entry(t).or_default();
                let above = thread.frames.iter().rposition(|f| *f == Frame::Region);
                let found = (thread.frames.iter()).rposition(|f| *f == Frame::Method(method));
                if let Some(found) = found.filter(|&found| Some(found) > above) {
                    thread.frames.truncate(found);
                }
                thread.leave();
            }
            _ => {}
        }
    }

    fn take(&mut self, events: &[Event], at: usize, mode: LockMode, lock: LockId, silenced: bool) {
        let thread = self.threads.entry(events[at].thread).or_default();
        let others = thread.exclusive();
        thread.holds.push((mode, lock));
        if !silenced && !self.lock_is_mover(events[at].thread, lock, &others) {
            self.right(events, at);
        }
    }

    fn give_up(
        &mut self,
        events: &[Event],
        at: usize,
        mode: LockMode,
        lock: LockId,
        silenced: bool,
    ) {
        let thread = self.threads.entry(events[at].thread).or_default();
        let held = thread.holds.iter().rposition(|hold| *hold == (mode, lock));
        thread.holds.remove(held.unwrap());
        let others = thread.exclusive();
        if !silenced && !self.lock_is_mover(events[at].thread, lock, &others) {
            self.left(events, at);
        }
    }

    /// Section 4.3: locks treated as fields without a read-shared state.
    fn lock_is_mover(&mut self, thread: ThreadId, lock: LockId, others: &Locks) -> bool {
        let refinements = self.settings.refinements;
        let this = self.locks.entry(lock).or_default();
        if refinements.thread_local_locks {
            match this.state {
                State::Untouched => {
                    this.state = State::Local(thread);
                    return true;
                }
                State::Local(owner) | State::Local2(owner) if owner == thread => return true,
                State::Local(_) if refinements.thread_local_2_locks => {
                    this.state = State::Local2(thread);
                    return true;
                }
                _ => this.state = State::Modified,
            }
        }
        if !refinements.protected_locks {
            return false;
        }
        this.protecting = Some(meet(&this.protecting, others));
        !is_empty(&this.protecting)
    }

    fn access(&mut self, events: &[Event], at: usize, flags: AccessFlags, var: VarId) {
        let overlapping: Vec<VarId> = self.tables.overlapping(var).to_vec();
        if !self.settings.from_the_start && !self.vars.contains_key(&var) {
            self.join(var, &overlapping);
        }
        for other in overlapping {
            if self.settings.from_the_start || self.vars.contains_key(&other) {
                self.touch(&events[at], other, flags);
            }
        }
        self.touch(&events[at], var, flags);
        if self.vars[&var].state != State::Modified || self.settings.guarded.contains(&var) {
            return;
        }
        let event = &events[at];
        let thread = self.threads.entry(event.thread).or_default();
        let reads = matches!(event.op, Op::Read(..));
        let held = if reads {
            thread.any()
        } else {
            thread.exclusive()
        };
        let this = &self.vars[&var];
        let by_access = !meet(&this.access, &held).is_empty();
        let by_write = !meet(&this.write, &held).is_empty();
        let write_protection = self.settings.refinements.write_protected_data;
        let (mover, wrong) = match self.settings.mode {
            Mode::Full if write_protection && reads => (by_write, false),
            Mode::Full | Mode::Relaxed => (by_access, false),
            Mode::Strict => (by_access, !by_access),
            Mode::Declared => match self.settings.guards.get(&var) {
                None => (false, false),
                Some(guard) => {
                    let holds = guard.is_some_and(|lock| held.contains(&lock));
                    (holds, !holds)
                }
            },
        };
        let two_steps = flags.contains(AccessFlags::WIDE)
            && !flags.contains(AccessFlags::VOLATILE)
            && !matches!(event.op, Op::Update(..));
        if wrong {
            let thread = &self.threads[&event.thread];
            if thread.blocks.is_empty() && thread.assumed_at.is_none() {
                *self.undisciplined.entry(var).or_default() += 1;
            }
        }
        if !mover {
            self.non(events, at);
            if wrong || two_steps {
                self.non(events, at);
            }
        }
    }

    /// A location that appears after others it overlaps.
    fn join(&mut self, var: VarId, others: &[VarId]) {
        let known: Vec<OfVar> = (others.iter())
            .filter_map(|v| self.vars.get(v).cloned())
            .collect();
        let Some(first) = known.first() else {
            return;
        };
        let mut joined = OfVar {
            harmful: false,
            ..first.clone()
        };
        let rank = |state: &State| match state {
            State::Untouched => 0,
            State::Local(_) => 1,
            State::Local2(_) => 2,
            State::ReadShared => 3,
            State::Modified => 4,
        };
        for other in &known[1..] {
            joined.state = match (&joined.state, &other.state) {
                (State::Local(a) | State::Local2(a), State::Local(b) | State::Local2(b))
                    if a != b =>
                {
                    State::ReadShared
                }
                (a, b) if rank(a) >= rank(b) => a.clone(),
                (_, b) => b.clone(),
            };
            joined.access = meet_all(&joined.access, &other.access);
            joined.write = meet_all(&joined.write, &other.write);
            joined.plain |= other.plain;
            joined.unprotected |= other.unprotected || is_empty(&joined.access);
        }
        self.vars.insert(var, joined);
    }

    /// Figure 13 and the set updates of Figure 15.
    fn touch(&mut self, event: &Event, var: VarId, flags: AccessFlags) {
        let start = if self.settings.from_the_start {
            State::Modified
        } else {
            State::Untouched
        };
        let this = self.vars.entry(var).or_insert_with(|| OfVar {
            state: start,
            ..OfVar::default()
        });
        let thread = self.threads.entry(event.thread).or_default();
        let writes = !matches!(event.op, Op::Read(..));
        let t = event.thread;
        this.state = match this.state {
            State::Untouched => State::Local(t),
            State::Local(owner) if owner == t => State::Local(t),
            State::Local(_) => State::Local2(t),
            State::Local2(owner) if owner == t => State::Local2(t),
            State::Local2(_) | State::ReadShared if !writes => State::ReadShared,
            _ => State::Modified,
        };
        if !matches!(this.state, State::Local(_) | State::Local2(_)) && !flags.is_volatile() {
            this.plain = true;
        }
        if this.state != State::Modified {
            return;
        }
        let before = (this.access.clone(), this.write.clone());
        if writes {
            this.access = Some(meet(&this.access, &thread.exclusive()));
            this.write = Some(meet(&this.write, &thread.exclusive()));
        } else {
            this.access = Some(meet(&this.access, &thread.any()));
        }
        if before != (this.access.clone(), this.write.clone()) {
            let list = |set: &Candidates| match set {
                Some(set) => set.iter().copied().collect(),
                None => vec![LockId(u32::MAX)],
            };
            self.pairs.insert((list(&this.access), list(&this.write)));
            this.unprotected |= is_empty(&this.access);
        }
    }

    fn right(&mut self, events: &[Event], at: usize) {
        self.violate(events, at);
    }

    fn left(&mut self, events: &[Event], at: usize) {
        self.commit(&events[at], at);
    }

    fn non(&mut self, events: &[Event], at: usize) {
        self.violate(events, at);
        self.commit(&events[at], at);
    }

    fn violate(&mut self, events: &[Event], at: usize) {
        let thread = self.threads.entry(events[at].thread).or_default();
        if thread.assumed_at.is_some() {
            return;
        }
        for block in &mut thread.blocks {
            let Some(commit) = block.commit else {
                continue;
            };
            let mut harmful = vec![at];
            if !block.violated {
                block.violated = true;
                harmful.push(commit);
                self.violated.push(Violated {
                    region: block.region,
                    entry: block.entry,
                    commit,
                    violation: at,
                });
            }
            for at in harmful {
                if let Some((var, _)) = events[at].op.access() {
                    self.vars.get_mut(&var).unwrap().harmful = true;
                }
            }
        }
    }

    fn commit(&mut self, event: &Event, at: usize) {
        let thread = self.threads.entry(event.thread).or_default();
        if thread.assumed_at.is_none() {
            for block in &mut thread.blocks {
                block.commit.get_or_insert(at);
            }
        }
    }
}

impl OfThread {
    fn leave(&mut self) {
        if self
            .assumed_at
            .is_some_and(|depth| self.frames.len() < depth)
        {
            self.assumed_at = None;
        }
    }
}
