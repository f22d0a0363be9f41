//! Basic atomicities: section 4.1 of *Types for Atomicity*, with left and right movers added.
//!
//! Where we differ: the paper has five points, because Java source has no separate acquire and release.
//! Bytecode does, so a bare acquire is a [`Basic::Right`] mover and a bare release a [`Basic::Left`] mover.
//! The order is no longer a chain: `left` and `right` lie side by side between `mover` and `atomic`.
//!
//! What holds on all seven points: `;` is associative, monotone, above both of its arguments, has `const` as identity and distributes over join on both sides; closure is monotone, idempotent and the join of all finite repetitions.
//! What is lost: closure no longer distributes over join, since `left* ⊔ right* = atomic` but `(left ⊔ right)* = cmpd`; only `a* ⊔ b* ⊑ (a ⊔ b)*` remains.
//! On the paper's five points everything is as in the paper.

use std::fmt;

/// How one step, or a path of steps, commutes with the steps of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Basic {
    /// Touches no mutable state.
    Const,
    /// Commutes in both directions.
    Mover,
    /// Commutes with later steps of others: an acquire.
    Right,
    /// Commutes with earlier steps of others: a release.
    Left,
    /// One indivisible step, or as good as one.
    Atomic,
    /// Several steps that others can come between.
    Cmpd,
    /// Breaks the locking discipline.
    Error,
}

impl Basic {
    /// All points, in a linear extension of the order.
    pub const ALL: [Basic; 7] = [
        Basic::Const,
        Basic::Mover,
        Basic::Right,
        Basic::Left,
        Basic::Atomic,
        Basic::Cmpd,
        Basic::Error,
    ];
    /// The paper's five points.
    pub const PAPER: [Basic; 5] = [
        Basic::Const,
        Basic::Mover,
        Basic::Atomic,
        Basic::Cmpd,
        Basic::Error,
    ];

    /// The word of the paper's notation.
    pub fn name(self) -> &'static str {
        match self {
            Basic::Const => "const",
            Basic::Mover => "mover",
            Basic::Right => "right",
            Basic::Left => "left",
            Basic::Atomic => "atomic",
            Basic::Cmpd => "cmpd",
            Basic::Error => "error",
        }
    }

    /// The point with that name.
    pub fn from_name(name: &str) -> Option<Basic> {
        Basic::ALL.into_iter().find(|b| b.name() == name)
    }

    /// The subatomicity order.
    pub fn leq(self, other: Basic) -> bool {
        self == other || (self < other && !(self == Basic::Right && other == Basic::Left))
    }

    /// Either of the two happens.
    pub fn join(self, other: Basic) -> Basic {
        if self.leq(other) {
            other
        } else if other.leq(self) {
            self
        } else {
            Basic::Atomic
        }
    }

    /// First the one, then the other.
    pub fn then(self, next: Basic) -> Basic {
        use Basic::{Atomic, Cmpd, Const, Error, Left, Mover, Right};
        match (self, next) {
            (Error, _) | (_, Error) => Error,
            (Const | Mover, _) | (_, Const | Mover) => self.join(next),
            (Right, Right) => Right,
            (Left, Left) => Left,
            (Right | Atomic, Left) | (Right, Atomic) => Atomic,
            _ => Cmpd,
        }
    }

    /// Any number of times.
    pub fn star(self) -> Basic {
        if self == Basic::Atomic {
            Basic::Cmpd
        } else {
            self
        }
    }

    /// `R` of rule `[EXP ASSERT]`: what must be atomic and is compound is an error.
    pub fn asserted(self) -> Basic {
        if self == Basic::Cmpd {
            Basic::Error
        } else {
            self
        }
    }
}

impl fmt::Display for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
