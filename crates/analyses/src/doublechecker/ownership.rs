//! Octet's locality states and their transitions (Table 1 of the DoubleChecker paper).
//!
//! A state is one word, so that the check before an access is a load and a compare.
//! Where the paper counts all transitions to the shared state in one global counter, each thread counts its own here: `RdSh(U, c)` is the c-th object that U made shared.
//! A thread that has an edge from U's c-th transition, or from a later one, has seen `c` of U.
//! So the transactions that make objects shared need no order among each other, and unrelated ones stay unrelated.
//! Deciding a transition and drawing the edges it implies are apart: this file decides, [`super::icd`] draws.

use untorn_model::ThreadId;

const TAG_BITS: u32 = 2;
const COUNT_SHIFT: u32 = 32;
const TAG: u64 = (1 << TAG_BITS) - 1;
/// Everything but the count: a thousand million threads are more than there can be.
const LOW: u64 = (1 << COUNT_SHIFT) - 1;
const WR_EX: u64 = 1;
const RD_EX: u64 = 2;
const RD_SH: u64 = 3;

/// Who may access an object without a transition: untouched, `WrEx(T)`, `RdEx(T)` or `RdSh(U, c)`.
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
    /// `RdSh(U, c)` read by a thread that has not seen `c` of U yet.
    Fence {
        by: ThreadId,
        count: u32,
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

    #[inline]
    pub const fn read_shared(by: ThreadId, count: u32) -> Self {
        Self((count as u64) << COUNT_SHIFT | (by.0 as u64) << TAG_BITS & LOW | RD_SH)
    }

    /// The fast path of a read: no transition.
    ///
    /// `seen` are the counts of other threads that this one has seen.
    #[inline]
    pub fn readable_by(self, thread: ThreadId, seen: &[u32]) -> bool {
        self.0 == Self::write_exclusive(thread).0
            || self.0 == Self::read_exclusive(thread).0
            || (self.0 & TAG == RD_SH && self.is_seen_by(thread, seen))
    }

    #[inline]
    fn is_seen_by(self, thread: ThreadId, seen: &[u32]) -> bool {
        let (by, count) = self.shared();
        // A counter stops at its end, so what it says there is not known to be seen.
        by == thread || (count != u32::MAX && seen.get(by.index()).is_some_and(|s| count <= *s))
    }

    #[inline]
    const fn shared(self) -> (ThreadId, u32) {
        (
            ThreadId(((self.0 & LOW) >> TAG_BITS) as u32),
            (self.0 >> COUNT_SHIFT) as u32,
        )
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
            RD_SH => {
                let (by, count) = self.shared();
                Transition::Fence { by, count }
            }
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
            Ownership::read_shared(T1, 5),
        );
        assert!(w1.readable_by(T1, &[]) && w1.writable_by(T1));
        assert!(r1.readable_by(T1, &[]) && !r1.writable_by(T1));
        assert!(shared.readable_by(T2, &[5]) && !shared.readable_by(T2, &[4]));
        assert!(shared.readable_by(T1, &[]) && !shared.readable_by(T2, &[]));
        assert!(!shared.writable_by(T1));
        assert!(!w1.readable_by(T2, &[9]) && !r1.readable_by(T2, &[9]) && !w1.writable_by(T2));
        assert!(!Ownership::UNTOUCHED.readable_by(T1, &[9]));
        let last = Ownership::read_shared(T1, u32::MAX);
        assert!(!last.readable_by(T2, &[u32::MAX]));
    }

    #[test]
    fn the_other_rows_name_whom_an_access_may_depend_on() {
        let (w1, r1, shared) = (
            Ownership::write_exclusive(T1),
            Ownership::read_exclusive(T1),
            Ownership::read_shared(T1, 5),
        );
        assert_eq!(w1.on_read(), Transition::Conflicting { responder: T1 });
        assert_eq!(w1.on_write(T2), Transition::Conflicting { responder: T1 });
        assert_eq!(r1.on_read(), Transition::Upgrading { reader: T1 });
        assert_eq!(r1.on_write(T1), Transition::OwnUpgrade);
        assert_eq!(r1.on_write(T2), Transition::Conflicting { responder: T1 });
        assert_eq!(shared.on_read(), Transition::Fence { by: T1, count: 5 });
        assert_eq!(shared.on_write(T1), Transition::ConflictingWithAll);
        assert_eq!(Ownership::UNTOUCHED.on_write(T1), Transition::First);
    }
}
