//! Method bodies (JVMS 4.7.3) with their debug tables.

use crate::error::{Error, ErrorKind, Result};
use crate::insn::{Insn, Instructions};
use crate::read::attributes::{self, Attribute, Attributes};
use crate::read::class::{ClassFile, Method};
use crate::read::cursor::Cursor;
use crate::read::frames::FrameTable;
use crate::read::pool::{ConstantPool, PoolIndex};
use std::borrow::Cow;

/// The `Code` attribute of a method.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    pub max_stack: u16,
    pub max_locals: u16,
    /// The instructions, undecoded.
    pub bytecode: &'a [u8],
    pub exceptions: Vec<ExceptionEntry>,
    pub attributes: Attributes<'a>,
    /// Where the bytecode stands in the class file.
    pub(crate) offset: u32,
}

/// A range of code whose exceptions go to a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionEntry {
    pub start: u32,
    /// The first offset that is no longer protected; may be the code length.
    pub end: u32,
    pub handler: u32,
    /// The class caught; none means everything.
    pub catch_type: PoolIndex,
}

/// From this offset on, the code belongs to this source line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNumber {
    pub start: u32,
    pub line: u16,
}

/// A local variable of the source and where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalVariable<'a> {
    pub start: u32,
    pub length: u32,
    pub name: Cow<'a, str>,
    /// A descriptor, or a generic signature if read from the type table.
    pub descriptor: Cow<'a, str>,
    pub slot: u16,
}

impl<'a> Code<'a> {
    pub(crate) fn parse(attribute: &Attribute<'a>, pool: &ConstantPool<'a>) -> Result<Self> {
        let mut cursor = attribute.cursor();
        let (max_stack, max_locals) = (cursor.u16()?, cursor.u16()?);
        let length = cursor.u32()?;
        if !(1..=65535).contains(&length) {
            return cursor.fail(ErrorKind::CodeLength(length));
        }
        let offset = cursor.offset();
        let bytecode = cursor.bytes(length as usize)?;
        let exceptions = cursor.list(8, |cursor| {
            let entry = ExceptionEntry {
                start: cursor.u16()?.into(),
                end: cursor.u16()?.into(),
                handler: cursor.u16()?.into(),
                catch_type: PoolIndex(cursor.u16()?),
            };
            if entry.start <= entry.end && entry.end <= length && entry.handler < length {
                Ok(entry)
            } else {
                cursor.fail(ErrorKind::ExceptionRange)
            }
        })?;
        let attributes = attributes::parse(&mut cursor, pool)?;
        cursor.finish()?;
        Ok(Self {
            max_stack,
            max_locals,
            bytecode,
            exceptions,
            attributes,
            offset,
        })
    }

    /// The instructions one by one, with their offsets.
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytecode, self.offset)
    }

    /// All instructions with their offsets; every jump and every exception range is known to lie
    /// on instruction boundaries.
    pub fn decode(&self) -> Result<Vec<(u32, Insn)>> {
        let mut starts = vec![false; self.bytecode.len() + 1];
        starts[self.bytecode.len()] = true;
        let mut list = Vec::with_capacity(self.bytecode.len() / 2 + 1);
        for decoded in self.instructions() {
            let (at, insn) = decoded?;
            starts[at as usize] = true;
            list.push((at, insn));
        }
        let check = |at: u32, from: u32| {
            if starts.get(at as usize) == Some(&true) {
                Ok(())
            } else {
                Err(Error {
                    offset: self.offset + from,
                    kind: ErrorKind::BranchTarget(at.into()),
                })
            }
        };
        for (at, insn) in &list {
            insn.targets().try_for_each(|target| check(target, *at))?;
        }
        for entry in &self.exceptions {
            for at in [entry.start, entry.end, entry.handler] {
                check(at, at)?;
            }
        }
        Ok(list)
    }

    /// The line table; a method may have several, which count as one.
    pub fn line_numbers(&self) -> Result<Vec<LineNumber>> {
        let mut all = Vec::new();
        for attribute in self
            .attributes
            .iter()
            .filter(|attribute| attribute.name == b"LineNumberTable")
        {
            let mut cursor = attribute.cursor();
            all.extend(cursor.list(4, |cursor| {
                Ok(LineNumber {
                    start: cursor.u16()?.into(),
                    line: cursor.u16()?,
                })
            })?);
            cursor.finish()?;
        }
        Ok(all)
    }

    pub fn local_variables(&self, pool: &ConstantPool<'a>) -> Result<Vec<LocalVariable<'a>>> {
        self.variables(b"LocalVariableTable", pool)
    }

    /// As [`Self::local_variables`] with generic signatures, for variables that have one.
    pub fn local_variable_types(&self, pool: &ConstantPool<'a>) -> Result<Vec<LocalVariable<'a>>> {
        self.variables(b"LocalVariableTypeTable", pool)
    }

    fn variables(&self, name: &[u8], pool: &ConstantPool<'a>) -> Result<Vec<LocalVariable<'a>>> {
        let mut all = Vec::new();
        for attribute in self
            .attributes
            .iter()
            .filter(|attribute| attribute.name == name)
        {
            let mut cursor = attribute.cursor();
            all.extend(cursor.list(10, |cursor| variable(cursor, pool))?);
            cursor.finish()?;
        }
        Ok(all)
    }

    /// The frames of the `StackMapTable` in absolute form, preceded by the implicit entry frame.
    pub fn frames(&self, class: &ClassFile<'a>, method: &Method<'a>) -> Result<FrameTable> {
        FrameTable::parse(class, method, self)
    }
}

fn variable<'a>(cursor: &mut Cursor<'a>, pool: &ConstantPool<'a>) -> Result<LocalVariable<'a>> {
    Ok(LocalVariable {
        start: cursor.u16()?.into(),
        length: cursor.u16()?.into(),
        name: pool.utf8(PoolIndex(cursor.u16()?))?,
        descriptor: pool.utf8(PoolIndex(cursor.u16()?))?,
        slot: cursor.u16()?,
    })
}
