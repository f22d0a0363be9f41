//! The class file itself (JVMS 4.1) with its fields and methods.

use crate::error::{ErrorKind, Result};
use crate::read::attributes::{Attributes, BootstrapMethod};
use crate::read::code::Code;
use crate::read::cursor::Cursor;
use crate::read::descriptor::{FieldType, MethodType};
use crate::read::pool::{ConstantPool, PoolIndex};
use crate::{Error, read::attributes};
use std::borrow::Cow;

/// Access flags of a class, field or method, as they stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Access(pub u16);

impl Access {
    pub const PUBLIC: Self = Self(0x0001);
    pub const PRIVATE: Self = Self(0x0002);
    pub const PROTECTED: Self = Self(0x0004);
    pub const STATIC: Self = Self(0x0008);
    pub const FINAL: Self = Self(0x0010);
    /// Of a method.
    pub const SYNCHRONIZED: Self = Self(0x0020);
    /// Of a field.
    pub const VOLATILE: Self = Self(0x0040);
    /// Of a method.
    pub const BRIDGE: Self = Self(0x0040);
    /// Of a field.
    pub const TRANSIENT: Self = Self(0x0080);
    /// Of a method.
    pub const VARARGS: Self = Self(0x0080);
    pub const NATIVE: Self = Self(0x0100);
    pub const INTERFACE: Self = Self(0x0200);
    pub const ABSTRACT: Self = Self(0x0400);
    pub const SYNTHETIC: Self = Self(0x1000);
    pub const ANNOTATION: Self = Self(0x2000);
    pub const ENUM: Self = Self(0x4000);
    pub const MODULE: Self = Self(0x8000);

    /// Whether all bits of `flags` are set.
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    #[must_use]
    pub fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    #[must_use]
    pub fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

/// A class file, borrowed from its bytes.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    pub(crate) bytes: &'a [u8],
    pub minor: u16,
    pub major: u16,
    pub pool: ConstantPool<'a>,
    pub access: Access,
    pub this_class: PoolIndex,
    pub super_class: PoolIndex,
    /// Internal name of this class.
    pub name: Cow<'a, str>,
    /// Internal name of the superclass; `None` for `java/lang/Object` and module descriptors.
    pub super_name: Option<Cow<'a, str>>,
    pub interfaces: Vec<PoolIndex>,
    pub fields: Vec<Member<'a>>,
    pub methods: Vec<Member<'a>>,
    pub attributes: Attributes<'a>,
    /// Where the constant pool ends, that is, where the access flags stand.
    pub(crate) pool_end: u32,
}

/// A field or a method.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    pub access: Access,
    pub name: Cow<'a, str>,
    pub descriptor: Cow<'a, str>,
    pub(crate) name_index: PoolIndex,
    pub(crate) descriptor_index: PoolIndex,
    pub attributes: Attributes<'a>,
    /// The bytes of the whole `field_info` or `method_info`.
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u32,
}

/// A field: a [`Member`] whose descriptor is a field type.
pub type Field<'a> = Member<'a>;
/// A method: a [`Member`] whose descriptor is a method type.
pub type Method<'a> = Member<'a>;

impl<'a> ClassFile<'a> {
    /// Reads the structure of a class file; the contents of attributes are read when asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        if u32::try_from(bytes.len()).is_err() || cursor.u32()? != 0xcafe_babe {
            return cursor.fail(ErrorKind::BadMagic);
        }
        let (minor, major) = (cursor.u16()?, cursor.u16()?);
        let pool = ConstantPool::parse(&mut cursor, bytes)?;
        let pool_end = cursor.offset();
        let access = Access(cursor.u16()?);
        let this_class = PoolIndex(cursor.u16()?);
        let super_class = PoolIndex(cursor.u16()?);
        let name = pool.class_name(this_class)?;
        let super_name = pool.optional_class_name(super_class)?;
        let interfaces = cursor.list(2, |cursor| cursor.u16().map(PoolIndex))?;
        let fields = cursor.list(8, |cursor| member(cursor, &pool, bytes))?;
        let methods = cursor.list(8, |cursor| member(cursor, &pool, bytes))?;
        let attributes = attributes::parse(&mut cursor, &pool)?;
        cursor.finish()?;
        Ok(Self {
            bytes,
            minor,
            major,
            pool,
            access,
            this_class,
            super_class,
            name,
            super_name,
            interfaces,
            fields,
            methods,
            attributes,
            pool_end,
        })
    }

    /// The class file as it was read.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Internal names of the direct superinterfaces.
    pub fn interface_names(&self) -> impl Iterator<Item = Result<Cow<'a, str>>> + '_ {
        self.interfaces
            .iter()
            .map(|&index| self.pool.class_name(index))
    }

    /// The bootstrap method that an `invokedynamic` or a dynamic constant names.
    pub fn bootstrap_method(&self, index: u16) -> Result<BootstrapMethod> {
        let mut methods = self.attributes.bootstrap_methods()?;
        if (index as usize) < methods.len() {
            Ok(methods.swap_remove(index as usize))
        } else {
            Err(Error {
                offset: 0,
                kind: ErrorKind::BootstrapMethod(index),
            })
        }
    }
}

fn member<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    file: &'a [u8],
) -> Result<Member<'a>> {
    let offset = cursor.offset();
    let access = Access(cursor.u16()?);
    let name_index = PoolIndex(cursor.u16()?);
    let descriptor_index = PoolIndex(cursor.u16()?);
    let attributes = attributes::parse(cursor, pool)?;
    Ok(Member {
        access,
        name: pool.utf8(name_index)?,
        descriptor: pool.utf8(descriptor_index)?,
        name_index,
        descriptor_index,
        attributes,
        bytes: &file[offset as usize..cursor.offset() as usize],
        offset,
    })
}

impl<'a> Member<'a> {
    /// The body of a method; `None` if it is abstract or native.
    pub fn code(&self, pool: &ConstantPool<'a>) -> Result<Option<Code<'a>>> {
        self.attributes
            .find(b"Code")
            .map(|attribute| Code::parse(attribute, pool))
            .transpose()
    }

    /// The descriptor of a method, taken apart.
    pub fn method_type(&self) -> Result<MethodType<'_>> {
        MethodType::parse(&self.descriptor).ok_or(Error {
            offset: self.offset,
            kind: ErrorKind::Descriptor,
        })
    }

    /// The descriptor of a field, taken apart.
    pub fn field_type(&self) -> Result<FieldType<'_>> {
        FieldType::parse(&self.descriptor).ok_or(Error {
            offset: self.offset,
            kind: ErrorKind::Descriptor,
        })
    }

    pub fn is_static(&self) -> bool {
        self.access.has(Access::STATIC)
    }

    /// Whether this method is a constructor.
    pub fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }
}
