//! Which accesses tear a region, and of what.

use crate::ends::{Access, Ends};

/// The unserializable patterns of two accesses of a region and one that comes between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Read, written by another, written.
    LostUpdate,
    /// Read, written by another, read.
    StaleCheck,
    /// Written, read by another, written.
    DirtyRead,
    /// Written, written by another, read; or read, and written without regard to what was read.
    Overwritten,
    /// Two calls of one collection or atomic, the second of which changes it.
    TwoCalls,
    /// Two calls of one collection or atomic that only ask.
    TwoQuestions,
    /// Two variables of one object.
    TwoVariables,
    TwoObjects,
    /// A lock given up and taken again.
    LockTwice,
    /// A lock given up, and then data that another thread has changed since, without the lock.
    AfterLock,
    /// Something else than two accesses of data.
    Unknown,
}

impl Pattern {
    pub fn of(ends: &Ends) -> Self {
        let (first, second) = (ends.first.access, ends.second.access);
        if ends.gives_up_lock() {
            return Self::LockTwice;
        }
        let is_data = |access| matches!(access, Access::Read | Access::Write | Access::Update);
        if first == Access::GiveUp && is_data(second) {
            return Self::AfterLock;
        }
        if !is_data(first) || !is_data(second) {
            return Self::Unknown;
        }
        if ends.first.object() != ends.second.object() {
            return Self::TwoObjects;
        }
        if ends.first.field().is_none() {
            return match second {
                Access::Read if first == Access::Read => Self::TwoQuestions,
                _ => Self::TwoCalls,
            };
        }
        if !ends.same_target() {
            return Self::TwoVariables;
        }
        match (first, second) {
            (Access::Read, Access::Read) => Self::StaleCheck,
            (Access::Read, _) => Self::LostUpdate,
            (_, Access::Read) => Self::Overwritten,
            _ => Self::DirtyRead,
        }
    }

    pub fn points(self) -> i32 {
        match self {
            Self::LostUpdate => 3,
            Self::DirtyRead | Self::TwoCalls | Self::TwoVariables | Self::TwoObjects => 2,
            Self::StaleCheck
            | Self::Overwritten
            | Self::TwoQuestions
            | Self::LockTwice
            | Self::AfterLock => 1,
            Self::Unknown => 0,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::LostUpdate => {
                "lost update: it is read, and written after another thread wrote it"
            }
            Self::StaleCheck => {
                "stale check: it is read, and read again after another thread wrote it"
            }
            Self::DirtyRead => "dirty read: another thread sees it between two writes",
            Self::Overwritten => "it is written and read, and another thread writes it in between",
            Self::TwoCalls => "two calls on one object that belong together",
            Self::TwoQuestions => "two questions to one object that belong together",
            Self::TwoVariables => "two variables of one object that belong together",
            Self::TwoObjects => "two objects that belong together",
            Self::LockTwice => "it gives up a lock and takes it again after another thread had it",
            Self::AfterLock => "it gives up a lock and goes on with what others change under it",
            Self::Unknown => "the accesses that are torn apart are not known",
        }
    }
}
