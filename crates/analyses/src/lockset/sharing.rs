//! The state of each location: how far it is shared, and which locks have protected it.
//!
//! Paper 000, sections 4.1 (Figure 13) and 4.4: `Thread-Local`, `Thread-Local (2)`, `Read-Shared`, `Shared-Modified`, and the pair of an access-protecting and a write-protecting set.
//! The sets start with the locks held by the write that makes a location shared and modified; before that every access is protected by the state alone.
//!
//! A lock held shared protects reads and not writes: a read narrows with all locks held, a write with those held exclusively.
//!
//! *Overlapping locations.* An access counts for every location that shares storage with the one accessed, and is judged by the state of its own.
//! A location that appears after others it overlaps starts as the join of their states.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use untorn_model::conflict::AccessKind;
use untorn_model::{Event, EventIndex, Op, SiteId, Tables, ThreadId, VarId};

use crate::lock_sets::{LockSetId, LockSets, Without};
use crate::locks_held::Held;

/// How far a location is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u8)]
enum State {
    Untouched,
    ThreadLocal,
    ThreadLocal2,
    ReadShared,
    SharedModified,
}

/// What is remembered of a location; half a cache line.
#[derive(Clone, Copy, Debug)]
struct OfVar {
    /// The last access, for reports.
    event: EventIndex,
    thread: ThreadId,
    site: SiteId,
    /// The owner while the location is thread-local.
    owner: ThreadId,
    access: LockSetId,
    write: LockSetId,
    state: State,
    last: Access,
    marks: u8,
}

const _: () = assert!(size_of::<OfVar>() == 32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Access {
    Read,
    Write,
    Update,
}

/// A non-volatile access has happened since the location is shared.
const PLAIN: u8 = 1;
/// No lock has protected all accesses.
const UNPROTECTED: u8 = 2;
/// An access of it was part of an atomicity violation.
const HARMFUL: u8 = 4;

/// An access that is kept for a report.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub index: EventIndex,
    pub event: Event,
}

/// A location that no lock protects in all accesses, not all of which are volatile.
#[derive(Clone, Debug)]
pub struct Raced {
    pub var: VarId,
    /// Whether an access was part of an atomicity violation.
    pub harmful: bool,
    /// Whether a lock protects all writes.
    pub benign: bool,
    /// The accesses that narrowed the access set, in order; none if they were not wanted.
    pub kept: Vec<Kept>,
}

/// How well an access is protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Protection {
    /// Whether the location is shared and modified, so that it needs a lock at all.
    pub needed: bool,
    /// Some lock that all accesses held is held: `φ(x,A) ∩ H ≠ ∅`, or the location is not shared and modified.
    pub by_access_set: bool,
    /// Some lock that all writes held is held: `φ(x,W) ∩ H ≠ ∅`, or the location is not shared and modified.
    pub by_write_set: bool,
}

impl Protection {
    const NOT_NEEDED: Self = Self {
        needed: false,
        by_access_set: true,
        by_write_set: true,
    };
}

/// The states of all locations.
#[derive(Clone, Debug)]
pub struct Sharing {
    vars: Vec<OfVar>,
    untouched: OfVar,
    pairs: HashSet<(LockSetId, LockSetId), FxBuildHasher>,
    /// The accesses that narrowed the access set of a location, if they are wanted.
    narrowed: Option<HashMap<VarId, Vec<Kept>, FxBuildHasher>>,
}

/// More accesses than this explain nothing better.
const KEPT: usize = 8;

impl Sharing {
    /// `from_the_start` leaves the states out: every location is shared and its sets start with all locks, as in the figures of section 3.
    pub fn new(from_the_start: bool, keep_accesses: bool) -> Self {
        let state = if from_the_start {
            State::SharedModified
        } else {
            State::Untouched
        };
        Self {
            vars: Vec::new(),
            untouched: OfVar {
                event: EventIndex(0),
                thread: ThreadId(0),
                site: SiteId::UNKNOWN,
                owner: ThreadId(0),
                access: LockSetId::ALL,
                write: LockSetId::ALL,
                state,
                last: Access::Read,
                marks: 0,
            },
            pairs: HashSet::default(),
            narrowed: keep_accesses.then(HashMap::default),
        }
    }

    /// Makes room for all locations of the tables; call it before each batch.
    pub fn grow(&mut self, tables: &Tables) {
        if self.vars.len() < tables.vars().len() {
            self.vars.resize(tables.vars().len(), self.untouched);
        }
    }

    /// Takes an access of `var` by a thread that holds `held`, and tells how well it is protected.
    #[inline]
    pub fn access(
        &mut self,
        tables: &Tables,
        sets: &mut LockSets,
        held: Held,
        index: EventIndex,
        event: &Event,
        var: VarId,
    ) -> Protection {
        if tables.any_overlaps() {
            self.overlapping(tables, sets, held, index, event, var);
        }
        self.touch(sets, held, index, event, var)
    }

    #[cold]
    fn overlapping(
        &mut self,
        tables: &Tables,
        sets: &mut LockSets,
        held: Held,
        index: EventIndex,
        event: &Event,
        var: VarId,
    ) {
        let others = tables.overlapping(var);
        if self.vars[var.index()].state == State::Untouched {
            for &other in others {
                let other = self.vars[other.index()];
                join(&mut self.vars[var.index()], &other, sets);
            }
        }
        for &other in others {
            if self.vars[other.index()].state != State::Untouched {
                self.touch(sets, held, index, event, other);
            }
        }
    }

