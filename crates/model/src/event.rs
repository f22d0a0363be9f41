//! Events: who did what, where.

use crate::{LockId, MethodId, ObjectId, RegionId, SiteId, ThreadId, VarId};

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    pub thread: ThreadId,
    pub site: SiteId,
    pub op: Op,
}

// Batches of events are what every analysis streams over; four words would halve its speed.
const _: () = assert!(size_of::<Event>() == 16);

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum LockMode {
    Exclusive,
    /// A read hold of a read-write lock: others may hold it shared too.
    Shared,
}

/// What is special about an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
#[repr(transparent)]
pub struct AccessFlags(pub u8);

impl AccessFlags {
    pub const PLAIN: Self = Self(0);
    /// The location is volatile (or accessed with at least that strength).
    pub const VOLATILE: Self = Self(1);
    /// The place of this access in the order is an approximation, such as a library call recorded as an interval:
    /// no *observed* verdict may rest on it.
    pub const APPROXIMATE: Self = Self(2);
    /// A non-volatile 64-bit access, which the memory model lets tear into two steps.
    pub const WIDE: Self = Self(4);

    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub const fn is_volatile(self) -> bool {
        self.contains(Self::VOLATILE)
    }
}

/// The operation of an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    Read(AccessFlags, VarId),
    Write(AccessFlags, VarId),
    /// An atomic read-modify-write: one event, never split.
    Update(AccessFlags, VarId),
    /// The outermost acquisition of a lock in this mode by this thread.
    Acquire(LockMode, LockId),
    /// The release that gives the lock up.
    Release(LockMode, LockId),
    /// A re-entrant acquisition: the thread holds the lock already.
    Reacquire(LockMode, LockId),
    /// The release that matches a [`Op::Reacquire`].
    Rerelease(LockMode, LockId),
    /// `Object.wait` gives the lock up, however often it was entered.
    Wait(LockId),
    /// `Object.wait` has the lock back.
    Wake(LockId),
    /// `notify` or `notifyAll` on the wait set of this lock.
    Notify(LockId),
    /// The release-like half of a synchronizer that is no lock: count down, complete, release a permit.
    Signal(LockId),
    /// The acquire-like half: ordered after every earlier signal of the same synchronizer.
    Await(LockId),
    Fork(ThreadId),
    Join(ThreadId),
    Begin(RegionId),
    End(RegionId),
    /// Entry of a method that is no region; recorded only for call stacks.
    Enter(MethodId),
    Exit(MethodId),
    /// The program has dropped an object: from here on the id, with those of its locations, may stand for another one of the same class.
    ///
    /// No step of the thread that it is told of: nothing follows from its place but what comes before and after.
    GoneObject(ObjectId),
    /// The same of a lock, which nobody holds.
    GoneLock(LockId),
}

/// The kind of an operation, without its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Read,
    Write,
    Update,
    Acquire,
    Release,
    Reacquire,
    Rerelease,
    Wait,
    Wake,
    Notify,
    Signal,
    Await,
    Fork,
    Join,
    Begin,
    End,
    Enter,
    Exit,
    GoneObject,
    GoneLock,
}

impl Kind {
    pub const ALL: [Self; 20] = [
        Self::Read,
        Self::Write,
        Self::Update,
        Self::Acquire,
        Self::Release,
        Self::Reacquire,
        Self::Rerelease,
        Self::Wait,
        Self::Wake,
        Self::Notify,
        Self::Signal,
        Self::Await,
        Self::Fork,
        Self::Join,
        Self::Begin,
        Self::End,
        Self::Enter,
        Self::Exit,
        Self::GoneObject,
        Self::GoneLock,
    ];

    /// A word for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Update => "update",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Reacquire => "reacquire",
            Self::Rerelease => "rerelease",
            Self::Wait => "wait",
            Self::Wake => "wake",
            Self::Notify => "notify",
            Self::Signal => "signal",
            Self::Await => "await",
            Self::Fork => "fork",
            Self::Join => "join",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Enter => "enter",
            Self::Exit => "exit",
            Self::GoneObject => "object gone",
            Self::GoneLock => "lock gone",
        }
    }
}

impl Op {
    #[inline]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Read(..) => Kind::Read,
            Self::Write(..) => Kind::Write,
            Self::Update(..) => Kind::Update,
            Self::Acquire(..) => Kind::Acquire,
            Self::Release(..) => Kind::Release,
            Self::Reacquire(..) => Kind::Reacquire,
            Self::Rerelease(..) => Kind::Rerelease,
            Self::Wait(_) => Kind::Wait,
            Self::Wake(_) => Kind::Wake,
            Self::Notify(_) => Kind::Notify,
            Self::Signal(_) => Kind::Signal,
            Self::Await(_) => Kind::Await,
            Self::Fork(_) => Kind::Fork,
            Self::Join(_) => Kind::Join,
            Self::Begin(_) => Kind::Begin,
            Self::End(_) => Kind::End,
            Self::Enter(_) => Kind::Enter,
            Self::Exit(_) => Kind::Exit,
            Self::GoneObject(_) => Kind::GoneObject,
            Self::GoneLock(_) => Kind::GoneLock,
        }
    }

    /// Whether this only tells that an id may stand for something else from here on.
    #[inline]
    pub const fn is_gone(self) -> bool {
        matches!(self, Self::GoneObject(_) | Self::GoneLock(_))
    }

    /// The location and flags of a read, write or update.
    #[inline]
    pub const fn access(self) -> Option<(VarId, AccessFlags)> {
        match self {
            Self::Read(flags, var) | Self::Write(flags, var) | Self::Update(flags, var) => {
                Some((var, flags))
            }
            _ => None,
        }
    }
}

/// A set of kinds: what an analysis subscribes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Kinds(u32);

impl Kinds {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << Kind::ALL.len()) - 1);
    pub const ACCESSES: Self = Self::of(&[Kind::Read, Kind::Write, Kind::Update]);
    /// Outermost lock operations and waiting, which gives a lock up and takes it back.
    pub const LOCKS: Self = Self::of(&[Kind::Acquire, Kind::Release, Kind::Wait, Kind::Wake]);
    pub const SIGNALS: Self = Self::of(&[Kind::Signal, Kind::Await]);
    pub const REENTRANT: Self = Self::of(&[Kind::Reacquire, Kind::Rerelease]);
    /// Everything that orders threads.
    pub const SYNC: Self = Self::of(&[
        Kind::Acquire,
        Kind::Release,
        Kind::Wait,
        Kind::Wake,
        Kind::Notify,
        Kind::Signal,
        Kind::Await,
        Kind::Fork,
        Kind::Join,
    ]);
    pub const REGIONS: Self = Self::of(&[Kind::Begin, Kind::End]);
    pub const CALLS: Self = Self::of(&[Kind::Enter, Kind::Exit]);
    pub const GONE: Self = Self::of(&[Kind::GoneObject, Kind::GoneLock]);

    pub const fn of(kinds: &[Kind]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    #[inline]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }

    #[inline]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub const fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u32;
    }
}
