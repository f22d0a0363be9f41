//! The stream interface between what yields events and what consumes them.

use std::ops::Range;

use untorn_model::{Event, EventIndex, Kinds, Tables};

use crate::{Error, Note};

/// A stretch of the total order.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The index of the first event; the others follow without a gap.
    pub first: EventIndex,
    pub events: &'a [Event],
    /// The kinds that occur, so that who wants none of them skips the batch; it may name more, never fewer.
    pub kinds: Kinds,
}

impl<'a> Batch<'a> {
    /// The events with their indices.
    #[inline]
    pub fn indexed(&self) -> impl Iterator<Item = (EventIndex, &'a Event)> + use<'a> {
        let first = self.first.0;
        self.events
            .iter()
            .enumerate()
            .map(move |(i, event)| (EventIndex(first + i as u64), event))
    }

    /// The batch in parts, each of which tells of things that are gone ([`Self::is_gone`]) or does not at all.
    ///
    /// For who keeps something by id: it forgets in the one part, and need not ask in the other.
    pub fn parts(&self) -> impl Iterator<Item = Batch<'a>> + use<'a> {
        let mut rest = *self;
        let mixed = self.kinds.intersects(Kinds::GONE);
        std::iter::from_fn(move || {
            let gone = rest.events.first()?.op.is_gone();
            let other = |event: &Event| event.op.is_gone() != gone;
            let end = mixed.then(|| rest.events.iter().position(other)).flatten();
            let (events, after) = rest.events.split_at(end.unwrap_or(rest.events.len()));
            let part = Batch { events, ..rest };
            rest.first.0 += events.len() as u64;
            rest.events = after;
            Some(part)
        })
    }

    /// Of a part: whether it tells of things that are gone.
    pub fn is_gone(&self) -> bool {
        self.events.first().is_some_and(|event| event.op.is_gone())
    }
}

/// How far a source has come, in units of its own (bytes or events).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    pub done: u64,
    /// Unknown for a pipe.
    pub total: Option<u64>,
}

/// A stream of well-formed events in a total order.
///
/// Whatever a source yields has been checked: regions nest, locks are released by their holders, a joined thread is silent, and re-entrant lock operations carry their own kind.
/// An end carries the region of its begin, or none ([`untorn_model::RegionId::ANONYMOUS`]) where the recording leaves it out: it closes the innermost region in any case.
/// At the end of a trace regions may still be open; who judges a trace closes them there.
/// An id stands for one thing, or for one after another with a [`untorn_model::Op::GoneObject`] or [`untorn_model::Op::GoneLock`] in between.
pub trait Source {
    /// What the ids stand for; grows as the stream is read, and covers every event yielded so far.
    fn tables(&self) -> &Tables;

    /// Clears `into` and fills it with the next events; leaves it empty at the end of the trace.
    ///
    /// Returns the kinds that occur in it.
    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error>;

    /// Whether what was left empty was so because the trace has ended; a source that waits for a program may yield nothing for a while.
    fn is_over(&self) -> bool {
        true
    }

    /// Random access to what was yielded before, where the source has it.
    fn replay(&self) -> Option<&dyn Replay>;

    /// The line of a text trace that an event stands on, from 1; it names regions that have no name (`T1@12`).
    ///
    /// Every other source counts its events as lines.
    fn line_of(&self, index: EventIndex) -> u64 {
        index.0 + 1
    }

    fn progress(&self) -> Progress;

    /// What the user should know about the input, such as a truncated end or skipped lines; complete once the stream has ended.
    fn notes(&self) -> Vec<Note>;
}

impl<S: Source + ?Sized> Source for &mut S {
    fn tables(&self) -> &Tables {
        (**self).tables()
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        (**self).fill(into)
    }

    fn is_over(&self) -> bool {
        (**self).is_over()
    }

    fn replay(&self) -> Option<&dyn Replay> {
        (**self).replay()
    }

    fn line_of(&self, index: EventIndex) -> u64 {
        (**self).line_of(index)
    }

    fn progress(&self) -> Progress {
        (**self).progress()
    }

    fn notes(&self) -> Vec<Note> {
        (**self).notes()
    }
}

/// Reads a stretch of the order again.
///
/// Only indices that the source has yielded already may be asked for.
pub trait Replay {
    /// Calls `visit` with consecutive batches that together make up the range.
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error>;
}
