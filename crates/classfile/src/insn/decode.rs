//! From code bytes to instructions.

use crate::error::{Error, ErrorKind, Result};
use crate::insn::{Cases, Form, Insn, Op, Primitive, Switch};
use crate::read::PoolIndex;
use crate::read::cursor::Cursor;

/// The instructions of a method body with their offsets, first to last; ends after an error.
///
/// Every target is an offset inside the code; that it starts an instruction is checked by
/// [`Code::decode`](crate::read::Code::decode).
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    cursor: Cursor<'a>,
    length: u32,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(code: &'a [u8], base: u32) -> Self {
        Self {
            cursor: Cursor::new(code, base),
            length: code.len() as u32,
        }
    }
}

impl Iterator for Instructions<'_> {
    type Item = Result<(u32, Insn)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.remaining() == 0 {
            return None;
        }
        let at = self.cursor.position() as u32;
        let decoded = instruction(&mut self.cursor, at, self.length);
        if decoded.is_err() {
            self.cursor = Cursor::new(&[], 0);
        }
        Some(decoded.map(|insn| (at, insn)))
    }
}

#[expect(clippy::match_same_arms, reason = "one row for each family of opcodes")]
fn instruction(cursor: &mut Cursor<'_>, at: u32, length: u32) -> Result<Insn> {
    let byte = cursor.u8()?;
    let Some(op) = Op::from_byte(byte) else {
        return Err(Error {
            offset: cursor.offset() - 1,
            kind: ErrorKind::Opcode(byte),
        });
    };
    Ok(match op {
        Op::Bipush => Insn::Push {
            op,
            value: cursor.i8()?.into(),
        },
        Op::Sipush => Insn::Push {
            op,
            value: cursor.i16()?,
        },
        Op::Ldc => Insn::Ldc {
            op,
            constant: PoolIndex(cursor.u8()?.into()),
        },
        Op::LdcW | Op::Ldc2W => Insn::Ldc {
            op,
            constant: PoolIndex(cursor.u16()?),
        },
        Op::Iload | Op::Lload | Op::Fload | Op::Dload | Op::Aload => local(op, cursor.u8()?),
        Op::Istore | Op::Lstore | Op::Fstore | Op::Dstore | Op::Astore => local(op, cursor.u8()?),
        Op::Ret => Insn::Local {
            op,
            index: cursor.u8()?.into(),
            form: Form::Shortest,
        },
        _ if (Op::Iload0..=Op::Aload3).contains(&op) => {
            shorthand(byte - Op::Iload0 as u8, Op::Iload)
        }
        _ if (Op::Istore0..=Op::Astore3).contains(&op) => {
            shorthand(byte - Op::Istore0 as u8, Op::Istore)
        }
        Op::Iinc => Insn::Iinc {
            index: cursor.u8()?.into(),
            delta: cursor.i8()?.into(),
            form: Form::Shortest,
        },
        _ if (Op::Ifeq..=Op::Jsr).contains(&op) || matches!(op, Op::Ifnull | Op::Ifnonnull) => {
            let delta = cursor.i16()?;
            Insn::Jump {
                op,
                target: target(cursor, at, delta.into(), length)?,
            }
        }
        Op::GotoW | Op::JsrW => {
            let delta = cursor.i32()?;
            Insn::Jump {
                op,
                target: target(cursor, at, delta, length)?,
            }
        }
        Op::Tableswitch | Op::Lookupswitch => switch(cursor, op, at, length)?,
        Op::Getstatic | Op::Putstatic | Op::Getfield | Op::Putfield => Insn::Field {
            op,
            field: PoolIndex(cursor.u16()?),
        },
        Op::Invokevirtual | Op::Invokespecial | Op::Invokestatic => Insn::Invoke {
            op,
            method: PoolIndex(cursor.u16()?),
            count: 0,
        },
        Op::Invokeinterface => {
            let method = PoolIndex(cursor.u16()?);
            let count = cursor.u8()?;
            zero(cursor, 1)?;
            Insn::Invoke { op, method, count }
        }
        Op::Invokedynamic => {
            let site = PoolIndex(cursor.u16()?);
            zero(cursor, 2)?;
            Insn::InvokeDynamic { site }
        }
        Op::New | Op::Anewarray | Op::Checkcast | Op::Instanceof => Insn::Type {
            op,
            class: PoolIndex(cursor.u16()?),
        },
        Op::Newarray => match Primitive::from_byte(cursor.u8()?) {
            Some(element) => Insn::NewArray(element),
            None => return cursor.fail(ErrorKind::Operand),
        },
        Op::Multianewarray => Insn::MultiNewArray {
            class: PoolIndex(cursor.u16()?),
            dimensions: cursor.u8()?,
        },
        Op::Wide => wide(cursor)?,
        _ => Insn::Plain(op),
    })
}

