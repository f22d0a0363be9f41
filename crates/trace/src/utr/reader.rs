//! Reads a `.utr` file as a stream, and stretches of it again.

use std::fs::File;
use std::ops::Range;

use untorn_model::{Event, EventIndex, Kinds, Tables};

use super::columns::Filling;
use super::format::ChunkHeader;
use super::linearizer::Linearizer;
use super::mapping::Mapping;
use super::opcode::Limits;
use super::schedule::{GroupStart, Schedule};
use super::trace_file::TraceFile;
use crate::memory::kinds_of;
use crate::wellformed::Checker;
use crate::{Batch, Error, Note, Place, Progress, Replay, Source};

/// So many events fit the second-level cache beside the chunks they come from.
const BATCH: usize = 8192;
/// Checkpoints are thinned out when there are more, so memory does not grow with the trace.
const MAX_CHECKPOINTS: usize = 4096;
/// Events between checkpoints, at first.
const MIN_GAP: u64 = 64 << 10;

/// How the file ended, if it did not end well.
#[derive(Clone, Copy, Debug, Default)]
struct Ending {
    cut_at: Option<u64>,
    dropped: u64,
}

/// What the two kinds of order need while they read: a first reading fills the tables, a second one only looks.
#[derive(Debug)]
pub struct Context<'a> {
    pub file: &'a TraceFile,
    reading: Reading<'a>,
}

#[derive(Debug)]
enum Reading<'a> {
    First {
        tables: &'a mut Tables,
        limits: &'a mut Limits,
        ending: &'a mut Ending,
    },
    Again {
        tables: &'a Tables,
        limits: &'a Limits,
    },
}

impl Context<'_> {
    pub fn tables(&self) -> &Tables {
        match &self.reading {
            Reading::First { tables, .. } => tables,
            Reading::Again { tables, .. } => tables,
        }
    }

    #[inline]
    pub fn limits(&self) -> &Limits {
        match &self.reading {
            Reading::First { limits, .. } => limits,
            Reading::Again { limits, .. } => limits,
        }
    }

    pub fn load_tables(&mut self, offset: u64, header: &ChunkHeader) -> Result<(), Error> {
        if let Reading::First { tables, limits, .. } = &mut self.reading {
            self.file.load_tables(offset, header, tables)?;
            **limits = Limits::of(tables);
        }
        Ok(())
    }

    /// The file ends in the middle; so many events that it shows cannot be used.
    pub fn cut(&mut self, offset: u64, dropped: u64) {
        if let Reading::First { ending, .. } = &mut self.reading {
            ending.cut_at = Some(offset);
            ending.dropped = dropped;
        }
    }

    /// The end marker; `whole` if every event that it counts was read.
    pub fn end(&mut self, offset: u64, header: &ChunkHeader, whole: bool) -> Result<(), Error> {
        if !whole {
            let what = "events are missing before the end";
            return Err(self.file.corrupt(offset, what));
        }
        let end = TraceFile::after(offset, header);
        if end != self.file.len() {
            return Err(self.file.corrupt(end, "bytes after the end"));
        }
        Ok(())
    }
}

#[derive(Debug)]
enum Order {
    Scheduled(Schedule),
    Merged(Linearizer),
}

impl Order {
    /// Appends events; of a schedule, those before `from` are left out.
    fn fill(
        &mut self,
        context: &mut Context<'_>,
        from: u64,
        batch: usize,
        events: &mut Vec<Event>,
    ) -> Result<Kinds, Error> {
        let mut into = Filling {
            events,
            kinds: Kinds::NONE,
            batch,
        };
        match self {
            Self::Scheduled(schedule) => schedule.fill(context, from, &mut into)?,
            Self::Merged(linearizer) => linearizer.fill(context, &mut into)?,
        }
        Ok(into.kinds)
    }
}

/// A place in the order from which reading can start.
#[derive(Debug)]
enum Checkpoint {
    Group(GroupStart),
    Merge(Box<Linearizer>),
}

impl Checkpoint {
    fn index(&self) -> u64 {
        match self {
            Self::Group(start) => start.index,
            Self::Merge(linearizer) => linearizer.index(),
        }
    }

    fn order(&self) -> Order {
        match self {
            Self::Group(start) => Order::Scheduled(Schedule::resume(*start)),
            Self::Merge(linearizer) => Order::Merged(Linearizer::clone(linearizer)),
        }
    }
}

/// Places to start from, in order, at most so many.
#[derive(Debug)]
struct Checkpoints {
    all: Vec<Checkpoint>,
    gap: u64,
}

impl Checkpoints {
    fn offer(&mut self, order: &Order) {
        let (index, gap) = match order {
            Order::Scheduled(schedule) => (schedule.start().index, self.gap),
            Order::Merged(merge) => (merge.index(), self.gap.max(256 * merge.weight() as u64)),
        };
        if self
            .all
            .last()
            .is_some_and(|last| index < last.index() + gap)
        {
            return;
        }
        self.all.push(match order {
            Order::Scheduled(schedule) => Checkpoint::Group(schedule.start()),
            Order::Merged(merge) => Checkpoint::Merge(Box::new(merge.clone())),
        });
        if self.all.len() > MAX_CHECKPOINTS {
            let mut keep = false;
            self.all.retain(|_| {
                keep = !keep;
                keep
            });
            self.gap *= 2;
        }
    }

