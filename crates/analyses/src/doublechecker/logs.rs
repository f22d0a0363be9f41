//! The stretches of the trace that may lie on a cycle: the log that the precise analysis reads.
//!
//! A log is a list of positions, never a copy of events.
//! The list has a limit too: beyond it, stretches of a thread with few events between them are joined.
//! The precise analysis finds the same in more events, so this costs time and loses nothing; at worst it reads the whole trace, once.

use std::ops::Range;

use untorn_model::{Event, EventIndex, Kinds, Op, ThreadId};
use untorn_trace::{Batch, Error, Replay};

use super::graph::{Stretch, join_touching};
use super::icd;
use super::selection::runs;
use crate::interleaving::UNSEEN;

/// How many stretches are kept.
const LIMIT: usize = 1 << 20;

/// Events that are cheaper to skip than to ask for separately: a reader decodes whole chunks.
const SKIP: u64 = 1 << 16;

/// What the imprecise analysis found.
#[derive(Clone, Debug)]
pub(super) struct Logs {
    stretches: Vec<Stretch>,
    limit: usize,
}

impl Default for Logs {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl icd::Suspects for Logs {
    fn add(&mut self, stretch: Stretch) {
        if let Some(last) = self.stretches.last_mut()
            && last.thread == stretch.thread
            && last.end == stretch.start
        {
            last.end = stretch.end;
            return;
        }
        if self.stretches.len() >= self.limit {
            self.shorten();
        }
        self.stretches.push(stretch);
    }
}

impl Logs {
    pub fn with_limit(limit: usize) -> Self {
        Self {
            stretches: Vec::new(),
            limit: limit.max(2),
        }
    }

    fn shorten(&mut self) {
        let mut gap = 0;
        join_touching(&mut self.stretches, gap);
        // One stretch a thread is as short as it gets.
        while self.stretches.len() > self.limit / 2 && gap < u64::MAX / 8 {
            gap = (gap * 4).max(16);
            join_touching(&mut self.stretches, gap);
        }
        self.limit = self.limit.max(2 * self.stretches.len());
    }

    /// By thread, then by position, disjoint.
    pub fn into_stretches(mut self) -> Vec<Stretch> {
        join_touching(&mut self.stretches, 0);
        self.stretches
    }
}

/// A trace of which only some stretches are to be seen.
pub(super) struct Excerpt<'a> {
    /// Sorted by thread and position, and disjoint.
    pub stretches: &'a [Stretch],
    pub source: &'a dyn Replay,
    /// Whether the trace uses ids again: then all that tells so is to be seen, also between the stretches.
    pub reused: bool,
}

impl Excerpt<'_> {
    /// Reads all of it, in the order of the trace, run by run.
    pub fn read(
        &self,
        mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut cursors = Cursors::new(self.stretches, 0);
        let mut result = Ok(());
        let skip = if self.reused { u64::MAX } else { SKIP };
        for range in union(self.stretches, skip) {
            let range = EventIndex(range.start)..EventIndex(range.end);
            self.source.replay(range, &mut |batch| {
                let within = |index: EventIndex, event: &Event| {
                    event.op.is_gone() || cursors.contain(event.thread, index.0)
                };
                runs(batch, within, |run| {
                    if result.is_ok() {
                        result = visit(run);
                    }
                });
            })?;
        }
        result
    }
}

/// Every event keeps its place; one that is not to be seen is [`UNSEEN`].
///
/// Who started and awaited which thread is to be seen always, since that tells a region's own threads from others.
/// It adds no way back to a transaction: what is on one is in the stretches.
impl Replay for Excerpt<'_> {
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error> {
        let mut cursors = Cursors::new(self.stretches, range.start.0);
        let mut events = Vec::new();
        self.source.replay(range, &mut |batch| {
            events.clear();
            events.extend(batch.indexed().map(|(index, event)| {
                let lives = matches!(event.op, Op::Fork(_) | Op::Join(_));
                if event.op.is_gone() || cursors.contain(event.thread, index.0) || lives {
                    *event
                } else {
                    Event {
                        op: UNSEEN,
                        ..*event
                    }
                }
            }));
            visit(&Batch {
                events: &events,
                kinds: batch.kinds.union(Kinds::CALLS),
                ..*batch
            });
        })
    }
}

