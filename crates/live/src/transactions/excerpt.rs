//! The events of the stretches that are wanted, in the order of the run.
//!
//! Where a stretch begins within locks, the thread takes them just before, and where it ends within any, it gives them up just after: both outside of regions, where they are unary transactions.
//! The thread took them earlier and gave them up later, so what these events are ordered after and before, the thread's real ones are too; no order is made up.
//! A wait whose wake lies beyond the end of a stretch gives the lock up, and a wake whose wait lies before takes it.
//! A region that is open where a stretch ends, since the run ended or there was no room for the rest, is closed there.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_channel::record::LockOp;
use untorn_channel::{Declaration, Record};
use untorn_model::{Event, Op, RegionId, SiteId, ThreadId};
use untorn_trace::Error;
use untorn_trace::wellformed::Checker;

use super::keys::Keys;
use super::locks::{Hold, Holds};
use super::log::Log;
use super::pieces::{Pieces, Placed, Sorted};
use super::scan::is_announcement;
use super::store::Store;
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
#[derive(Debug, Default)]
pub struct Excerpt {
    kept: Log,
    announcements: Announcements,
    keys: Option<Keys>,
    pieces: Pieces,
    sorted: Option<Sorted>,
    /// Records that have not been decoded.
    left: u64,
    threads: Vec<Thread>,
    records: Vec<u64>,
}

/// What numbers stand for, as it was announced up to a place in the order of the run.
#[derive(Debug, Default)]
struct Announcements {
    log: Log,
    next: u64,
    /// Read and still to come, the next one last: the place and the record.
    read: Vec<(u64, u64)>,
    /// The classes of objects that have been announced and nobody has accessed yet.
    classes: FxHashMap<u64, u32>,
}

impl Announcements {
    /// Takes in all up to a place in the order.
    fn pass(&mut self, order: u64, names: &mut Names, begun: u64) -> Result<(), Error> {
        const STEP: u64 = 1 << 14;
        loop {
            if self.read.is_empty() && self.next < self.log.len() {
                let count = STEP.min(self.log.len() - self.next);
                let mut words = Vec::new();
                (self.log.read(self.next, count as usize, &mut words)).map_err(failed)?;
                self.next += count;
                let (pairs, _) = words.as_chunks::<2>();
                (self.read).extend(pairs.iter().rev().map(|&[place, bits]| (place, bits)));
            }
            let Some((_, bits)) = self.read.pop_if(|(place, _)| *place <= order) else {
                return Ok(());
            };
            match Record::decode(bits) {
                Some(Record::NewLock { lock, class }) => names.new_lock(lock, class, false),
                Some(Record::NewClassLock { lock, class }) => names.new_lock(lock, class, true),
                Some(Record::NewObject { object, class }) => {
                    self.classes.insert(object, class);
                }
                Some(Record::GoneLock { lock }) => names.drop_lock(lock, begun),
                Some(Record::GoneObject { object }) => {
                    self.classes.remove(&object);
                    names.drop_object(object, begun);
                }
                _ => {}
            }
        }
    }

    /// Where the next one is.
    #[inline]
    fn next_place(&self) -> u64 {
        match self.read.last() {
            Some((place, _)) => *place,
            None if self.next < self.log.len() => 0,
            None => u64::MAX,
        }
    }
}

/// What decoding needs of the source.
pub struct Decoding<'a> {
    pub names: &'a mut Names,
    pub decoder: &'a mut Decoder,
    pub checker: &'a mut Checker,
    pub repair: &'a mut Repair,
    pub tally: &'a mut Tally,
    pub into: &'a mut Vec<Event>,
    /// How many of these say that something is gone.
    pub gone: &'a mut usize,
}

