//! The events of the stretches that are wanted, in the order of the run.
//!
//! Where a stretch begins within locks, the thread takes them just before, and where it ends within any, it gives them up just after: both outside of regions, where they are unary transactions.
//! The thread took them earlier and gave them up later, so what these events are ordered after and before, the thread's real ones are too; no order is made up.
//! A wait whose wake lies beyond the end of a stretch gives the lock up, and a wake whose wait lies before takes it.
//! A region that is open where a stretch ends, since the run ended or there was no room for the rest, is closed there.

use rustc_hash::FxHashSet;
use untorn_channel::Record;
use untorn_channel::record::LockOp;
use untorn_model::{Event, Op, RegionId, SiteId, ThreadId};
use untorn_trace::Error;
use untorn_trace::wellformed::Checker;

use super::locks::{Hold, Holds};
use super::log::Log;
use super::store::{Piece, Store};
use crate::decode::{Decoded, Decoder, decode, lock_op};
use crate::names::Names;
use crate::repair::{Aside, Repair};
use crate::source::Tally;

const NAME: &str = "temporary copy of the run";

fn failed(source: std::io::Error) -> Error {
    Error::Io {
        file: NAME.to_owned(),
        source,
    }
}

#[derive(Debug, Default)]
struct Thread {
    holds: Holds,
    /// A lock whose open wait lies before the stretch.
    waits_on: Option<u64>,
    regions: Vec<RegionId>,
}

/// Decodes the wanted stretches.
#[derive(Debug)]
pub struct Excerpt {
    store: Store,
    announcements: Option<Log>,
    /// The next piece.
    next: usize,
    /// By piece: whether it goes on where another one ended, and whether another goes on where it ends.
    joined: Vec<(bool, bool)>,
    threads: Vec<Thread>,
    records: Vec<u64>,
}

/// What decoding needs of the source.
pub struct Decoding<'a> {
    pub names: &'a mut Names,
    pub decoder: &'a mut Decoder,
    pub checker: &'a mut Checker,
    pub repair: &'a mut Repair,
    pub tally: &'a mut Tally,
    pub into: &'a mut Vec<Event>,
}

impl Decoding<'_> {
    fn admit(&mut self, event: Event) {
        let mended = self.repair.admit(self.checker, event, self.into);
        self.tally.refused += u64::from(mended.refused);
        self.tally.put_in += mended.put_in;
    }

    /// An operation on a lock that is not recorded here.
    fn lock(&mut self, thread: ThreadId, op: LockOp, lock: u64, times: u32) {
        for _ in 0..times {
            if let Some(op) = lock_op(self.names, op, lock) {
                self.admit(Event {
                    thread,
                    site: SiteId::UNKNOWN,
                    op,
                });
            }
        }
    }

    fn take(&mut self, thread: ThreadId, hold: &Hold) {
        let op = if hold.shared {
            LockOp::AcquireShared
        } else {
            LockOp::Acquire
        };
        self.lock(thread, op, hold.lock, hold.depth);
    }

    fn give_up(&mut self, thread: ThreadId, hold: &Hold) {
        let op = if hold.shared {
            LockOp::ReleaseShared
        } else {
            LockOp::Release
        };
        self.lock(thread, op, hold.lock, hold.depth);
    }
}

