//! Which locks a body holds where: monitors and explicit locks, matched along the control flow.
//!
//! A forward analysis of the stack of locks held, along normal and exceptional edges.
//! javac's pattern for `synchronized` (exit on the normal path, exit and rethrow in a handler) and `lock(); try … finally unlock()` give each instruction one stack.
//! Where paths disagree, only what all of them hold counts as held, and the method is counted as an assumption; a lock that is given up and taken again in a loop is one region with a *gap*.
//! `wait`, `await` and what calls them are gaps too: the lock is held before and after, but not without interruption.
//! Explicit locks are told apart by access path: `this.lock` is one lock throughout a method, although it is loaded at each use.
//! Locks that a called method takes and keeps are seen where all methods that a call may run do the same to locks the caller can name (`summary`).
//! A class of the program that implements `java.util.concurrent.locks.Lock` is taken at its word.
//!
//! May miss: locks made of other things (a flag under a monitor, a compare-and-set loop), locks reached by a path that is written in between, wrappers that lock conditionally.

mod actions;
mod flow;
mod stretch;
mod summary;

use crate::assumptions::Assumption;
use crate::classes::Classes;
use crate::heap::Heap;
use crate::ids::{ClassId, InstrId, RegionId, ValueId};
use crate::ir::{AccessPath, Body};
use crate::library::LockMode;

pub(crate) use summary::{Summaries, callees};

/// A stretch of code from where a lock is taken to where it is given up.
#[derive(Debug, Clone)]
pub struct Region {
    /// The `monitorenter`, the call of `lock` or `tryLock`, or of a method that does that and keeps the lock.
    pub enter: InstrId,
    /// Where it ends: the `monitorexit`s or calls of `unlock`.
    pub exits: Vec<InstrId>,
    /// What is locked.
    pub lock: LockRef,
    /// Whether nothing is locked: what is read there is used only if nobody wrote meanwhile (`tryOptimisticRead`).
    pub optimistic: bool,
}

/// A lock as a body names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockRef {
    /// A monitor or an explicit lock.
    pub kind: LockKind,
    /// Shared for the read side of a read-write lock.
    pub mode: LockMode,
    /// The locked object, if the body has it at hand; for a read or write view, the read-write lock itself.
    pub value: Option<ValueId>,
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

/// That a held lock is given up and taken again, by `wait`, `await`, or `unlock` and `lock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Where it is held again.
    pub at: InstrId,
    /// The region; `None` for the lock of a synchronized method.
    pub of: Option<RegionId>,
}

/// The locks of one body.
#[derive(Debug, Clone, Default)]
pub struct Locks {
    method_lock: Option<MethodLock>,
    regions: Vec<Region>,
    /// For each instruction the position of its stack in `stacks`; empty if the body takes no lock.
    held: Vec<u32>,
    stacks: Vec<Vec<RegionId>>,
    gaps: Vec<Gap>,
    stretches: stretch::Stretches,
    unmatched: Option<Assumption>,
}

impl Locks {
    pub(crate) fn find(body: &Body, classes: &Classes, heap: &Heap, known: &Summaries) -> Self {
        let method_lock = actions::method_lock(classes, body.method);
        let callees = |instr: InstrId| callees(heap, body.method, instr);
        let actions = actions::find(body, known, &callees);
        if actions.is_empty() {
            return Self {
                method_lock,
                ..Self::default()
            };
        }
        flow::find(body, actions, method_lock).0
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

    /// Where locks are given up for a while.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Whether an instruction is in a region, or for `None` in the body of a synchronized method, before any gap.
    pub fn is_before_gaps(&self, of: Option<RegionId>, instr: InstrId) -> bool {
        let inside = of.is_none_or(|region| self.held_at(instr).contains(&region));
        inside && self.stretches.before(of, instr)
    }

    /// Whether an instruction is reached from a gap, by its position among all, before the lock is given up again.
    pub fn is_after_gap(&self, gap: usize, instr: InstrId) -> bool {
        self.stretches.after(gap, instr)
    }

    /// What had to be assumed, if locks and unlocks do not match.
    pub fn unmatched(&self) -> Option<Assumption> {
        self.unmatched
    }
}
