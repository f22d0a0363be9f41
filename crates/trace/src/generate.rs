//! Random well-formed traces, for the tests of every crate.
//!
//! A trace is made from *steps*, plain numbers: each says which thread tries what on which operand.
//! What the [`Checker`] refuses becomes a read, so every sequence of steps is a well-formed trace, and so is every subsequence.
//! That makes shrinking simple: a test that draws `proptest::collection::vec(any::<u32>(), 10..200)` and calls [`trace_of`] gets its counterexample shortened event by event, with numbers that fall to thread 0 reading location 0.

use untorn_model::{
    AccessFlags, Class, Event, Lock, LockId, LockKind, LockMode, Method, MethodId, Object, Op,
    Part, Region, RegionId, RegionKind, Site, SiteId, StrId, Tables, Thread, ThreadId, Var, VarId,
};

use crate::wellformed::Checker;

/// What may occur in a generated trace.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one ingredient on, independently"
)]
pub struct Shape {
    pub threads: u32,
    /// Locations that overlap no other.
    pub variables: u32,
    pub locks: u32,
    /// Named regions; there are anonymous ones too.
    pub regions: u32,
    /// Elements, ranges, keys and wholes of an array and a map, which overlap each other.
    pub overlapping: bool,
    /// Volatile accesses.
    pub volatile: bool,
    /// Read-write locks, waiting, signals: everything that orders threads beyond exclusive locks and thread life.
    pub rich_sync: bool,
    /// Entry and exit of methods that are no regions.
    pub calls: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            threads: 4,
            variables: 4,
            locks: 3,
            regions: 3,
            overlapping: false,
            volatile: true,
            rich_sync: true,
            calls: false,
        }
    }
}

impl Shape {
    /// Few threads, variables and locks: torn regions are frequent.
    pub fn crowded() -> Self {
        Self {
            threads: 3,
            variables: 2,
            locks: 1,
            ..Self::default()
        }
    }

    /// Everything there is.
    pub fn full() -> Self {
        Self {
            threads: 6,
            overlapping: true,
            calls: true,
            ..Self::default()
        }
    }
}

/// A trace of at most `steps` events from a seed.
pub fn random_trace(seed: u64, shape: &Shape, steps: usize) -> (Tables, Vec<Event>) {
    trace_of(shape, &random_steps(seed, steps))
}

/// Steps for [`trace_of`] from a seed.
pub fn random_steps(seed: u64, steps: usize) -> Vec<u32> {
    let mut state = seed;
    let next = || {
        // SplitMix64: small, and the same on every machine.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    };
    std::iter::repeat_with(next).take(steps).collect()
}

/// The trace that some steps stand for: at most one event a step, each admitted by the [`Checker`].
pub fn trace_of(shape: &Shape, steps: &[u32]) -> (Tables, Vec<Event>) {
    let threads = shape.threads.max(1);
    let mut world = World {
        shape,
        threads,
        vars: 0,
        sites: 0,
        tables: Tables::default(),
        checker: Checker::default(),
        events: Vec::new(),
        started: vec![false; threads as usize],
        held: vec![Vec::new(); threads as usize],
        open: vec![Vec::new(); threads as usize],
        calls: vec![Vec::new(); threads as usize],
        waiting: vec![None; threads as usize],
    };
    world.fill_tables();
    for &step in steps {
        world.step(step);
    }
    (world.tables, world.events)
}

struct World<'a> {
    shape: &'a Shape,
    threads: u32,
    vars: u32,
    sites: u32,
    tables: Tables,
    checker: Checker,
    events: Vec<Event>,
    started: Vec<bool>,
    /// What each thread can release, end, leave and wake from; kept here only to aim well.
    held: Vec<Vec<(LockMode, LockId)>>,
    open: Vec<Vec<RegionId>>,
    calls: Vec<Vec<MethodId>>,
    waiting: Vec<Option<LockId>>,
}

