//! The streams of the threads, read chunk by chunk.
//!
//! A lane knows its chunks by their offsets alone, so its state is small and can be copied into a checkpoint; the chunk in front is opened when its events are wanted.

use std::collections::VecDeque;

use untorn_model::ThreadId;

use super::columns::{EdgeIn, Filling, Layout};
use super::format::ChunkHeader;
use super::opcode::Limits;
use super::trace_file::{Next, Payload, TraceFile};
use crate::Error;

#[derive(Clone, Copy, Debug)]
struct Chunk {
    offset: u64,
    end: u64,
}

/// One thread's stream.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// How many of its events are behind us.
    pub passed: u64,
    /// How many have been seen in the file.
    pub seen: u64,
    chunks: VecDeque<Chunk>,
}

/// The front chunk of a lane, checked and unpacked.
#[derive(Debug)]
struct Open {
    offset: u64,
    header: ChunkHeader,
    payload: Payload,
    layout: Layout,
    edges: Vec<EdgeIn>,
    next_edge: usize,
}

/// All lanes, by thread.
#[derive(Debug, Default)]
pub struct Lanes {
    by_thread: Vec<Lane>,
    open: Vec<Option<Open>>,
    /// How many threads the tables know.
    threads: usize,
}

impl Clone for Lanes {
    /// Copies the positions; chunks are opened anew.
    fn clone(&self) -> Self {
        Self {
            by_thread: self.by_thread.clone(),
            open: Vec::new(),
            threads: self.threads,
        }
    }
}

impl Lanes {
    pub fn lane(&self, thread: ThreadId) -> Option<&Lane> {
        self.by_thread.get(thread.index())
    }

    pub fn passed(&self, thread: ThreadId) -> u64 {
        self.lane(thread).map_or(0, |lane| lane.passed)
    }

    /// Adds a chunk behind the others of its thread; a gap is an error unless nothing is known of the thread.
    pub fn add(
        &mut self,
        file: &TraceFile,
        offset: u64,
        header: &ChunkHeader,
        threads: usize,
        resumed: bool,
    ) -> Result<(), Error> {
        let thread = header.thread as usize;
        self.threads = threads;
        if thread >= threads {
            return Err(file.corrupt(offset, "events of a thread that is in no table"));
        }
        if self.by_thread.len() <= thread {
            self.by_thread.resize_with(thread + 1, Lane::default);
        }
        let lane = &mut self.by_thread[thread];
        if resumed && lane.chunks.is_empty() {
            lane.passed = header.first;
            lane.seen = header.first;
        }
        let end = header.first.checked_add(u64::from(header.count));
        match end {
            Some(end) if lane.seen == header.first && header.count > 0 => {
                lane.seen = end;
                lane.chunks.push_back(Chunk { offset, end });
                Ok(())
            }
            _ => Err(file.corrupt(offset, "events of a thread are missing before it")),
        }
    }

    /// Whether every event that was added is behind us.
    pub fn is_drained(&self) -> bool {
        self.by_thread.iter().all(|lane| lane.passed == lane.seen)
    }

    /// How many events were added and are not behind us.
    pub fn waiting(&self) -> u64 {
        let waiting = self.by_thread.iter().map(|lane| lane.seen - lane.passed);
        waiting.sum()
    }

    /// Opens the front chunk of a lane that has one.
    fn front(&mut self, file: &TraceFile, thread: usize) -> Result<Option<&mut Open>, Error> {
        let Some((chunk, passed)) = (self.by_thread.get(thread))
            .and_then(|lane| lane.chunks.front().map(|chunk| (*chunk, lane.passed)))
        else {
            return Ok(None);
        };
        if self.open.len() <= thread {
            self.open.resize_with(thread + 1, || None);
        }
        let slot = &mut self.open[thread];
        if slot.as_ref().is_none_or(|open| open.offset != chunk.offset) {
            *slot = Some(open_chunk(file, chunk.offset, self.threads, passed)?);
        }
        Ok(slot.as_mut())
    }

    pub fn len(&self) -> usize {
        self.by_thread.len()
    }

    /// Passes up to `count` events of a thread without looking at them; how many it were.
    pub fn skip(&mut self, thread: ThreadId, count: u64) -> u64 {
        let Some(lane) = self.by_thread.get_mut(thread.index()) else {
            return 0;
        };
        let skipped = count.min(lane.seen - lane.passed);
        lane.passed += skipped;
        while lane.chunks.front().is_some_and(|c| c.end <= lane.passed) {
            lane.chunks.pop_front();
        }
        skipped
    }

    /// Appends up to `count` events of a thread, as far as its front chunk goes; how many it were.
    #[inline]
    pub fn take(
        &mut self,
        file: &TraceFile,
        thread: ThreadId,
        count: u64,
        limits: &Limits,
        into: &mut Filling<'_>,
    ) -> Result<u64, Error> {
        let passed = self.passed(thread);
        let Some(open) = self.front(file, thread.index())? else {
            return Ok(0);
        };
        let first = open.header.first;
        let taken = count.min(first + u64::from(open.header.count) - passed);
        let at = (passed - first) as usize;
        let range = at..at + taken as usize;
        let payload = file.bytes(&open.payload);
        (open.layout)
            .decode(payload, thread, range, limits, into)
            .map_err(|flaw| file.corrupt(open.offset, flaw))?;
        self.skip(thread, taken);
        Ok(taken)
    }

    /// How far a thread may go: to the position of its next edge, or to the end of its front chunk; `None` if it has no event.
    ///
    /// An edge that holds the next event back is the inner error.
    pub fn clear_until(
        &mut self,
        file: &TraceFile,
        thread: ThreadId,
    ) -> Result<Option<Result<u64, EdgeIn>>, Error> {
        let passed = self.passed(thread);
        let Some((mut at, end)) = (self.front(file, thread.index())?).map(|open| {
            let end = open.header.first + u64::from(open.header.count);
            (open.next_edge, end)
        }) else {
            return Ok(None);
        };
        let outcome = loop {
            let edge = self.open[thread.index()]
                .as_ref()
                .and_then(|open| open.edges.get(at).copied());
            match edge {
                None => break Ok(end),
                Some(edge) if edge.before > passed => break Ok(edge.before),
                Some(edge) if self.passed(edge.from) >= edge.passed => at += 1,
                Some(edge) => break Err(edge),
            }
        };
        if let Some(open) = &mut self.open[thread.index()] {
            open.next_edge = at;
        }
        Ok(Some(outcome))
    }
}

fn open_chunk(file: &TraceFile, offset: u64, threads: usize, passed: u64) -> Result<Open, Error> {
    let Next::Chunk(header) = file.next(offset)? else {
        return Err(file.corrupt(offset, "ends too early"));
    };
    let payload = file.payload(offset, &header)?;
    let bytes = file.bytes(&payload);
    let flawed = |flaw| file.corrupt(offset, flaw);
    let layout = Layout::of(bytes, header.count).map_err(flawed)?;
    let edges = (layout.edges(bytes, header.first, threads)).map_err(flawed)?;
    let next_edge = edges.partition_point(|edge| edge.before < passed);
    Ok(Open {
        offset,
        header,
        payload,
        layout,
        edges,
        next_edge,
    })
}