fn local(op: Op, index: u8) -> Insn {
    let form = if index < 4 {
        Form::Byte
    } else {
        Form::Shortest
    };
    Insn::Local {
        op,
        index: index.into(),
        form,
    }
}

/// `iload_0` and its kin lie in five rows of four after the first.
fn shorthand(distance: u8, first: Op) -> Insn {
    let op = Op::from_byte(first as u8 + distance / 4).unwrap_or(first);
    Insn::Local {
        op,
        index: (distance % 4).into(),
        form: Form::Shortest,
    }
}

fn wide(cursor: &mut Cursor<'_>) -> Result<Insn> {
    let byte = cursor.u8()?;
    match Op::from_byte(byte) {
        Some(
            op @ (Op::Iload
            | Op::Lload
            | Op::Fload
            | Op::Dload
            | Op::Aload
            | Op::Istore
            | Op::Lstore
            | Op::Fstore
            | Op::Dstore
            | Op::Astore
            | Op::Ret),
        ) => {
            let index = cursor.u16()?;
            let form = if index < 256 {
                Form::Wide
            } else {
                Form::Shortest
            };
            Ok(Insn::Local { op, index, form })
        }
        Some(Op::Iinc) => {
            let (index, delta) = (cursor.u16()?, cursor.i16()?);
            let form = if index < 256 && i8::try_from(delta).is_ok() {
                Form::Wide
            } else {
                Form::Shortest
            };
            Ok(Insn::Iinc { index, delta, form })
        }
        _ => cursor.fail(ErrorKind::Opcode(byte)),
    }
}

fn switch(cursor: &mut Cursor<'_>, op: Op, at: u32, length: u32) -> Result<Insn> {
    cursor.bytes(padding(at))?;
    let delta = cursor.i32()?;
    let default = target(cursor, at, delta, length)?;
    let cases = if op == Op::Tableswitch {
        let (low, high) = (cursor.i32()?, cursor.i32()?);
        let count = i64::from(high) - i64::from(low) + 1;
        if count < 1 || count > (cursor.remaining() / 4) as i64 {
            return cursor.fail(ErrorKind::Operand);
        }
        let mut targets = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let delta = cursor.i32()?;
            targets.push(target(cursor, at, delta, length)?);
        }
        Cases::Table { low, targets }
    } else {
        let count = cursor.i32()?;
        if count < 0 || count as usize > cursor.remaining() / 8 {
            return cursor.fail(ErrorKind::Operand);
        }
        let mut pairs = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let (key, delta) = (cursor.i32()?, cursor.i32()?);
            pairs.push((key, target(cursor, at, delta, length)?));
        }
        Cases::Lookup(pairs)
    };
    Ok(Insn::Switch(Box::new(Switch { default, cases })))
}

/// Bytes between a switch opcode at `at` and the next multiple of four.
pub(crate) fn padding(at: u32) -> usize {
    (3 - at % 4) as usize
}

fn target(cursor: &Cursor<'_>, at: u32, delta: i32, length: u32) -> Result<u32> {
    let target = i64::from(at) + i64::from(delta);
    if (0..i64::from(length)).contains(&target) {
        Ok(target as u32)
    } else {
        cursor.fail(ErrorKind::BranchTarget(target))
    }
}

fn zero(cursor: &mut Cursor<'_>, count: usize) -> Result<()> {
    if cursor.bytes(count)?.iter().all(|&byte| byte == 0) {
        Ok(())
    } else {
        cursor.fail(ErrorKind::Operand)
    }
}
