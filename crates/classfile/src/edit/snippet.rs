//! Code to be inserted, and the labels it can name.

use crate::edit::error::Result;
use crate::edit::pool::Pool;
use crate::insn::{Form, Insn, Op};
use crate::read::{PoolIndex, VType};

/// A place in a body that jumps, exception ranges and tables can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);

/// What a label stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    /// Where jumps to an instruction of the file land: before the code inserted before it.
    Target(usize),
    /// Where exception ranges that meet between two instructions of the file do so.
    Boundary(usize),
    /// A label of inserted code.
    Fresh(usize),
}

impl Label {
    pub(crate) fn new(spot: Spot) -> Self {
        match spot {
            Spot::Target(index) => Self((index as u32) << 2),
            Spot::Boundary(index) => Self((index as u32) << 2 | 1),
            Spot::Fresh(index) => Self((index as u32) << 2 | 2),
        }
    }

    pub(crate) fn spot(self) -> Spot {
        let index = (self.0 >> 2) as usize;
        match self.0 & 3 {
            0 => Spot::Target(index),
            1 => Spot::Boundary(index),
            _ => Spot::Fresh(index),
        }
    }

    pub(crate) fn number(self) -> u32 {
        self.0 >> 2
    }
}

/// One piece of inserted code.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Insn(Insn<Label>),
    Bind(Label),
    /// What holds here whatever came before.
    Frame(Box<ExplicitFrame>),
}

/// A frame that inserted code states itself: all other locals are unusable.
#[derive(Debug, Clone)]
pub(crate) struct ExplicitFrame {
    pub(crate) locals: Vec<(u16, VType)>,
    pub(crate) stack: Vec<VType>,
}

/// Appends instructions to one insertion; every method gives the snippet back for the next.
#[derive(Debug)]
pub struct Snippet<'m> {
    pub(crate) items: &'m mut Vec<Item>,
}

impl Snippet<'_> {
    /// Any instruction.
    pub fn insn(&mut self, insn: Insn<Label>) -> &mut Self {
        self.items.push(Item::Insn(insn));
        self
    }

    /// An instruction without operands.
    pub fn op(&mut self, op: Op) -> &mut Self {
        self.insn(Insn::Plain(op))
    }

    /// A load or store, `op` in its long form (`Op::Aload`, `Op::Lstore`).
    pub fn local(&mut self, op: Op, index: u16) -> &mut Self {
        self.insn(Insn::Local {
            op,
            index,
            form: Form::Shortest,
        })
    }

    /// Pushes an `int` in the shortest way.
    pub fn push_int(&mut self, value: i32, pool: &mut Pool<'_>) -> Result<&mut Self> {
        const SMALL: [Op; 7] = [
            Op::IconstM1,
            Op::Iconst0,
            Op::Iconst1,
            Op::Iconst2,
            Op::Iconst3,
            Op::Iconst4,
            Op::Iconst5,
        ];
        Ok(match (i8::try_from(value), i16::try_from(value)) {
            _ if (-1..=5).contains(&value) => self.op(SMALL[(value + 1) as usize]),
            (Ok(value), _) => self.insn(Insn::Push {
                op: Op::Bipush,
                value: value.into(),
            }),
            (_, Ok(value)) => self.insn(Insn::Push {
                op: Op::Sipush,
                value,
            }),
            _ => self.ldc(pool.integer(value)?),
        })
    }

    /// Pushes a `long` in the shortest way.
    pub fn push_long(&mut self, value: i64, pool: &mut Pool<'_>) -> Result<&mut Self> {
        Ok(match value {
            0 => self.op(Op::Lconst0),
            1 => self.op(Op::Lconst1),
            _ => {
                let constant = pool.long(value)?;
                self.insn(Insn::Ldc {
                    op: Op::Ldc2W,
                    constant,
                })
            }
        })
    }

    /// Pushes a constant of one slot.
    pub fn ldc(&mut self, constant: PoolIndex) -> &mut Self {
        let op = if constant.0 < 256 { Op::Ldc } else { Op::LdcW };
        self.insn(Insn::Ldc { op, constant })
    }

    /// A branch or `goto`.
    pub fn jump(&mut self, op: Op, target: Label) -> &mut Self {
        self.insn(Insn::Jump { op, target })
    }

    /// Puts a fresh label here.
    pub fn bind(&mut self, label: Label) -> &mut Self {
        self.items.push(Item::Bind(label));
        self
    }

    /// States what holds here: needed only where the types cannot be followed, that is at handlers
    /// and where two ways in bring different classes.
    pub fn frame(&mut self, locals: &[(u16, VType)], stack: &[VType]) -> &mut Self {
        let frame = ExplicitFrame {
            locals: locals.to_vec(),
            stack: stack.to_vec(),
        };
        self.items.push(Item::Frame(Box::new(frame)));
        self
    }

    /// `getfield` and its kin.
    pub fn field(&mut self, op: Op, field: PoolIndex) -> &mut Self {
        self.insn(Insn::Field { op, field })
    }

    /// `invokestatic`, `invokevirtual` or `invokespecial`.
    pub fn invoke(&mut self, op: Op, method: PoolIndex) -> &mut Self {
        self.insn(Insn::Invoke {
            op,
            method,
            count: 0,
        })
    }

    /// `new`, `checkcast`, `instanceof` or `anewarray`.
    pub fn class(&mut self, op: Op, class: PoolIndex) -> &mut Self {
        self.insn(Insn::Type { op, class })
    }
}
