//! Segments: who has which, and how they go round.
//!
//! A writer takes a free segment, says whose it is, fills it with records by release stores, and marks it full.
//! The reader takes records up to the first zero, and empties and frees a full segment.
//! The free list is a stack; its head carries a counter, so a writer that was delayed between reading a link and installing it notices.
//!
//! [`Writer`] does in Rust what the Java runtime does: for tests, and as its specification.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::SharedMemory;
use crate::layout;

fn pack(counter: u64, index: u32) -> u64 {
    counter << 32 | index as u64
}

/// Takes a free segment, if there is one.
pub fn take(memory: &SharedMemory) -> Option<u32> {
    let head = memory.u64(layout::CONTROL_FREE);
    let mut top = head.load(Ordering::Acquire);
    loop {
        let index = top as u32;
        if index >= memory.segments() {
            return None;
        }
        let next = memory
            .u32(SharedMemory::entry_at(index) + layout::ENTRY_NEXT)
            .load(Ordering::Relaxed);
        let rest = pack((top >> 32).wrapping_add(1), next);
        match head.compare_exchange_weak(top, rest, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(index),
            Err(now) => top = now,
        }
    }
}

/// Puts an emptied segment back.
pub fn give_back(memory: &SharedMemory, segment: u32) {
    let entry = SharedMemory::entry_at(segment);
    memory
        .u32(entry + layout::ENTRY_STATE)
        .store(layout::FREE, Ordering::Release);
    let head = memory.u64(layout::CONTROL_FREE);
    let mut top = head.load(Ordering::Acquire);
    loop {
        memory
            .u32(entry + layout::ENTRY_NEXT)
            .store(top as u32, Ordering::Relaxed);
        let now = pack((top >> 32).wrapping_add(1), segment);
        match head.compare_exchange_weak(top, now, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(changed) => top = changed,
        }
    }
}

/// Backs more segments with memory and frees them for use.
pub fn grow(memory: &SharedMemory, first: u32, count: u32) -> io::Result<()> {
    memory.back(first, count)?;
    for segment in (first..first + count).rev() {
        give_back(memory, segment);
    }
    Ok(())
}

/// What the directory says of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub state: u32,
    pub thread: u32,
    pub sequence: u64,
}

/// Reads an entry; thread and sequence mean something unless the state is [`layout::FREE`].
#[inline]
pub fn entry(memory: &SharedMemory, segment: u32) -> Entry {
    let at = SharedMemory::entry_at(segment);
    let state = memory.u32(at + layout::ENTRY_STATE).load(Ordering::Acquire);
    Entry {
        state,
        thread: memory
            .u32(at + layout::ENTRY_THREAD)
            .load(Ordering::Relaxed),
        sequence: memory
            .u64(at + layout::ENTRY_SEQUENCE)
            .load(Ordering::Relaxed),
    }
}

/// Appends the records of a segment from an index on, up to the first that is not there; the index after the last one.
pub fn read(memory: &SharedMemory, segment: u32, from: usize, into: &mut Vec<u64>) -> usize {
    let records = memory.records(segment);
    let mut next = from;
    while next < records.len() {
        let bits = records[next].load(Ordering::Acquire);
        if bits == 0 {
            break;
        }
        if next == from {
            into.reserve(records.len() - from);
        }
        into.push(bits);
        next += 1;
    }
    next
}

/// Empties a segment of which `used` records were written, and frees it.
pub fn recycle(memory: &SharedMemory, segment: u32, used: usize) {
    for record in &memory.records(segment)[..used] {
        record.store(0, Ordering::Relaxed);
    }
    give_back(memory, segment);
}

/// Whether any segment is free.
pub fn any_free(memory: &SharedMemory) -> bool {
    let top = memory.u64(layout::CONTROL_FREE).load(Ordering::Acquire);
    (top as u32) < memory.segments()
}

/// How often a writer found no free segment.
pub fn waits(memory: &SharedMemory) -> u64 {
    memory.u64(layout::CONTROL_WAITS).load(Ordering::Relaxed)
}

/// How many regions were entered, and by how many threads.
pub fn entered(memory: &SharedMemory) -> (u64, u64) {
    let count = |at| memory.u64(at).load(Ordering::Relaxed);
    (
        count(layout::CONTROL_REGIONS),
        count(layout::CONTROL_REGION_THREADS),
    )
}

/// A region that turned out not to be meant as one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demotion {
    /// As the program numbers it.
    pub region: u32,
    /// For how long an execution was open, in records of its thread; one that says that it depends on another thread counts for several.
    pub age: u32,
}

/// What was demoted so far, the first ones, and how many others.
pub fn demoted(memory: &SharedMemory) -> (Vec<Demotion>, u64) {
    let all = (memory.u64(layout::CONTROL_DEMOTED)).load(Ordering::Acquire);
    let told = all.min(layout::DEMOTIONS as u64);
    let demotions = (0..told as usize).map(|at| {
        let word = memory
            .u64(layout::CONTROL_DEMOTIONS + at * 8)
            .load(Ordering::Relaxed);
        Demotion {
            region: word as u32,
            age: (word >> 32) as u32,
        }
    });
    (demotions.collect(), all - told)
}

/// Writes one thread's records.
#[derive(Debug)]
pub struct Writer {
    memory: Arc<SharedMemory>,
    thread: u32,
    sequence: u64,
    current: Option<(u32, usize)>,
}

impl Writer {
    pub fn new(memory: Arc<SharedMemory>, thread: u32) -> Self {
        Self {
            memory,
            thread,
            sequence: 0,
            current: None,
        }
    }

    /// Writes a record; waits for a free segment, and gives up when recording has stopped.
    pub fn write(&mut self, bits: u64) -> bool {
        let full = self
            .current
            .is_none_or(|(_, next)| next == layout::SEGMENT_RECORDS);
        if full && !self.rotate() {
            return false;
        }
        if let Some((segment, next)) = &mut self.current {
            self.memory.records(*segment)[*next].store(bits, Ordering::Release);
            *next += 1;
        }
        true
    }

    fn rotate(&mut self) -> bool {
        self.finish();
        let segment = loop {
            if self.memory.state() != layout::RUNNING {
                return false;
            }
            if let Some(segment) = take(&self.memory) {
                break segment;
            }
            std::thread::yield_now();
        };
        let at = SharedMemory::entry_at(segment);
        self.memory
            .u32(at + layout::ENTRY_THREAD)
            .store(self.thread, Ordering::Relaxed);
        self.memory
            .u64(at + layout::ENTRY_SEQUENCE)
            .store(self.sequence, Ordering::Relaxed);
        self.sequence += 1;
        self.memory
            .u32(at + layout::ENTRY_STATE)
            .store(layout::ACTIVE, Ordering::Release);
        self.current = Some((segment, 0));
        true
    }

    /// Gives the segment in hand up, as a thread does when it ends.
    pub fn finish(&mut self) {
        if let Some((segment, _)) = self.current.take() {
            self.memory
                .u32(SharedMemory::entry_at(segment) + layout::ENTRY_STATE)
                .store(layout::FULL, Ordering::Release);
        }
    }
}
