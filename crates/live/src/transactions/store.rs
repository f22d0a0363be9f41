//! The records of threads as they were written, until it is known whether anybody wants them.
//!
//! What will be looked at goes to a log of its own; what nobody can want any more is freed; what is undecided stays.
//! Of the undecided, what does not fit the memory it may have goes to a temporary file, block by block, with the order of its records.
//! At the limit of the disk, or when it is full, whole stretches are dropped and counted: the rest of the run is then judged without these transactions.
//! Leaving a transaction out takes conflicts away and adds none, so nothing that is reported becomes wrong.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Instant;

use super::locks::{self, Hold};
use super::log::{self, Log};
use super::pieces::{Piece, Pieces};

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
            memory: 64 << 20,
            disk: 8 << 30,
            block: 4096,
        }
    }
}

/// From this position on a thread's records follow each other in the order of all, from this place on.
#[derive(Clone, Copy, Debug)]
struct Turn {
    position: u64,
    order: u64,
}

/// A turn takes as much room as so many records.
const TURN: u64 = 2;

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
    /// The first is that of the first record; empty if they are on the disk or lost.
    turns: Vec<Turn>,
    /// How many there are.
    turn_count: u64,
}

impl Block {
    fn end(&self) -> u64 {
        self.first + self.count
    }

    /// What it takes, in records.
    fn size(&self) -> u64 {
        self.count + TURN * self.turn_count
    }
}

#[derive(Debug, Default)]
struct Stream {
    blocks: VecDeque<Block>,
    end: u64,
}

