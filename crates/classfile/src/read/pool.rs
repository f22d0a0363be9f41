//! The constant pool (JVMS 4.4): entries found by index, resolved to names on demand.

use crate::error::{Error, ErrorKind, Result};
use crate::read::cursor::Cursor;
use crate::read::mutf8;
use std::borrow::Cow;

/// An index into the constant pool of the class at hand; 0 stands for "none".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PoolIndex(pub u16);

impl PoolIndex {
    /// The index that stands for "none".
    pub const NONE: Self = Self(0);

    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// One constant as it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'a> {
    Utf8(&'a [u8]),
    Integer(i32),
    Float(f32),
    Long(i64),
    Double(f64),
    Class {
        name: PoolIndex,
    },
    String {
        value: PoolIndex,
    },
    Field {
        class: PoolIndex,
        name_and_type: PoolIndex,
    },
    Method {
        class: PoolIndex,
        name_and_type: PoolIndex,
    },
    InterfaceMethod {
        class: PoolIndex,
        name_and_type: PoolIndex,
    },
    NameAndType {
        name: PoolIndex,
        descriptor: PoolIndex,
    },
    MethodHandle {
        kind: u8,
        reference: PoolIndex,
    },
    MethodType {
        descriptor: PoolIndex,
    },
    Dynamic {
        bootstrap: u16,
        name_and_type: PoolIndex,
    },
    InvokeDynamic {
        bootstrap: u16,
        name_and_type: PoolIndex,
    },
    Module {
        name: PoolIndex,
    },
    Package {
        name: PoolIndex,
    },
}

/// The constant pool of a class file, borrowed from its bytes.
///
/// Indices are checked when they are used: an entry nobody asks for may be wrong, as in the JVM.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    data: &'a [u8],
    /// Where each entry's tag lies in `data`; 0 for index 0 and the second half of a long or double.
    offsets: Vec<u32>,
}

/// A field or method as an instruction names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemberRef<'a> {
    /// Internal name of the class, or the descriptor of an array.
    pub class: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub descriptor: Cow<'a, str>,
    /// Whether the constant is an `InterfaceMethodref`.
    pub interface: bool,
}

/// A method handle constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodHandle<'a> {
    pub kind: HandleKind,
    pub member: MemberRef<'a>,
}

/// What a method handle does with its member (JVMS table 5.4.3.5-A).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandleKind {
    GetField,
    GetStatic,
    PutField,
    PutStatic,
    InvokeVirtual,
    InvokeStatic,
    InvokeSpecial,
    NewInvokeSpecial,
    InvokeInterface,
}

/// An `invokedynamic` call site or a dynamic constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dynamic<'a> {
    /// Position in the class's `BootstrapMethods`.
    pub bootstrap: u16,
    pub name: Cow<'a, str>,
    pub descriptor: Cow<'a, str>,
}

