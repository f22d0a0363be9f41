//! From descriptors to types.

use untorn_classfile::read::{FieldType, MethodType};

use super::table::{Classes, Type};
use crate::ids::ClassId;

impl Classes {
    /// The type of a field descriptor; Object for a malformed one, which the reader has refused already.
    pub(crate) fn field_type(&mut self, descriptor: &str) -> Type {
        match FieldType::parse(descriptor) {
            Some(parsed) => self.type_of(parsed),
            None => Type::Ref(self.intern_class("java/lang/Object")),
        }
    }

    /// The parameter and return types of a method descriptor.
    pub(crate) fn method_type(&mut self, descriptor: &str) -> (Box<[Type]>, Option<Type>) {
        let Some(parsed) = MethodType::parse(descriptor) else {
            return (Box::default(), None);
        };
        let params = parsed
            .parameters()
            .map(|param| self.type_of(param))
            .collect();
        let returns = parsed.returns().map(|returned| self.type_of(returned));
        (params, returns)
    }

    /// The class of a field descriptor, `None` if it is primitive.
    pub(crate) fn reference_class(&mut self, descriptor: &str) -> Option<ClassId> {
        let name = FieldType::parse(descriptor)?.class_name()?;
        Some(self.intern_class(name))
    }

    fn type_of(&mut self, parsed: FieldType<'_>) -> Type {
        match parsed {
            FieldType::Boolean
            | FieldType::Byte
            | FieldType::Char
            | FieldType::Short
            | FieldType::Int => Type::Int,
            FieldType::Float => Type::Float,
            FieldType::Long => Type::Long,
            FieldType::Double => Type::Double,
            FieldType::Object(name) | FieldType::Array(name) => Type::Ref(self.intern_class(name)),
        }
    }
}
