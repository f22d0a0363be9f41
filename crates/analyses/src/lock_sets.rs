//! Interned sets of locks, as Eraser keeps them: a set is a number, and what was intersected once is remembered.
//!
//! Programs have few distinct lock sets, so a variable's candidate set costs four bytes and narrowing it is a comparison or a cached lookup.
//! The caches are of fixed size and only save work: a miss computes the set again.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::{HashMap, HashSet, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use untorn_model::{Event, LockId, Op};

/// An interned set of locks; equal sets have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LockSetId(u32);

impl LockSetId {
    pub const EMPTY: Self = Self(0);
    /// Every lock there is: the candidate set of what was not accessed yet.
    pub const ALL: Self = Self(u32::MAX);

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Stands for all locks that are gone, in sets that had one.
///
/// Nobody will hold it, so it protects nothing from now on; but a set that has lost its last lock this way is not empty before the next access shows it.
const GONE: LockId = LockId(u32::MAX);

/// Renames sets when locks are gone, since the ids of these locks will stand for others.
#[derive(Debug)]
pub struct Without<'a> {
    sets: &'a mut LockSets,
    gone: HashSet<LockId, FxBuildHasher>,
    known: HashMap<LockSetId, LockSetId, FxBuildHasher>,
}

impl Without<'_> {
    /// The set with what stands for them in the place of locks that are gone.
    pub fn of(&mut self, set: LockSetId) -> LockSetId {
        if set.is_empty() || set == LockSetId::ALL {
            return set;
        }
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        let (left, gone): (Vec<LockId>, Vec<LockId>) =
            (self.sets.locks(set).iter()).partition(|lock| !self.gone.contains(*lock));
        let new = if gone.is_empty() {
            set
        } else {
            let mut locks = left;
            locks.push(GONE);
            locks.dedup();
            self.sets.intern(&locks)
        };
        self.known.insert(set, new);
        new
    }

    /// The lock itself, or what stands for it if it is gone.
    pub fn lock(&self, lock: LockId) -> LockId {
        if self.gone.contains(&lock) {
            GONE
        } else {
            lock
        }
    }
}

/// All lock sets that occurred.
#[derive(Clone, Debug)]
pub struct LockSets {
    members: Vec<LockId>,
    /// `ends[i]` is where set `i` ends in `members`; it starts where the one before ends.
    ends: Vec<usize>,
    ids: HashTable<u32>,
    /// By lock the set of it alone, 0 where there is none yet: the most frequent set by far.
    singletons: Vec<u32>,
    added: Memo,
    met: Memo,
    scratch: Vec<LockId>,
}

impl Default for LockSets {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            // The empty set is set 0.
            ends: vec![0],
            ids: HashTable::new(),
            singletons: Vec::new(),
            added: Memo::default(),
            met: Memo::default(),
            scratch: Vec::new(),
        }
    }
}

fn hash(set: &[LockId]) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(set)
}

fn slice<'a>(members: &'a [LockId], ends: &[usize], id: u32) -> &'a [LockId] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &members[start..ends[id]]
}

impl LockSets {
    /// The locks of a set in the order of their ids; none for [`LockSetId::ALL`], which cannot be listed.
    pub fn locks(&self, set: LockSetId) -> &[LockId] {
        if set == LockSetId::ALL {
            return &[];
        }
        slice(&self.members, &self.ends, set.0)
    }

