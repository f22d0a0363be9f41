//! Stack map frames (JVMS 4.7.4) in absolute form.

use crate::error::{ErrorKind, Result};
use crate::read::class::{Access, ClassFile, Method};
use crate::read::code::Code;
use crate::read::cursor::Cursor;
use crate::read::pool::{ConstantPool, PoolIndex};
use crate::read::vtype::VType;
use std::ops::Range;

/// All frames of a method body, the implicit frame of the method's entry first.
///
/// Types lie in one arena: a frame that repeats, shortens or extends its predecessor shares its
/// part, and a forged table that would blow up quadratically is refused.
#[derive(Debug, Clone, Default)]
pub struct FrameTable {
    types: Vec<VType>,
    frames: Vec<FrameSpan>,
}

/// No method compilers write comes near; 65535 frames of 64 slots would reach it.
const MAX_TYPES: usize = 1 << 22;

#[derive(Debug, Clone)]
struct FrameSpan {
    at: u32,
    locals: Range<u32>,
    stack: Range<u32>,
    style: FrameStyle,
}

/// Which of several possible encodings the file used, so that an untouched frame is written back
/// as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FrameStyle {
    /// The shortest: what compilers write, and the right choice for new frames.
    #[default]
    Shortest,
    /// A 16-bit offset although six bits would do.
    Extended,
    /// Everything spelled out although less would do.
    Full,
}

/// One frame of a [`FrameTable`].
#[derive(Debug, Clone, Copy)]
pub struct FrameView<'t> {
    /// Where the frame holds: an offset when read, an instruction number when edited.
    pub at: u32,
    pub locals: &'t [VType],
    pub stack: &'t [VType],
    pub(crate) style: FrameStyle,
}

