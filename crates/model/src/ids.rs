//! Dense newtyped ids.
//!
//! Every id but [`EventIndex`] is a `u32` index into one table of [`Tables`](crate::Tables), so that analyses keep their state in plain vectors.
//! Four billion of a kind is the limit; whoever hands out ids reports running out as an error and never wraps.

use std::fmt;

macro_rules! dense_ids {
    ($($(#[$doc:meta])* $name:ident = $letter:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a vector index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of a vector index, or `None` when the id space is used up.
            #[inline]
            pub const fn from_index(index: usize) -> Option<Self> {
                // u32::MAX stays free: several ids use it as their "none" value.
                if index < u32::MAX as usize { Some(Self(index as u32)) } else { None }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    )*};
}

dense_ids! {
    /// A thread of the run; never reused, also after the thread has died.
    ThreadId = "t";
    /// An object, array, collection or class object that holds locations.
    ObjectId = "o";
    /// A location: what a read, write or update touches.
    VarId = "x";
    /// A lock or another synchronizer (latch, future, semaphore).
    LockId = "m";
    /// A class.
    ClassId = "c";
    /// A field of a class.
    FieldId = "f";
    /// A method of a class.
    MethodId = "method";
    /// A method or block that ought to be atomic.
    RegionId = "r";
    /// A place in the program text.
    SiteId = "s";
    /// An interned string.
    StrId = "str";
}

impl RegionId {
    /// A region without a name of its own: it is called after its thread and the place of its begin.
    ///
    /// Kept out of the table because each execution would be an entry, and tables must not grow with the length of a trace.
    pub const ANONYMOUS: Self = Self(u32::MAX);
}

impl SiteId {
    /// No place is known.
    pub const UNKNOWN: Self = Self(u32::MAX);
}

/// The position of an event in the total order of a trace, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct EventIndex(pub u64);

impl fmt::Debug for EventIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
