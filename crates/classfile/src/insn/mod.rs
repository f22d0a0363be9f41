//! Instructions: one type for reading and editing, generic over what a jump names.

pub(crate) mod decode;
pub(crate) mod encode;
mod opcode;

pub use decode::Instructions;
pub use opcode::Op;

use crate::read::PoolIndex;

/// One instruction; `T` is what jumps name: a code offset when read, a label when edited.
///
/// Shorthand opcodes are unfolded (`iload_0` is a [`Local`](Insn::Local) with op `Iload`), and the
/// form is chosen again when the instruction is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insn<T = u32> {
    /// An instruction whose opcode says it all.
    Plain(Op),
    /// `bipush`, `sipush`.
    Push {
        op: Op,
        value: i16,
    },
    /// `ldc`, `ldc_w`, `ldc2_w`.
    Ldc {
        op: Op,
        constant: PoolIndex,
    },
    /// Loads, stores and `ret`: `op` is the long form (`Iload`, `Astore`, `Ret`).
    Local {
        op: Op,
        index: u16,
        form: Form,
    },
    Iinc {
        index: u16,
        delta: i16,
        form: Form,
    },
    /// Conditional branches, `goto`, `goto_w`, `jsr`, `jsr_w`.
    Jump {
        op: Op,
        target: T,
    },
    Switch(Box<Switch<T>>),
    /// `getfield`, `putfield`, `getstatic`, `putstatic`.
    Field {
        op: Op,
        field: PoolIndex,
    },
    /// `count` is the historical operand of `invokeinterface`, 0 for the others.
    Invoke {
        op: Op,
        method: PoolIndex,
        count: u8,
    },
    InvokeDynamic {
        site: PoolIndex,
    },
    /// `new`, `anewarray`, `checkcast`, `instanceof`.
    Type {
        op: Op,
        class: PoolIndex,
    },
    NewArray(Primitive),
    MultiNewArray {
        class: PoolIndex,
        dimensions: u8,
    },
}

/// How a local variable index is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// As short as can be: what compilers write, and the right choice for new code.
    #[default]
    Shortest,
    /// One byte although a shorthand opcode exists.
    Byte,
    /// With the `wide` prefix although a byte would do.
    Wide,
}

/// The element type of `newarray`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Primitive {
    Boolean = 4,
    Char = 5,
    Float = 6,
    Double = 7,
    Byte = 8,
    Short = 9,
    Int = 10,
    Long = 11,
}

/// `tableswitch` and `lookupswitch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch<T> {
    pub default: T,
    pub cases: Cases<T>,
}

/// The keys of a switch and where they lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cases<T> {
    /// Consecutive keys from `low` on.
    Table { low: i32, targets: Vec<T> },
    /// Sorted keys.
    Lookup(Vec<(i32, T)>),
}

impl<T: Copy> Switch<T> {
    /// All targets, the default first.
    pub fn targets(&self) -> impl Iterator<Item = T> + '_ {
        let (table, lookup): (&[T], &[(i32, T)]) = match &self.cases {
            Cases::Table { targets, .. } => (targets, &[]),
            Cases::Lookup(pairs) => (&[], pairs),
        };
        std::iter::once(self.default)
            .chain(table.iter().copied())
            .chain(lookup.iter().map(|&(_, target)| target))
    }

    /// Keys with their targets, without the default.
    pub fn keys(&self) -> impl Iterator<Item = (i32, T)> + '_ {
        let (low, table, lookup): (i32, &[T], &[(i32, T)]) = match &self.cases {
            Cases::Table { low, targets } => (*low, targets, &[]),
            Cases::Lookup(pairs) => (0, &[], pairs),
        };
        table
            .iter()
            .enumerate()
            .map(move |(i, &target)| (low.wrapping_add(i as i32), target))
            .chain(lookup.iter().copied())
    }
}

