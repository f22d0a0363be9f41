//! Attributes (JVMS 4.7) of classes, fields and methods; those of code are in [`code`](super::code).

use crate::error::Result;
use crate::read::annotations::{self, Annotation, ElementValue};
use crate::read::class::Access;
use crate::read::cursor::Cursor;
use crate::read::pool::{Constant, ConstantPool, PoolIndex};
use std::borrow::Cow;

/// An attribute as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Its name in modified UTF-8.
    pub name: &'a [u8],
    /// Its contents, after name and length.
    pub data: &'a [u8],
    pub(crate) name_index: PoolIndex,
    pub(crate) offset: u32,
}

impl<'a> Attribute<'a> {
    pub(crate) fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.data, self.offset)
    }
}

/// The attributes of one class, field, method or body.
///
/// If an attribute that may stand only once stands twice, the first counts.
#[derive(Debug, Clone, Default)]
pub struct Attributes<'a>(pub(crate) Vec<Attribute<'a>>);

/// An entry of `BootstrapMethods`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapMethod {
    /// A `MethodHandle` constant.
    pub handle: PoolIndex,
    /// Loadable constants.
    pub arguments: Vec<PoolIndex>,
}

/// An entry of `InnerClasses`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerClass<'a> {
    pub class: Cow<'a, str>,
    /// The class it is a member of; `None` if local or anonymous.
    pub outer: Option<Cow<'a, str>>,
    /// Its simple name; `None` if anonymous.
    pub name: Option<Cow<'a, str>>,
    pub access: Access,
}

/// Where a local or anonymous class stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosingMethod<'a> {
    pub class: Cow<'a, str>,
    /// Name and descriptor; `None` in an initializer.
    pub method: Option<(Cow<'a, str>, Cow<'a, str>)>,
}

/// A component of a record class.
#[derive(Debug, Clone)]
pub struct RecordComponent<'a> {
    pub name: Cow<'a, str>,
    pub descriptor: Cow<'a, str>,
    pub attributes: Attributes<'a>,
}

/// An entry of `MethodParameters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter<'a> {
    pub name: Option<Cow<'a, str>>,
    pub access: Access,
}

pub(crate) fn parse<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
) -> Result<Attributes<'a>> {
    let list = cursor.list(6, |cursor| {
        let name_index = PoolIndex(cursor.u16()?);
        let name = pool.utf8_bytes(name_index)?;
        let length = cursor.u32()? as usize;
        let offset = cursor.offset();
        Ok(Attribute {
            name,
            data: cursor.bytes(length)?,
            name_index,
            offset,
        })
    })?;
    Ok(Attributes(list))
}

