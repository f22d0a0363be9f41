//! The records of threads as they were written, until it is known whether anybody wants them.
//!
//! What will be looked at goes to a log of its own; what nobody can want any more is freed; what is undecided stays.
//! Of the undecided, what does not fit the memory it may have goes to a temporary file, block by block.
//! At the limit of the disk, or when it is full, whole stretches are dropped and counted: the rest of the run is then judged without these transactions.
//! Leaving a transaction out takes conflicts away and adds none, so nothing that is reported becomes wrong.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::locks::Hold;
use super::log::{self, Log};

/// Blocks that are kept for reuse.
const SPARE: usize = 256;
/// Records of one piece at most.
const PIECE: u64 = 8192;

/// What the records of a run may take while it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Bytes of undecided records before the first search for what can be freed.
    pub search: u64,
    /// Bytes of undecided records in memory; more go to the disk.
    pub memory: u64,
    /// Bytes of undecided records on the disk and of wanted ones anywhere; more are dropped.
    pub disk: u64,
    /// Records that are moved together.
    pub block: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            search: 4 << 20,
            memory: 256 << 20,
            disk: 8 << 30,
            block: 4096,
        }
    }
}

/// Consecutive records of a thread that will be looked at, in one turn of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub thread: u32,
    pub position: u64,
    pub count: u64,
    /// Its place in the order of all records.
    pub order: u64,
    /// Where it is in the log.
    pub at: u64,
}

#[derive(Debug)]
enum Data {
    Memory(Vec<u64>),
    /// In that slot of the file.
    Disk(u64),
    Lost,
}

#[derive(Debug)]
struct Block {
    first: u64,
    count: u64,
    data: Data,
}

impl Block {
    fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// From this position on a thread's records follow each other in the order of all, from this place on.
#[derive(Clone, Copy, Debug)]
struct Turn {
    position: u64,
    order: u64,
}

#[derive(Debug, Default)]
struct Stream {
    blocks: VecDeque<Block>,
    turns: VecDeque<Turn>,
    end: u64,
}

#[derive(Debug)]
pub struct Store {
    room: Room,
    streams: Vec<Stream>,
    spare: Vec<Vec<u64>>,
    /// Records so far, of all threads.
    order: u64,
    /// Records in memory, and how many there may be before the next search.
    resident: u64,
    search_at: u64,
    file: Option<File>,
    /// Slots of the file: how many there are, and which are free.
    slots: u64,
    free: Vec<u64>,
    /// What will be looked at.
    pub kept: Log,
    pub pieces: Vec<Piece>,
    /// By thread and position: the locks held where a wanted stretch begins.
    pub starts: FxHashMap<(u32, u64), Vec<Hold>>,
    /// Bytes of undecided records that went to the disk.
    pub spilled: u64,
    pub most_resident: u64,
    /// Wanted stretches that were dropped, and their records.
    pub dropped: (u64, u64),
    buffer: Vec<u64>,
}

impl Store {
    pub fn new(room: Room) -> Self {
        Self {
            room,
            streams: Vec::new(),
            spare: Vec::new(),
            order: 0,
            resident: 0,
            search_at: room.search / 8,
            file: None,
            slots: 0,
            free: Vec::new(),
            kept: Log::default(),
            pieces: Vec::new(),
            starts: FxHashMap::default(),
            spilled: 0,
            most_resident: 0,
            dropped: (0, 0),
            buffer: Vec::new(),
        }
    }

    /// Whether it is worth looking for what can be freed.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.resident >= self.search_at
    }

    /// The next records of the order.
    pub fn push(&mut self, thread: u32, mut records: &[u64]) {
        let index = thread as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        let stream = &mut self.streams[index];
        let (position, order) = (stream.end, self.order);
        let goes_on = |turn: &Turn| turn.order + (position - turn.position) == order;
        if !stream.turns.back().is_some_and(goes_on) {
            stream.turns.push_back(Turn { position, order });
        }
        let block = self.room.block;
        self.order += records.len() as u64;
        self.resident += records.len() as u64;
        while !records.is_empty() {
            let last = match stream.blocks.back_mut() {
                Some(Block {
                    data: Data::Memory(data),
                    count,
                    ..
                }) if data.len() < block => Some((data, count)),
                _ => None,
            };
            let Some((data, count)) = last else {
                let data = (self.spare.pop()).unwrap_or_else(|| Vec::with_capacity(block));
                stream.blocks.push_back(Block {
                    first: stream.end,
                    count: 0,
                    data: Data::Memory(data),
                });
                continue;
            };
            let now = records.len().min(block - data.len());
            data.extend_from_slice(&records[..now]);
            *count += now as u64;
            stream.end += now as u64;
            records = &records[now..];
        }
    }

    /// Nothing of the thread before this position is wanted.
    #[inline]
    pub fn free_before(&mut self, thread: u32, floor: u64) {
        let Some(stream) = self.streams.get_mut(thread as usize) else {
            return;
        };
        while stream.blocks.front().is_some_and(|b| b.end() <= floor) {
            if let Some(block) = stream.blocks.pop_front() {
                recycle(block, &mut self.spare, &mut self.free, &mut self.resident);
            }
        }
        while stream.turns.get(1).is_some_and(|t| t.position <= floor) {
            stream.turns.pop_front();
        }
    }

    /// These records of a thread will be looked at; the locks are those held at their begin.
    pub fn keep(&mut self, thread: u32, range: Range<u64>, holds: Vec<Hold>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let more = range.end - range.start;
        let found = self.fits(more) && self.read(thread, &range, &mut buffer).is_ok();
        let whole = buffer.len() as u64 == more;
        let at = self.kept.len();
        if found && whole && self.kept.push(&buffer).is_ok() {
            self.cut(thread, &range, at);
            if !holds.is_empty() {
                self.starts.insert((thread, range.start), holds);
            }
        } else {
            self.dropped.0 += 1;
            self.dropped.1 += more;
        }
        self.buffer = buffer;
    }

