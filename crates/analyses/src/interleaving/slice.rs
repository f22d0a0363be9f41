//! A stretch of the trace, read again, with the transactions that its events belong to.

use std::ops::Range;

use untorn_model::{Event, EventIndex, Op, SiteId, Tables, ThreadId};
use untorn_trace::{Error, Replay};

use super::{At, Member};
use crate::transactions::Execution;

/// How far beyond a stretch the bounds of a transaction are looked for.
const FARTHEST: u64 = 1 << 23;

/// A stretch of the trace, and how deep in regions each thread is after it.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub replay: &'a dyn Replay,
    pub tables: &'a Tables,
    pub begin: EventIndex,
    /// The last event.
    pub last: EventIndex,
    pub depths_after: &'a [u32],
    /// How many events there are.
    pub trace_end: EventIndex,
}

impl Slice<'_> {
    pub(crate) fn len(&self) -> u64 {
        self.last.0 + 1 - self.begin.0
    }

    /// Calls `visit` with every event of the stretch.
    pub(crate) fn each(&self, mut visit: impl FnMut(EventIndex, &Event)) -> Result<(), Error> {
        self.range(self.begin..EventIndex(self.last.0 + 1), &mut visit)
    }

    fn range(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(EventIndex, &Event),
    ) -> Result<(), Error> {
        self.replay.replay(range, &mut |batch| {
            for (index, event) in batch.indexed() {
                visit(index, event);
            }
        })
    }

    pub(crate) fn at(&self, index: EventIndex) -> Result<At, Error> {
        let mut found = At {
            index,
            event: Event {
                thread: ThreadId(u32::MAX),
                site: SiteId::UNKNOWN,
                op: Op::Join(ThreadId(u32::MAX)),
            },
        };
        self.range(index..EventIndex(index.0 + 1), &mut |at, event| {
            if at == index {
                found.event = *event;
            }
        })?;
        Ok(found)
    }

    /// How deep in regions each thread is before the stretch.
    pub(crate) fn depths_before(&self) -> Result<Vec<u32>, Error> {
        let mut gained = vec![0i64; self.depths_after.len()];
        self.each(|_, event| {
            let Some(gained) = gained.get_mut(event.thread.index()) else {
                return;
            };
            match event.op {
                Op::Begin(_) => *gained += 1,
                Op::End(_) => *gained -= 1,
                _ => {}
            }
        })?;
        Ok((self.depths_after.iter().zip(gained))
            .map(|(after, gained)| u32::try_from(i64::from(*after) - gained).unwrap_or(0))
            .collect())
    }

    /// The transactions that the given events of the stretch belong to, in the same order.
    pub(crate) fn members(&self, wanted: &[(ThreadId, EventIndex)]) -> Result<Vec<Member>, Error> {
        let mut depths = self.depths_before()?;
        // By thread: the transaction it is in, where that began in the stretch.
        let mut current: Vec<Option<Execution>> = vec![None; depths.len()];
        let mut members: Vec<Option<Member>> = vec![None; wanted.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut depth_of = vec![0; wanted.len()];
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&i| wanted[i].1);
        let mut order = order.into_iter().peekable();
        self.each(|index, event| {
            let thread = event.thread.index();
            if thread >= depths.len() {
                return;
            }
            if let Op::Begin(region) = event.op {
                depths[thread] += 1;
                if depths[thread] == 1 {
                    current[thread] = Some(Execution {
                        region,
                        begin: index,
                        site: event.site,
                    });
                }
            }
            while let Some(i) = order.next_if(|&i| wanted[i].1 == index) {
                let single = depths[thread] == 0;
                let execution = current[thread].filter(|_| !single);
                depth_of[i] = depths[thread];
                members[i] = Some(Member {
                    thread: event.thread,
                    execution,
                    begin: execution.map_or(index, |execution| execution.begin),
                    end: single.then_some(index),
                });
                if !single {
                    open.push(i);
                }
            }
            if let Op::End(_) = event.op
                && depths[thread] > 0
            {
                depths[thread] -= 1;
                if depths[thread] == 0 {
                    current[thread] = None;
                    open.retain(|&i| match &mut members[i] {
                        Some(member) if member.thread == event.thread => {
                            member.end = Some(index);
                            false
                        }
                        _ => true,
                    });
                }
            }
        })?;
        for i in open {
            if let Some(member) = &mut members[i] {
                member.end = self.end_after(member.thread, depths[member.thread.index()])?;
            }
        }
        for (i, member) in members.iter_mut().enumerate() {
            if let Some(member) = member
                && member.execution.is_none()
                && depth_of[i] > 0
                && let Some(execution) = self.begin_before(wanted[i].0, wanted[i].1, depth_of[i])?
            {
                member.execution = Some(execution);
                member.begin = execution.begin;
            }
        }
        Ok(members.into_iter().flatten().collect())
    }

    /// The outermost of `depth` regions that hold an event.
    fn begin_before(
        &self,
        thread: ThreadId,
        at: EventIndex,
        depth: u32,
    ) -> Result<Option<Execution>, Error> {
        let (mut to, mut step) = (at, 4096);
        // Ends met on the way back whose begins are still to come, and begins of regions that hold the event.
        let (mut closed, mut found) = (0u64, 0);
        let mut seen: Vec<(EventIndex, Event)> = Vec::new();
        while to.0 > 0 && at.0 - to.0 < FARTHEST {
            let from = EventIndex(to.0.saturating_sub(step));
            seen.clear();
            self.range(from..to, &mut |index, event| {
                if event.thread == thread && matches!(event.op, Op::Begin(_) | Op::End(_)) {
                    seen.push((index, *event));
                }
            })?;
            for (index, event) in seen.iter().rev() {
                match event.op {
                    Op::End(_) => closed += 1,
                    Op::Begin(_) if closed > 0 => closed -= 1,
                    Op::Begin(region) => {
                        found += 1;
                        if found == depth {
                            return Ok(Some(Execution {
                                region,
                                begin: *index,
                                site: event.site,
                            }));
                        }
                    }
                    _ => {}
                }
            }
            to = from;
            step *= 2;
        }
        Ok(None)
    }

    /// Where a thread that is so deep in regions after the stretch leaves the outermost.
    fn end_after(&self, thread: ThreadId, mut depth: u32) -> Result<Option<EventIndex>, Error> {
        let (mut from, mut step) = (EventIndex(self.last.0 + 1), 4096);
        let mut end = None;
        while end.is_none() && from < self.trace_end && from.0 - self.last.0 < FARTHEST {
            let to = EventIndex(self.trace_end.0.min(from.0 + step));
            self.range(from..to, &mut |index, event| {
                if event.thread != thread || end.is_some() {
                    return;
                }
                match event.op {
                    Op::Begin(_) => depth += 1,
                    Op::End(_) if depth <= 1 => end = Some(index),
                    Op::End(_) => depth -= 1,
                    _ => {}
                }
            })?;
            from = to;
            step *= 2;
        }
        Ok(end)
    }
}
