//! Leaves out of a trace the regions that were hardly meant to be one step, as the runtime does while a program runs.
//!
//! With every method a candidate, the outermost regions are loops and drivers; as transactions they hold half the run, and every cycle passes through them.
//! Paper 002 takes them out between trials (section 5.1); the runtime does it within the run, and [`Demoting`] does the same on the events of a trace that was recorded without it.
//!
//! # The policy
//! A region is *demoted* when one of its executions stays open over [`Options::long`] events of its thread, of which one that depends on another thread counts for [`Options::dependence`].
//! From then on it has no beginnings and ends: what it calls becomes outermost.
//! The execution that is open ends there, as soon as no younger region is open within, so that younger ones stay whole.
//! Regions without a name and those that somebody meant to be one step ([`IsMeant`]) are never demoted, and what is open around such a one is not ended.
//!
//! # Where it differs from the runtime
//! - The runtime counts records: it writes none of a region that does nothing, and none of reads that it has just recorded, so it demotes a little later than a trace with all events says.
//! - A *dependence* is an access to an object that another thread used last, if one of the two wrote, or an operation on a lock that another thread used last: the transitions of ownership, without the runtime's own.
//! - The runtime ends a region at a safe point of its thread; here it is right behind the event that made it old.
//!
//! # What is guaranteed
//! What is torn of regions that are not demoted is the same as if the demoted ones had been left out from the start: which events there are and in which order does not change.

use std::sync::{Arc, Mutex, PoisonError};

use untorn_model::{Event, EventIndex, Kinds, ObjectId, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::{Error, Note, Progress, Replay, Source};

/// When a region is demoted.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For how many events of its thread an execution may be open.
    pub long: u64,
    /// For how many of them one counts that depends on another thread.
    pub dependence: u64,
}

/// Whether somebody said that a region is meant to be one step.
pub type IsMeant = Box<dyn Fn(&Tables, RegionId) -> bool + Send>;

impl Default for Options {
    /// As the runtime.
    fn default() -> Self {
        Self {
            long: 4096,
            dependence: 32,
        }
    }
}

/// What was demoted so far, each with how long an execution of it was open; known to the end when the source has ended.
#[derive(Clone, Debug, Default)]
pub struct Demoted(Arc<Mutex<Vec<(RegionId, u64)>>>);

impl Demoted {
    pub fn regions(&self) -> Vec<(RegionId, u64)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    fn add(&self, region: RegionId, age: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((region, age));
    }
}

/// A region that its thread is in, by the trace.
#[derive(Clone, Copy, Debug)]
struct Open {
    region: RegionId,
    begun: u64,
    /// Whether it is open for whoever reads on.
    told: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    open: Vec<Open>,
    time: u64,
}

/// Who used something last.
#[derive(Clone, Copy, Debug)]
struct User {
    thread: ThreadId,
    wrote: bool,
}

/// A source without what was demoted; see the [module](self).
pub struct Demoting {
    source: Box<dyn Source + Send>,
    options: Options,
    is_meant: IsMeant,
    threads: Vec<Thread>,
    /// By region.
    is_demoted: Vec<bool>,
    demoted: Demoted,
    objects: Vec<Option<User>>,
    locks: Vec<Option<ThreadId>>,
    batch: Vec<Event>,
    /// How many events were read, and how many were yielded.
    read: u64,
    yielded: u64,
    /// From which event on that is yielded, the event itself stands how much further back in the source.
    shifts: Vec<(u64, i64)>,
}