    #[inline]
    fn touch(
        &mut self,
        sets: &mut LockSets,
        held: Held,
        index: EventIndex,
        event: &Event,
        var: VarId,
    ) -> Protection {
        let this = &mut self.vars[var.index()];
        let writes = event.op.access_kind() == Some(AccessKind::Write);
        let before = *this;
        this.event = index;
        this.thread = event.thread;
        this.site = event.site;
        this.last = match event.op {
            Op::Update(..) => Access::Update,
            Op::Write(..) => Access::Write,
            _ => Access::Read,
        };
        match this.state {
            State::ThreadLocal | State::ThreadLocal2 if this.owner == event.thread => {
                return Protection::NOT_NEEDED;
            }
            State::Untouched => {
                this.state = State::ThreadLocal;
                this.owner = event.thread;
                return Protection::NOT_NEEDED;
            }
            State::ThreadLocal => {
                this.state = State::ThreadLocal2;
                this.owner = event.thread;
                return Protection::NOT_NEEDED;
            }
            State::ThreadLocal2 | State::ReadShared => {
                this.marks |= plain(event);
                if !writes {
                    this.state = State::ReadShared;
                    return Protection::NOT_NEEDED;
                }
                this.state = State::SharedModified;
            }
            State::SharedModified => this.marks |= plain(event),
        }
        let locks = if writes { held.exclusive } else { held.any };
        let access = sets.meet(before.access, locks);
        let write = if writes {
            sets.meet(before.write, locks)
        } else {
            before.write
        };
        if access != before.access || write != before.write {
            this.access = access;
            this.write = write;
            self.pairs.insert((access, write));
            self.narrow(&before, index, event, var);
        }
        Protection {
            needed: true,
            by_access_set: !access.is_empty(),
            by_write_set: !if writes {
                write
            } else {
                sets.meet(write, locks)
            }
            .is_empty(),
        }
    }

    #[cold]
    fn narrow(&mut self, before: &OfVar, index: EventIndex, event: &Event, var: VarId) {
        let this = &mut self.vars[var.index()];
        if this.access.is_empty() {
            this.marks |= UNPROTECTED;
        }
        let Some(narrowed) = &mut self.narrowed else {
            return;
        };
        let kept = narrowed.entry(var).or_default();
        // What the location was before it became shared is the other half of the first conflict.
        if kept.is_empty() && before.state != State::SharedModified {
            kept.push(before.last_access(var));
        }
        if kept.len() < KEPT {
            kept.push(Kept {
                index,
                event: *event,
            });
        }
    }

    /// Remembers that an access of this location was part of an atomicity violation.
    pub fn mark_harmful(&mut self, var: VarId) {
        self.vars[var.index()].marks |= HARMFUL;
    }

    /// How many distinct pairs of sets shared locations had.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Takes the locations out that race.
    pub fn take_racy(&mut self) -> impl Iterator<Item = Raced> {
        (0..self.vars.len()).filter_map(|i| self.forget(VarId(i as u32)))
    }

    /// Forgets a location, since its id stands for another one from now on; what is left if it raced.
    pub fn forget(&mut self, var: VarId) -> Option<Raced> {
        let this = std::mem::replace(&mut self.vars[var.index()], self.untouched);
        let kept = (self.narrowed.as_mut()).and_then(|narrowed| narrowed.remove(&var));
        let raced = this.marks & (UNPROTECTED | PLAIN) == UNPROTECTED | PLAIN;
        raced.then(|| Raced {
            var,
            harmful: this.marks & HARMFUL != 0,
            benign: this.state == State::SharedModified && !this.write.is_empty(),
            kept: kept.unwrap_or_default(),
        })
    }

    /// Forgets the locations of objects that are gone, and hands over those that raced.
    pub fn forget_gone(&mut self, gone: &[Event], tables: &Tables, mut raced: impl FnMut(Raced)) {
        for event in gone {
            if let Op::GoneObject(object) = event.op {
                for var in tables.vars_of(object) {
                    self.forget(var).into_iter().for_each(&mut raced);
                }
            }
        }
    }

    /// Takes that locks are gone.
    pub fn rename(&mut self, without: &mut Without<'_>) {
        for this in &mut self.vars {
            this.access = without.of(this.access);
            this.write = without.of(this.write);
        }
    }
}

#[inline]
fn plain(event: &Event) -> u8 {
    match event.op.access() {
        Some((_, flags)) if !flags.is_volatile() => PLAIN,
        _ => 0,
    }
}

impl OfVar {
    fn last_access(&self, var: VarId) -> Kept {
        use untorn_model::AccessFlags;
        let op = match self.last {
            Access::Read => Op::Read(AccessFlags::PLAIN, var),
            Access::Write => Op::Write(AccessFlags::PLAIN, var),
            Access::Update => Op::Update(AccessFlags::PLAIN, var),
        };
        Kept {
            index: self.event,
            event: Event {
                thread: self.thread,
                site: self.site,
                op,
            },
        }
    }
}

/// Gives a location that appears late the state that accesses of what it overlaps have left.
fn join(into: &mut OfVar, other: &OfVar, sets: &mut LockSets) {
    if other.state == State::Untouched {
        return;
    }
    if into.state == State::Untouched {
        *into = *other;
        into.marks &= PLAIN | UNPROTECTED;
        return;
    }
    let both_owned = into.state <= State::ThreadLocal2 && other.state <= State::ThreadLocal2;
    into.state = if both_owned && into.owner != other.owner {
        State::ReadShared
    } else {
        into.state.max(other.state)
    };
    into.access = sets.meet(into.access, other.access);
    into.write = sets.meet(into.write, other.write);
    into.marks |= other.marks & (PLAIN | UNPROTECTED);
    if into.access.is_empty() {
        into.marks |= UNPROTECTED;
    }
}