/// A constant that `ldc` or a bootstrap method argument can load.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'a> {
    Integer(i32),
    Float(f32),
    Long(i64),
    Double(f64),
    String(Cow<'a, str>),
    Class(Cow<'a, str>),
    MethodHandle(MethodHandle<'a>),
    MethodType(Cow<'a, str>),
    Dynamic(Dynamic<'a>),
}

impl<'a> ConstantPool<'a> {
    /// Reads `count` (as the file states it, one more than the last index) entries.
    pub(crate) fn parse(cursor: &mut Cursor<'a>, file: &'a [u8]) -> Result<Self> {
        let count = cursor.u16()?;
        if count == 0 {
            return cursor.fail(ErrorKind::Truncated);
        }
        let mut offsets = Vec::with_capacity((count as usize).min(cursor.remaining()));
        offsets.push(0);
        while offsets.len() < count as usize {
            offsets.push(cursor.offset());
            let tag = cursor.u8()?;
            let length = match tag {
                1 => cursor.u16()? as usize,
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => {
                    offsets.push(0);
                    8
                }
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                _ => return cursor.fail(ErrorKind::ConstantTag(tag)),
            };
            cursor.bytes(length)?;
        }
        // A long in the last place claims an index the count does not have.
        offsets.truncate(count as usize);
        Ok(Self {
            data: file,
            offsets,
        })
    }

    /// One more than the last index, as `constant_pool_count`.
    pub fn count(&self) -> u16 {
        self.offsets.len() as u16
    }

    fn offset(&self, index: PoolIndex) -> Option<usize> {
        match self.offsets.get(index.0 as usize) {
            None | Some(0) => None,
            Some(&offset) => Some(offset as usize),
        }
    }

    /// The entry's tag and payload as they stand in the file.
    pub(crate) fn entry_bytes(&self, index: PoolIndex) -> Option<&'a [u8]> {
        let entry = &self.data[self.offset(index)?..];
        let length = match entry.first()? {
            1 => 3 + u16::from_be_bytes([*entry.get(1)?, *entry.get(2)?]) as usize,
            5 | 6 => 9,
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            _ => 5,
        };
        entry.get(..length)
    }

    /// The entry at an index, if there is one.
    pub fn entry(&self, index: PoolIndex) -> Option<Entry<'a>> {
        decode_entry(self.entry_bytes(index)?)
    }

    /// Every entry with its index.
    pub fn entries(&self) -> impl Iterator<Item = (PoolIndex, Entry<'a>)> + '_ {
        (1..self.count()).filter_map(|index| {
            let index = PoolIndex(index);
            self.entry(index).map(|entry| (index, entry))
        })
    }

    fn wrong<T>(&self, index: PoolIndex, expected: &'static str) -> Result<T> {
        let offset = self.offset(index).unwrap_or(8) as u32;
        Err(Error {
            offset,
            kind: ErrorKind::Constant {
                index: index.0,
                expected,
            },
        })
    }

    /// The bytes of a `Utf8` entry, in modified UTF-8.
    pub fn utf8_bytes(&self, index: PoolIndex) -> Result<&'a [u8]> {
        match self.entry(index) {
            Some(Entry::Utf8(bytes)) => Ok(bytes),
            _ => self.wrong(index, "Utf8"),
        }
    }

    /// A `Utf8` entry as text; unpaired surrogates become U+FFFD.
    pub fn utf8(&self, index: PoolIndex) -> Result<Cow<'a, str>> {
        self.utf8_bytes(index).map(mutf8::decode)
    }

    /// The internal name of a `Class` entry (an array's is its descriptor).
    pub fn class_name(&self, index: PoolIndex) -> Result<Cow<'a, str>> {
        match self.entry(index) {
            Some(Entry::Class { name }) => self.utf8(name),
            _ => self.wrong(index, "Class"),
        }
    }

    /// As [`Self::class_name`], where index 0 means "none".
    pub fn optional_class_name(&self, index: PoolIndex) -> Result<Option<Cow<'a, str>>> {
        if index.is_none() {
            Ok(None)
        } else {
            self.class_name(index).map(Some)
        }
    }

    /// Name and descriptor.
    pub fn name_and_type(&self, index: PoolIndex) -> Result<(Cow<'a, str>, Cow<'a, str>)> {
        match self.entry(index) {
            Some(Entry::NameAndType { name, descriptor }) => {
                Ok((self.utf8(name)?, self.utf8(descriptor)?))
            }
            _ => self.wrong(index, "NameAndType"),
        }
    }

    fn member(
        &self,
        class: PoolIndex,
        name_and_type: PoolIndex,
        interface: bool,
    ) -> Result<MemberRef<'a>> {
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(MemberRef {
            class: self.class_name(class)?,
            name,
            descriptor,
            interface,
        })
    }

    /// The field of a `getfield` and its kin.
    pub fn field_ref(&self, index: PoolIndex) -> Result<MemberRef<'a>> {
        match self.entry(index) {
            Some(Entry::Field {
                class,
                name_and_type,
            }) => self.member(class, name_and_type, false),
            _ => self.wrong(index, "Fieldref"),
        }
    }

    /// The method of an invoke instruction, of a class or an interface.
    pub fn method_ref(&self, index: PoolIndex) -> Result<MemberRef<'a>> {
        match self.entry(index) {
            Some(Entry::Method {
                class,
                name_and_type,
            }) => self.member(class, name_and_type, false),
            Some(Entry::InterfaceMethod {
                class,
                name_and_type,
            }) => self.member(class, name_and_type, true),
            _ => self.wrong(index, "Methodref"),
        }
    }

    /// A method handle with the member it reaches.
    pub fn method_handle(&self, index: PoolIndex) -> Result<MethodHandle<'a>> {
        let Some(Entry::MethodHandle { kind, reference }) = self.entry(index) else {
            return self.wrong(index, "MethodHandle");
        };
        let Some(kind) = HandleKind::from_byte(kind) else {
            return self.wrong(index, "MethodHandle");
        };
        let member = if kind.is_field() {
            self.field_ref(reference)?
        } else {
            self.method_ref(reference)?
        };
        Ok(MethodHandle { kind, member })
    }

    /// The call site of an `invokedynamic`.
    pub fn invoke_dynamic(&self, index: PoolIndex) -> Result<Dynamic<'a>> {
        match self.entry(index) {
            Some(Entry::InvokeDynamic {
                bootstrap,
                name_and_type,
            }) => self.dynamic(bootstrap, name_and_type),
            _ => self.wrong(index, "InvokeDynamic"),
        }
    }

    fn dynamic(&self, bootstrap: u16, name_and_type: PoolIndex) -> Result<Dynamic<'a>> {
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(Dynamic {
            bootstrap,
            name,
            descriptor,
        })
    }

    /// The constant of an `ldc`, a bootstrap argument or a `ConstantValue`.
    pub fn constant(&self, index: PoolIndex) -> Result<Constant<'a>> {
        Ok(match self.entry(index) {
            Some(Entry::Integer(value)) => Constant::Integer(value),
            Some(Entry::Float(value)) => Constant::Float(value),
            Some(Entry::Long(value)) => Constant::Long(value),
            Some(Entry::Double(value)) => Constant::Double(value),
            Some(Entry::String { value }) => Constant::String(self.utf8(value)?),
            Some(Entry::Class { name }) => Constant::Class(self.utf8(name)?),
            Some(Entry::MethodHandle { .. }) => Constant::MethodHandle(self.method_handle(index)?),
            Some(Entry::MethodType { descriptor }) => Constant::MethodType(self.utf8(descriptor)?),
            Some(Entry::Dynamic {
                bootstrap,
                name_and_type,
            }) => Constant::Dynamic(self.dynamic(bootstrap, name_and_type)?),
            _ => return self.wrong(index, "loadable constant"),
        })
    }
}