impl std::fmt::Debug for Demoting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demoting")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Demoting {
    pub fn new(
        source: Box<dyn Source + Send>,
        options: Options,
        is_meant: IsMeant,
    ) -> (Self, Demoted) {
        let demoted = Demoted::default();
        let demoting = Self {
            source,
            options,
            is_meant,
            threads: Vec::new(),
            is_demoted: Vec::new(),
            demoted: demoted.clone(),
            objects: Vec::new(),
            locks: Vec::new(),
            batch: Vec::new(),
            read: 0,
            yielded: 0,
            shifts: Vec::new(),
        };
        (demoting, demoted)
    }

    fn grow(&mut self) {
        let tables = self.source.tables();
        let threads = tables.threads.len();
        if self.threads.len() < threads {
            self.threads.resize_with(threads, Thread::default);
        }
        self.is_demoted.resize(tables.regions.len(), false);
        self.objects.resize(tables.objects.len(), None);
        self.locks.resize(tables.locks.len(), None);
    }

    /// Whether an event depends on what another thread has done.
    fn depends(&mut self, event: &Event) -> bool {
        let thread = event.thread;
        if let Some((var, _)) = event.op.access() {
            let object = self.source.tables().vars()[var].object;
            let wrote = !matches!(event.op, Op::Read(..));
            let user = User { thread, wrote };
            return match self.objects[object.index()].replace(user) {
                Some(last) => last.thread != thread && (last.wrote || wrote),
                None => false,
            };
        }
        match event.op {
            Op::Acquire(_, lock)
            | Op::Release(_, lock)
            | Op::Wait(lock)
            | Op::Wake(lock)
            | Op::Notify(lock)
            | Op::Signal(lock)
            | Op::Await(lock) => {
                let last = self.locks[lock.index()].replace(thread);
                last.is_some_and(|last| last != thread)
            }
            Op::Join(_) => true,
            _ => false,
        }
    }

    fn step(&mut self, event: Event, into: &mut Vec<Event>) {
        match event.op {
            Op::GoneObject(ObjectId(object)) => {
                self.objects[object as usize] = None;
                return into.push(event);
            }
            Op::GoneLock(lock) => {
                self.locks[lock.index()] = None;
                return into.push(event);
            }
            _ => {}
        }
        let counted = if self.depends(&event) {
            self.options.dependence
        } else {
            1
        };
        let thread = &mut self.threads[event.thread.index()];
        let told = match event.op {
            Op::Begin(region) => {
                let told = (self.is_demoted.get(region.index())).is_none_or(|demoted| !demoted);
                thread.open.push(Open {
                    region,
                    begun: thread.time,
                    told,
                });
                told
            }
            Op::End(_) => thread.open.pop().is_none_or(|ended| ended.told),
            _ => true,
        };
        if !told {
            return;
        }
        into.push(event);
        thread.time += counted;
        // Nothing stands between a wait and its end.
        if !matches!(event.op, Op::Wait(_)) {
            self.retire(event.thread, into);
        }
    }

    /// Demotes what has been open for long, and ends it unless something younger is open within.
    fn retire(&mut self, thread: ThreadId, into: &mut Vec<Event>) {
        let this = &mut self.threads[thread.index()];
        let now = this.time;
        let long = self.options.long;
        let is_old = |open: &Open| now - open.begun >= long;
        let Some(outermost) = this.open.iter().find(|open| open.told) else {
            return;
        };
        if !is_old(outermost) {
            return;
        }
        let tables = self.source.tables();
        let may_be =
            |region: RegionId| region != RegionId::ANONYMOUS && !(self.is_meant)(tables, region);
        for open in this.open.iter().filter(|open| open.told && is_old(open)) {
            if may_be(open.region) && !self.is_demoted[open.region.index()] {
                self.is_demoted[open.region.index()] = true;
                self.demoted.add(open.region, now - open.begun);
            }
        }
        if this.open.iter().any(|open| open.told && !is_old(open)) {
            return;
        }
        for open in this.open.iter_mut().rev().filter(|open| open.told) {
            if !may_be(open.region) {
                return;
            }
            open.told = false;
            into.push(Event {
                thread,
                site: SiteId::UNKNOWN,
                op: Op::End(open.region),
            });
        }
    }
}

impl Source for Demoting {
    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        into.clear();
        loop {
            let mut batch = std::mem::take(&mut self.batch);
            let mut kinds = self.source.fill(&mut batch)?;
            self.grow();
            for &event in &batch {
                let before = into.len();
                let shift = self.read as i64 - self.yielded as i64 - before as i64;
                if self.shifts.last().map_or(0, |last| last.1) != shift {
                    self.shifts.push((self.yielded + before as u64, shift));
                }
                self.step(event, into);
                self.read += 1;
            }
            kinds.insert(untorn_model::Kind::End);
            let is_empty = batch.is_empty();
            self.batch = batch;
            if is_empty || !into.is_empty() {
                self.yielded += into.len() as u64;
                return Ok(kinds);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.source.is_over()
    }

    /// Positions of what is yielded are not those of the source.
    fn replay(&self) -> Option<&dyn Replay> {
        None
    }

    fn line_of(&self, index: EventIndex) -> u64 {
        let until = self.shifts.partition_point(|(from, _)| *from <= index.0);
        let shift = until.checked_sub(1).map_or(0, |at| self.shifts[at].1);
        self.source
            .line_of(EventIndex(index.0.saturating_add_signed(shift)))
    }

    fn progress(&self) -> Progress {
        self.source.progress()
    }

    fn notes(&self) -> Vec<Note> {
        self.source.notes()
    }
}
