//! Puts the records of all threads of a process into one order that respects every edge.
//!
//! A thread runs until it meets an edge from a position that its source has not passed, and goes on when it has.
//! Every edge points to records that were written before it, so the order of writing is always one way through: what is stuck at the end was cut off by a kill or a stop, and the records before it are a prefix closed under edges.

use std::collections::VecDeque;

use untorn_channel::Record;

/// Records handed out at a time before another thread gets its turn.
const TURN: usize = 4096;
/// With more threads than this nobody lets another go first: it is only for speed, and the queue is searched for it.
const POLITE: usize = 64;

#[derive(Debug, Default)]
struct Stream {
    chunks: VecDeque<Vec<u64>>,
    /// How many records of the first chunk have been handed out.
    at: usize,
    /// How many records have been handed out: the thread's position.
    position: u64,
    /// Threads that wait for a position of this one.
    waiters: Vec<(u64, u32)>,
    /// In the queue of threads that may run, or waiting for another.
    scheduled: bool,
    /// Waiting for another.
    waiting: bool,
}

impl Stream {
    fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum::<usize>() - self.at
    }
}

/// Takes records in their order.
pub trait Take {
    /// The next records of a thread, none of which is an edge.
    fn records(&mut self, thread: u32, records: &[u64]);

    /// An edge that the thread passes.
    fn edge(&mut self, _thread: u32, _edge: u64, _from: u32, _position: u64) {}

    /// Whether the thread that an edge comes from had better go on for a while before the edge is passed.
    fn defers(&self, _from: u32, _position: u64) -> bool {
        false
    }
}

impl<F: FnMut(u32, &[u64])> Take for F {
    fn records(&mut self, thread: u32, records: &[u64]) {
        self(thread, records);
    }
}

/// The streams of one process.
#[derive(Debug, Default)]
pub struct Linearizer {
    streams: Vec<Stream>,
    ready: VecDeque<u32>,
    edges: u64,
    /// How often in a row a thread let another go first, and nothing was handed out.
    deferred: usize,
}

impl Linearizer {
    /// Adds records to the end of a thread's stream.
    pub fn push(&mut self, thread: u32, records: Vec<u64>) {
        if records.is_empty() {
            return;
        }
        let stream = self.stream(thread);
        stream.chunks.push_back(records);
        if !stream.scheduled {
            stream.scheduled = true;
            self.ready.push_back(thread);
        }
    }

    fn stream(&mut self, thread: u32) -> &mut Stream {
        let index = thread as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        &mut self.streams[index]
    }

    /// Hands a turn's worth of some thread's records out, in runs; `false` if none can go on.
    ///
    /// Edges are not among them.
    pub fn turn(&mut self, mut take: impl Take) -> bool {
        let Some(thread) = self.ready.pop_front() else {
            return false;
        };
        let index = thread as usize;
        let mut waits_for = None;
        let mut lets_first = None;
        let mut left = TURN;
        while left > 0 && waits_for.is_none() && lets_first.is_none() {
            let stream = &mut self.streams[index];
            let Some(chunk) = stream.chunks.pop_front() else {
                break;
            };
            let start = stream.at;
            let end = chunk.len().min(start + left);
            let mut at = start;
            while at < end {
                let run = &chunk[at..end];
                let length = run.iter().position(|&bits| Record::is_edge(bits));
                let length = length.unwrap_or(run.len());
                if length > 0 {
                    take.records(thread, &run[..length]);
                    at += length;
                }
                let Some(&edge) = chunk[..end].get(at) else {
                    break;
                };
                match self.passes(thread, edge, &take) {
                    Passing::Through(from, position) => take.edge(thread, edge, from, position),
                    Passing::After(from, position) => {
                        waits_for = Some((from, position));
                        break;
                    }
                    Passing::Later(from) => {
                        lets_first = Some(from);
                        break;
                    }
                }
                at += 1;
            }
            let stream = &mut self.streams[index];
            if at > start {
                self.deferred = 0;
            }
            stream.position += (at - start) as u64;
            left -= at - start;
            if at < chunk.len() {
                stream.at = at;
                stream.chunks.push_front(chunk);
            } else {
                stream.at = 0;
            }
        }
        self.wake(thread);
        let stream = &mut self.streams[index];
        if let Some((from, position)) = waits_for {
            stream.waiting = true;
            self.streams[from as usize].waiters.push((position, thread));
        } else if let Some(from) = lets_first {
            self.deferred += 1;
            self.ready.retain(|other| *other != from);
            self.ready.push_front(from);
            self.ready.push_back(thread);
        } else if stream.chunks.is_empty() {
            stream.scheduled = false;
            // The thread may have ended, and threads are many.
            stream.chunks.shrink_to(4);
            stream.waiters.shrink_to(4);
        } else {
            self.ready.push_back(thread);
        }
        true
    }

    /// Whether a thread can pass an edge.
    fn passes(&mut self, thread: u32, edge: u64, take: &impl Take) -> Passing {
        let Some(Record::Edge {
            thread: from,
            position,
        }) = Record::decode(edge)
        else {
            return Passing::Through(thread, 0);
        };
        if from == thread {
            return Passing::Through(from, position);
        }
        let patient = self.deferred <= self.ready.len() && self.ready.len() <= POLITE;
        let source = self.stream(from);
        if source.position < position {
            return Passing::After(from, position);
        }
        let can_run = !source.waiting && !source.chunks.is_empty();
        if patient && can_run && take.defers(from, position) {
            return Passing::Later(from);
        }
        self.edges += 1;
        Passing::Through(from, position)
    }