    fn before(&self, index: u64) -> Option<&Checkpoint> {
        let after = self.all.partition_point(|point| point.index() <= index);
        self.all.get(after.checked_sub(1)?)
    }
}

/// A `.utr` file as a stream of events.
#[derive(Debug)]
pub struct UtrSource {
    file: TraceFile,
    tables: Tables,
    limits: Limits,
    ending: Ending,
    checker: Checker,
    order: Order,
    checkpoints: Checkpoints,
    next: u64,
    ended: bool,
}

impl UtrSource {
    /// Reads a file from its beginning; `name` is what messages call it.
    pub fn new(name: impl Into<String>, file: File) -> Result<Self, Error> {
        Ok(Self::of(TraceFile::new(name.into(), file)?))
    }

    /// As [`UtrSource::new`], of a file that is in memory already.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, Error> {
        let file = TraceFile::with(name.into(), Mapping::Memory(bytes))?;
        Ok(Self::of(file))
    }

    fn of(file: TraceFile) -> Self {
        let order = if file.ordered {
            Order::Scheduled(Schedule::new())
        } else {
            Order::Merged(Linearizer::default())
        };
        let tables = Tables::default();
        let mut checkpoints = Checkpoints {
            all: Vec::new(),
            gap: MIN_GAP,
        };
        checkpoints.offer(&order);
        Self {
            file,
            limits: Limits::of(&tables),
            tables,
            ending: Ending::default(),
            checker: Checker::default(),
            order,
            checkpoints,
            next: 0,
            ended: false,
        }
    }

    fn fill_batch(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        let mut context = Context {
            file: &self.file,
            reading: Reading::First {
                tables: &mut self.tables,
                limits: &mut self.limits,
                ending: &mut self.ending,
            },
        };
        into.reserve(BATCH);
        let kinds = self.order.fill(&mut context, 0, BATCH, into)?;
        for (i, event) in into.iter().enumerate() {
            if let Err(violation) = self.checker.verify(event) {
                return Err(Error::IllFormed {
                    file: self.file.name.clone(),
                    place: Place::Event(self.next + i as u64),
                    what: violation.describe(&self.tables),
                });
            }
        }
        self.next += into.len() as u64;
        self.checkpoints.offer(&self.order);
        Ok(kinds)
    }
}

impl Source for UtrSource {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        into.clear();
        if self.ended {
            return Ok(Kinds::NONE);
        }
        let filled = self.fill_batch(into);
        if filled.is_err() {
            into.clear();
        }
        self.ended = into.is_empty();
        filled
    }

    fn replay(&self) -> Option<&dyn Replay> {
        Some(self)
    }

    fn progress(&self) -> Progress {
        let done = match &self.order {
            Order::Scheduled(schedule) => schedule.offset(),
            Order::Merged(linearizer) => linearizer.offset(),
        };
        Progress {
            done,
            total: Some(self.file.len()),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let file = || self.file.name.clone();
        let mut notes = Vec::new();
        if let Some(offset) = self.ending.cut_at {
            notes.push(Note::Truncated {
                file: file(),
                offset,
            });
        }
        if self.ending.dropped > 0 {
            notes.push(Note::DroppedEvents {
                file: file(),
                count: self.ending.dropped,
            });
        }
        notes
    }
}

impl Replay for UtrSource {
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error> {
        let (start, end) = (range.start.0, range.end.0.min(self.next));
        let Some(checkpoint) = self.checkpoints.before(start) else {
            return Ok(());
        };
        let mut order = checkpoint.order();
        let mut context = Context {
            file: &self.file,
            reading: Reading::Again {
                tables: &self.tables,
                limits: &self.limits,
            },
        };
        let mut first = match &order {
            Order::Scheduled(_) => start,
            Order::Merged(linearizer) => linearizer.index(),
        };
        let mut events = Vec::new();
        while first < end {
            events.clear();
            let batch = (end - first).min(BATCH as u64) as usize;
            order.fill(&mut context, start, batch, &mut events)?;
            if events.is_empty() {
                return Err(Error::io(
                    &self.file.name,
                    std::io::Error::other("changed while it was read"),
                ));
            }
            let before = (start.saturating_sub(first) as usize).min(events.len());
            let wanted = &events[before..];
            if !wanted.is_empty() {
                visit(&Batch {
                    first: EventIndex(first + before as u64),
                    events: wanted,
                    kinds: kinds_of(wanted),
                });
            }
            first += events.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_stay_few_and_useful_however_long_the_trace() {
        let mut checkpoints = Checkpoints {
            all: Vec::new(),
            gap: MIN_GAP,
        };
        let groups = 50_000;
        for group in 0..groups {
            let start = GroupStart {
                index: group * MIN_GAP,
                offset: group,
            };
            checkpoints.offer(&Order::Scheduled(Schedule::resume(start)));
            assert!(checkpoints.all.len() <= MAX_CHECKPOINTS);
        }
        for index in [0, 1, 77 * MIN_GAP, groups * MIN_GAP - 1] {
            let start = checkpoints.before(index).unwrap().index();
            assert!(start <= index && index - start <= 2 * checkpoints.gap);
        }
        assert!(checkpoints.gap <= 16 * MIN_GAP);
    }
}
