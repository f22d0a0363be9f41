//! Merges per-thread streams into one order that respects every edge.
//!
//! Threads take turns: a thread goes on until an edge holds it back or what the file has shown of it is used up; then come those it set free, in the order in which they began to wait, and then the next chunk of the file.
//! The order depends on the file alone, so two readings give the same; and since chunks are written as they fill, it stays near the order of the run.
//! What has been taken is always closed under the edges, and as large as what the file has shown allows: at a cut it is the largest prefix.
//! Memory is a few words a thread and a chunk that waits.

use std::collections::VecDeque;

use untorn_model::ThreadId;

use super::columns::{EdgeIn, Filling};
use super::format::ChunkKind;
use super::lanes::Lanes;
use super::reader::Context;
use super::trace_file::{Next, TraceFile};
use crate::{Error, Place};

/// What a thread is doing between its turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Nothing to do until the file shows more of it.
    #[default]
    Idle,
    Ready,
    /// An edge from another thread holds it back.
    Waiting(EdgeIn),
}

/// A merge in progress; a copy is a checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Linearizer {
    lanes: Lanes,
    states: Vec<State>,
    /// Whose turn it is, front first.
    ready: VecDeque<ThreadId>,
    /// By thread: who waits for it, and until it has passed how many events.
    waiters: Vec<Vec<(u64, ThreadId)>>,
    /// The offset of the next chunk; 0 before the first.
    offset: u64,
    index: u64,
}

impl Linearizer {
    pub fn index(&self) -> u64 {
        self.index
    }

    pub fn offset(&self) -> u64 {
        self.offset.max(TraceFile::FIRST)
    }

    /// An estimate of the memory that a copy takes, in words.
    pub fn weight(&self) -> usize {
        16 * self.states.len() + self.lanes.len()
    }

    /// Appends events until the batch is full or the trace ends.
    pub fn fill(&mut self, context: &mut Context<'_>, into: &mut Filling<'_>) -> Result<(), Error> {
        while into.room() > 0 {
            match self.ready.front().copied() {
                Some(thread) => self.turn(context, thread, into)?,
                None if self.next_chunk(context)? => {}
                None => break,
            }
        }
        Ok(())
    }

    /// Lets the thread in front go on; it stays in front if only the batch is full.
    fn turn(
        &mut self,
        context: &mut Context<'_>,
        thread: ThreadId,
        into: &mut Filling<'_>,
    ) -> Result<(), Error> {
        let state = loop {
            let passed = self.lanes.passed(thread);
            match self.lanes.clear_until(context.file, thread)? {
                None => break State::Idle,
                Some(Err(edge)) => break State::Waiting(edge),
                Some(Ok(until)) => {
                    let count = into.room().min(until - passed);
                    if count == 0 {
                        return Ok(());
                    }
                    let limits = context.limits();
                    let taken = (self.lanes).take(context.file, thread, count, limits, into)?;
                    self.index += taken;
                }
            }
        };
        self.ready.pop_front();
        self.states[thread.index()] = state;
        if let State::Waiting(edge) = state {
            self.know(edge.from);
            self.waiters[edge.from.index()].push((edge.passed, thread));
        }
        self.wake_waiters(thread);
        Ok(())
    }

    /// Readies those whom the progress of a thread set free.
    fn wake_waiters(&mut self, thread: ThreadId) {
        let passed = self.lanes.passed(thread);
        let (states, ready) = (&mut self.states, &mut self.ready);
        self.waiters[thread.index()].retain(|&(needed, waiter)| {
            let free = needed <= passed;
            if free {
                states[waiter.index()] = State::Ready;
                ready.push_back(waiter);
            }
            !free
        });
    }

    fn know(&mut self, thread: ThreadId) {
        if self.states.len() <= thread.index() {
            self.states.resize(thread.index() + 1, State::default());
            self.waiters.resize(thread.index() + 1, Vec::new());
        }
    }

    /// Looks at the next chunk of the file; `false` at its end.
    fn next_chunk(&mut self, context: &mut Context<'_>) -> Result<bool, Error> {
        let file = context.file;
        let offset = self.offset();
        let Next::Chunk(header) = file.next(offset)? else {
            self.explain(context, true)?;
            context.cut(offset, self.lanes.waiting());
            return Ok(false);
        };
        match header.kind {
            ChunkKind::Tables => context.load_tables(offset, &header)?,
            ChunkKind::Events => {
                let threads = context.tables().threads.len();
                (self.lanes).add(file, offset, &header, threads, false)?;
                let thread = ThreadId(header.thread);
                self.know(thread);
                let state = &mut self.states[thread.index()];
                if *state == State::Idle {
                    *state = State::Ready;
                    self.ready.push_back(thread);
                }
            }
            ChunkKind::Schedule => {
                return Err(file.corrupt(offset, "a schedule in a file that has none"));
            }
            ChunkKind::End => {
                self.explain(context, false)?;
                let whole = header.first == self.index;
                context.end(offset, &header, whole)?;
                return Ok(false);
            }
        }
        self.offset = TraceFile::after(offset, &header);
        Ok(true)
    }

    /// At the end, an error if threads still wait for what cannot come.
    ///
    /// A thread that waits for events beyond a cut is simply cut too.
    fn explain(&self, context: &Context<'_>, cut: bool) -> Result<(), Error> {
        let tables = context.tables();
        let file = &context.file.name;
        // By thread, the walk that met it; each thread is met once, so this is linear.
        let mut met_by = vec![usize::MAX; self.states.len()];
        for start in 0..self.states.len() {
            let mut at = start;
            while let (State::Waiting(edge), usize::MAX) = (self.states[at], met_by[at]) {
                met_by[at] = start;
                let seen = self.lanes.lane(edge.from).map_or(0, |lane| lane.seen);
                if seen < edge.passed {
                    if cut {
                        break;
                    }
                    let (waiter, other) = (ThreadId(at as u32), edge.from);
                    return Err(Error::IllFormed {
                        file: file.clone(),
                        place: Place::Event(self.index),
                        what: format!(
                            "{} waits for event {} of {}, which has {seen}",
                            tables.thread_name(waiter),
                            edge.passed,
                            tables.thread_name(other),
                        ),
                    });
                }
                let next = edge.from.index();
                if met_by[next] == start {
                    return Err(Error::Cycle {
                        file: file.clone(),
                        first: tables.thread_name(ThreadId(at as u32)),
                        second: tables.thread_name(edge.from),
                    });
                }
                at = next;
            }
        }
        Ok(())
    }
}
