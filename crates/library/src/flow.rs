//! Where references, locks and control go in calls of methods whose code is not read.
//!
//! A row holds for the class and every library class below it.

pub use crate::words::{Access, LockAction, LockMode, Stamped, Waits};

/// What some methods do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The classes that declare them, by internal name.
    pub classes: &'static [&'static str],
    /// The names it holds for.
    pub names: &'static [&'static str],
    /// The only descriptors it holds for; none means all.
    pub descriptors: &'static [&'static str],
    /// What runs in a new thread.
    pub start: &'static [Callback],
    /// What runs in the calling thread.
    pub call: &'static [Callback],
    /// Whether what is started may run several times at once.
    pub repeats: bool,
    /// Whether what is started never runs beside itself.
    pub sequential: bool,
    /// What it does to the receiver as a lock.
    pub lock: Option<(LockAction, LockMode)>,
    /// Its result is the receiver as a lock in this mode.
    pub view: Option<LockMode>,
    /// What it does to the receiver, a lock that gives stamps.
    pub stamped: Option<Stamped>,
    /// It gives up a lock and takes it again.
    pub waits: Option<Waits>,
    /// Its result is a condition of the receiver, a lock.
    pub condition: bool,
    /// What it does to the receiver's content, in one step.
    pub access: Option<Access>,
    /// What it does to the receiver's content in several steps.
    pub touches: Option<Access>,
    /// Whether it changes the content only if that is what the caller expects.
    pub checked: bool,
    /// What it returns, if not what its signature suggests.
    pub returns: Option<Returns>,
    /// From which array to which elements flow.
    pub copies: Option<(Operand, Operand)>,
}

/// What a method returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// An operand.
    Operand(Operand),
    /// A new instance of a class.
    New(&'static str),
}

/// A method called on an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// On what.
    pub operand: Operand,
    /// Calls without arguments that lead from the operand to the receiver.
    pub steps: &'static [&'static str],
    /// The class that declares the method.
    pub class: &'static str,
    /// Its name.
    pub method: &'static str,
}

/// What a callback starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The receiver.
    Receiver,
    /// An argument, the receiver not counted.
    Arg(usize),
    /// What the receiver holds.
    Content,
}

impl Effect {
    /// Whether it says more than the signature about where references go.
    pub fn moves_references(&self) -> bool {
        !self.start.is_empty()
            || !self.call.is_empty()
            || self.returns.is_some()
            || self.copies.is_some()
    }

    /// Whether it has to do with locks.
    pub fn is_about_locks(&self) -> bool {
        self.lock.is_some()
            || self.view.is_some()
            || self.stamped.is_some()
            || self.waits.is_some()
            || self.condition
    }

    /// Whether it is for a method with this descriptor.
    pub fn fits(&self, descriptor: &str) -> bool {
        crate::fits(self.descriptors, descriptor)
    }
}

/// All rows.
pub fn effects() -> &'static [Effect] {
    EFFECTS
}

include!(concat!(env!("OUT_DIR"), "/flow.rs"));