impl FrameTable {
    pub(crate) fn parse<'a>(
        class: &ClassFile<'a>,
        method: &Method<'a>,
        code: &Code<'a>,
    ) -> Result<Self> {
        let mut table = Self::default();
        table.entry(class, method)?;
        if let Some(attribute) = code.attributes.find(b"StackMapTable") {
            let mut cursor = attribute.cursor();
            let count = cursor.u16()?;
            table
                .frames
                .reserve((count as usize).min(cursor.remaining()));
            for index in 0..count {
                table.frame(
                    &mut cursor,
                    &class.pool,
                    index == 0,
                    code.bytecode.len() as u32,
                )?;
            }
            cursor.finish()?;
        }
        Ok(table)
    }

    /// The implicit frame: receiver and parameters.
    fn entry(&mut self, class: &ClassFile<'_>, method: &Method<'_>) -> Result<()> {
        if !method.access.has(Access::STATIC) {
            self.types.push(
                if method.is_constructor() && class.name != "java/lang/Object" {
                    VType::UninitializedThis
                } else {
                    VType::of_class(&class.pool, class.this_class)?
                },
            );
        }
        let descriptor = class.pool.utf8_bytes(method.descriptor_index)?;
        let mut at = 1;
        while descriptor.get(at).is_some_and(|&byte| byte != b')') {
            let Some((parsed, next)) =
                VType::in_descriptor(method.descriptor_index, descriptor, at)
            else {
                return Cursor::new(&[], method.offset).fail(ErrorKind::Descriptor);
            };
            self.types.extend(parsed.slots());
            at = next;
        }
        let end = self.types.len() as u32;
        self.frames.push(FrameSpan {
            at: 0,
            locals: 0..end,
            stack: end..end,
            style: FrameStyle::Shortest,
        });
        Ok(())
    }

    fn frame(
        &mut self,
        cursor: &mut Cursor<'_>,
        pool: &ConstantPool<'_>,
        first: bool,
        length: u32,
    ) -> Result<()> {
        if self.types.len() > MAX_TYPES {
            return cursor.fail(ErrorKind::FramesTooLarge);
        }
        let previous = match self.frames.last() {
            Some(previous) => previous.clone(),
            None => return cursor.fail(ErrorKind::Frame),
        };
        let tag = cursor.u8()?;
        let delta = match tag {
            0..=63 => tag.into(),
            64..=127 => tag as u32 - 64,
            128..=246 => return cursor.fail(ErrorKind::Frame),
            247.. => cursor.u16()?.into(),
        };
        let at = if first {
            delta
        } else {
            previous.at + delta + 1
        };
        if at >= length {
            return cursor.fail(ErrorKind::Frame);
        }
        let mut locals = previous.locals.clone();
        let mut stack = locals.end..locals.end;
        let small = delta < 64;
        let mut style = FrameStyle::Shortest;
        match tag {
            0..=63 => {}
            64..=127 | 247 => {
                if tag == 247 && small {
                    style = FrameStyle::Extended;
                }
                stack.start = self.types.len() as u32;
                self.push_type(cursor, pool, length)?;
                stack.end = self.types.len() as u32;
            }
            248..=250 => {
                for _ in tag..251 {
                    let cut = self.last_entry(&locals);
                    if cut == 0 {
                        return cursor.fail(ErrorKind::Frame);
                    }
                    locals.end -= cut;
                }
            }
            252..=254 => {
                self.own_tail(&mut locals);
                for _ in 251..tag {
                    self.push_type(cursor, pool, length)?;
                }
                locals.end = self.types.len() as u32;
            }
            255 => {
                locals = self.push_types(cursor, pool, length)?;
                stack = self.push_types(cursor, pool, length)?;
                style = self.style_of_full(&previous.locals, &locals, &stack);
            }
            _ => {
                if small {
                    style = FrameStyle::Extended;
                }
            }
        }
        self.frames.push(FrameSpan {
            at,
            locals,
            stack,
            style,
        });
        Ok(())
    }

    /// A full frame that a shorter form could have said was written by choice.
    fn style_of_full(
        &self,
        previous: &Range<u32>,
        locals: &Range<u32>,
        stack: &Range<u32>,
    ) -> FrameStyle {
        let needed =
            FrameShape::between(self.slice(previous), self.slice(locals), self.slice(stack))
                == FrameShape::Full;
        if needed {
            FrameStyle::Shortest
        } else {
            FrameStyle::Full
        }
    }

    /// Makes `range` the end of the arena, so that it can be extended in place.
    fn own_tail(&mut self, range: &mut Range<u32>) {
        if range.end as usize != self.types.len() {
            let start = self.types.len() as u32;
            self.types
                .extend_from_within(range.start as usize..range.end as usize);
            *range = start..self.types.len() as u32;
        }
    }

    /// Slots that the last entry of a range takes.
    fn last_entry(&self, range: &Range<u32>) -> u32 {
        match self.slice(range) {
            [.., VType::Long | VType::Double, VType::Half] => 2,
            [.., _] => 1,
            [] => 0,
        }
    }

    fn push_types(
        &mut self,
        cursor: &mut Cursor<'_>,
        pool: &ConstantPool<'_>,
        length: u32,
    ) -> Result<Range<u32>> {
        let start = self.types.len() as u32;
        for _ in 0..cursor.u16()? {
            self.push_type(cursor, pool, length)?;
        }
        Ok(start..self.types.len() as u32)
    }

    fn push_type(
        &mut self,
        cursor: &mut Cursor<'_>,
        pool: &ConstantPool<'_>,
        length: u32,
    ) -> Result<()> {
        let parsed = match cursor.u8()? {
            0 => VType::Top,
            1 => VType::Integer,
            2 => VType::Float,
            3 => VType::Double,
            4 => VType::Long,
            5 => VType::Null,
            6 => VType::UninitializedThis,
            7 => VType::of_class(pool, PoolIndex(cursor.u16()?))?,
            8 => match cursor.u16()?.into() {
                at if at < length => VType::Uninitialized(at),
                _ => return cursor.fail(ErrorKind::Frame),
            },
            _ => return cursor.fail(ErrorKind::Frame),
        };
        self.types.extend(parsed.slots());
        Ok(())
    }

    fn slice(&self, range: &Range<u32>) -> &[VType] {
        &self.types[range.start as usize..range.end as usize]
    }

    /// Frames in order, the entry's first.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<FrameView<'_>> {
        self.frames.get(index).map(|frame| FrameView {
            at: frame.at,
            locals: self.slice(&frame.locals),
            stack: self.slice(&frame.stack),
            style: frame.style,
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = FrameView<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// How many frames stand at or before a position.
    pub(crate) fn count_up_to(&self, at: u32) -> usize {
        self.frames.partition_point(|frame| frame.at <= at)
    }

    /// Replaces every position: of frames and of `new` instructions.
    pub(crate) fn relocate(&mut self, mut position: impl FnMut(u32) -> Result<u32>) -> Result<()> {
        for frame in &mut self.frames {
            frame.at = position(frame.at)?;
        }
        for slot in &mut self.types {
            if let VType::Uninitialized(at) = slot {
                *at = position(*at)?;
            }
        }
        Ok(())
    }

    /// Appends a frame; positions must rise.
    pub(crate) fn push(&mut self, at: u32, locals: &[VType], stack: &[VType], style: FrameStyle) {
        let start = self.types.len() as u32;
        self.types.extend_from_slice(locals);
        let middle = self.types.len() as u32;
        self.types.extend_from_slice(stack);
        let end = self.types.len() as u32;
        self.frames.push(FrameSpan {
            at,
            locals: start..middle,
            stack: middle..end,
            style,
        });
    }
}

/// The encodings of a frame relative to its predecessor, shortest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameShape {
    Same,
    SameWithOneOnStack,
    Chop(u8),
    Append(u8),
    Full,
}

impl FrameShape {
    /// The shortest shape that leads from `previous` locals to the frame.
    pub(crate) fn between(previous: &[VType], locals: &[VType], stack: &[VType]) -> Self {
        let entries = |slots: &[VType]| slots.iter().filter(|&&slot| slot != VType::Half).count();
        match entries(stack) {
            0 => {}
            1 if previous == locals => return Self::SameWithOneOnStack,
            _ => return Self::Full,
        }
        if let Some(rest) = locals.strip_prefix(previous) {
            return match entries(rest) {
                0 => Self::Same,
                // A half in front would belong to what `previous` ends with.
                more @ 1..=3 if rest[0] != VType::Half => Self::Append(more as u8),
                _ => Self::Full,
            };
        }
        match previous
            .strip_prefix(locals)
            .map(|rest| (entries(rest), rest))
        {
            Some((fewer @ 1..=3, rest)) if rest[0] != VType::Half => Self::Chop(fewer as u8),
            _ => Self::Full,
        }
    }
}
