//! The operand stack and local variables while a block is simulated.

use rustc_hash::FxHashMap;

use super::build::BodyError;
use crate::ids::ValueId;

/// What the stack and the locals hold at a point of the code.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Values from the bottom up; a long or double is one entry.
    pub stack: Vec<ValueId>,
    /// Locals by index; a long or double is at its first.
    pub locals: FxHashMap<u16, ValueId>,
}

impl Frame {
    pub fn push(&mut self, value: ValueId) {
        self.stack.push(value);
    }

    pub fn pop(&mut self) -> Result<ValueId, BodyError> {
        self.stack
            .pop()
            .ok_or(BodyError::Malformed("operand stack is empty"))
    }

    pub fn load(&self, index: u16) -> Result<ValueId, BodyError> {
        self.locals
            .get(&index)
            .copied()
            .ok_or(BodyError::Malformed("local variable is not set"))
    }

    /// The last `count` values pushed, in the order they were pushed.
    pub fn pop_many(&mut self, count: usize) -> Result<Vec<ValueId>, BodyError> {
        let start = self
            .stack
            .len()
            .checked_sub(count)
            .ok_or(BodyError::Malformed("operand stack is empty"))?;
        Ok(self.stack.split_off(start))
    }

    /// Pops as many entries as make up `slots`.
    pub fn pop_slots(
        &mut self,
        slots: usize,
        is_wide: impl Fn(ValueId) -> bool,
    ) -> Result<Vec<ValueId>, BodyError> {
        let (mut taken, mut count) = (0, 0);
        while taken < slots {
            let at = self
                .stack
                .len()
                .checked_sub(count + 1)
                .ok_or(BodyError::Malformed("operand stack is empty"))?;
            taken += if is_wide(self.stack[at]) { 2 } else { 1 };
            count += 1;
        }
        if taken == slots {
            self.pop_many(count)
        } else {
            Err(BodyError::Malformed("half of a wide value"))
        }
    }
}