impl<T: Copy> Insn<T> {
    /// The opcode, shorthands unfolded.
    pub fn op(&self) -> Op {
        match self {
            Self::Plain(op)
            | Self::Push { op, .. }
            | Self::Ldc { op, .. }
            | Self::Local { op, .. }
            | Self::Jump { op, .. }
            | Self::Field { op, .. }
            | Self::Invoke { op, .. }
            | Self::Type { op, .. } => *op,
            Self::Iinc { .. } => Op::Iinc,
            Self::Switch(switch) => match switch.cases {
                Cases::Table { .. } => Op::Tableswitch,
                Cases::Lookup(_) => Op::Lookupswitch,
            },
            Self::InvokeDynamic { .. } => Op::Invokedynamic,
            Self::NewArray(_) => Op::Newarray,
            Self::MultiNewArray { .. } => Op::Multianewarray,
        }
    }

    /// Where control can go besides the next instruction, exceptions apart.
    pub fn targets(&self) -> impl Iterator<Item = T> + '_ {
        let (jump, switch) = match self {
            Self::Jump { target, .. } => (Some(*target), None),
            Self::Switch(switch) => (None, Some(switch.targets())),
            _ => (None, None),
        };
        jump.into_iter().chain(switch.into_iter().flatten())
    }

    /// Whether control can reach the next instruction (that of a `jsr` comes back by `ret`).
    pub fn falls_through(&self) -> bool {
        !(self.is_return()
            || matches!(self.op(), Op::Athrow | Op::Goto | Op::GotoW | Op::Ret)
            || matches!(self, Self::Switch(_)))
    }

    /// Whether this is one of the six return instructions.
    pub fn is_return(&self) -> bool {
        (Op::Ireturn..=Op::Return).contains(&self.op())
    }

    /// The `int` that `iconst_<i>`, `bipush` or `sipush` pushes.
    pub fn int_constant(&self) -> Option<i32> {
        match self {
            Self::Plain(op) if (Op::IconstM1..=Op::Iconst5).contains(op) => {
                Some(*op as i32 - Op::Iconst0 as i32)
            }
            Self::Push { value, .. } => Some(i32::from(*value)),
            _ => None,
        }
    }

    /// The same instruction with every target replaced; the first failure ends it.
    pub fn try_map<U, E>(self, mut target: impl FnMut(T) -> Result<U, E>) -> Result<Insn<U>, E> {
        Ok(match self {
            Self::Plain(op) => Insn::Plain(op),
            Self::Push { op, value } => Insn::Push { op, value },
            Self::Ldc { op, constant } => Insn::Ldc { op, constant },
            Self::Local { op, index, form } => Insn::Local { op, index, form },
            Self::Iinc { index, delta, form } => Insn::Iinc { index, delta, form },
            Self::Jump { op, target: old } => Insn::Jump {
                op,
                target: target(old)?,
            },
            Self::Switch(switch) => Insn::Switch(Box::new(Switch {
                default: target(switch.default)?,
                cases: match switch.cases {
                    Cases::Table { low, targets } => Cases::Table {
                        low,
                        targets: targets
                            .into_iter()
                            .map(&mut target)
                            .collect::<Result<_, E>>()?,
                    },
                    Cases::Lookup(pairs) => Cases::Lookup(
                        pairs
                            .into_iter()
                            .map(|(key, old)| Ok((key, target(old)?)))
                            .collect::<Result<_, E>>()?,
                    ),
                },
            })),
            Self::Field { op, field } => Insn::Field { op, field },
            Self::Invoke { op, method, count } => Insn::Invoke { op, method, count },
            Self::InvokeDynamic { site } => Insn::InvokeDynamic { site },
            Self::Type { op, class } => Insn::Type { op, class },
            Self::NewArray(element) => Insn::NewArray(element),
            Self::MultiNewArray { class, dimensions } => Insn::MultiNewArray { class, dimensions },
        })
    }
}

impl Primitive {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            4 => Self::Boolean,
            5 => Self::Char,
            6 => Self::Float,
            7 => Self::Double,
            8 => Self::Byte,
            9 => Self::Short,
            10 => Self::Int,
            11 => Self::Long,
            _ => return None,
        })
    }
}