impl World<'_> {
    fn text(&mut self, text: &str) -> StrId {
        // A handful of names: the id space cannot run out.
        self.tables.strings.intern(text).unwrap_or_default()
    }

    fn fill_tables(&mut self) {
        for i in 0..self.threads {
            let name = self.text(&format!("T{}", i + 1));
            self.tables.threads.push(Thread { name });
        }
        for i in 0..self.shape.variables.max(1) {
            let object = self.object(&format!("o{}", i / 2));
            let part = Part::Text(self.text(if i % 2 == 0 { ".a" } else { ".b" }));
            self.add_var(object, part);
        }
        if self.shape.overlapping {
            let array = self.object("array");
            let map = self.object("map");
            let (k, l) = (self.text("k"), self.text("l"));
            for part in [
                Part::Element(0),
                Part::Element(3),
                Part::Range(0, 2),
                Part::Range(1, 4),
                Part::Whole,
            ] {
                self.add_var(array, part);
            }
            for part in [Part::Key(k), Part::Key(l), Part::Whole] {
                self.add_var(map, part);
            }
        }
        for i in 0..self.shape.locks.max(1) {
            let name = self.text(&format!("m{i}"));
            self.tables.locks.push(Lock {
                kind: LockKind::Monitor,
                object: None,
                name,
            });
        }
        for i in 0..self.shape.regions {
            let name = self.text(&format!("region{i}"));
            self.tables.regions.push(Region {
                kind: RegionKind::Block,
                method: None,
                name,
                site: SiteId::UNKNOWN,
            });
        }
        let (name, descriptor) = (self.text("Main"), self.text("()V"));
        let class = self.tables.classes.push(Class {
            name,
            source_file: None,
        });
        for i in 0..3 {
            let name = self.text(&format!("method{i}"));
            self.tables.methods.push(Method {
                class: class.unwrap_or_default(),
                name,
                descriptor,
            });
        }
        let file = Some(self.text("Main.java"));
        for line in 1..=12 {
            self.sites += 1;
            self.tables.sites.push(Site {
                method: None,
                file,
                line,
            });
        }
    }

    fn object(&mut self, name: &str) -> untorn_model::ObjectId {
        let name = Some(self.text(name));
        let known = (self.tables.objects.iter()).find(|(_, object)| object.name == name);
        if let Some((id, _)) = known {
            return id;
        }
        let object = Object { class: None, name };
        self.tables.objects.push(object).unwrap_or_default()
    }

    fn add_var(&mut self, object: untorn_model::ObjectId, part: Part) {
        self.vars += 1;
        self.tables.add_var(Var { object, part });
    }

    /// Emits the event if it is well-formed here.
    fn emit(&mut self, thread: u32, op: Op, noise: u32) -> bool {
        let site = match noise % (self.sites + 1) {
            0 => SiteId::UNKNOWN,
            n => SiteId(n - 1),
        };
        let mut event = Event {
            thread: ThreadId(thread),
            site,
            op,
        };
        if self.checker.admit(&mut event).is_err() {
            return false;
        }
        self.events.push(event);
        self.started[thread as usize] = true;
        true
    }

    fn step(&mut self, step: u32) {
        let t = (step & 0xff) % self.threads;
        let what = step >> 8 & 0x3f;
        let operand = step >> 14 & 0x1ff;
        let noise = step >> 23;
        let i = t as usize;
        // Half of the threads begin with a fork by the first thread that may.
        if !self.started[i] && t > 0 && operand & 1 == 1 {
            let by_any = (0..self.threads)
                .any(|u| u != t && self.started[u as usize] && self.fork(u, t, noise));
            if by_any {
                return;
            }
        }
        if let Some(lock) = self.waiting[i] {
            if self.emit(t, Op::Wake(lock), noise) {
                self.waiting[i] = None;
            }
            return;
        }
        if !self.try_op(t, what, operand, noise) {
            let var = VarId(operand % self.vars);
            // A joined thread stays silent.
            self.emit(t, Op::Read(AccessFlags::PLAIN, var), noise);
        }
    }

    fn fork(&mut self, parent: u32, child: u32, noise: u32) -> bool {
        self.emit(parent, Op::Fork(ThreadId(child)), noise)
    }

    /// Sixty-four choices; data first, so that smaller is simpler.
    fn try_op(&mut self, t: u32, what: u32, operand: u32, noise: u32) -> bool {
        use LockMode::{Exclusive, Shared};
        let i = t as usize;
        let var = VarId(operand % self.vars);
        let lock = LockId(operand % self.shape.locks.max(1));
        let strong = if self.shape.volatile {
            AccessFlags::VOLATILE
        } else {
            AccessFlags::PLAIN
        };
        let rich = self.shape.rich_sync;
        match what {
            0..=12 => self.emit(t, Op::Read(AccessFlags::PLAIN, var), noise),
            13..=25 => self.emit(t, Op::Write(AccessFlags::PLAIN, var), noise),
            26..=27 => self.emit(t, Op::Update(AccessFlags::PLAIN, var), noise),
            28 => self.emit(t, Op::Read(strong, var), noise),
            29 => self.emit(t, Op::Write(strong, var), noise),
            30 => self.emit(t, Op::Update(strong, var), noise),
            31..=36 => self.acquire(t, Exclusive, lock, noise),
            37..=38 => rich && self.acquire(t, Shared, lock, noise),
            39..=46 => {
                let held = self.held[i].len();
                if held == 0 {
                    return false;
                }
                // Mostly innermost first, but locks need not nest.
                let at = if operand < 400 {
                    held - 1
                } else {
                    operand as usize % held
                };
                let (mode, lock) = self.held[i].remove(at);
                self.emit(t, Op::Release(mode, lock), noise)
            }
            47..=51 => {
                let region = match operand % (self.shape.regions + 1) {
                    0 => RegionId::ANONYMOUS,
                    n => RegionId(n - 1),
                };
                self.open[i].push(region);
                self.emit(t, Op::Begin(region), noise)
            }
            52..=56 => match self.open[i].pop() {
                Some(region) => self.emit(t, Op::End(region), noise),
                None => false,
            },
            57 if rich => {
                let waits = self.emit(t, Op::Wait(lock), noise);
                if waits {
                    self.waiting[i] = Some(lock);
                }
                waits
            }
            58 if rich => self.emit(t, Op::Notify(lock), noise),
            59 if rich => {
                let op = if operand & 1 == 0 {
                    Op::Signal(lock)
                } else {
                    Op::Await(lock)
                };
                self.emit(t, op, noise)
            }
            60 => self.fork(t, operand % self.threads, noise),
            61 => {
                // Only a thread that has left everything: real threads end that way.
                let child = operand % self.threads;
                let c = child as usize;
                let idle = self.held[c].is_empty()
                    && self.open[c].is_empty()
                    && self.calls[c].is_empty()
                    && self.waiting[c].is_none();
                // Most joins would end a trace too early.
                noise.is_multiple_of(4) && idle && self.emit(t, Op::Join(ThreadId(child)), noise)
            }
            62 if self.shape.calls => {
                let method = MethodId(operand % 3);
                self.calls[i].push(method);
                self.emit(t, Op::Enter(method), noise)
            }
            63 if self.shape.calls => match self.calls[i].pop() {
                Some(method) => self.emit(t, Op::Exit(method), noise),
                None => false,
            },
            _ => false,
        }
    }

    fn acquire(&mut self, t: u32, mode: LockMode, lock: LockId, noise: u32) -> bool {
        let taken = self.emit(t, Op::Acquire(mode, lock), noise);
        if taken {
            self.held[t as usize].push((mode, lock));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use untorn_model::{Kind, Kinds};

    use super::*;
    use crate::memory::kinds_of;

    #[test]
    fn every_kind_occurs_and_the_same_seed_gives_the_same_trace() {
        let mut seen = Kinds::NONE;
        for seed in 0..200 {
            let (_, events) = random_trace(seed, &Shape::full(), 200);
            assert!(events.len() > 60, "{} events", events.len());
            assert_eq!(events, random_trace(seed, &Shape::full(), 200).1);
            seen = seen.union(kinds_of(&events));
        }
        for kind in Kind::ALL {
            if Kinds::GONE.contains(kind) {
                // They are put in afterwards; see `lives`.
                continue;
            }
            assert!(seen.contains(kind), "{kind:?} never occurs");
        }
    }

    #[test]
    fn dropping_steps_leaves_a_well_formed_trace() {
        for seed in 0..50 {
            let mut steps = random_steps(seed, 60);
            while steps.len() > 1 {
                steps.remove(seed as usize % steps.len());
                let (tables, events) = trace_of(&Shape::full(), &steps);
                crate::VecSource::new(tables, events).unwrap();
            }
        }
    }
}