impl Excerpt {
    pub fn new(mut store: Store, announcements: Log) -> Self {
        store
            .pieces
            .sort_unstable_by_key(|p| (p.thread, p.position));
        let touch =
            |a: &Piece, b: &Piece| a.thread == b.thread && a.position + a.count == b.position;
        let pieces = &store.pieces;
        let joined = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| pieces.get(before));
            let after = pieces.get(at + 1);
            (
                before.is_some_and(|before| touch(before, &pieces[at])),
                after.is_some_and(|after| touch(&pieces[at], after)),
            )
        };
        let mut both: Vec<(Piece, (bool, bool))> = (0..pieces.len())
            .map(|at| (pieces[at], joined(at)))
            .collect();
        both.sort_unstable_by_key(|(piece, _)| piece.order);
        let joined;
        (store.pieces, joined) = both.into_iter().unzip();
        Self {
            store,
            announcements: Some(announcements),
            next: 0,
            joined,
            threads: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Decodes about so many events; none at the end.
    pub fn fill(&mut self, about: usize, with: &mut Decoding<'_>) -> Result<(), Error> {
        if let Some(announcements) = self.announcements.take() {
            self.introduce(&announcements, with.names)?;
        }
        while with.into.len() < about
            && let Some(&piece) = self.store.pieces.get(self.next)
        {
            let joined = self.joined[self.next];
            self.next += 1;
            self.records.clear();
            let count = piece.count as usize;
            let kept = &self.store.kept;
            (kept.read(piece.at, count, &mut self.records)).map_err(failed)?;
            self.piece(&piece, joined, with);
        }
        Ok(())
    }

    /// Names what the wanted stretches speak of; if that is not much, whatever was announced.
    fn introduce(&mut self, announcements: &Log, names: &mut Names) -> Result<(), Error> {
        const STEP: u64 = 1 << 16;
        const FEW: u64 = 1 << 16;
        let few = announcements.len() <= FEW;
        let (mut locks, mut objects) = (FxHashSet::default(), FxHashSet::default());
        let steps = |log: &Log, visit: &mut dyn FnMut(Record)| {
            let (mut records, mut at) = (Vec::new(), 0);
            while at < log.len() {
                let count = STEP.min(log.len() - at);
                records.clear();
                log.read(at, count as usize, &mut records).map_err(failed)?;
                records
                    .iter()
                    .copied()
                    .filter_map(Record::decode)
                    .for_each(&mut *visit);
                at += count;
            }
            Ok(())
        };
        if !few {
            steps(&self.store.kept, &mut |record| match record {
                Record::Access { object, .. } => {
                    objects.insert(object);
                }
                Record::Lock { lock, .. } => {
                    locks.insert(lock);
                }
                _ => {}
            })?;
        }
        let held = self.store.starts.values().flatten();
        locks.extend(held.map(|hold| hold.lock));
        steps(announcements, &mut |record| match record {
            Record::NewLock { lock, class } if few || locks.contains(&lock) => {
                names.new_lock(lock, class, false);
            }
            Record::NewClassLock { lock, class } if few || locks.contains(&lock) => {
                names.new_lock(lock, class, true);
            }
            Record::NewObject { object, class } if few || objects.contains(&object) => {
                names.new_object(object, class);
            }
            _ => {}
        })
    }

    fn piece(&mut self, piece: &Piece, joined: (bool, bool), with: &mut Decoding<'_>) {
        let Some(thread) = with.names.thread(piece.thread) else {
            with.tally.undeclared += piece.count;
            return;
        };
        let index = piece.thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        let this = &mut self.threads[index];
        if !joined.0 {
            let holds = self.store.starts.get(&(piece.thread, piece.position));
            for &hold in holds.into_iter().flatten() {
                if hold.waiting {
                    this.waits_on = Some(hold.lock);
                } else {
                    with.take(thread, &hold);
                }
                this.holds.add(hold);
            }
        }
        let last = self.records.len().saturating_sub(1);
        for (at, &bits) in self.records.iter().enumerate() {
            let Some(record) = Record::decode(bits) else {
                continue;
            };
            let cut = at == last && !joined.1;
            if !this.lock(thread, record, cut, with) {
                this.event(thread, piece.thread, record, with);
            }
        }
        if !joined.1 {
            this.close(thread, with);
        }
    }
}

impl Thread {
    /// Follows a lock record; whether it is told by other events.
    fn lock(
        &mut self,
        thread: ThreadId,
        record: Record,
        cut: bool,
        with: &mut Decoding<'_>,
    ) -> bool {
        let Record::Lock { op, lock, .. } = record else {
            if let Record::Released { lock } = record {
                self.holds.follow(LockOp::Release, lock);
            }
            return false;
        };
        let other = match op {
            LockOp::Wait if cut => {
                let depth = self.holds.depth(lock);
                with.lock(thread, LockOp::Release, lock, depth);
                true
            }
            LockOp::Wake if self.waits_on == Some(lock) => {
                self.waits_on = None;
                if let Some(hold) = self.holds.waiting(lock) {
                    with.take(thread, hold);
                }
                true
            }
            _ => false,
        };
        self.holds.follow(op, lock);
        other
    }

    fn event(&mut self, thread: ThreadId, number: u32, record: Record, with: &mut Decoding<'_>) {
        // They have been introduced, and keep their ids.
        if matches!(
            record,
            Record::NewLock { .. }
                | Record::NewClassLock { .. }
                | Record::NewObject { .. }
                | Record::GoneLock { .. }
                | Record::GoneObject { .. }
        ) {
            return;
        }
        match decode(with.decoder.prefix(number), with.names, record, 0) {
            Decoded::Aside(aside) => {
                if let Aside::Unwound(count) = aside {
                    let left = self.regions.len().saturating_sub(count as usize);
                    self.regions.truncate(left);
                }
                let tables = &with.names.tables;
                with.repair
                    .aside(with.checker, (thread, aside), tables, with.into);
            }
            Decoded::Nothing => {}
            Decoded::Lost => with.tally.undeclared += 1,
            Decoded::Event(site, op) => {
                match op {
                    Op::Begin(region) => self.regions.push(region),
                    Op::End(region) => {
                        if let Some(at) = self.regions.iter().rposition(|open| *open == region) {
                            self.regions.truncate(at);
                        }
                    }
                    _ => {}
                }
                with.admit(Event { thread, site, op });
            }
        }
    }

    /// The stretch ends.
    fn close(&mut self, thread: ThreadId, with: &mut Decoding<'_>) {
        // Who still waits when the run ends has not woken to do anything.
        if !self.holds.all().iter().any(|hold| hold.waiting) {
            while let Some(region) = self.regions.pop() {
                let site = with.names.tables.regions[region].site;
                let op = Op::End(region);
                with.admit(Event { thread, site, op });
            }
        }
        for hold in self.holds.all().iter().rev().filter(|hold| !hold.waiting) {
            with.give_up(thread, hold);
        }
        self.holds.clear();
        self.regions.clear();
        self.waits_on = None;
    }
}
