//! The editor of a class: methods are edited one by one, all else is copied as it stands.

use crate::edit::body;
use crate::edit::error::{EditError, Result};
use crate::edit::method::{Identity, MethodEditor};
use crate::edit::pool::Pool;
use crate::edit::state::State;
use crate::error::{Error, ErrorKind};
use crate::read::{Access, ClassFile, Member, MethodType, PoolIndex, VType};

/// Collects changes to a class and writes it anew; what is not changed keeps its bytes.
#[derive(Debug, Clone)]
pub struct ClassEditor<'a> {
    class: ClassFile<'a>,
    /// The constants, to which edits add what they name.
    pub pool: Pool<'a>,
    /// Access flags of the class, free to change.
    pub access: Access,
    bodies: Vec<Option<Rewritten>>,
    field_access: Vec<(usize, Access)>,
    unannotated: Vec<usize>,
    new_fields: Vec<u8>,
    new_field_count: usize,
    new_methods: Vec<u8>,
    new_method_count: usize,
    new_attributes: Vec<u8>,
    new_attribute_count: usize,
}

#[derive(Debug, Clone)]
struct Rewritten {
    access: Access,
    name: PoolIndex,
    code: Option<Vec<u8>>,
}

impl<'a> ClassEditor<'a> {
    pub fn new(class: ClassFile<'a>) -> Self {
        Self {
            pool: Pool::new(class.pool.clone()),
            access: class.access,
            bodies: vec![None; class.methods.len()],
            field_access: Vec::new(),
            unannotated: Vec::new(),
            new_fields: Vec::new(),
            new_field_count: 0,
            new_methods: Vec::new(),
            new_method_count: 0,
            new_attributes: Vec::new(),
            new_attribute_count: 0,
            class,
        }
    }