    /// Lets those run who waited for what this thread has passed now.
    fn wake(&mut self, thread: u32) {
        let stream = &mut self.streams[thread as usize];
        let position = stream.position;
        if stream.waiters.is_empty() {
            return;
        }
        let mut waiters = std::mem::take(&mut stream.waiters);
        waiters.retain(|&(wanted, waiter)| {
            let still = wanted > position;
            if !still {
                self.streams[waiter as usize].waiting = false;
                self.ready.push_back(waiter);
            }
            still
        });
        self.streams[thread as usize].waiters = waiters;
    }

    /// Records that nothing can release any more.
    pub fn stuck(&self) -> u64 {
        self.streams.iter().map(|s| s.len() as u64).sum()
    }

    /// Edges passed so far.
    pub fn edges(&self) -> u64 {
        self.edges
    }
}

/// What a thread does at an edge.
enum Passing {
    /// It comes from that position.
    Through(u32, u64),
    /// It waits until that position has been handed out.
    After(u32, u64),
    /// It lets that thread go first.
    Later(u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark(value: u32) -> u64 {
        Record::Begin { region: value }.encode()
    }

    fn edge(thread: u32, position: u64) -> u64 {
        Record::Edge { thread, position }.encode()
    }

    fn all(lines: &mut Linearizer) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        while lines.turn(|thread: u32, records: &[u64]| {
            for &bits in records {
                if let Some(Record::Begin { region }) = Record::decode(bits) {
                    out.push((thread, region));
                }
            }
        }) {}
        out
    }

    #[test]
    fn an_edge_waits_for_the_position_it_names_and_no_longer() {
        let mut lines = Linearizer::default();
        lines.push(0, vec![mark(1), edge(1, 2), mark(2)]);
        assert_eq!(all(&mut lines), [(0, 1)]);
        lines.push(1, vec![mark(3)]);
        assert_eq!(all(&mut lines), [(1, 3)]);
        assert_eq!(lines.stuck(), 2);
        lines.push(1, vec![mark(4), mark(5)]);
        assert_eq!(all(&mut lines), [(1, 4), (1, 5), (0, 2)]);
        assert_eq!((lines.stuck(), lines.edges()), (0, 1));
    }

    #[test]
    fn what_waits_for_records_that_never_come_is_left_over() {
        let mut lines = Linearizer::default();
        lines.push(0, vec![edge(7, 1), mark(1)]);
        assert_eq!(all(&mut lines), []);
        assert_eq!(lines.stuck(), 2);
    }

    proptest! {
        /// A run is simulated: threads write numbered records, and before some of them an edge from another thread's position of that moment.
        /// However the streams are cut and fed, all records come out, each thread's in order, and after everything its edges name.
        #[test]
        fn every_order_that_was_real_is_found(
            steps in proptest::collection::vec((0u32..4, proptest::option::of(0u32..4)), 1..300),
            cuts in proptest::collection::vec((0u32..4, 1usize..9), 0..200),
        ) {
            let mut streams: Vec<Vec<u64>> = vec![Vec::new(); 4];
            // For each marked record, the positions that precede it.
            let mut after: Vec<Vec<(u32, u64)>> = Vec::new();
            for (i, (thread, from)) in steps.iter().enumerate() {
                let mut edges = Vec::new();
                if let Some(from) = from.filter(|from| from != thread) {
                    let position = streams[from as usize].len() as u64;
                    if position > 0 {
                        streams[*thread as usize].push(edge(from, position));
                        edges.push((from, position));
                    }
                }
                streams[*thread as usize].push(mark(i as u32));
                after.push(edges);
            }
            // The position of each marked record in its own stream.
            let mut position_of = vec![0; steps.len()];
            for stream in &streams {
                for (at, &bits) in stream.iter().enumerate() {
                    if let Some(Record::Begin { region }) = Record::decode(bits) {
                        position_of[region as usize] = at as u64;
                    }
                }
            }
            let mut lines = Linearizer::default();
            let mut fed = [0; 4];
            let mut order = Vec::new();
            let rest = (0..4).map(|thread| (thread, usize::MAX));
            for (thread, count) in cuts.into_iter().chain(rest) {
                let stream = &streams[thread as usize];
                let end = stream.len().min(fed[thread as usize] + count.min(stream.len()));
                let part = stream[fed[thread as usize]..end].to_vec();
                fed[thread as usize] = end;
                if !part.is_empty() {
                    lines.push(thread, part);
                }
                order.extend(all(&mut lines));
            }
            prop_assert_eq!(lines.stuck(), 0);
            prop_assert_eq!(order.len(), steps.len());
            let mut seen = [0u64; 4];
            for (thread, region) in order {
                let own = position_of[region as usize];
                prop_assert!(own >= seen[thread as usize]);
                for &(from, position) in &after[region as usize] {
                    // All marked records of `from` below that position are out.
                    let last = streams[from as usize][..position as usize]
                        .iter()
                        .rposition(|&b| matches!(Record::decode(b), Some(Record::Begin { .. })));
                    if let Some(last) = last {
                        prop_assert!(seen[from as usize] > last as u64);
                    }
                }
                seen[thread as usize] = own + 1;
            }
        }
    }
}
