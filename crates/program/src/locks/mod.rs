//! Which locks a body holds where: monitors and explicit locks, matched along the control flow.
//!
//! A forward analysis of the stack of locks held, along normal and exceptional edges.
//! javac's pattern for `synchronized` (exit on the normal path, exit and rethrow in a handler) and `lock(); try … finally unlock()` give each instruction one stack.
//! Where paths disagree, only what all of them hold counts as held, and the method is counted as an assumption.
//! Explicit locks are told apart by access path: `this.lock` is one lock throughout a method, although it is loaded at each use.
//! Locks that a called method takes and keeps are not seen.

mod flow;

use crate::assumptions::Assumption;
use crate::classes::Classes;
use crate::ids::{ClassId, InstrId, RegionId, ValueId};
use crate::ir::{AccessPath, Body};
use crate::library::{Library, LockMode};

/// A stretch of code from where a lock is taken to where it is given up.
#[derive(Debug, Clone)]
pub struct Region {
    /// The `monitorenter`, or the call of `lock` or `tryLock`.
    pub enter: InstrId,
    /// Where it ends: the `monitorexit`s or calls of `unlock`.
    pub exits: Vec<InstrId>,
    /// What is locked.
    pub lock: LockRef,
}

/// A lock as a body names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockRef {
    /// A monitor or an explicit lock.
    pub kind: LockKind,
    /// Shared for the read side of a read-write lock.
    pub mode: LockMode,
    /// The locked object; for a read or write view, the read-write lock itself.
    pub value: ValueId,
    /// How the source names it.
    pub path: AccessPath,
}

/// What kind of lock it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockKind {
    /// The monitor of an object.
    Monitor,
    /// A lock of java.util.concurrent.
    Explicit,
}

/// The lock a synchronized method holds from beginning to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodLock {
    /// The receiver's monitor.
    Receiver,
    /// The monitor of the class object.
    Class(ClassId),
}

/// The locks of one body.
#[derive(Debug, Clone, Default)]
pub struct Locks {
    method_lock: Option<MethodLock>,
    regions: Vec<Region>,
    /// For each instruction the position of its stack in `stacks`; empty if the body takes no lock.
    held: Vec<u32>,
    stacks: Vec<Vec<RegionId>>,
    unmatched: Option<Assumption>,
}

impl Locks {
    pub(crate) fn find(body: &Body, classes: &Classes, library: &Library) -> Self {
        let mut locks = flow::find(body, classes, library);
        let method = classes.method(body.method);
        if method.flags.is_synchronized() {
            let receiver = !method.flags.is_static();
            locks.method_lock = Some(if receiver {
                MethodLock::Receiver
            } else {
                MethodLock::Class(method.class)
            });
        }
        locks
    }

    /// The lock of a synchronized method.
    pub fn method_lock(&self) -> Option<MethodLock> {
        self.method_lock
    }

    /// All regions, in the order of their beginning.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// A region by its id.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// The regions an instruction is in, the outermost first; the lock of a synchronized method is not among them.
    pub fn held_at(&self, instr: InstrId) -> &[RegionId] {
        self.held
            .get(instr.index())
            .map_or(&[], |stack| &self.stacks[*stack as usize])
    }

    /// What had to be assumed, if locks and unlocks do not match.
    pub fn unmatched(&self) -> Option<Assumption> {
        self.unmatched
    }
}
