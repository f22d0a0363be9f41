//! From a class file to what the tables need of it.

use std::path::PathBuf;
use std::sync::Arc;

use untorn_classfile::read::Access;
use untorn_classfile::{ClassFile, Error};

use crate::load::{Found, Origin};

/// What the tables keep of a class file, read off the main thread.
#[derive(Debug)]
pub struct ParsedClass {
    pub name: String,
    pub superclass: Option<String>,
    pub interfaces: Vec<String>,
    pub access: u16,
    pub fields: Vec<ParsedMember>,
    pub methods: Vec<ParsedMember>,
    pub generic: bool,
    pub nameable: bool,
    pub source_file: Option<String>,
    pub origin: Origin,
    pub place: PathBuf,
    pub bytes: Arc<[u8]>,
}

/// A field or method of a class file.
#[derive(Debug)]
pub struct ParsedMember {
    pub access: u16,
    pub name: String,
    pub descriptor: String,
    pub has_code: bool,
}

impl ParsedClass {
    /// Reads the structure of a class file; code is read when its method is needed.
    pub fn read(found: Found) -> Result<Self, (PathBuf, Error)> {
        match Self::parse(&found.bytes) {
            Ok(mut parsed) => {
                parsed.origin = found.origin;
                parsed.place = found.place;
                parsed.bytes = found.bytes.into();
                Ok(parsed)
            }
            Err(error) => Err((found.place, error)),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let file = ClassFile::parse(bytes)?;
        let fields = file
            .fields
            .iter()
            .map(|field| {
                field.field_type()?;
                Ok(ParsedMember {
                    access: field.access.0,
                    name: field.name.to_string(),
                    descriptor: field.descriptor.to_string(),
                    has_code: false,
                })
            })
            .collect::<Result<_, Error>>()?;
        let methods = file
            .methods
            .iter()
            .map(|method| {
                method.method_type()?;
                Ok(ParsedMember {
                    access: method.access.0,
                    name: method.name.to_string(),
                    descriptor: method.descriptor.to_string(),
                    has_code: method.attributes.find(b"Code").is_some(),
                })
            })
            .collect::<Result<_, Error>>()?;
        // Debug attributes that do not parse cost their information, not the class.
        let signature = file.attributes.signature(&file.pool).ok().flatten();
        let source_file = file.attributes.source_file(&file.pool).ok().flatten();
        let inner = file
            .attributes
            .inner_classes(&file.pool)
            .unwrap_or_default();
        let own = inner.iter().find(|inner| inner.class == file.name);
        let hidden = own.is_some_and(|own| own.outer.is_none() || own.access.has(Access::PRIVATE));
        Ok(Self {
            nameable: !hidden && !file.access.has(Access::SYNTHETIC),
            name: file.name.to_string(),
            superclass: file.super_name.as_deref().map(str::to_owned),
            interfaces: file
                .interface_names()
                .map(|name| name.map(String::from))
                .collect::<Result<_, Error>>()?,
            access: file.access.0,
            fields,
            methods,
            generic: signature.is_some_and(|signature| signature.starts_with('<')),
            source_file: source_file.map(String::from),
            origin: Origin::ClassPath,
            place: PathBuf::new(),
            bytes: Arc::from([]),
        })
    }
}