/// Reads the entry that starts with its tag at the front of `bytes`.
pub(crate) fn decode_entry(bytes: &[u8]) -> Option<Entry<'_>> {
    let (&tag, body) = bytes.split_first()?;
    let short = |at: usize| Some(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?]));
    let index = |at: usize| short(at).map(PoolIndex);
    let word = || body.first_chunk::<4>().copied();
    let long = || body.first_chunk::<8>().copied();
    Some(match tag {
        1 => Entry::Utf8(body.get(2..2 + short(0)? as usize)?),
        3 => Entry::Integer(i32::from_be_bytes(word()?)),
        4 => Entry::Float(f32::from_be_bytes(word()?)),
        5 => Entry::Long(i64::from_be_bytes(long()?)),
        6 => Entry::Double(f64::from_be_bytes(long()?)),
        7 => Entry::Class { name: index(0)? },
        8 => Entry::String { value: index(0)? },
        9 => Entry::Field {
            class: index(0)?,
            name_and_type: index(2)?,
        },
        10 => Entry::Method {
            class: index(0)?,
            name_and_type: index(2)?,
        },
        11 => Entry::InterfaceMethod {
            class: index(0)?,
            name_and_type: index(2)?,
        },
        12 => Entry::NameAndType {
            name: index(0)?,
            descriptor: index(2)?,
        },
        15 => Entry::MethodHandle {
            kind: *body.first()?,
            reference: index(1)?,
        },
        16 => Entry::MethodType {
            descriptor: index(0)?,
        },
        17 => Entry::Dynamic {
            bootstrap: short(0)?,
            name_and_type: index(2)?,
        },
        18 => Entry::InvokeDynamic {
            bootstrap: short(0)?,
            name_and_type: index(2)?,
        },
        19 => Entry::Module { name: index(0)? },
        20 => Entry::Package { name: index(0)? },
        _ => return None,
    })
}

impl HandleKind {
    fn from_byte(kind: u8) -> Option<Self> {
        Some(match kind {
            1 => Self::GetField,
            2 => Self::GetStatic,
            3 => Self::PutField,
            4 => Self::PutStatic,
            5 => Self::InvokeVirtual,
            6 => Self::InvokeStatic,
            7 => Self::InvokeSpecial,
            8 => Self::NewInvokeSpecial,
            9 => Self::InvokeInterface,
            _ => return None,
        })
    }

    /// Whether the handle reads or writes a field.
    pub fn is_field(self) -> bool {
        matches!(
            self,
            Self::GetField | Self::GetStatic | Self::PutField | Self::PutStatic
        )
    }
}
