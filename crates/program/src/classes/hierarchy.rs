//! Subtyping, and the least common superclass that types a phi.

use super::table::{ClassKind, Classes, Type};
use crate::ids::ClassId;

impl Classes {
    /// Whether `sub` is `class` or one of its subtypes (JVMS 4.10.1.2, arrays covariant).
    ///
    /// What is known of a missing class is only that it is itself and an Object.
    pub fn is_subtype(&self, sub: ClassId, class: ClassId) -> bool {
        if sub == class || class == self.well_known.object {
            return true;
        }
        match (self.class(sub).kind, self.class(class).kind) {
            (ClassKind::Array(Some(from)), ClassKind::Array(Some(to))) => self.is_subtype(from, to),
            (ClassKind::Array(_), ClassKind::Array(_)) => false,
            (ClassKind::Array(_), _) => {
                matches!(
                    self.class_name(class),
                    "java/lang/Cloneable" | "java/io/Serializable"
                )
            }
            _ => self.class(sub).ancestors.binary_search(&class).is_ok(),
        }
    }

    /// Itself and every loaded supertype of a class.
    pub fn supertypes(&self, class: ClassId) -> &[ClassId] {
        &self.class(class).ancestors
    }

    /// The superclasses of a class, itself first.
    pub fn superclasses(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        std::iter::successors(Some(class), |class| self.class(*class).superclass)
    }

    /// The type of a value that is one of the two: the least common superclass, Object where interfaces differ.
    pub(crate) fn join(&self, left: Type, right: Type) -> Type {
        match (left, right) {
            _ if left == right => left,
            (Type::Null, Type::Ref(_)) => right,
            (Type::Ref(a), Type::Ref(b)) => {
                if self.is_subtype(a, b) {
                    return right;
                }
                if self.is_subtype(b, a) {
                    return left;
                }
                let common = self
                    .superclasses(a)
                    .find(|class| self.is_subtype(b, *class));
                Type::Ref(common.unwrap_or(self.well_known.object))
            }
            _ => left,
        }
    }
}
