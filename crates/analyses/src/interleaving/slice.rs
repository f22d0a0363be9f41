//! A stretch of the trace, read again, with the transactions that its events belong to.

use std::cell::{Cell, RefCell};
use std::ops::{ControlFlow, Range};

use untorn_model::{Event, EventIndex, Op, SiteId, Tables, ThreadId};
use untorn_trace::{Error, Replay};

use super::{At, Member};
use crate::transactions::Execution;

/// How far back the begin of a transaction is looked for: it names the region.
const FARTHEST_BACK: u64 = 1 << 22;
/// How far on its end is looked for: it tells little.
const FARTHEST_ON: u64 = 1 << 16;
/// A stretch up to this long is read once and kept, with as much before and after it as is often asked for.
const KEPT: u64 = 1 << 15;
const AROUND: u64 = 1 << 10;

/// Reads parts of the trace again, and counts how much.
pub(crate) struct Reader<'a> {
    replay: &'a dyn Replay,
    /// How many events there are.
    trace_end: EventIndex,
    kept_from: Cell<u64>,
    kept: RefCell<Vec<Event>>,
    read: Cell<u64>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(replay: &'a dyn Replay, trace_end: EventIndex) -> Self {
        Self {
            replay,
            trace_end,
            kept_from: Cell::new(0),
            kept: RefCell::new(Vec::new()),
            read: Cell::new(0),
        }
    }

    /// How many events were visited so far.
    pub(crate) fn read_so_far(&self) -> u64 {
        self.read.get()
    }

    /// Keeps a stretch and its surroundings at hand if it is short.
    pub(crate) fn keep(&self, begin: EventIndex, last: EventIndex) -> Result<(), Error> {
        let mut kept = self.kept.borrow_mut();
        kept.clear();
        if last.0 - begin.0 > KEPT {
            return Ok(());
        }
        let from = EventIndex(begin.0.saturating_sub(AROUND));
        let to = EventIndex((last.0 + AROUND).min(self.trace_end.0));
        self.kept_from.set(from.0);
        self.replay.replay(from..to, &mut |batch| {
            kept.extend_from_slice(batch.events);
        })
    }

    fn range(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(EventIndex, &Event),
    ) -> Result<(), Error> {
        let (from, to) = (range.start.0, range.end.0.min(self.trace_end.0));
        self.read.set(self.read.get() + to.saturating_sub(from));
        let kept = self.kept.borrow();
        let first = self.kept_from.get();
        if from >= first && to <= first + kept.len() as u64 {
            for index in from..to {
                visit(EventIndex(index), &kept[(index - first) as usize]);
            }
            return Ok(());
        }
        drop(kept);
        self.replay.replay(range, &mut |batch| {
            for (index, event) in batch.indexed() {
                visit(index, event);
            }
        })
    }
}

/// A stretch of the trace, and how deep in regions each thread is somewhere after its begin.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub reader: &'a Reader<'a>,
    pub tables: &'a Tables,
    pub begin: EventIndex,
    /// The last event.
    pub last: EventIndex,
    /// An event, and how deep each thread is after it.
    pub depths_after: (EventIndex, &'a [u32]),
}

impl Slice<'_> {
    /// The stretch up to an event, or to the end of the trace.
    pub(crate) fn until(&self, last: Option<EventIndex>) -> Self {
        let end = EventIndex(self.reader.trace_end.0.saturating_sub(1));
        Self {
            last: last.unwrap_or(end),
            ..*self
        }
    }

    /// Calls `visit` with every event of the stretch.
    pub(crate) fn each(&self, mut visit: impl FnMut(EventIndex, &Event)) -> Result<(), Error> {
        let end = EventIndex(self.last.0 + 1);
        self.reader.range(self.begin..end, &mut visit)
    }

    /// Calls `visit` with the events of the stretch until it is content; a few more may be read.
    pub(crate) fn each_until(
        &self,
        mut visit: impl FnMut(EventIndex, &Event) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (mut from, mut step) = (self.begin, 1 << 13);
        let mut flow = ControlFlow::Continue(());
        while from <= self.last && flow.is_continue() {
            let to = EventIndex((self.last.0 + 1).min(from.0 + step));
            self.reader.range(from..to, &mut |index, event| {
                if flow.is_continue() {
                    flow = visit(index, event);
                }
            })?;
            from = to;
            step = (step * 2).min(1 << 20);
        }
        Ok(())
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
        let one = index..EventIndex(index.0 + 1);
        (self.reader).range(one, &mut |_, event| found.event = *event)?;
        Ok(found)
    }

    /// How deep in regions each thread is before the stretch.
    pub(crate) fn depths_before(&self) -> Result<Vec<u32>, Error> {
        let (known_at, depths) = self.depths_after;
        let mut gained = vec![0i64; depths.len()];
        let range = self.begin..EventIndex(known_at.0 + 1);
        self.reader.range(range, &mut |_, event| {
            let Some(gained) = gained.get_mut(event.thread.index()) else {
                return;
            };
            match event.op {
                Op::Begin(_) => *gained += 1,
                Op::End(_) => *gained -= 1,
                _ => {}
            }
        })?;
        Ok((depths.iter().zip(gained))
            .map(|(after, gained)| u32::try_from(i64::from(*after) - gained).unwrap_or(0))
            .collect())
    }

    /// The transactions that the given events of the stretch belong to, in the same order.
    pub(crate) fn members(&self, wanted: &[(ThreadId, EventIndex)]) -> Result<Vec<Member>, Error> {
        let mut depths = self.depths_before()?;
        let last = wanted.iter().map(|(_, index)| *index).max();
        let last = last.unwrap_or(self.begin);
        // By thread: the transaction it is in, where that began in the stretch.
        let mut current: Vec<Option<Execution>> = vec![None; depths.len()];
        let mut members: Vec<Option<Member>> = vec![None; wanted.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut depth_of = vec![0; wanted.len()];
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&i| wanted[i].1);
        let mut order = order.into_iter().peekable();
        let range = self.begin..EventIndex(last.0 + 1);
        self.reader.range(range, &mut |index, event| {
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
                member.end = self.end_after(member.thread, last, depths[member.thread.index()])?;
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
        let (mut to, mut step) = (at, 512);
        // Ends met on the way back whose begins are still to come, and begins of regions that hold the event.
        let (mut closed, mut found) = (0u64, 0);
        let mut seen: Vec<(EventIndex, Event)> = Vec::new();
        while to.0 > 0 && at.0 - to.0 < FARTHEST_BACK {
            let from = EventIndex(to.0.saturating_sub(step));
            seen.clear();
            self.reader.range(from..to, &mut |index, event| {
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

    /// Where a thread that is so deep in regions after an event leaves the outermost.
    fn end_after(
        &self,
        thread: ThreadId,
        last: EventIndex,
        mut depth: u32,
    ) -> Result<Option<EventIndex>, Error> {
        let (mut from, mut step) = (EventIndex(last.0 + 1), 512);
        let mut end = None;
        let trace_end = self.reader.trace_end;
        while end.is_none() && from < trace_end && from.0 - last.0 < FARTHEST_ON {
            let to = EventIndex(trace_end.0.min(from.0 + step));
            self.reader.range(from..to, &mut |index, event| {
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
