//! Verification types (JVMS 4.10.1.2).

use crate::error::Result;
use crate::insn::Primitive;
use crate::read::mutf8;
use crate::read::pool::{ConstantPool, Entry, PoolIndex};
use std::borrow::Cow;

/// The type of one slot of a local variable or the operand stack (JVMS 4.10.1.2).
///
/// Frames are held slot by slot: a `long` or `double` is followed by [`VType::Half`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VType {
    /// Unusable.
    Top,
    /// The second slot of a `long` or `double`.
    Half,
    Integer,
    Float,
    Long,
    Double,
    Null,
    /// `this` before the superclass constructor has run.
    UninitializedThis,
    Object(TypeName),
    /// Made by `new`, not yet constructed; where the `new` stands: its offset when read, its
    /// instruction number when edited.
    Uninitialized(u32),
    /// What `jsr` pushes; never in a frame.
    ReturnAddress,
}

/// The name of a class or array, as a part of a `Utf8` constant.
///
/// Types seen in descriptors need no `Class` constant until a frame that names them is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeName {
    /// The `Class` constant, if the type was named by one.
    pub(crate) class: PoolIndex,
    /// Where the name stands; none for a name of [`KNOWN`], then `start` counts in it.
    pub(crate) utf8: PoolIndex,
    pub(crate) start: u16,
    pub(crate) length: u16,
    /// Array dimensions around the named type, for arrays that no constant names.
    pub(crate) dimensions: u8,
}

/// Types that instructions push without naming them; the one-letter ones are element types.
const KNOWN: [&str; 14] = [
    "java/lang/Object",
    "java/lang/String",
    "java/lang/Class",
    "java/lang/Throwable",
    "java/lang/invoke/MethodType",
    "java/lang/invoke/MethodHandle",
    "Z",
    "C",
    "F",
    "D",
    "B",
    "S",
    "I",
    "J",
];
const FIRST_PRIMITIVE: u16 = 6;

impl VType {
    /// The type and, if it takes two slots, its second half.
    pub(crate) fn slots(self) -> impl Iterator<Item = Self> {
        let second = matches!(self, Self::Long | Self::Double).then_some(Self::Half);
        std::iter::once(self).chain(second)
    }

    /// The type of instances of a `Class` constant.
    pub(crate) fn of_class(pool: &ConstantPool<'_>, class: PoolIndex) -> Result<Self> {
        let Some(Entry::Class { name: utf8 }) = pool.entry(class) else {
            return pool.class_name(class).map(|_| Self::Top);
        };
        let length = pool.utf8_bytes(utf8)?.len() as u16;
        Ok(Self::Object(TypeName {
            class,
            utf8,
            start: 0,
            length,
            dimensions: 0,
        }))
    }

    /// The type that starts at byte `at` of a descriptor, and where the next one starts.
    pub(crate) fn in_descriptor(
        utf8: PoolIndex,
        descriptor: &[u8],
        at: usize,
    ) -> Option<(Self, usize)> {
        let object = |start: usize, end: usize| {
            let (start, length) = (start as u16, (end - start) as u16);
            Self::Object(TypeName {
                class: PoolIndex::NONE,
                utf8,
                start,
                length,
                dimensions: 0,
            })
        };
        let class_end = |from: usize| {
            descriptor[from..]
                .iter()
                .position(|&byte| byte == b';')
                .map(|length| from + length)
        };
        Some(match descriptor.get(at)? {
            b'Z' | b'B' | b'C' | b'S' | b'I' => (Self::Integer, at + 1),
            b'F' => (Self::Float, at + 1),
            b'J' => (Self::Long, at + 1),
            b'D' => (Self::Double, at + 1),
            b'L' => {
                let end = class_end(at)?;
                (object(at + 1, end), end + 1)
            }
            b'[' => {
                let element = at
                    + descriptor[at..]
                        .iter()
                        .take_while(|&&byte| byte == b'[')
                        .count();
                let end = match descriptor.get(element)? {
                    b'L' => class_end(element)? + 1,
                    b'Z' | b'B' | b'C' | b'S' | b'I' | b'F' | b'J' | b'D' => element + 1,
                    _ => return None,
                };
                (object(at, end), end)
            }
            _ => return None,
        })
    }
}

impl TypeName {
    pub(crate) const OBJECT: Self = Self::known(0);
    pub(crate) const STRING: Self = Self::known(1);
    pub(crate) const CLASS: Self = Self::known(2);
    pub(crate) const THROWABLE: Self = Self::known(3);
    pub(crate) const METHOD_TYPE: Self = Self::known(4);
    pub(crate) const METHOD_HANDLE: Self = Self::known(5);

    const fn known(start: u16) -> Self {
        Self {
            class: PoolIndex::NONE,
            utf8: PoolIndex::NONE,
            start,
            length: 0,
            dimensions: 0,
        }
    }

    /// What `newarray` makes.
    pub(crate) fn primitive_array(element: Primitive) -> Self {
        Self {
            dimensions: 1,
            ..Self::known(FIRST_PRIMITIVE + element as u16 - Primitive::Boolean as u16)
        }
    }

    /// The array whose elements are of this type.
    pub(crate) fn array(self) -> Option<Self> {
        Some(Self {
            class: PoolIndex::NONE,
            dimensions: self.dimensions.checked_add(1)?,
            ..self
        })
    }

    /// The named part: everything but the outer dimensions.
    fn base<'p>(self, utf8: impl FnOnce(PoolIndex) -> &'p [u8]) -> &'p [u8] {
        if self.utf8.is_none() {
            return KNOWN
                .get(self.start as usize)
                .map_or(&[], |name| name.as_bytes());
        }
        let start = self.start as usize;
        utf8(self.utf8)
            .get(start..start + self.length as usize)
            .unwrap_or_default()
    }

    /// The type of the elements, if they are references.
    pub(crate) fn element<'p>(self, utf8: impl FnOnce(PoolIndex) -> &'p [u8]) -> Option<Self> {
        if self.dimensions > 0 {
            let primitive =
                self.utf8.is_none() && self.start >= FIRST_PRIMITIVE && self.dimensions == 1;
            return (!primitive).then_some(Self {
                dimensions: self.dimensions - 1,
                ..self
            });
        }
        let (start, length) = match self.base(utf8) {
            [b'[', b'L', .., b';'] => (self.start + 2, self.length - 3),
            [b'[', b'[', ..] => (self.start + 1, self.length - 1),
            _ => return None,
        };
        Some(Self {
            class: PoolIndex::NONE,
            start,
            length,
            ..self
        })
    }

    /// The name a `Class` constant of this type carries, in modified UTF-8.
    pub(crate) fn name<'p>(self, utf8: impl FnOnce(PoolIndex) -> &'p [u8]) -> Cow<'p, [u8]> {
        let base = self.base(utf8);
        if self.dimensions == 0 {
            return Cow::Borrowed(base);
        }
        let mut name = vec![b'['; self.dimensions as usize];
        if base.first() == Some(&b'[') || self.utf8.is_none() && self.start >= FIRST_PRIMITIVE {
            name.extend_from_slice(base);
        } else {
            name.push(b'L');
            name.extend_from_slice(base);
            name.push(b';');
        }
        Cow::Owned(name)
    }

    /// The internal name, or the descriptor of an array.
    pub fn text<'a>(self, pool: &ConstantPool<'a>) -> Cow<'a, str> {
        match self.name(|index| pool.utf8_bytes(index).unwrap_or_default()) {
            Cow::Borrowed(name) => mutf8::decode(name),
            Cow::Owned(name) => Cow::Owned(mutf8::decode(&name).into_owned()),
        }
    }
}