#[derive(Debug)]
pub struct Store {
    room: Room,
    streams: Vec<Stream>,
    spare: Vec<Vec<u64>>,
    /// Records so far, of all threads.
    order: u64,
    /// What is in memory and what is on the disk or lost, in records; and how much there may be before the next search.
    resident: u64,
    elsewhere: u64,
    search_at: u64,
    file: Option<File>,
    /// Slots of the file: how many there are, and which are free.
    slots: u64,
    free: Vec<u64>,
    /// What will be looked at: for each stretch the locks held where it begins, and its records.
    pub kept: Log,
    pub pieces: Pieces,
    /// Records that will be looked at.
    pub wanted: u64,
    /// Bytes of undecided records that went to the disk.
    pub spilled: u64,
    pub most_resident: u64,
    /// Wanted stretches that were dropped, and their records.
    pub dropped: (u64, u64),
    /// Somebody waits, and what is wanted after this is left out; so many records.
    pub until: Option<Instant>,
    pub left_out: u64,
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
            elsewhere: 0,
            search_at: room.search / 8,
            file: None,
            slots: 0,
            free: Vec::new(),
            kept: Log::default(),
            pieces: Pieces::default(),
            wanted: 0,
            spilled: 0,
            most_resident: 0,
            dropped: (0, 0),
            until: None,
            left_out: 0,
            buffer: Vec::new(),
        }
    }

    /// Where the next record will be in the order of all.
    pub fn order(&self) -> u64 {
        self.order
    }

    /// Whether it is worth looking for what can be freed.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.resident + self.elsewhere >= self.search_at
    }

    /// The next records of the order.
    pub fn push(&mut self, thread: u32, mut records: &[u64]) {
        let index = thread as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        let stream = &mut self.streams[index];
        let block = self.room.block;
        while !records.is_empty() {
            let has_room = |last: &mut Block| match &last.data {
                Data::Memory(data) => data.len() < block && last.turns.len() < block / 2,
                Data::Disk(_) | Data::Lost => false,
            };
            if !stream.blocks.back_mut().is_some_and(has_room) {
                // A thread that does little gets no block that holds much.
                let long = stream.end >= block as u64;
                let data = (long.then(|| self.spare.pop()).flatten()).unwrap_or_default();
                stream.blocks.push_back(Block {
                    first: stream.end,
                    count: 0,
                    data: Data::Memory(data),
                    turns: Vec::new(),
                    turn_count: 0,
                });
            }
            let Some(last) = stream.blocks.back_mut() else {
                return;
            };
            let Data::Memory(data) = &mut last.data else {
                return;
            };
            let (position, order) = (stream.end, self.order);
            let goes_on = |turn: &Turn| turn.order + (position - turn.position) == order;
            if !last.turns.last().is_some_and(goes_on) {
                last.turns.push(Turn { position, order });
                last.turn_count += 1;
                self.resident += TURN;
            }
            let now = records.len().min(block - data.len());
            data.extend_from_slice(&records[..now]);
            last.count += now as u64;
            stream.end += now as u64;
            self.order += now as u64;
            self.resident += now as u64;
            records = &records[now..];
        }
    }

    /// Nothing of the thread before this position is wanted.
    #[inline]
    pub fn free_before(&mut self, thread: u32, floor: u64) {
        let index = thread as usize;
        while let Some(stream) = self.streams.get_mut(index)
            && stream.blocks.front().is_some_and(|b| b.end() <= floor)
            && let Some(block) = stream.blocks.pop_front()
        {
            self.recycle(block);
        }
    }

    /// These records of a thread will be looked at; the locks are those held at their begin.
    pub fn keep(&mut self, thread: u32, range: Range<u64>, holds: &[Hold]) {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.left_out += range.end - range.start;
            return;
        }
        let more = range.end - range.start;
        let mut left = more;
        if self.fits(more) && self.is_whole(thread, &range) {
            // Block by block: a region that was open for long may be most of the run.
            while left > 0 {
                let rest = range.end - left..range.end;
                match self.keep_next(thread, &rest, if left == more { holds } else { &[] }) {
                    Ok(kept) if kept > 0 => left -= kept,
                    _ => break,
                }
            }
        }
        self.wanted += more - left;
        if left > 0 {
            self.dropped.0 += 1;
            self.dropped.1 += left;
        }
    }

    /// Whether all records of a stretch are there.
    fn is_whole(&self, thread: u32, range: &Range<u64>) -> bool {
        let mut position = range.start;
        while position < range.end {
            match self.block(thread, position) {
                Some(block) if !matches!(block.data, Data::Lost) => position = block.end(),
                _ => return false,
            }
        }
        true
    }

    /// The block with a record of a thread.
    fn block(&self, thread: u32, position: u64) -> Option<&Block> {
        let blocks = &self.streams.get(thread as usize)?.blocks;
        let at = blocks.partition_point(|block| block.end() <= position);
        blocks.get(at).filter(|block| block.first <= position)
    }

    /// Keeps the records of a stretch that are in the block of its first; says how many these are.
    fn keep_next(&mut self, thread: u32, range: &Range<u64>, holds: &[Hold]) -> io::Result<u64> {
        let Some(block) = self.block(thread, range.start) else {
            return Ok(0);
        };
        let range = range.start..range.end.min(block.end());
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        locks::encode(holds, &mut buffer);
        let held = buffer.len();
        let turns = self.read(thread, &range, &mut buffer);
        let at = self.kept.len() + held as u64;
        let kept = turns.and_then(|turns| {
            self.kept.push(&buffer)?;
            self.cut(thread, &range, &turns, at, held as u32)
        });
        self.buffer = buffer;
        kept.map(|()| range.end - range.start)
    }

    /// Whether there is room for so many records more.
    fn fits(&self, records: u64) -> bool {
        let undecided = self.slots * self.room.block as u64;
        (undecided + self.kept.len() + records) * 8 <= self.room.disk
    }

    /// Cuts a stretch where the order of all goes on with another thread.
    fn cut(
        &mut self,
        thread: u32,
        range: &Range<u64>,
        turns: &[Turn],
        at: u64,
        held: u32,
    ) -> io::Result<()> {
        let mut next = turns.partition_point(|turn| turn.position <= range.start);
        let mut position = range.start;
        while position < range.end {
            let Some(turn) = next.checked_sub(1).and_then(|at| turns.get(at)) else {
                return Ok(());
            };
            let until = turns.get(next).map_or(u64::MAX, |turn| turn.position);
            while position < until.min(range.end) {
                let count = PIECE.min(until.min(range.end) - position);
                self.pieces.push(Piece {
                    thread,
                    position,
                    count: count as u32,
                    held: if position == range.start { held } else { 0 },
                    order: turn.order + (position - turn.position),
                    at: at + (position - range.start),
                })?;
                position += count;
            }
            next += 1;
        }
        Ok(())
    }

    /// Appends records that are in one block, and tells how their thread took turns with others.
    fn read(&self, thread: u32, range: &Range<u64>, into: &mut Vec<u64>) -> io::Result<Vec<Turn>> {
        let Some(block) = self.block(thread, range.start) else {
            return Ok(Vec::new());
        };
        let from = range.start - block.first;
        let to = range.end - block.first;
        match (&block.data, &self.file) {
            (Data::Memory(data), _) => {
                into.extend_from_slice(&data[from as usize..to as usize]);
                Ok(block.turns.clone())
            }
            (Data::Disk(slot), Some(file)) => {
                let at = self.slot(*slot);
                log::read(file, at + from, (to - from) as usize, into)?;
                let mut words = Vec::new();
                let count = TURN * block.turn_count;
                log::read(file, at + block.count, count as usize, &mut words)?;
                let (pairs, _) = words.as_chunks::<2>();
                let turn = |&[position, order]: &[u64; 2]| Turn { position, order };
                Ok(pairs.iter().map(turn).collect())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Where a slot begins in the file: there is room for the records of a block and as much for its turns.
    fn slot(&self, slot: u64) -> u64 {
        slot * 2 * self.room.block as u64
    }

    /// Frees what is in none of the stretches, which are sorted by thread and begin.
    pub fn sweep(&mut self, undecided: &[(u32, Range<u64>)]) {
        self.most_resident = self.most_resident.max(self.resident);
        let mut rest = undecided;
        for thread in 0..self.streams.len() {
            let of_thread = rest.partition_point(|(of, _)| *of <= thread as u32);
            let (mut wanted, others) = rest.split_at(of_thread);
            rest = others;
            let blocks = std::mem::take(&mut self.streams[thread].blocks);
            let mut kept = VecDeque::new();
            for block in blocks {
                while let Some(((_, first), after)) = wanted.split_first()
                    && first.end <= block.first
                {
                    wanted = after;
                }
                if wanted.first().is_some_and(|(_, s)| s.start < block.end()) {
                    kept.push_back(block);
                } else {
                    self.recycle(block);
                }
            }
            self.streams[thread].blocks = kept;
        }
        self.search_at = (self.room.search / 8).max(2 * (self.resident + self.elsewhere));
    }

    /// Whether a record is still there.
    pub fn holds(&self, thread: u32, position: u64) -> bool {
        self.block(thread, position).is_some()
    }

    /// Moves blocks to the disk if there are too many, the oldest of each thread first, until half of the memory is free.
    pub fn spill_if_due(&mut self) {
        if self.resident <= self.room.memory / 8 {
            return;
        }
        self.most_resident = self.most_resident.max(self.resident);
        let enough = self.room.memory / 16;
        // Those that threads are still writing only if the others are not enough.
        for spare_last in [1, 0] {
            for thread in 0..self.streams.len() {
                let until = self.streams[thread].blocks.len().saturating_sub(spare_last);
                for at in 0..until {
                    if self.resident <= enough {
                        return;
                    }
                    self.spill(thread, at);
                }
            }
        }
    }

    fn spill(&mut self, thread: usize, at: usize) {
        let block = &self.streams[thread].blocks[at];
        let Data::Memory(data) = &block.data else {
            return;
        };
        let mut words = data.clone();
        words.extend((block.turns.iter()).flat_map(|turn| [turn.position, turn.order]));
        let (size, bytes) = (block.size(), block.count * 8);
        let slot = self.free.pop().or_else(|| {
            let fits = self.fits(self.room.block as u64);
            self.slots += u64::from(fits);
            fits.then(|| self.slots - 1)
        });
        if self.file.is_none() {
            self.file = tempfile::tempfile().ok();
        }
        let written = slot.filter(|slot| {
            let at = self.slot(*slot);
            (self.file.as_ref()).is_some_and(|file| log::write(file, at, &words).is_ok())
        });
        self.resident -= size;
        self.elsewhere += size;
        if written.is_some() {
            self.spilled += bytes;
        }
        let block = &mut self.streams[thread].blocks[at];
        block.data = written.map_or(Data::Lost, Data::Disk);
        block.turns = Vec::new();
    }

    fn recycle(&mut self, block: Block) {
        let size = block.size();
        match block.data {
            Data::Memory(mut data) => {
                self.resident -= size;
                if self.spare.len() < SPARE && data.capacity() >= self.room.block {
                    data.clear();
                    self.spare.push(data);
                }
            }
            Data::Disk(slot) => {
                self.elsewhere -= size;
                self.free.push(slot);
            }
            Data::Lost => self.elsewhere -= size,
        }
    }
}
