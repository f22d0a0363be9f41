//! What was yielded before, kept in a nameless temporary file so that analyses need no copies.
//!
//! An event takes 16 bytes, so a stretch is found by multiplication.
//! If the disk is full, keeping ends and replay fails with that error; the run goes on.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use untorn_model::{
    AccessFlags, Event, EventIndex, Kind, Kinds, LockId, LockMode, MethodId, ObjectId, Op,
    RegionId, SiteId, ThreadId, VarId,
};
use untorn_trace::{Batch, Error, Replay};

const BYTES: usize = 16;
const NAME: &str = "temporary copy of the run";
/// Events of one batch.
const BATCH: usize = 4096;

#[derive(Debug)]
pub struct Spool {
    file: File,
    kept: u64,
    buffer: Vec<u8>,
    broken: Option<io::ErrorKind>,
}

fn failed(source: io::Error) -> Error {
    Error::Io {
        file: NAME.to_owned(),
        source,
    }
}

impl Spool {
    pub fn new() -> Result<Self, Error> {
        Ok(Self {
            file: tempfile::tempfile().map_err(failed)?,
            kept: 0,
            buffer: Vec::new(),
            broken: None,
        })
    }

    /// Appends events.
    pub fn keep(&mut self, events: &[Event]) {
        if self.broken.is_some() {
            return;
        }
        self.buffer.resize(events.len() * BYTES, 0);
        for (event, bytes) in events.iter().zip(self.buffer.chunks_exact_mut(BYTES)) {
            bytes.copy_from_slice(&encode(event));
        }
        match self.file.write_all(&self.buffer) {
            Ok(()) => self.kept += events.len() as u64,
            Err(error) => self.broken = Some(error.kind()),
        }
    }
}

impl Replay for Spool {
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error> {
        if let Some(kind) = self.broken.filter(|_| range.end.0 > self.kept) {
            return Err(failed(kind.into()));
        }
        let end = range.end.0.min(self.kept);
        let mut next = range.start.0;
        let (mut bytes, mut events) = (Vec::new(), Vec::new());
        while next < end {
            let count = BATCH.min((end - next) as usize);
            bytes.resize(count * BYTES, 0);
            self.file
                .read_exact_at(&mut bytes, next * BYTES as u64)
                .map_err(failed)?;
            events.clear();
            let mut kinds = Kinds::NONE;
            for one in bytes.chunks_exact(BYTES) {
                let event = decode(one).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
                kinds.insert(event.op.kind());
                events.push(event);
            }
            visit(&Batch {
                first: EventIndex(next),
                events: &events,
                kinds,
            });
            next += count as u64;
        }
        Ok(())
    }
}

fn encode(event: &Event) -> [u8; BYTES] {
    let (extra, operand) = match event.op {
        Op::Read(flags, var) | Op::Write(flags, var) | Op::Update(flags, var) => (flags.0, var.0),
        Op::Acquire(mode, lock)
        | Op::Release(mode, lock)
        | Op::Reacquire(mode, lock)
        | Op::Rerelease(mode, lock) => (mode as u8, lock.0),
        Op::Wait(lock)
        | Op::Wake(lock)
        | Op::Notify(lock)
        | Op::Signal(lock)
        | Op::Await(lock)
        | Op::GoneLock(lock) => (0, lock.0),
        Op::GoneObject(object) => (0, object.0),
        Op::Fork(thread) | Op::Join(thread) => (0, thread.0),
        Op::Begin(region) | Op::End(region) => (0, region.0),
        Op::Enter(method) | Op::Exit(method) => (0, method.0),
    };
    let mut bytes = [0; BYTES];
    bytes[0] = event.op.kind() as u8;
    bytes[1] = extra;
    bytes[4..8].copy_from_slice(&operand.to_le_bytes());
    bytes[8..12].copy_from_slice(&event.thread.0.to_le_bytes());
    bytes[12..].copy_from_slice(&event.site.0.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Event> {
    let number = |at: usize| {
        let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(four))
    };
    let flags = AccessFlags(bytes[1]);
    let mode = if bytes[1] == 0 {
        LockMode::Exclusive
    } else {
        LockMode::Shared
    };
    let operand = number(4)?;
    let (var, lock) = (VarId(operand), LockId(operand));
    let op = match *Kind::ALL.get(bytes[0] as usize)? {
        Kind::Read => Op::Read(flags, var),
        Kind::Write => Op::Write(flags, var),
        Kind::Update => Op::Update(flags, var),
        Kind::Acquire => Op::Acquire(mode, lock),
        Kind::Release => Op::Release(mode, lock),
        Kind::Reacquire => Op::Reacquire(mode, lock),
        Kind::Rerelease => Op::Rerelease(mode, lock),
        Kind::Wait => Op::Wait(lock),
        Kind::Wake => Op::Wake(lock),
        Kind::Notify => Op::Notify(lock),
        Kind::Signal => Op::Signal(lock),
        Kind::Await => Op::Await(lock),
        Kind::Fork => Op::Fork(ThreadId(operand)),
        Kind::Join => Op::Join(ThreadId(operand)),
        Kind::Begin => Op::Begin(RegionId(operand)),
        Kind::End => Op::End(RegionId(operand)),
        Kind::Enter => Op::Enter(MethodId(operand)),
        Kind::Exit => Op::Exit(MethodId(operand)),
        Kind::GoneObject => Op::GoneObject(ObjectId(operand)),
        Kind::GoneLock => Op::GoneLock(lock),
    };
    Some(Event {
        thread: ThreadId(number(8)?),
        site: SiteId(number(12)?),
        op,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use untorn_trace::generate::{Shape, random_trace};

    #[test]
    fn what_was_kept_comes_back() {
        let (tables, events) = random_trace(3, &Shape::default(), 10_000);
        let events = untorn_trace::lives::end_lives(3, 9, &tables, &events);
        let mut spool = Spool::new().unwrap();
        for part in events.chunks(777) {
            spool.keep(part);
        }
        let mut again = Vec::new();
        spool
            .replay(EventIndex(5)..EventIndex(8_000), &mut |batch| {
                assert_eq!(batch.first.0 as usize, 5 + again.len());
                again.extend_from_slice(batch.events);
            })
            .unwrap();
        assert_eq!(again, events[5..8_000]);
    }
}