    /// How many distinct sets occurred, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the empty set is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn contains(&self, set: LockSetId, lock: LockId) -> bool {
        set == LockSetId::ALL || self.locks(set).binary_search(&lock).is_ok()
    }

    /// The set with one lock more.
    #[inline]
    pub fn with(&mut self, set: LockSetId, lock: LockId) -> LockSetId {
        if set.is_empty()
            && let Some(&single) = self.singletons.get(lock.index())
            && single != 0
        {
            return LockSetId(single);
        }
        if let Some(known) = self.added.get(set.0, lock.0) {
            return LockSetId(known);
        }
        self.add(set, lock)
    }

    #[cold]
    fn add(&mut self, set: LockSetId, lock: LockId) -> LockSetId {
        if self.contains(set, lock) {
            return set;
        }
        let mut locks = std::mem::take(&mut self.scratch);
        locks.clear();
        locks.extend_from_slice(self.locks(set));
        let at = locks.partition_point(|&other| other < lock);
        locks.insert(at, lock);
        let id = self.intern(&locks);
        self.scratch = locks;
        if set.is_empty() {
            if self.singletons.len() <= lock.index() {
                self.singletons.resize(lock.index() + 1, 0);
            }
            self.singletons[lock.index()] = id.0;
        } else {
            self.added.put(set.0, lock.0, id.0);
        }
        id
    }

    /// What two sets have in common.
    #[inline]
    pub fn meet(&mut self, a: LockSetId, b: LockSetId) -> LockSetId {
        if a == b || b == LockSetId::ALL {
            return a;
        }
        if a == LockSetId::ALL {
            return b;
        }
        if a.is_empty() || b.is_empty() {
            return LockSetId::EMPTY;
        }
        match self.met.get(a.0, b.0) {
            Some(known) => LockSetId(known),
            None => self.intersect(a, b),
        }
    }

    #[cold]
    fn intersect(&mut self, a: LockSetId, b: LockSetId) -> LockSetId {
        let mut locks = std::mem::take(&mut self.scratch);
        locks.clear();
        let (left, right) = (self.locks(a), self.locks(b));
        locks.extend(left.iter().filter(|lock| right.binary_search(lock).is_ok()));
        let id = self.intern(&locks);
        self.scratch = locks;
        self.met.put(a.0, b.0, id.0);
        id
    }

    /// What sets become when locks are gone; nothing if none of them was ever in a set.
    pub fn without(&mut self, gone: &[Event]) -> Option<Without<'_>> {
        let locks = gone.iter().filter_map(|event| match event.op {
            Op::GoneLock(lock) => Some(lock),
            _ => None,
        });
        let gone: HashSet<LockId, FxBuildHasher> = locks.collect();
        (!gone.is_empty()).then(|| Without {
            sets: self,
            gone,
            known: HashMap::default(),
        })
    }

    /// The id of a set given in the order of lock ids.
    pub fn intern(&mut self, locks: &[LockId]) -> LockSetId {
        if locks.is_empty() {
            return LockSetId::EMPTY;
        }
        let hashed = hash(locks);
        let (members, ends) = (&self.members, &self.ends);
        let known = (self.ids).find(hashed, |&id| slice(members, ends, id) == locks);
        if let Some(&id) = known {
            return LockSetId(id);
        }
        let id = self.ends.len() as u32;
        self.members.extend_from_slice(locks);
        self.ends.push(self.members.len());
        let (members, ends) = (&self.members, &self.ends);
        (self.ids).insert_unique(hashed, id, |&id| hash(slice(members, ends, id)));
        LockSetId(id)
    }
}

/// Remembers the result of an operation on two numbers; a new entry replaces the one in its place.
#[derive(Clone, Debug)]
struct Memo {
    entries: Vec<(u32, u32, u32)>,
}

const MEMO_BITS: u32 = 12;

impl Default for Memo {
    fn default() -> Self {
        Self {
            // No operand is (MAX, MAX): nobody asks for ALL here.
            entries: vec![(u32::MAX, u32::MAX, 0); 1 << MEMO_BITS],
        }
    }
}

impl Memo {
    #[inline]
    fn slot(a: u32, b: u32) -> usize {
        let key = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (key >> (64 - MEMO_BITS)) as usize
    }

    #[inline]
    fn get(&self, a: u32, b: u32) -> Option<u32> {
        let entry = self.entries[Self::slot(a, b)];
        (entry.0 == a && entry.1 == b).then_some(entry.2)
    }

    fn put(&mut self, a: u32, b: u32, result: u32) {
        self.entries[Self::slot(a, b)] = (a, b, result);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn interned_sets_behave_as_sets(
            a in proptest::collection::btree_set(0..6u32, 0..6),
            b in proptest::collection::btree_set(0..6u32, 0..6),
            lock in 0..6u32,
        ) {
            let mut sets = LockSets::default();
            let mut id_of = |set: &BTreeSet<u32>| {
                set.iter().fold(LockSetId::EMPTY, |id, &lock| sets.with(id, LockId(lock)))
            };
            let (ia, ib) = (id_of(&a), id_of(&b));
            let met: BTreeSet<u32> = a.intersection(&b).copied().collect();
            let imet = id_of(&met);
            let mut more = a.clone();
            more.insert(lock);
            let imore = id_of(&more);
            prop_assert_eq!(ia == ib, a == b);
            for _ in 0..2 {
                // The second time from the cache.
                prop_assert_eq!(sets.meet(ia, ib), imet);
                prop_assert_eq!(sets.with(ia, LockId(lock)), imore);
            }
            prop_assert_eq!(sets.meet(ia, LockSetId::ALL), ia);
            prop_assert_eq!(sets.contains(ia, LockId(lock)), a.contains(&lock));
            let listed: Vec<u32> = sets.locks(ia).iter().map(|lock| lock.0).collect();
            prop_assert_eq!(listed, a.into_iter().collect::<Vec<_>>());
        }
    }
}
