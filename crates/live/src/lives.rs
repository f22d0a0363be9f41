//! Ids of what the program has dropped, until they stand for something new.
//!
//! The runtime tells when an object or lock is gone, and no record of it follows.
//! Its id then waits here, and is given to the next object of the same class, or lock of the same class and kind: so ids, and all that is kept by them, grow with what lives at a time and not with what ever did.
//! Analyses are told ([`Op::GoneObject`], [`Op::GoneLock`]) before an id is used again, many at a time, since forgetting costs them a look at all they keep.
//!
//! *Why of the same class.* Events are read again when the trace has ended, and findings name what they show by then.
//! An id that stands for objects of one class, and whose locations stand for the same fields of theirs, has one name for all of them, and the same locations overlap.
//! What is in a name is not which object it was; as with an address, the number tells objects apart that live at the same time.
//!
//! *Why not at once.* An id is not used again while a region is open that was open when its object went: so within an execution of a region a number never stands for two objects, and no evidence shows it for both.
//! Regions that never end give way when too many ids wait; that costs this clarity and nothing else.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use untorn_model::{ClassId, Event, LockId, LockKind, ObjectId, Op, SiteId, ThreadId};

/// So few are not worth telling the analyses.
const LEAST: usize = 4096;
/// So many ids wait for regions to end, at most.
const MOST: usize = 1 << 17;

/// What locks have in common that may have one id after another: the runtime's class, and the kind.
pub type LockShape = (u32, LockKind);

#[derive(Clone, Copy, Debug)]
pub enum Dropped {
    Object(ObjectId, Option<ClassId>),
    Lock(LockId, LockShape),
}

/// Ids without an owner.
#[derive(Debug, Default)]
pub struct Lives {
    /// In the order in which they were dropped, with how many regions had begun by then.
    waiting: VecDeque<(u64, Dropped)>,
    objects: FxHashMap<Option<ClassId>, VecDeque<ObjectId>>,
    locks: FxHashMap<LockShape, VecDeque<LockId>>,
    /// How many ids were used again.
    pub reused: u64,
}

impl Lives {
    /// An id for a new object of this class, if one is to be had.
    pub fn object(&mut self, class: Option<ClassId>) -> Option<ObjectId> {
        let object = self.objects.get_mut(&class)?.pop_front()?;
        self.reused += 1;
        Some(object)
    }

    pub fn lock(&mut self, shape: LockShape) -> Option<LockId> {
        let lock = self.locks.get_mut(&shape)?.pop_front()?;
        self.reused += 1;
        Some(lock)
    }

    /// Something is gone, when so many regions had begun that are in no other.
    pub fn drop(&mut self, dropped: Dropped, begun: u64) {
        self.waiting.push_back((begun, dropped));
    }

    /// Whether so many wait that [`Self::release`] may be worth it, where there are so many ids in all.
    #[inline]
    pub fn is_due(&self, ids: usize) -> bool {
        self.waiting.len() >= LEAST.max(ids / 8)
    }

    /// Makes ids available whose time has come, if these are many, and tells the analyses.
    ///
    /// `oldest` is the number of the oldest region that is open, of those that are in no other; larger than all if none is.
    pub fn release(
        &mut self,
        ids: usize,
        oldest: u64,
        is_free: impl Fn(LockId) -> bool,
        into: &mut Vec<Event>,
    ) {
        let waiting = self.waiting.len();
        let ended = (self.waiting).partition_point(|(begun, _)| *begun <= oldest);
        // Locations have ids, too, so that a fourth of all is half of the objects of one field.
        let count = ended.max(waiting.saturating_sub(MOST.max(ids / 4)));
        if count < LEAST.max(ids / 8) / 2 {
            return;
        }
        for (_, dropped) in self.waiting.drain(..count) {
            let op = match dropped {
                Dropped::Object(object, class) => {
                    self.objects.entry(class).or_default().push_back(object);
                    Op::GoneObject(object)
                }
                Dropped::Lock(lock, shape) if is_free(lock) => {
                    self.locks.entry(shape).or_default().push_back(lock);
                    Op::GoneLock(lock)
                }
                // Dropped while it was held: its id is never used again.
                Dropped::Lock(..) => continue,
            };
            into.push(Event {
                // Whose event it is does not matter.
                thread: ThreadId(0),
                site: SiteId::UNKNOWN,
                op,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(lives: &mut Lives, count: usize, begun: u64) {
        for i in 0..count as u32 {
            lives.drop(Dropped::Object(ObjectId(i), Some(ClassId(0))), begun);
        }
    }

    #[test]
    fn an_id_comes_back_for_its_class_once_it_was_told_and_no_sooner() {
        let mut lives = Lives::default();
        let mut events = Vec::new();
        dropped(&mut lives, LEAST - 1, 3);
        assert!(!lives.is_due(0));
        let (held, free) = (LockId(1), LockId(2));
        for lock in [held, free] {
            lives.drop(Dropped::Lock(lock, (7, LockKind::Monitor)), 3);
        }
        assert!(lives.is_due(0) && !lives.is_due(16 * LEAST));
        assert_eq!(lives.object(Some(ClassId(0))), None);
        lives.release(0, u64::MAX, |lock| lock != held, &mut events);
        assert_eq!(events.len(), LEAST);
        assert_eq!(events[LEAST - 1].op, Op::GoneLock(free));
        assert_eq!(lives.object(Some(ClassId(1))), None);
        assert_eq!(lives.object(Some(ClassId(0))), Some(ObjectId(0)));
        assert_eq!(lives.lock((7, LockKind::Explicit)), None);
        assert_eq!(lives.lock((7, LockKind::Monitor)), Some(free));
        assert_eq!(lives.lock((7, LockKind::Monitor)), None);
        assert_eq!(lives.reused, 2);
    }

    #[test]
    fn what_went_while_a_region_was_open_waits_for_its_end_unless_too_many_do() {
        let mut lives = Lives::default();
        let mut events = Vec::new();
        let open = 4;
        dropped(&mut lives, LEAST, 4);
        dropped(&mut lives, LEAST, 5);
        lives.release(0, open, |_| true, &mut events);
        assert_eq!(events.len(), LEAST);
        lives.release(0, open, |_| true, &mut events);
        assert_eq!(events.len(), LEAST, "the region is open");
        dropped(&mut lives, MOST, 6);
        lives.release(0, open, |_| true, &mut events);
        assert_eq!(events.len(), 2 * LEAST, "and may be for ever");
        // There are as many objects as wait, and a location of each.
        dropped(&mut lives, 4 * MOST, 7);
        lives.release(10 * MOST, open, |_| true, &mut events);
        assert!(events.len() > 2 * MOST, "however many there are");
    }
}
