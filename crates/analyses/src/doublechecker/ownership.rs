//! Octet's locality states and their transitions (Table 1 of the DoubleChecker paper).
//!
//! A state is one word, so that the check before an access is a load and a compare.
//! Deciding a transition and drawing the edges it implies are apart: this file decides, [`super::icd`] draws.

use untorn_model::ThreadId;

const TAG_BITS: u32 = 2;
const TAG: u64 = (1 << TAG_BITS) - 1;
const WR_EX: u64 = 1;
const RD_EX: u64 = 2;
const RD_SH: u64 = 3;

/// Who may access an object without a transition: untouched, `WrEx(T)`, `RdEx(T)` or `RdSh(c)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Ownership(u64);

/// What an access does to the state of its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transition {
    /// No thread could have seen the object before, so there is nothing to depend on.
    First,
    /// `RdEx(T)` to `WrEx(T)`: what it depends on is ordered by earlier transitions.
    OwnUpgrade,
    /// `RdEx(T1)` to `RdSh`, read by another thread.
    Upgrading {
        reader: ThreadId,
    },
    /// `RdSh(c)` read by a thread that has not seen `c` yet.
    Fence {
        count: u64,
    },
    Conflicting {
        responder: ThreadId,
    },
    /// `RdSh` to `WrEx(T)`: any thread may have read.
    ConflictingWithAll,
}

impl Ownership {
    pub const UNTOUCHED: Self = Self(0);

    #[inline]
    pub const fn write_exclusive(thread: ThreadId) -> Self {
        Self((thread.0 as u64) << TAG_BITS | WR_EX)
    }

    #[inline]
    pub const fn read_exclusive(thread: ThreadId) -> Self {
        Self((thread.0 as u64) << TAG_BITS | RD_EX)
    }

    /// The counter takes 62 bits: more than a trace has events.
    #[inline]
    pub const fn read_shared(count: u64) -> Self {
        Self(count << TAG_BITS | RD_SH)
    }

    /// The fast path of a read: no transition.
    #[inline]
    pub const fn readable_by(self, thread: ThreadId, seen: u64) -> bool {
        self.0 == Self::write_exclusive(thread).0
            || self.0 == Self::read_exclusive(thread).0
            || (self.0 & TAG == RD_SH && self.0 >> TAG_BITS <= seen)
    }

    /// The fast path of a write: no transition.
    #[inline]
    pub const fn writable_by(self, thread: ThreadId) -> bool {
        self.0 == Self::write_exclusive(thread).0
    }

    const fn holder(self) -> ThreadId {
        ThreadId((self.0 >> TAG_BITS) as u32)
    }

    /// The transition of a read that is not on the fast path.
    pub const fn on_read(self) -> Transition {
        match self.0 & TAG {
            WR_EX => Transition::Conflicting {
                responder: self.holder(),
            },
            RD_EX => Transition::Upgrading {
                reader: self.holder(),
            },
            RD_SH => Transition::Fence {
                count: self.0 >> TAG_BITS,
            },
            _ => Transition::First,
        }
    }

    /// The transition of a write by `thread` that is not on the fast path.
    pub const fn on_write(self, thread: ThreadId) -> Transition {
        match self.0 & TAG {
            RD_EX if self.holder().0 == thread.0 => Transition::OwnUpgrade,
            WR_EX | RD_EX => Transition::Conflicting {
                responder: self.holder(),
            },
            RD_SH => Transition::ConflictingWithAll,
            _ => Transition::First,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T1: ThreadId = ThreadId(0);
    const T2: ThreadId = ThreadId(7);

    #[test]
    fn the_fast_path_is_the_same_state_rows_of_the_table() {
        let (w1, r1, shared) = (
            Ownership::write_exclusive(T1),
            Ownership::read_exclusive(T1),
            Ownership::read_shared(5),
        );
        assert!(w1.readable_by(T1, 0) && w1.writable_by(T1));
        assert!(r1.readable_by(T1, 0) && !r1.writable_by(T1));
        assert!(shared.readable_by(T2, 5) && !shared.readable_by(T2, 4));
        assert!(!shared.writable_by(T1));
        assert!(!w1.readable_by(T2, 9) && !r1.readable_by(T2, 9) && !w1.writable_by(T2));
        assert!(!Ownership::UNTOUCHED.readable_by(T1, 0));
    }

    #[test]
    fn the_other_rows_name_whom_an_access_may_depend_on() {
        let (w1, r1, shared) = (
            Ownership::write_exclusive(T1),
            Ownership::read_exclusive(T1),
            Ownership::read_shared(5),
        );
        assert_eq!(w1.on_read(), Transition::Conflicting { responder: T1 });
        assert_eq!(w1.on_write(T2), Transition::Conflicting { responder: T1 });
        assert_eq!(r1.on_read(), Transition::Upgrading { reader: T1 });
        assert_eq!(r1.on_write(T1), Transition::OwnUpgrade);
        assert_eq!(r1.on_write(T2), Transition::Conflicting { responder: T1 });
        assert_eq!(shared.on_read(), Transition::Fence { count: 5 });
        assert_eq!(shared.on_write(T1), Transition::ConflictingWithAll);
        assert_eq!(Ownership::UNTOUCHED.on_write(T1), Transition::First);
    }
}