impl<'a> Attributes<'a> {
    pub fn iter(&self) -> impl Iterator<Item = &Attribute<'a>> {
        self.0.iter()
    }

    /// The first attribute of that name.
    pub fn find(&self, name: &[u8]) -> Option<&Attribute<'a>> {
        self.0.iter().find(|attribute| attribute.name == name)
    }

    /// Reads the attribute of that name, which must be used up by `read`.
    pub(crate) fn read<T>(
        &self,
        name: &[u8],
        read: impl FnOnce(&mut Cursor<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        let mut cursor = attribute.cursor();
        let value = read(&mut cursor)?;
        cursor.finish()?;
        Ok(Some(value))
    }

    pub fn source_file(&self, pool: &ConstantPool<'a>) -> Result<Option<Cow<'a, str>>> {
        self.read(b"SourceFile", |cursor| pool.utf8(PoolIndex(cursor.u16()?)))
    }

    /// The generic signature, unparsed.
    pub fn signature(&self, pool: &ConstantPool<'a>) -> Result<Option<Cow<'a, str>>> {
        self.read(b"Signature", |cursor| pool.utf8(PoolIndex(cursor.u16()?)))
    }

    /// The initial value of a static field.
    pub fn constant_value(&self, pool: &ConstantPool<'a>) -> Result<Option<Constant<'a>>> {
        self.read(b"ConstantValue", |cursor| {
            pool.constant(PoolIndex(cursor.u16()?))
        })
    }

    pub fn bootstrap_methods(&self) -> Result<Vec<BootstrapMethod>> {
        self.read(b"BootstrapMethods", |cursor| {
            cursor.list(4, |cursor| {
                Ok(BootstrapMethod {
                    handle: PoolIndex(cursor.u16()?),
                    arguments: cursor.list(2, |cursor| cursor.u16().map(PoolIndex))?,
                })
            })
        })
        .map(Option::unwrap_or_default)
    }

    pub fn inner_classes(&self, pool: &ConstantPool<'a>) -> Result<Vec<InnerClass<'a>>> {
        self.read(b"InnerClasses", |cursor| {
            cursor.list(8, |cursor| {
                let class = pool.class_name(PoolIndex(cursor.u16()?))?;
                let outer = pool.optional_class_name(PoolIndex(cursor.u16()?))?;
                let name = optional_utf8(pool, PoolIndex(cursor.u16()?))?;
                Ok(InnerClass {
                    class,
                    outer,
                    name,
                    access: Access(cursor.u16()?),
                })
            })
        })
        .map(Option::unwrap_or_default)
    }

    pub fn enclosing_method(&self, pool: &ConstantPool<'a>) -> Result<Option<EnclosingMethod<'a>>> {
        self.read(b"EnclosingMethod", |cursor| {
            let class = pool.class_name(PoolIndex(cursor.u16()?))?;
            let method = PoolIndex(cursor.u16()?);
            let method = if method.is_none() {
                None
            } else {
                Some(pool.name_and_type(method)?)
            };
            Ok(EnclosingMethod { class, method })
        })
    }

    pub fn nest_host(&self, pool: &ConstantPool<'a>) -> Result<Option<Cow<'a, str>>> {
        self.read(b"NestHost", |cursor| {
            pool.class_name(PoolIndex(cursor.u16()?))
        })
    }

    pub fn nest_members(&self, pool: &ConstantPool<'a>) -> Result<Vec<Cow<'a, str>>> {
        self.class_list(b"NestMembers", pool)
    }

    pub fn permitted_subclasses(&self, pool: &ConstantPool<'a>) -> Result<Vec<Cow<'a, str>>> {
        self.class_list(b"PermittedSubclasses", pool)
    }

    /// The classes of a method's `throws` clause.
    pub fn exceptions(&self, pool: &ConstantPool<'a>) -> Result<Vec<Cow<'a, str>>> {
        self.class_list(b"Exceptions", pool)
    }

    fn class_list(&self, name: &[u8], pool: &ConstantPool<'a>) -> Result<Vec<Cow<'a, str>>> {
        self.read(name, |cursor| {
            cursor.list(2, |cursor| pool.class_name(PoolIndex(cursor.u16()?)))
        })
        .map(Option::unwrap_or_default)
    }

    /// Names and flags of a method's parameters, where the compiler kept them.
    pub fn method_parameters(&self, pool: &ConstantPool<'a>) -> Result<Vec<Parameter<'a>>> {
        self.read(b"MethodParameters", |cursor| {
            let count = cursor.u8()?;
            (0..count)
                .map(|_| {
                    let name = optional_utf8(pool, PoolIndex(cursor.u16()?))?;
                    Ok(Parameter {
                        name,
                        access: Access(cursor.u16()?),
                    })
                })
                .collect()
        })
        .map(Option::unwrap_or_default)
    }

    /// The components of a record class; `None` if the class is no record.
    pub fn record(&self, pool: &ConstantPool<'a>) -> Result<Option<Vec<RecordComponent<'a>>>> {
        self.read(b"Record", |cursor| {
            cursor.list(6, |cursor| {
                let name = pool.utf8(PoolIndex(cursor.u16()?))?;
                let descriptor = pool.utf8(PoolIndex(cursor.u16()?))?;
                Ok(RecordComponent {
                    name,
                    descriptor,
                    attributes: parse(cursor, pool)?,
                })
            })
        })
    }

    pub fn is_deprecated(&self) -> bool {
        self.find(b"Deprecated").is_some()
    }

    /// Whether the compiler made it up, by attribute (the access flag says so too).
    pub fn is_synthetic(&self) -> bool {
        self.find(b"Synthetic").is_some()
    }

    /// The annotations on a class, field or method, runtime visible and invisible.
    pub fn annotations(&self, pool: &ConstantPool<'a>) -> Result<Vec<Annotation<'a>>> {
        let mut all = Vec::new();
        for (name, visible) in ANNOTATIONS {
            if let Some(list) =
                self.read(name, |cursor| annotations::list(cursor, pool, visible))?
            {
                all.extend(list);
            }
        }
        Ok(all)
    }

    /// The annotations on each parameter of a method, runtime visible and invisible.
    pub fn parameter_annotations(
        &self,
        pool: &ConstantPool<'a>,
    ) -> Result<Vec<Vec<Annotation<'a>>>> {
        let mut all: Vec<Vec<Annotation<'a>>> = Vec::new();
        for (name, visible) in PARAMETER_ANNOTATIONS {
            self.read(name, |cursor| {
                for parameter in 0..cursor.u8()? as usize {
                    if all.len() <= parameter {
                        all.push(Vec::new());
                    }
                    all[parameter].extend(annotations::list(cursor, pool, visible)?);
                }
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// The default value of an annotation interface's element.
    pub fn annotation_default(&self, pool: &ConstantPool<'a>) -> Result<Option<ElementValue<'a>>> {
        self.read(b"AnnotationDefault", |cursor| {
            annotations::value(cursor, pool)
        })
    }
}

const ANNOTATIONS: [(&[u8], bool); 2] = [
    (b"RuntimeVisibleAnnotations", true),
    (b"RuntimeInvisibleAnnotations", false),
];
const PARAMETER_ANNOTATIONS: [(&[u8], bool); 2] = [
    (b"RuntimeVisibleParameterAnnotations", true),
    (b"RuntimeInvisibleParameterAnnotations", false),
];

fn optional_utf8<'a>(pool: &ConstantPool<'a>, index: PoolIndex) -> Result<Option<Cow<'a, str>>> {
    if index.is_none() {
        Ok(None)
    } else {
        pool.utf8(index).map(Some)
    }
}
