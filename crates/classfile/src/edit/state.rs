//! The types in local variables and on the operand stack at one point of a body.

use crate::edit::pool::Pool;
use crate::read::{TypeName, VType};

/// What local variables and operand stack hold, slot by slot; a `long` or `double` takes two.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct State {
    pub locals: Vec<VType>,
    pub stack: Vec<VType>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            locals: self.locals.clone(),
            stack: self.stack.clone(),
        }
    }

    /// Keeps the memory: states are copied at every inserted branch.
    fn clone_from(&mut self, source: &Self) {
        self.locals.clone_from(&source.locals);
        self.stack.clone_from(&source.stack);
    }
}

impl State {
    /// The slot `depth` places below the top of the stack (0 is the top).
    pub fn peek(&self, depth: usize) -> Option<VType> {
        self.stack.iter().rev().nth(depth).copied()
    }

    /// What a local variable holds.
    pub fn local(&self, slot: u16) -> VType {
        self.locals
            .get(slot as usize)
            .copied()
            .unwrap_or(VType::Top)
    }

    /// Whether this point lies in a constructor before the superclass constructor has returned.
    pub fn is_before_super(&self) -> bool {
        self.locals.contains(&VType::UninitializedThis)
            || self.stack.contains(&VType::UninitializedThis)
    }

    /// Writes a local variable; a `long` or `double` it cuts in half becomes unusable.
    pub(crate) fn set_local(&mut self, slot: u16, value: VType) {
        let slot = slot as usize;
        let width = value.slots().count();
        if self.locals.len() < slot + width {
            self.locals.resize(slot + width, VType::Top);
        }
        if self.locals[slot] == VType::Half && slot > 0 {
            self.locals[slot - 1] = VType::Top;
        }
        if self.locals.get(slot + width) == Some(&VType::Half) {
            self.locals[slot + width] = VType::Top;
        }
        for (at, part) in value.slots().enumerate() {
            self.locals[slot + at] = part;
        }
    }

    /// Trailing unusable locals need not be in a frame.
    pub(crate) fn trim(&mut self) {
        while self.locals.last() == Some(&VType::Top) {
            self.locals.pop();
        }
    }

    pub(crate) fn load(&mut self, locals: &[VType], stack: &[VType]) {
        self.locals.clear();
        self.locals.extend_from_slice(locals);
        self.stack.clear();
        self.stack.extend_from_slice(stack);
    }

    /// Makes this state hold for `other` too; `false` if their stacks cannot be one.
    ///
    /// `widen` says what two different classes become: a common superclass is known to nobody here.
    pub(crate) fn merge(&mut self, other: &Self, pool: &Pool<'_>, widen: Widen) -> bool {
        if self.stack.len() != other.stack.len() {
            return false;
        }
        for (slot, &theirs) in self.stack.iter_mut().zip(&other.stack) {
            match common(*slot, theirs, pool, widen) {
                Some(merged) => *slot = merged,
                None => return false,
            }
        }
        self.merge_locals(other, pool, widen);
        true
    }

    pub(crate) fn merge_locals(&mut self, other: &Self, pool: &Pool<'_>, widen: Widen) {
        self.locals.truncate(other.locals.len());
        for (slot, &theirs) in self.locals.iter_mut().zip(&other.locals) {
            *slot = common(*slot, theirs, pool, widen).unwrap_or(VType::Top);
        }
        // A half without its first slot, or a first slot without its half, is worth nothing.
        for at in 0..self.locals.len() {
            let wide = matches!(self.locals[at], VType::Long | VType::Double);
            if wide && self.locals.get(at + 1) != Some(&VType::Half) {
                self.locals[at] = VType::Top;
            }
            let headless = at == 0 || !matches!(self.locals[at - 1], VType::Long | VType::Double);
            if self.locals[at] == VType::Half && headless {
                self.locals[at] = VType::Top;
            }
        }
    }
}

/// What to do where two ways bring different classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Widen {
    /// Frames are written: a guess could be refused by the verifier.
    Never,
    /// Nothing is written, only kinds matter.
    ToObject,
}

fn common(one: VType, other: VType, pool: &Pool<'_>, widen: Widen) -> Option<VType> {
    match (one, other) {
        _ if pool.same_type(one, other) => Some(one),
        (VType::Null, VType::Object(_)) => Some(other),
        (VType::Object(_), VType::Null) => Some(one),
        (VType::Object(_), VType::Object(_)) if widen == Widen::ToObject => {
            Some(VType::Object(TypeName::OBJECT))
        }
        _ => None,
    }
}
