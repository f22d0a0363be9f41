//! Takes records out of the shared memory.
//!
//! Segments of a thread are read in the order of their sequence numbers, each up to its first empty place; full ones are emptied and freed at once.
//! Whatever the program does, a pass over the directory ends, so freeing never waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use untorn_channel::{SharedMemory, layout, pool, record};

/// Some records of one thread, in order.
#[derive(Debug)]
pub struct Chunk {
    pub thread: u32,
    pub records: Vec<u64>,
}

/// What the drain passes on.
#[derive(Debug)]
pub enum Passed {
    Chunk(Chunk),
    /// Whatever was written before the last pass over the directory began has been passed on.
    ///
    /// So of a record that was passed on before the round before, all that its writer could know of has been passed on now.
    Round,
}

/// Memory that the log may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Segments that are there from the start.
    pub initial: u32,
    /// How many there may be while threads are merely fast.
    pub busy: u32,
    /// How many there may be because every living thread pins one.
    pub most: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            initial: 512,
            busy: 8192,
            most: 65536,
        }
    }
}

impl Limits {
    /// For a first run, which writes little and whose reader keeps what was told in the last two rounds: these should be short.
    pub fn of_first_run() -> Self {
        let limits = Self::default();
        Self {
            busy: limits.initial,
            ..limits
        }
    }
}

/// What a finished drain can tell.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Drained {
    pub records: u64,
    pub segments: u64,
    /// How often a thread of the program found no free segment.
    pub waits: u64,
    /// Regions that were entered, each counted once, and threads that entered any.
    pub regions: u64,
    pub region_threads: u64,
    /// Recording was stopped since threads pinned all the memory there may be.
    pub exhausted: bool,
}

pub struct Drain {
    memory: Arc<SharedMemory>,
    limits: Limits,
    /// Segments in use so far.
    backed: u32,
    /// The next sequence number of each thread.
    next: Vec<u64>,
    /// How far each segment has been read.
    read_to: Vec<usize>,
    /// Segments in use, by thread and sequence number: of one pass.
    used: Vec<(u32, u64, u32)>,
    done: Drained,
}

impl Drain {
    /// Makes the first segments available.
    pub fn new(memory: Arc<SharedMemory>, limits: Limits) -> Result<Self, untorn_channel::Error> {
        let initial = limits.initial.min(memory.segments());
        pool::grow(&memory, 0, initial).map_err(|source| untorn_channel::Error::Memory {
            megabytes: (initial as u64 * layout::SEGMENT_BYTES as u64) >> 20,
            source,
        })?;
        Ok(Self {
            limits,
            backed: initial,
            next: Vec::new(),
            read_to: vec![0; memory.segments() as usize],
            used: Vec::new(),
            done: Drained::default(),
            memory,
        })
    }

    /// Sends on what is written, until the writer is gone and all is sent, or nobody wants it any more.
    pub fn run(mut self, writer_gone: &AtomicBool, to: &Sender<Passed>) -> Drained {
        const SHORTEST: Duration = Duration::from_micros(100);
        const LONGEST: Duration = Duration::from_millis(5);
        let mut nap = SHORTEST;
        let mut last_progress = Instant::now();
        // A pass that finds nothing ends a round, too, but only the first of several in a row tells anything.
        let mut quiet = true;
        loop {
            let last = writer_gone.load(Ordering::Acquire);
            let Ok(progress) = self.pass(to) else {
                break;
            };
            if (progress || !quiet) && to.send(Passed::Round).is_err() {
                break;
            }
            quiet = !progress;
            if progress {
                nap = SHORTEST;
                last_progress = Instant::now();
                // A later pass costs as much and finds more.
                if !last && self.is_mostly_free() {
                    std::thread::sleep(SHORTEST);
                }
            } else if last {
                break;
            } else {
                std::thread::sleep(nap);
                nap = (nap * 2).min(LONGEST);
            }
            self.provide(last_progress);
        }
        // Nobody reads any more: if the program is still there, it goes on unwatched.
        self.memory.set_state(layout::STOPPED);
        self.done.waits = pool::waits(&self.memory);
        (self.done.regions, self.done.region_threads) = pool::entered(&self.memory);
        self.done
    }

    /// Whether threads can go on writing for a while, as the last pass found it.
    fn is_mostly_free(&self) -> bool {
        const SHARE: usize = 4;
        self.used.len() * SHARE < self.backed as usize
    }

    /// Looks at every segment once, those of a thread in their order; whether anything was there.
    fn pass(&mut self, to: &Sender<Passed>) -> Result<bool, Gone> {
        let mut progress = false;
        let mut used = std::mem::take(&mut self.used);
        used.clear();
        for segment in 0..self.backed {
            let entry = pool::entry(&self.memory, segment);
            if entry.state != layout::FREE && entry.thread >> record::THREAD_BITS == 0 {
                used.push((entry.thread, entry.sequence, segment));
            }
        }
        used.sort_unstable();
        for &(thread, sequence, segment) in &used {
            let index = thread as usize;
            if self.next.len() <= index {
                self.next.resize(index + 1, 0);
            }
            if sequence != self.next[index] {
                continue;
            }
            // It may have been filled since, and what is full is complete.
            let is_full = pool::entry(&self.memory, segment).state == layout::FULL;
            let from = self.read_to[segment as usize];
            let mut records = Vec::new();
            let end = pool::read(&self.memory, segment, from, &mut records);
            self.read_to[segment as usize] = end;
            if is_full {
                self.next[index] += 1;
                self.read_to[segment as usize] = 0;
                self.done.segments += 1;
                pool::recycle(&self.memory, segment, end);
                progress = true;
            }
            if !records.is_empty() {
                progress = true;
                self.done.records += records.len() as u64;
                let chunk = Passed::Chunk(Chunk { thread, records });
                to.send(chunk).map_err(|_| Gone)?;
            }
        }
        self.used = used;
        Ok(progress)
    }

    /// Adds segments when there are none left: a few for speed, more if living threads pin them.
    fn provide(&mut self, last_progress: Instant) {
        if pool::any_free(&self.memory) {
            return;
        }
        let pinned = (0..self.backed)
            .filter(|&s| pool::entry(&self.memory, s).state == layout::ACTIVE)
            .count() as u32;
        let limit = if pinned > self.backed / 2 {
            self.limits.most
        } else {
            self.limits.busy
        }
        .min(self.memory.segments());
        let more = (self.backed / 2)
            .max(64)
            .min(limit.saturating_sub(self.backed));
        if more > 0 && pool::grow(&self.memory, self.backed, more).is_ok() {
            self.backed += more;
            return;
        }
        // Every segment belongs to a thread that may be asleep for good, and somebody waits: nothing will ever be freed.
        if pinned == self.backed
            && pool::waits(&self.memory) != self.done.waits
            && last_progress.elapsed() > Duration::from_secs(1)
        {
            self.done.exhausted = true;
            self.memory.set_state(layout::STOPPED);
        }
    }
}

struct Gone;
