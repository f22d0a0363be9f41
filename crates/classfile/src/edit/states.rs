//! The types at each instruction of a method of the file.

use crate::edit::error::{EditError, Result};
use crate::edit::method::MethodEditor;
use crate::edit::pool::Pool;
use crate::edit::snippet::Label;
use crate::edit::state::State;
use crate::insn::{Insn, Op};

/// Walks over the types before each instruction; going forward costs one step an instruction.
#[derive(Debug)]
pub struct States<'m, 'a, 'p> {
    method: &'m MethodEditor<'a>,
    pool: &'m Pool<'p>,
    /// The next frame not yet passed.
    frame: usize,
    at: usize,
    state: State,
    reachable: bool,
}

impl<'m, 'a, 'p> States<'m, 'a, 'p> {
    pub(crate) fn new(method: &'m MethodEditor<'a>, pool: &'m Pool<'p>) -> Self {
        Self {
            frame: 0,
            at: usize::MAX,
            state: State::default(),
            reachable: false,
            pool,
            method,
        }
    }

    /// Instructions of the method.
    pub fn len(&self) -> usize {
        self.method.insns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Instruction `index` of the method.
    pub fn insn(&self, index: usize) -> &Insn<Label> {
        &self.method.insns[index]
    }

    /// The types before instruction `index`; `None` if control never gets there.
    pub fn at(&mut self, index: usize) -> Result<Option<&State>> {
        if index >= self.len() {
            return Err(EditError::NoSuchInstruction(index));
        }
        if self.at == usize::MAX || index < self.at {
            self.restart(index);
        }
        while self.at < index {
            self.step()?;
        }
        Ok(self.reachable.then_some(&self.state))
    }

    /// The types when instruction `index` has run and control goes on below it.
    pub fn after(&mut self, index: usize) -> Result<Option<State>> {
        if self.at(index)?.is_none() || !self.method.insns[index].falls_through() {
            return Ok(None);
        }
        let mut state = self.state.clone();
        self.apply(&mut state)?;
        Ok(Some(state))
    }

    /// Goes to the last frame at or before `index`.
    fn restart(&mut self, index: usize) {
        let frames = &self.method.frames;
        self.frame = frames.count_up_to(index as u32);
        if let Some(frame) = self.frame.checked_sub(1).and_then(|last| frames.get(last)) {
            self.at = frame.at as usize;
            self.state.load(frame.locals, frame.stack);
            self.reachable = true;
        }
    }

    fn apply(&self, state: &mut State) -> Result<()> {
        let insn = &self.method.insns[self.at];
        if matches!(insn.op(), Op::Jsr | Op::JsrW) {
            // The subroutine returns to the next instruction with the stack as it was.
            return Ok(());
        }
        let at = self.at as u32;
        state
            .step(insn, at, self.method.context(self.pool))
            .map_err(|what| EditError::IllTyped { at, what })
    }

    fn step(&mut self) -> Result<()> {
        if self.reachable {
            let mut state = std::mem::take(&mut self.state);
            let applied = self.apply(&mut state);
            self.state = state;
            applied?;
            self.reachable = self.method.insns[self.at].falls_through();
        }
        self.at += 1;
        while let Some(frame) = self.method.frames.get(self.frame)
            && frame.at as usize <= self.at
        {
            if frame.at as usize == self.at {
                self.state.load(frame.locals, frame.stack);
                self.reachable = true;
            }
            self.frame += 1;
        }
        Ok(())
    }
}
