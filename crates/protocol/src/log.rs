//! The order that the log tells, and whether it is the one in which accesses were performed.
//!
//! A record is known by its number in its thread's log.
//! An edge is a record, too: what its thread writes after it follows everything up to a point of another thread's log.
//! For each access that the next one may conflict with, this keeps from which record on each thread is ordered after it: the last write of an object, and each thread's last read since.
//! Earlier ones are ordered before these, as that was checked when these were performed.

use crate::state::{OBJECTS, Pending, Point, State, Store, THREADS};

/// Not ordered after it.
const NEVER: u8 = u8::MAX;

/// An access with its record, and for each thread the edge that puts it after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    by: u8,
    record: u8,
    after: [u8; THREADS],
}

impl Access {
    pub fn new(by: usize, record: u8) -> Self {
        Self {
            by: by as u8,
            record,
            after: [NEVER; THREADS],
        }
    }

    /// An edge from a point leads to that record of a thread.
    fn edge(&mut self, from: Point, to: usize, record: u8) {
        let source = from.thread;
        let known = if self.by == source {
            self.record
        } else {
            self.after[source as usize]
        };
        if self.by as usize != to && known <= from.position {
            self.after[to] = self.after[to].min(record);
        }
    }

    fn is_before(&self, later: &Self) -> bool {
        self.by == later.by || self.after[later.by as usize] < later.record
    }
}

/// What must never happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// Two conflicting accesses, and the log does not say which came first, or says the reverse.
    Unordered,
    /// A thread lost its word between the record and the access.
    Overlap,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Log {
    writes: [Option<Access>; OBJECTS],
    reads: [[Option<Access>; THREADS]; OBJECTS],
    pub wrong: Option<Wrong>,
}

impl State {
    /// `UntornEdges.edge`: draws an edge to what this thread writes next, unless an earlier one stands for it.
    pub fn edge(&mut self, t: usize, from: Point) {
        let source = from.thread as usize;
        if from.position == 0 || source == t || self.threads[t].edges[source] >= from.position {
            return;
        }
        self.threads[t].edges[source] = from.position;
        let record = self.write(t);
        for access in (self.log.writes.iter_mut())
            .chain(self.log.reads.iter_mut().flatten())
            .flatten()
        {
            access.edge(from, t, record);
        }
        for pending in self
            .threads
            .iter_mut()
            .flat_map(|u| &mut u.pending)
            .flatten()
        {
            pending.access.edge(from, t, record);
        }
    }

    /// `UntornLog.write`: the number of the record.
    pub fn write(&mut self, t: usize) -> u8 {
        let thread = &mut self.threads[t];
        thread.written += 1;
        if self.buffered_log {
            thread.store(Store::Position(thread.written));
        } else {
            thread.position = thread.written;
        }
        thread.written
    }

    /// The record of an access is written: from here until it is performed, nobody else may be there.
    pub fn record(&mut self, t: usize) {
        let record = self.write(t);
        let (object, writes) = (self.threads[t].object, self.threads[t].writes);
        let overlaps = self.threads.iter().enumerate().any(|(u, other)| {
            let mut pending = other.pending.iter().flatten();
            u != t && pending.any(|it| it.object == object && (it.writes || writes))
        });
        if overlaps {
            self.log.wrong = Some(Wrong::Overlap);
        }
        let pending = Pending {
            object,
            writes,
            access: Access::new(t, record),
        };
        let places = &mut self.threads[t].pending;
        let place = usize::from(places[0].is_some());
        places[place] = Some(pending);
    }

    /// An access takes effect: a read, or a write that leaves the store buffer.
    pub fn perform(&mut self, t: usize, place: usize) {
        let Some(pending) = self.threads[t].pending[place].take() else {
            return;
        };
        let object = pending.object as usize;
        let write = self.log.writes[object].iter();
        let reads = self.log.reads[object].iter().flatten();
        let reads = reads.filter(|_| pending.writes);
        if !(write.chain(reads)).all(|earlier| earlier.is_before(&pending.access)) {
            self.log.wrong = Some(Wrong::Unordered);
        }
        if pending.writes {
            self.log.writes[object] = Some(pending.access);
            self.log.reads[object] = [None; THREADS];
        } else {
            self.log.reads[object][t] = Some(pending.access);
        }
    }
}
