//! Where the records that will be looked at are, in the order of the run.
//!
//! Threads take turns often, so there may be a piece for every few records: they are sorted part by part, and the parts go to a nameless temporary file to be merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;

use super::log;

/// Consecutive records of a thread that will be looked at, in one turn of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub thread: u32,
    pub count: u32,
    pub position: u64,
    /// Its place in the order of all records.
    pub order: u64,
    /// Where it is in the log.
    pub at: u64,
    /// So many records before it tell which locks the thread holds here.
    pub held: u32,
}

/// Pieces that are sorted at a time.
const PART: usize = 1 << 17;
/// Pieces of a part that are read at a time.
const READ: u64 = 1 << 9;
/// Words of a piece in the file.
const WORDS: u64 = 5;

impl Piece {
    fn words(self) -> [u64; WORDS as usize] {
        [
            u64::from(self.thread) << 32 | u64::from(self.count),
            self.position,
            self.order,
            self.at,
            u64::from(self.held),
        ]
    }

    fn of([who, position, order, at, held]: [u64; WORDS as usize]) -> Self {
        Self {
            thread: (who >> 32) as u32,
            count: who as u32,
            position,
            order,
            at,
            held: held as u32,
        }
    }

    /// Whether another piece goes on where this one ends.
    fn touches(&self, next: &Self) -> bool {
        self.thread == next.thread && self.position + u64::from(self.count) == next.position
    }
}

/// Pieces in the order in which they were found.
#[derive(Debug, Default)]
pub struct Pieces {
    recent: Vec<Piece>,
    file: Option<File>,
    /// Where the parts in the file begin and end, counted in pieces.
    parts: Vec<(u64, u64)>,
}

impl Pieces {
    pub fn push(&mut self, piece: Piece) -> io::Result<()> {
        if self.recent.len() >= PART {
            self.write()?;
        }
        self.recent.push(piece);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        self.recent.sort_unstable_by_key(|piece| piece.order);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let start = self.parts.last().map_or(0, |(_, end)| *end);
        let words: Vec<u64> = (self.recent.iter()).flat_map(|p| p.words()).collect();
        log::write(file, start * WORDS, &words)?;
        self.parts.push((start, start + self.recent.len() as u64));
        self.recent.clear();
        Ok(())
    }

    /// In the order of the run.
    pub fn sorted(mut self) -> io::Result<Sorted> {
        self.recent.sort_unstable_by_key(|piece| piece.order);
        let mut merge = Merge::new(&self)?;
        let mut touched = Vec::new();
        // By thread: its last piece, and which one that is.
        let mut last: Vec<Option<(Piece, u64)>> = Vec::new();
        let mut number = 0;
        while let Some(piece) = merge.next(&self)? {
            if number % 64 == 0 {
                touched.push(0u64);
            }
            let thread = piece.thread as usize;
            if last.len() <= thread {
                last.resize(thread + 1, None);
            }
            if let Some((before, at)) = last[thread].replace((piece, number))
                && before.touches(&piece)
            {
                touched[at as usize / 64] |= 1 << (at % 64);
            }
            number += 1;
        }
        Ok(Sorted {
            merge: Merge::new(&self)?,
            pieces: self,
            touched,
            goes_on: Vec::new(),
            number: 0,
        })
    }
}

/// A piece among the others of its thread.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub piece: Piece,
    /// It goes on where another one ended.
    pub joins: bool,
    /// Another one goes on where it ends.
    pub is_joined: bool,
}

/// Pieces in the order of the run.
#[derive(Debug)]
pub struct Sorted {
    pieces: Pieces,
    merge: Merge,
    /// A bit for each piece that another one goes on from.
    touched: Vec<u64>,
    /// By thread: whether its last piece is one of these.
    goes_on: Vec<bool>,
    number: u64,
}

impl Sorted {
    pub fn next(&mut self) -> io::Result<Option<Placed>> {
        let Some(piece) = self.merge.next(&self.pieces)? else {
            return Ok(None);
        };
        let word = self.touched.get(self.number as usize / 64);
        let is_joined = word.is_some_and(|bits| bits >> (self.number % 64) & 1 != 0);
        self.number += 1;
        let thread = piece.thread as usize;
        if self.goes_on.len() <= thread {
            self.goes_on.resize(thread + 1, false);
        }
        let joins = std::mem::replace(&mut self.goes_on[thread], is_joined);
        Ok(Some(Placed {
            piece,
            joins,
            is_joined,
        }))
    }
}

/// Merges the parts.
#[derive(Debug, Default)]
struct Merge {
    /// The next piece of each part by its order; the last part is the one in memory.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Part {
    /// Read and not merged yet, the next one last.
    read: Vec<Piece>,
    next: u64,
    end: u64,
}

impl Merge {
    fn new(pieces: &Pieces) -> io::Result<Self> {
        let mut merge = Self::default();
        let in_memory = (0, pieces.recent.len() as u64);
        for &(next, end) in pieces.parts.iter().chain([&in_memory]) {
            merge.parts.push(Part {
                read: Vec::new(),
                next,
                end,
            });
            merge.advance(merge.parts.len() - 1, pieces)?;
        }
        Ok(merge)
    }

    /// Puts the next piece of a part in place.
    fn advance(&mut self, number: usize, pieces: &Pieces) -> io::Result<()> {
        let part = &mut self.parts[number];
        if part.read.is_empty() && part.next < part.end {
            let count = READ.min(part.end - part.next);
            if number == pieces.parts.len() {
                let next = part.next as usize;
                part.read = pieces.recent[next..next + count as usize].to_vec();
            } else if let Some(file) = &pieces.file {
                let mut words = Vec::new();
                let count = (count * WORDS) as usize;
                log::read(file, part.next * WORDS, count, &mut words)?;
                let (all, _) = words.as_chunks();
                part.read = all.iter().copied().map(Piece::of).collect();
            }
            part.read.reverse();
            part.next += count;
        }
        if let Some(piece) = part.read.last() {
            self.heap.push(Reverse((piece.order, number)));
        }
        Ok(())
    }

    fn next(&mut self, pieces: &Pieces) -> io::Result<Option<Piece>> {
        let Some(Reverse((_, number))) = self.heap.pop() else {
            return Ok(None);
        };
        let piece = self.parts[number].read.pop();
        self.advance(number, pieces)?;
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_the_order_of_the_run_and_know_their_neighbours() {
        let count = 3 * PART as u64 + 1000;
        let mut pieces = Pieces::default();
        // Found in an order that has nothing to do with that of the run; every tenth is missing.
        let wanted = |order: u64| order % 10 != 9;
        for i in 0..count {
            let order = i * 7919 % count;
            if wanted(order) {
                let piece = Piece {
                    thread: (order % 2) as u32,
                    count: 1,
                    position: order / 2,
                    order,
                    at: i,
                    held: 3,
                };
                pieces.push(piece).unwrap();
            }
        }
        assert!(pieces.parts.len() > 1);
        let mut sorted = pieces.sorted().unwrap();
        let mut expected = (0..count).filter(|&order| wanted(order));
        while let Some(placed) = sorted.next().unwrap() {
            let order = placed.piece.order;
            assert_eq!(Some(order), expected.next());
            assert_eq!(
                (placed.piece.thread, placed.piece.held),
                ((order % 2) as u32, 3)
            );
            assert_eq!(placed.joins, order >= 2 && wanted(order - 2), "{order}");
            let after = order + 2;
            assert_eq!(placed.is_joined, after < count && wanted(after), "{order}");
        }
        assert_eq!(expected.next(), None);
    }
}
