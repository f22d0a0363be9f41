//! What is seen of a thread without taking its accesses apart: regions, locks, announcements.
//!
//! Accesses have the highest bit of a record, so they are passed over by looking at that bit alone.

use std::collections::VecDeque;

use untorn_channel::Record;
use untorn_channel::record::LockOp;
use untorn_trace::TransactionFilter;

use super::locks::{Hold, Holds};

/// What was counted of all threads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Scanned {
    pub records: u64,
    pub regular_transactions: u64,
    pub accesses_inside: u64,
    pub accesses_outside: u64,
}

/// A lock that was held where a stretch may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    pub position: u64,
    pub hold: Hold,
}

/// Whether a record says what a number stands for, or that it stands for it no more.
pub fn is_announcement(record: Record) -> bool {
    matches!(
        record,
        Record::NewLock { .. }
            | Record::NewClassLock { .. }
            | Record::NewObject { .. }
            | Record::GoneLock { .. }
            | Record::GoneObject { .. }
    )
}

/// One thread, as far as it has been heard.
#[derive(Debug, Default)]
pub struct Scan {
    /// How many records it has written.
    pub position: u64,
    /// Open regions, outermost first.
    regions: Vec<u32>,
    /// It has done something in its region that others can depend on.
    acted: bool,
    holds: Holds,
    /// For each place where a stretch may begin: the locks held there, in order.
    pub starts: VecDeque<Start>,
}

impl Scan {
    /// Passes records of this thread, of which the first has this place in the order of all; `announce` gets what names locks and objects or says that they are gone, each after its place.
    pub fn records<S: TransactionFilter>(
        &mut self,
        thread: u32,
        records: &[u64],
        order: u64,
        filter: &mut S,
        counted: &mut Scanned,
        announce: &mut Vec<u64>,
    ) {
        let mut rest = records;
        let place = |rest: &[u64]| order + (records.len() - rest.len()) as u64;
        loop {
            let accesses = rest
                .iter()
                .take_while(|bits| Record::is_access(**bits))
                .count();
            if accesses > 0 {
                self.accesses(thread, accesses as u64, filter, counted);
                rest = &rest[accesses..];
            }
            let Some((&bits, after)) = rest.split_first() else {
                break;
            };
            if Record::decode(bits).is_some_and(is_announcement) {
                announce.extend([place(rest), bits]);
            }
            rest = after;
            self.control(thread, bits, filter, counted);
            self.position += 1;
        }
        counted.records += records.len() as u64;
    }

    #[inline]
    fn accesses<S: TransactionFilter>(
        &mut self,
        thread: u32,
        count: u64,
        filter: &mut S,
        counted: &mut Scanned,
    ) {
        if self.regions.is_empty() {
            counted.accesses_outside += count;
        } else {
            counted.accesses_inside += count;
            self.act(thread, filter);
        }
        self.position += count;
    }

    /// Something that others can depend on.
    #[inline]
    fn act<S: TransactionFilter>(&mut self, thread: u32, filter: &mut S) {
        if !self.acted && !self.regions.is_empty() {
            self.acted = true;
            filter.act(thread, self.position);
        }
    }

    #[inline]
    fn control<S: TransactionFilter>(
        &mut self,
        thread: u32,
        bits: u64,
        filter: &mut S,
        counted: &mut Scanned,
    ) {
        match Record::decode(bits) {
            Some(Record::Begin { region }) => {
                self.regions.push(region);
                if self.regions.len() == 1 {
                    counted.regular_transactions += 1;
                    self.acted = false;
                    self.may_start(self.position);
                    filter.begin(thread, self.position);
                }
            }
            Some(Record::End { region }) => {
                // Inner regions that were left without a record end with the outer one; a stranger ends nothing.
                if let Some(at) = self.regions.iter().rposition(|open| *open == region) {
                    self.regions.truncate(at);
                    if at == 0 {
                        filter.end(thread);
                    }
                }
            }
            Some(Record::Lock { op, lock, .. }) => {
                // What only awaits others is nothing that others depend on.
                if !matches!(
                    op,
                    LockOp::Acquire | LockOp::AcquireShared | LockOp::Wake | LockOp::Await
                ) {
                    self.act(thread, filter);
                }
                self.holds.follow(op, lock);
            }
            Some(Record::Unwound { regions }) if !self.regions.is_empty() && regions > 0 => {
                let left = self.regions.len().saturating_sub(regions as usize);
                self.regions.truncate(left);
                if left == 0 {
                    filter.end(thread);
                }
            }
            Some(Record::Released { lock }) => {
                self.act(thread, filter);
                self.holds.follow(LockOp::Release, lock);
            }
            Some(Record::Fork { .. }) => self.act(thread, filter),
            _ => {}
        }
    }

    /// Passes an edge.
    pub fn edge<S: TransactionFilter>(
        &mut self,
        thread: u32,
        from: u32,
        before: u64,
        filter: &mut S,
    ) {
        if from != thread {
            if self.regions.is_empty() {
                self.may_start(self.position);
            }
            filter.depend(thread, self.position, from, before);
        }
        self.position += 1;
    }

    /// A stretch may begin here.
    #[inline]
    fn may_start(&mut self, position: u64) {
        if !self.holds.is_empty() {
            let holds = self.holds.all().iter();
            self.starts
                .extend(holds.map(|&hold| Start { position, hold }));
        }
    }
}