/// What to ask a reader for: everything in the stretches, with at most `skip` events between two that are read at once.
fn union(stretches: &[Stretch], skip: u64) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = stretches.iter().map(|s| s.start..s.end).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let joins = next.start <= last.end.saturating_add(skip);
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
    ranges
}

/// For each thread, the stretch that its next event may be in.
struct Cursors<'a> {
    /// By thread: where the current stretch lies, and those that follow it.
    threads: Vec<(u64, u64, &'a [Stretch])>,
}

impl<'a> Cursors<'a> {
    fn new(mut stretches: &'a [Stretch], from: u64) -> Self {
        let count = stretches.last().map_or(0, |last| last.thread.index() + 1);
        let mut threads = vec![(0, 0, &stretches[..0]); count];
        while let Some(first) = stretches.first() {
            let others = stretches.partition_point(|s| s.thread <= first.thread);
            let (of_thread, rest) = stretches.split_at(others);
            let past = of_thread.partition_point(|s| s.end <= from);
            threads[first.thread.index()].2 = &of_thread[past..];
            stretches = rest;
        }
        Self { threads }
    }

    #[inline]
    fn contain(&mut self, thread: ThreadId, index: u64) -> bool {
        let Some((start, end, rest)) = self.threads.get_mut(thread.index()) else {
            return false;
        };
        while index >= *end {
            let Some((next, after)) = rest.split_first() else {
                return false;
            };
            (*start, *end, *rest) = (next.start, next.end, after);
        }
        index >= *start
    }
}

#[cfg(test)]
mod tests {
    use super::icd::Suspects as _;
    use super::*;

    fn stretch(thread: u32, start: u64, end: u64) -> Stretch {
        Stretch {
            thread: ThreadId(thread),
            start,
            end,
        }
    }

    #[test]
    fn a_short_list_covers_what_the_long_one_did() {
        let mut logs = Logs::with_limit(8);
        let all: Vec<_> = (0..1000)
            .map(|i| stretch(i % 3, u64::from(i) * 40, u64::from(i) * 40 + 5))
            .collect();
        for stretch in &all {
            logs.add(*stretch);
        }
        let kept = logs.into_stretches();
        assert!(kept.len() <= 9, "{} stretches", kept.len());
        for s in &all {
            let covers = |k: &Stretch| k.thread == s.thread && k.start <= s.start && k.end >= s.end;
            assert!(kept.iter().any(covers), "{s:?} is lost");
        }
        assert!(kept.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn exactly_the_events_of_the_stretches_are_read() {
        use untorn_trace::generate::{Shape, random_trace};
        use untorn_trace::{Source, VecSource};
        let (tables, events) = random_trace(3, &Shape::default(), 200);
        let mut source = VecSource::new(tables, events.clone())
            .unwrap()
            .with_batches_of(9);
        let mut batch = Vec::new();
        while source.fill(&mut batch).is_ok() && !batch.is_empty() {}
        let stretches = [
            stretch(0, 3, 20),
            stretch(0, 50, 60),
            stretch(2, 10, 11),
            stretch(2, 15, 90),
        ];
        let mut seen = Vec::new();
        let excerpt = Excerpt {
            stretches: &stretches,
            source: Source::replay(&source).unwrap(),
            reused: false,
        };
        let read = excerpt.read(|batch| {
            seen.extend(batch.indexed().map(|(index, _)| index.0));
            Ok(())
        });
        read.unwrap();
        let within = |i: usize| {
            (stretches.iter())
                .any(|s| s.thread == events[i].thread && (s.start..s.end).contains(&(i as u64)))
        };
        let expected: Vec<u64> = (0..events.len())
            .filter(|i| within(*i))
            .map(|i| i as u64)
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(seen, expected);
        let (mut part, range) = (Vec::new(), EventIndex(17)..EventIndex(55));
        let read = excerpt.replay(range, &mut |batch| {
            assert_eq!(
                batch.first.0,
                17 + part.len() as u64,
                "no place is left out"
            );
            part.extend_from_slice(batch.events);
        });
        read.unwrap();
        assert_eq!(part.len(), 38);
        for (i, event) in (17..).zip(part) {
            let lives = matches!(events[i].op, Op::Fork(_) | Op::Join(_));
            assert_eq!(event == events[i], within(i) || lives, "event {i}");
        }
    }
}
