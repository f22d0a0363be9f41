//! Annotations (JVMS 4.7.16) with their element values.

use crate::error::{ErrorKind, Result};
use crate::read::cursor::Cursor;
use crate::read::pool::{Constant, ConstantPool, PoolIndex};
use std::borrow::Cow;

/// Deeper nesting than any compiler writes; a forged file must not exhaust the stack.
const MAX_DEPTH: u8 = 64;

/// An annotation and the elements that were written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation<'a> {
    /// Field descriptor of the annotation interface (`Ljava/lang/Deprecated;`).
    pub descriptor: Cow<'a, str>,
    pub elements: Vec<(Cow<'a, str>, ElementValue<'a>)>,
    /// Whether it can be seen by reflection at run time.
    pub visible: bool,
}

/// The value of one element of an annotation.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementValue<'a> {
    Boolean(bool),
    Byte(i8),
    Char(u16),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(Cow<'a, str>),
    Enum {
        descriptor: Cow<'a, str>,
        constant: Cow<'a, str>,
    },
    /// A return descriptor (`V` for `void.class`).
    Class(Cow<'a, str>),
    Annotation(Annotation<'a>),
    Array(Vec<ElementValue<'a>>),
}

impl<'a> Annotation<'a> {
    /// The simple name of the annotation interface: `GuardedBy` of `Ljavax/…/GuardedBy;`.
    pub fn simple_name(&self) -> &str {
        let name = self.descriptor.trim_end_matches(';');
        let start = name
            .rfind(['/', '$'])
            .map_or(usize::from(name.starts_with('L')), |at| at + 1);
        &name[start..]
    }

    /// The value of an element, if it was written out.
    pub fn element(&self, name: &str) -> Option<&ElementValue<'a>> {
        self.elements
            .iter()
            .find(|(element, _)| element == name)
            .map(|(_, value)| value)
    }
}

pub(crate) fn list<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    visible: bool,
) -> Result<Vec<Annotation<'a>>> {
    cursor.list(4, |cursor| annotation(cursor, pool, visible, 0))
}

pub(crate) fn value<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
) -> Result<ElementValue<'a>> {
    element(cursor, pool, true, 0)
}

fn annotation<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    visible: bool,
    depth: u8,
) -> Result<Annotation<'a>> {
    let descriptor = pool.utf8(PoolIndex(cursor.u16()?))?;
    let elements = cursor.list(3, |cursor| {
        let name = pool.utf8(PoolIndex(cursor.u16()?))?;
        Ok((name, element(cursor, pool, visible, depth)?))
    })?;
    Ok(Annotation {
        descriptor,
        elements,
        visible,
    })
}

fn element<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    visible: bool,
    depth: u8,
) -> Result<ElementValue<'a>> {
    if depth >= MAX_DEPTH {
        return cursor.fail(ErrorKind::NestingTooDeep);
    }
    let tag = cursor.u8()?;
    Ok(match tag {
        b'e' => ElementValue::Enum {
            descriptor: pool.utf8(PoolIndex(cursor.u16()?))?,
            constant: pool.utf8(PoolIndex(cursor.u16()?))?,
        },
        b'c' => ElementValue::Class(pool.utf8(PoolIndex(cursor.u16()?))?),
        b's' => ElementValue::String(pool.utf8(PoolIndex(cursor.u16()?))?),
        b'@' => ElementValue::Annotation(annotation(cursor, pool, visible, depth + 1)?),
        b'[' => {
            ElementValue::Array(cursor.list(3, |cursor| element(cursor, pool, visible, depth + 1))?)
        }
        _ => match (tag, pool.constant(PoolIndex(cursor.u16()?))?) {
            (b'Z', Constant::Integer(value)) => ElementValue::Boolean(value != 0),
            (b'B', Constant::Integer(value)) => ElementValue::Byte(value as i8),
            (b'C', Constant::Integer(value)) => ElementValue::Char(value as u16),
            (b'S', Constant::Integer(value)) => ElementValue::Short(value as i16),
            (b'I', Constant::Integer(value)) => ElementValue::Int(value),
            (b'J', Constant::Long(value)) => ElementValue::Long(value),
            (b'F', Constant::Float(value)) => ElementValue::Float(value),
            (b'D', Constant::Double(value)) => ElementValue::Double(value),
            _ => return cursor.fail(ErrorKind::AnnotationTag(tag)),
        },
    })
}