    /// Whether there is room for so many records more.
    fn fits(&self, records: u64) -> bool {
        let undecided = self.slots * self.room.block as u64;
        (undecided + self.kept.len() + records) * 8 <= self.room.disk
    }

    fn cut(&mut self, thread: u32, range: &Range<u64>, at: u64) {
        let Some(stream) = self.streams.get(thread as usize) else {
            return;
        };
        let turns = &stream.turns;
        let mut next = turns.partition_point(|turn| turn.position <= range.start);
        let mut position = range.start;
        while position < range.end {
            let Some(turn) = next.checked_sub(1).and_then(|at| turns.get(at)) else {
                return;
            };
            let until = turns.get(next).map_or(u64::MAX, |turn| turn.position);
            while position < until.min(range.end) {
                let count = PIECE.min(until.min(range.end) - position);
                self.pieces.push(Piece {
                    thread,
                    position,
                    count,
                    order: turn.order + (position - turn.position),
                    at: at + (position - range.start),
                });
                position += count;
            }
            next += 1;
        }
    }

    fn read(&self, thread: u32, range: &Range<u64>, into: &mut Vec<u64>) -> io::Result<()> {
        let Some(stream) = self.streams.get(thread as usize) else {
            return Ok(());
        };
        let blocks = &stream.blocks;
        let first = blocks.partition_point(|block| block.end() <= range.start);
        for block in blocks.range(first..) {
            if block.first >= range.end {
                break;
            }
            let from = range.start.max(block.first) - block.first;
            let to = range.end.min(block.end()) - block.first;
            match (&block.data, &self.file) {
                (Data::Memory(data), _) => {
                    into.extend_from_slice(&data[from as usize..to as usize]);
                }
                (Data::Disk(slot), Some(file)) => {
                    let at = slot * self.room.block as u64 + from;
                    log::read(file, at, (to - from) as usize, into)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Frees what is in none of the stretches, which are sorted by thread and begin.
    pub fn sweep(&mut self, undecided: &[(u32, Range<u64>)]) {
        let mut rest = undecided;
        for (thread, stream) in self.streams.iter_mut().enumerate() {
            let of_thread = rest.partition_point(|(of, _)| *of <= thread as u32);
            let (mut wanted, others) = rest.split_at(of_thread);
            rest = others;
            let mut kept = VecDeque::with_capacity(stream.blocks.len());
            for block in stream.blocks.drain(..) {
                while let Some(((_, first), after)) = wanted.split_first()
                    && first.end <= block.first
                {
                    wanted = after;
                }
                if wanted.first().is_some_and(|(_, s)| s.start < block.end()) {
                    kept.push_back(block);
                } else {
                    recycle(block, &mut self.spare, &mut self.free, &mut self.resident);
                }
            }
            stream.blocks = kept;
            // A turn stays if any block does that it may have records in.
            let blocks = &stream.blocks;
            let turns: Vec<Turn> = stream.turns.drain(..).collect();
            for (at, turn) in turns.iter().enumerate() {
                let until = turns.get(at + 1).map_or(u64::MAX, |next| next.position);
                let block = blocks.partition_point(|block| block.end() <= turn.position);
                let used = blocks.get(block).is_some_and(|block| block.first < until);
                if used || until == u64::MAX {
                    stream.turns.push_back(*turn);
                }
            }
        }
        self.most_resident = self.most_resident.max(self.resident);
        self.spill();
        self.search_at = (self.room.search / 8).max(2 * self.resident);
    }

    /// Whether a record is still there.
    pub fn holds(&self, thread: u32, position: u64) -> bool {
        self.streams.get(thread as usize).is_some_and(|stream| {
            let block = stream
                .blocks
                .partition_point(|block| block.end() <= position);
            stream
                .blocks
                .get(block)
                .is_some_and(|b| b.first <= position)
        })
    }

    /// Moves the oldest full blocks of each thread to the disk while there are too many.
    fn spill(&mut self) {
        let limit = self.room.memory / 8;
        for thread in 0..self.streams.len() {
            for at in 0..self.streams[thread].blocks.len() {
                if self.resident <= limit {
                    return;
                }
                let slot = self.free.pop().or_else(|| {
                    let fits = self.fits(self.room.block as u64);
                    self.slots += u64::from(fits);
                    fits.then(|| self.slots - 1)
                });
                let block = &mut self.streams[thread].blocks[at];
                let full = |data: &Vec<u64>| data.len() == self.room.block;
                let Data::Memory(data) = &block.data else {
                    self.free.extend(slot);
                    continue;
                };
                if !full(data) {
                    self.free.extend(slot);
                    break;
                }
                if self.file.is_none() {
                    self.file = tempfile::tempfile().ok();
                }
                let written = slot.filter(|slot| {
                    let at = slot * self.room.block as u64;
                    (self.file.as_ref()).is_some_and(|file| log::write(file, at, data).is_ok())
                });
                self.resident -= data.len() as u64;
                if written.is_some() {
                    self.spilled += data.len() as u64 * 8;
                }
                block.data = written.map_or(Data::Lost, Data::Disk);
            }
        }
    }
}

fn recycle(block: Block, spare: &mut Vec<Vec<u64>>, free: &mut Vec<u64>, resident: &mut u64) {
    match block.data {
        Data::Memory(mut data) => {
            *resident -= data.len() as u64;
            if spare.len() < SPARE {
                data.clear();
                spare.push(data);
            }
        }
        Data::Disk(slot) => free.push(slot),
        Data::Lost => {}
    }
}
