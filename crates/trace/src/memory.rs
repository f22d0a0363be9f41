//! A trace held in memory: what tests and small tools feed to analyses.

use std::ops::Range;

use untorn_model::{Event, EventIndex, Kinds, Op, RegionId, SiteId, Tables};

use crate::wellformed::Checker;
use crate::{Batch, Error, Note, Place, Progress, Replay, Source, TextOptions, TextSource};

/// Events in memory, checked as any other source's.
#[derive(Clone, Debug)]
pub struct VecSource {
    tables: Tables,
    events: Vec<Event>,
    batch: usize,
    next: usize,
}

impl VecSource {
    /// Checks the events, and gives lock operations their right depth.
    pub fn new(tables: Tables, mut events: Vec<Event>) -> Result<Self, Error> {
        let mut checker = Checker::default();
        for (i, event) in events.iter_mut().enumerate() {
            let ill_formed = |what| Error::IllFormed {
                file: "memory".to_owned(),
                place: Place::Event(i as u64),
                what,
            };
            if !ids_exist(&tables, event) {
                return Err(ill_formed("an id that is in no table".to_owned()));
            }
            checker
                .admit(event)
                .map_err(|violation| ill_formed(violation.describe(&tables)))?;
        }
        Ok(Self {
            tables,
            events,
            batch: 1024,
            next: 0,
        })
    }

    /// The trace that a text stands for, in the STD format: the plainest way to write a trace in a test.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let input = std::io::Cursor::new(text.as_bytes().to_vec());
        Self::from_source(&mut TextSource::new("text", input, TextOptions::default()))
    }

    /// All that another source still has to yield.
    pub fn from_source(source: &mut dyn Source) -> Result<Self, Error> {
        let (mut events, mut batch) = (Vec::new(), Vec::new());
        loop {
            source.fill(&mut batch)?;
            if batch.is_empty() {
                return Self::new(source.tables().clone(), events);
            }
            events.append(&mut batch);
        }
    }

    /// Yields so many events at a time: whether an analysis depends on the batches is worth a test.
    #[must_use]
    pub fn with_batches_of(mut self, events: usize) -> Self {
        self.batch = events.max(1);
        self
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

fn ids_exist(tables: &Tables, event: &Event) -> bool {
    let known = match event.op {
        Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) => {
            tables.vars().get(var).is_some()
        }
        Op::Acquire(_, lock)
        | Op::Release(_, lock)
        | Op::Reacquire(_, lock)
        | Op::Rerelease(_, lock)
        | Op::Wait(lock)
        | Op::Wake(lock)
        | Op::Notify(lock)
        | Op::Signal(lock)
        | Op::Await(lock)
        | Op::GoneLock(lock) => tables.locks.get(lock).is_some(),
        Op::Fork(thread) | Op::Join(thread) => tables.threads.get(thread).is_some(),
        Op::Begin(region) | Op::End(region) => {
            region == RegionId::ANONYMOUS || tables.regions.get(region).is_some()
        }
        Op::Enter(method) | Op::Exit(method) => tables.methods.get(method).is_some(),
        Op::GoneObject(object) => tables.objects.get(object).is_some(),
    };
    let site = event.site == SiteId::UNKNOWN || tables.sites.get(event.site).is_some();
    known && site && tables.threads.get(event.thread).is_some()
}

/// The kinds that occur in some events.
pub(crate) fn kinds_of(events: &[Event]) -> Kinds {
    let mut kinds = Kinds::NONE;
    for event in events {
        kinds.insert(event.op.kind());
    }
    kinds
}

impl Source for VecSource {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        into.clear();
        let end = self.events.len().min(self.next + self.batch);
        into.extend_from_slice(&self.events[self.next..end]);
        self.next = end;
        Ok(kinds_of(into))
    }

    fn replay(&self) -> Option<&dyn Replay> {
        Some(self)
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.next as u64,
            total: Some(self.events.len() as u64),
        }
    }

    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

impl Replay for VecSource {
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error> {
        let end = self.next.min(range.end.0 as usize);
        let start = end.min(range.start.0 as usize);
        let mut first = range.start;
        for events in self.events[start..end].chunks(self.batch) {
            visit(&Batch {
                first,
                events,
                kinds: kinds_of(events),
            });
            first.0 += events.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Shape, random_trace};

    #[test]
    fn yields_and_replays_what_was_put_in_whatever_the_batch() {
        let (tables, events) = random_trace(7, &Shape::default(), 150);
        let mut source = VecSource::new(tables, events.clone())
            .unwrap()
            .with_batches_of(7);
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while {
            source.fill(&mut batch).unwrap();
            !batch.is_empty()
        } {
            all.extend_from_slice(&batch);
        }
        assert_eq!(all, events);
        let mut again = Vec::new();
        let range = EventIndex(5)..EventIndex(40);
        (Source::replay(&source).unwrap())
            .replay(range, &mut |batch| {
                assert_eq!(batch.first.0 as usize, 5 + again.len());
                again.extend_from_slice(batch.events);
            })
            .unwrap();
        assert_eq!(again, events[5..40]);
    }

    #[test]
    fn an_id_that_is_in_no_table_is_refused() {
        let (tables, mut events) = random_trace(7, &Shape::default(), 20);
        events[3].site = SiteId(1 << 20);
        let error = VecSource::new(tables, events).unwrap_err();
        assert_eq!(
            error.to_string(),
            "memory at event 3: an id that is in no table"
        );
    }
}