    /// The class as it stands in the file.
    pub fn class(&self) -> &ClassFile<'a> {
        &self.class
    }

    /// Opens the body of a method of the file; `None` if it has none.
    ///
    /// Changes count when the method is [put back](Self::put).
    pub fn method(&self, index: usize) -> Result<Option<MethodEditor<'a>>> {
        MethodEditor::open(&self.class, index)
    }

    /// Takes a method with its changes, or a new one with its body.
    ///
    /// If it fails, for one with [`EditError::MethodTooLarge`], the class is as if it had not
    /// been tried, constants apart.
    pub fn put(&mut self, mut method: MethodEditor<'a>) -> Result<()> {
        let code = body::write(&mut method, &mut self.pool)?;
        let Identity {
            index,
            name,
            descriptor,
            ..
        } = method.identity;
        if let Some(index) = index {
            self.bodies[index] = Some(Rewritten {
                access: method.access,
                name,
                code: Some(code),
            });
            return Ok(());
        }
        let attribute_name = self.pool.utf8("Code")?;
        let out = &mut self.new_methods;
        for part in [method.access.0, name.0, descriptor.0, 1, attribute_name.0] {
            out.extend(part.to_be_bytes());
        }
        out.extend((code.len() as u32).to_be_bytes());
        out.extend(code);
        self.new_method_count += 1;
        Ok(())
    }

    /// Starts a new method with an empty body; [`put`](Self::put) adds it to the class.
    pub fn new_method(
        &mut self,
        access: Access,
        name: &str,
        descriptor: &str,
    ) -> Result<MethodEditor<'a>> {
        let this_class = self.class.this_class;
        let utf8 = self.pool.utf8(descriptor)?;
        let mut entry = State::default();
        if !access.has(Access::STATIC) {
            entry.locals.push(match name {
                "<init>" => VType::UninitializedThis,
                _ => VType::of_class(self.pool.base(), this_class)?,
            });
        }
        let bytes = self.pool.utf8_or_empty(utf8);
        let malformed = EditError::Read(Error {
            offset: 0,
            kind: ErrorKind::Descriptor,
        });
        if MethodType::parse(descriptor).is_none() {
            return Err(malformed);
        }
        let mut at = 1;
        while bytes.get(at).is_some_and(|&byte| byte != b')') {
            let Some((parsed, next)) = VType::in_descriptor(utf8, bytes, at) else {
                return Err(malformed);
            };
            entry.locals.extend(parsed.slots());
            at = next;
        }
        let identity = Identity {
            index: None,
            name: self.pool.utf8(name)?,
            descriptor: utf8,
            this_class,
        };
        Ok(MethodEditor::empty(
            self.class.major >= 50,
            access,
            identity,
            &entry,
        ))
    }

    /// Adds a method without a body: abstract or native.
    pub fn add_bodiless_method(
        &mut self,
        access: Access,
        name: &str,
        descriptor: &str,
    ) -> Result<()> {
        let (name, descriptor) = (self.pool.utf8(name)?, self.pool.utf8(descriptor)?);
        for part in [access.0, name.0, descriptor.0, 0] {
            self.new_methods.extend(part.to_be_bytes());
        }
        self.new_method_count += 1;
        Ok(())
    }

    pub fn add_field(&mut self, access: Access, name: &str, descriptor: &str) -> Result<()> {
        let (name, descriptor) = (self.pool.utf8(name)?, self.pool.utf8(descriptor)?);
        for part in [access.0, name.0, descriptor.0, 0] {
            self.new_fields.extend(part.to_be_bytes());
        }
        self.new_field_count += 1;
        Ok(())
    }

    /// Adds an attribute to the class.
    pub fn add_attribute(&mut self, name: &str, data: &[u8]) -> Result<()> {
        let name = self.pool.utf8(name)?;
        let length =
            u32::try_from(data.len()).map_err(|_| EditError::TooMany("attribute bytes"))?;
        self.new_attributes.extend(name.0.to_be_bytes());
        self.new_attributes.extend(length.to_be_bytes());
        self.new_attributes.extend_from_slice(data);
        self.new_attribute_count += 1;
        Ok(())
    }

    /// Changes the access flags of a field of the file.
    pub fn set_field_access(&mut self, index: usize, access: Access) -> Result<()> {
        if index >= self.class.fields.len() {
            return Err(EditError::NoSuchMember {
                what: "field",
                index,
            });
        }
        self.field_access.push((index, access));
        Ok(())
    }

    /// Changes flags or name of a method of the file, whether it has a body or not.
    ///
    /// For a method that is edited too, call this after [`put`](Self::put).
    pub fn set_method_header(&mut self, index: usize, access: Access, name: &str) -> Result<()> {
        let name = self.pool.utf8(name)?;
        let Some(slot) = self.bodies.get_mut(index) else {
            return Err(EditError::NoSuchMember {
                what: "method",
                index,
            });
        };
        let code = slot.take().and_then(|rewritten| rewritten.code);
        *slot = Some(Rewritten { access, name, code });
        Ok(())
    }

    /// Leaves the annotations that are kept at run time off a method that is [edited](Self::put).
    pub fn drop_annotations(&mut self, index: usize) {
        self.unannotated.push(index);
    }

    /// The edited class file.
    pub fn finish(&self) -> Result<Vec<u8>> {
        let class = &self.class;
        let grown: usize = self
            .bodies
            .iter()
            .flatten()
            .filter_map(|body| body.code.as_ref())
            .map(Vec::len)
            .sum();
        let added = self.pool.added_bytes();
        let mut out = Vec::with_capacity(class.bytes.len() + grown + added.len() + 1024);
        out.extend_from_slice(&class.bytes[..8]);
        out.extend(body::short(self.pool.count(), "constants")?);
        out.extend_from_slice(&class.bytes[10..class.pool_end as usize]);
        out.extend_from_slice(added);
        for part in [self.access.0, class.this_class.0, class.super_class.0] {
            out.extend(part.to_be_bytes());
        }
        out.extend(body::short(class.interfaces.len(), "interfaces")?);
        for interface in &class.interfaces {
            out.extend(interface.0.to_be_bytes());
        }
        out.extend(body::short(
            class.fields.len() + self.new_field_count,
            "fields",
        )?);
        for (index, field) in class.fields.iter().enumerate() {
            let start = out.len();
            out.extend_from_slice(field.bytes);
            if let Some((_, access)) = self
                .field_access
                .iter()
                .rfind(|(changed, _)| *changed == index)
            {
                out[start..start + 2].copy_from_slice(&access.0.to_be_bytes());
            }
        }
        out.extend_from_slice(&self.new_fields);
        out.extend(body::short(
            class.methods.len() + self.new_method_count,
            "methods",
        )?);
        for (index, (method, body)) in class.methods.iter().zip(&self.bodies).enumerate() {
            match body {
                Some(rewritten) => {
                    let annotated = !self.unannotated.contains(&index);
                    write_method(method, rewritten, annotated, &mut out)?;
                }
                None => out.extend_from_slice(method.bytes),
            }
        }
        out.extend_from_slice(&self.new_methods);
        out.extend(body::short(
            class.attributes.0.len() + self.new_attribute_count,
            "attributes",
        )?);
        for attribute in class.attributes.iter() {
            out.extend(attribute.name_index.0.to_be_bytes());
            out.extend((attribute.data.len() as u32).to_be_bytes());
            out.extend_from_slice(attribute.data);
        }
        out.extend_from_slice(&self.new_attributes);
        Ok(out)
    }
}

fn write_method(
    method: &Member<'_>,
    rewritten: &Rewritten,
    annotated: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    for part in [
        rewritten.access.0,
        rewritten.name.0,
        method.descriptor_index.0,
    ] {
        out.extend(part.to_be_bytes());
    }
    let kept = |name: &[u8]| annotated || name != b"RuntimeVisibleAnnotations";
    let attributes = method.attributes.0.iter().filter(|it| kept(it.name));
    out.extend(body::short(attributes.clone().count(), "attributes")?);
    let mut code = rewritten.code.as_deref();
    for attribute in attributes {
        let data = match attribute.name {
            b"Code" => code.take().unwrap_or(attribute.data),
            _ => attribute.data,
        };
        out.extend(attribute.name_index.0.to_be_bytes());
        out.extend((data.len() as u32).to_be_bytes());
        out.extend_from_slice(data);
    }
    Ok(())
}
