//! The words of the data that mean the same wherever they stand.

use serde::Deserialize;

/// How a call uses what an object holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the three kinds of access")]
pub enum Access {
    Read,
    Write,
    Update,
}

/// What a call does, as a run records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Takes a lock.
    Acquire,
    /// Gives a lock up.
    Release,
    /// Lets others go on.
    Signal,
    /// Has waited for a signal.
    Await,
    /// Both: all who meet go on together.
    Meet,
    /// Waits for a condition, without its lock meanwhile.
    Wait,
    /// Wakes who waits for a condition.
    Notify,
    /// Reads what the object holds.
    Read,
    Write,
    /// Reads and writes in one step.
    Update,
}

impl Effect {
    /// Whether it is one on what an object holds.
    pub fn is_access(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Update)
    }
}

/// Which object a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    #[default]
    Receiver,
    Arg0,
    /// What the call returns; only for what happens after it.
    Result,
    /// The first coordinate of a variable handle; the handle itself if it has none.
    Coordinate,
}

/// When a call makes an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    #[default]
    Always,
    /// The result is true, not zero or not null; or there is none.
    True,
    /// The result is false, zero or null.
    False,
    /// The first argument is the index 0.
    First,
}

/// Of which collections a call makes an access, as the runtime of the agent numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    #[default]
    All,
    /// Approximate for those whose iterators may miss changes.
    Iterated,
    /// Those that are lists.
    Lists,
    /// Those that it has made larger or smaller; approximate where that is not known.
    Resized,
    /// The same where the result says that nothing was there, which is exact for those that hold no null.
    Added,
}

/// What is done to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockAction {
    /// Waits for it and takes it.
    Acquire,
    /// Takes it if the result is true.
    Try,
    /// Gives it up.
    Release,
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockMode {
    /// With other readers.
    Shared,
    /// Alone.
    Exclusive,
}

/// What a method of a lock does that gives stamps for what it grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamped {
    /// Takes it with other readers, if the stamp is not zero.
    TryRead,
    /// Takes it alone, or turns what is held into that, if the stamp is not zero.
    TryWrite,
    /// Gives it up, however it is held.
    Release,
    /// Takes nothing: what is read holds only if it is validated.
    Optimistic,
    /// Tells whether nobody wrote since the stamp was given.
    Validate,
}

/// Which lock a method gives up and takes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// The receiver's monitor.
    Monitor,
    /// The explicit lock that the receiver is a condition of.
    Condition,
}

/// How a call commutes with the steps of other threads, its accesses to its operands aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
pub enum Step {
    /// Touches nothing that changes.
    #[serde(rename = "const")]
    Const,
    /// Touches nothing that other threads see.
    #[serde(rename = "mover")]
    Mover,
    /// One step.
    #[serde(rename = "atomic")]
    Atomic,
    /// Several steps that others can come between.
    #[serde(rename = "cmpd")]
    Compound,
}
