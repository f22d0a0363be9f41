//! The phase of each active block: before or after its commit point (the instrumentation store of paper 000, section 3.2).
//!
//! Every active block has a phase of its own.
//! A step that commits commits all blocks that have not committed yet, so the committed blocks of a thread are always its outermost ones, and the violated ones the outermost of those: two numbers hold all phases.
//! Work is constant per step, amortized over the begins.

use untorn_model::{Event, EventIndex};

use crate::lock_sets::LockSetId;
use crate::stacks::ContextId;

/// How a step can be moved past steps of other threads; what can be moved both ways is no step here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mover {
    /// Later only: taking a lock.
    Right,
    /// Earlier only: giving a lock up.
    Left,
    /// Not at all: an unprotected access.
    Non,
}

/// An event with what a report says about it.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub index: EventIndex,
    pub event: Event,
    pub context: ContextId,
    /// The locks held.
    pub held: LockSetId,
}

/// An active block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub entry: Mark,
    /// Means something only if the block has committed.
    pub commit: Mark,
}

/// The active blocks of one thread, outermost first.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    blocks: Vec<Block>,
    /// How many of them have committed.
    committed: usize,
    /// How many of them were violated.
    violated: usize,
}

impl Phases {
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The rules `ENTER` and `NESTED ENTER`, for each block by itself.
    pub fn begin(&mut self, entry: Mark) {
        self.blocks.push(Block {
            entry,
            commit: entry,
        });
    }

    /// The rules `EXIT` and `NESTED EXIT`.
    pub fn end(&mut self) {
        self.blocks.pop();
        self.committed = self.committed.min(self.blocks.len());
        self.violated = self.violated.min(self.blocks.len());
    }

    /// Whether a block has not committed yet.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.committed < self.blocks.len()
    }

    /// Whether a step that cannot be moved earlier would violate a block.
    #[inline]
    pub fn has_committed(&self) -> bool {
        self.committed > 0
    }

    /// The committed blocks that are violated for the first time now, by a step that cannot be moved earlier.
    ///
    /// The rules `WRONG ACQUIRE` and `WRONG RACE VIOLATE`.
    #[inline]
    pub fn violate(&mut self) -> &[Block] {
        let fresh = self.violated..self.committed;
        self.violated = self.committed;
        &self.blocks[fresh]
    }

    /// The rules `RELEASE COMMIT` and `RACE COMMIT`: what has not committed yet commits here.
    #[inline]
    pub fn commit(&mut self, at: Mark) {
        for block in &mut self.blocks[self.committed..] {
            block.commit = at;
        }
        self.committed = self.blocks.len();
    }
}
