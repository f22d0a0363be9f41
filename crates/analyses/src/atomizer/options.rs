//! What can be chosen.

use crate::assumptions::Assumptions;

/// The figure of the paper whose rules decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Figure 8: guards come from the specification, everything without one is unprotected.
    Declared,
    /// Figure 11: guards are inferred, and a field without one is an error wherever it is accessed.
    Strict,
    /// Figure 14: guards are inferred, and an access without one is a step that cannot move.
    Relaxed,
    /// Figure 15: as relaxed, with a second set of locks that protect writes.
    #[default]
    Full,
}

/// The improvements of sections 4.3 and 4.4, each of which removes a sort of false alarm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refinements {
    /// Taking a lock again that is held already, and giving it up again, can be moved anywhere.
    pub reentrant: bool,
    /// So can operations on a lock that only one thread uses.
    pub thread_local_locks: bool,
    /// Also after the lock was handed to a second thread; needs the one before.
    pub thread_local_2_locks: bool,
    /// So can operations on a lock that is only used while another lock is held.
    pub protected_locks: bool,
    /// A read under a lock that all writes hold can be moved; counts in [`Mode::Full`] only.
    pub write_protected_data: bool,
}

impl Refinements {
    /// The algorithm of sections 4.1 and 4.2 alone.
    pub const BASIC: Self = Self {
        reentrant: false,
        thread_local_locks: false,
        thread_local_2_locks: false,
        protected_locks: false,
        write_protected_data: false,
    };

    pub const ALL: Self = Self {
        reentrant: true,
        thread_local_locks: true,
        thread_local_2_locks: true,
        protected_locks: true,
        write_protected_data: true,
    };

    /// From nothing to everything in the order of the paper's Figure 18, each step with the name of what it adds.
    pub fn cumulative() -> [(&'static str, Self); 6] {
        let reentrant = Self {
            reentrant: true,
            ..Self::BASIC
        };
        let thread_local = Self {
            thread_local_locks: true,
            ..reentrant
        };
        let thread_local_2 = Self {
            thread_local_2_locks: true,
            ..thread_local
        };
        let protected = Self {
            protected_locks: true,
            ..thread_local_2
        };
        [
            ("none", Self::BASIC),
            ("+ reentrant locks", reentrant),
            ("+ thread-local locks", thread_local),
            ("+ thread-local-2 locks", thread_local_2),
            ("+ protected locks", protected),
            ("+ write-protected data", Self::ALL),
        ]
    }
}

impl Default for Refinements {
    fn default() -> Self {
        Self::ALL
    }
}

/// The options of the atomizer.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub mode: Mode,
    pub refinements: Refinements,
    /// Leaves the states of section 4.1 out, so that also what one thread alone uses needs a lock: the figures of section 3 to the letter.
    ///
    /// Only then, and in the modes declared and strict, does a run without a finding prove that its regions were atomic.
    pub shared_from_the_start: bool,
    pub assumptions: Assumptions,
}