impl Decoding<'_> {
    /// Makes ids of what is gone available, if these are many.
    fn release(&mut self) {
        let ids = self.names.ids();
        if let Some(lives) = &mut self.names.lives
            && lives.is_due(ids)
        {
            let before = self.into.len();
            let is_free = |lock| self.checker.is_free(lock);
            lives.release(ids, self.repair.oldest(), is_free, self.into);
            *self.gone += self.into.len() - before;
        }
    }

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
    pub fn new(store: Store, announcements: Log, keys: Keys) -> Self {
        Self {
            left: store.wanted,
            kept: store.kept,
            pieces: store.pieces,
            announcements: Announcements {
                log: announcements,
                ..Announcements::default()
            },
            keys: Some(keys),
            ..Self::default()
        }
    }

    /// Records that have not been decoded.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Decodes about so many events; none at the end.
    pub fn fill(&mut self, about: usize, with: &mut Decoding<'_>) -> Result<(), Error> {
        if let Some(mut keys) = self.keys.take() {
            self.name_keys(&mut keys, with.names)?;
        }
        while with.into.len() < about {
            let sorted = match &mut self.sorted {
                Some(sorted) => sorted,
                none => none.insert(std::mem::take(&mut self.pieces).sorted().map_err(failed)?),
            };
            let Some(placed) = sorted.next().map_err(failed)? else {
                break;
            };
            self.piece(&placed, with)?;
            self.left = self.left.saturating_sub(u64::from(placed.piece.count));
            with.release();
        }
        Ok(())
    }

    /// Takes in the names of keys that the wanted stretches speak of; if there are few, of all.
    fn name_keys(&self, keys: &mut Keys, names: &mut Names) -> Result<(), Error> {
        const STEP: u64 = 1 << 16;
        if keys.is_empty() {
            return Ok(());
        }
        let few = keys.are_few();
        let mut spoken_of = FxHashSet::default();
        let (mut records, mut at) = (Vec::new(), 0);
        while !few && at < self.kept.len() {
            let count = STEP.min(self.kept.len() - at);
            records.clear();
            (self.kept.read(at, count as usize, &mut records)).map_err(failed)?;
            for record in records.iter().copied().filter_map(Record::decode) {
                if let Record::Key { key } = record {
                    spoken_of.insert(key);
                }
            }
            at += count;
        }
        let declared = keys.each(|id, text| {
            if few || spoken_of.contains(&id) {
                names.declare(Declaration::Key { id, text });
            }
        });
        declared.map_err(failed)
    }

    fn piece(&mut self, placed: &Placed, with: &mut Decoding<'_>) -> Result<(), Error> {
        let piece = &placed.piece;
        // Whoever is spoken of here, or held here, was announced before.
        self.announcements
            .pass(piece.order, with.names, with.repair.begun())?;
        let held = piece.held as usize;
        self.records.clear();
        let (from, count) = (piece.at - held as u64, held + piece.count as usize);
        (self.kept.read(from, count, &mut self.records)).map_err(failed)?;
        let Some(thread) = with.names.thread(piece.thread) else {
            with.tally.undeclared += u64::from(piece.count);
            return Ok(());
        };
        let index = piece.thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        let this = &mut self.threads[index];
        if !placed.joins {
            this.begin(thread, &self.records[..held], with);
        }
        let last = self.records.len().saturating_sub(1);
        for (at, &bits) in self.records.iter().enumerate().skip(held) {
            let order = piece.order + (at - held) as u64;
            if order >= self.announcements.next_place() {
                self.announcements
                    .pass(order, with.names, with.repair.begun())?;
            }
            let Some(record) = Record::decode(bits) else {
                continue;
            };
            if let Record::Access { object, .. } = record
                && let Some(class) = self.announcements.classes.remove(&object)
            {
                with.names.new_object(object, class);
            }
            let cut = at == last && !placed.is_joined;
            if !this.lock(thread, record, cut, with) {
                this.event(thread, piece.thread, record, with);
            }
        }
        if !placed.is_joined {
            this.close(thread, with);
        }
        Ok(())
    }
}

impl Thread {
    /// A stretch begins, within the locks that these records tell.
    fn begin(&mut self, thread: ThreadId, held: &[u64], with: &mut Decoding<'_>) {
        for &bits in held {
            if let Some(Record::Lock { op, lock, .. }) = Record::decode(bits) {
                self.holds.follow(op, lock);
            }
        }
        for hold in self.holds.all() {
            if hold.waiting {
                self.waits_on = Some(hold.lock);
            } else {
                with.take(thread, hold);
            }
        }
    }

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
        // They have been taken in.
        if is_announcement(record) {
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
