//! Field and method resolution (JVMS 5.4.3) and method selection (JVMS 5.4.6).
//!
//! Access control is not checked: what compiled and linked once is taken to be allowed.

use super::table::{ClassKind, Classes, Flags};
use crate::ids::{ClassId, FieldId, MethodId, Symbol};

impl Classes {
    /// JVMS 5.4.3.2: the class, its superinterfaces, then its superclass.
    pub fn resolve_field(
        &self,
        class: ClassId,
        name: Symbol,
        descriptor: Symbol,
    ) -> Option<FieldId> {
        for class in self.superclasses(class) {
            if let Some(field) = self.field_index.get(&(class, name, descriptor)) {
                return Some(*field);
            }
            // The interfaces of this class come before its superclass; order among them cannot matter in valid code.
            let inherited = self
                .supertypes(class)
                .iter()
                .filter(|ancestor| self.class(**ancestor).flags.is_interface())
                .find_map(|interface| self.field_index.get(&(*interface, name, descriptor)));
            if let Some(field) = inherited {
                return Some(*field);
            }
        }
        None
    }

    /// JVMS 5.4.3.3 and 5.4.3.4: superclasses, then maximally specific superinterface methods.
    pub fn resolve_method(
        &self,
        class: ClassId,
        name: Symbol,
        descriptor: Symbol,
    ) -> Option<MethodId> {
        let class = match self.class(class).kind {
            ClassKind::Array(_) => self.well_known.object,
            _ => class,
        };
        if let Some(method) = self.signature_polymorphic(class, name) {
            return Some(method);
        }
        self.superclasses(class)
            .find_map(|class| self.method_index.get(&(class, name, descriptor)).copied())
            .or_else(|| self.interface_method(class, name, descriptor))
            .or_else(|| {
                // An interface has Object's methods without extending it.
                let object = self.well_known.object;
                self.method_index.get(&(object, name, descriptor)).copied()
            })
    }

    /// JVMS 5.4.6: the method that runs when `method` is invoked on an object of class `receiver`.
    ///
    /// `None` if there is none to run: it is abstract there, or the class is missing.
    pub fn select(&self, receiver: ClassId, method: MethodId) -> Option<MethodId> {
        let resolved = self.method(method);
        if resolved.flags.is_private() || resolved.flags.is_static() || self.is_constructor(method)
        {
            return Some(method);
        }
        let receiver = match self.class(receiver).kind {
            ClassKind::Array(_) => self.well_known.object,
            _ => receiver,
        };
        let (name, descriptor) = (resolved.name, resolved.descriptor);
        let overriding = self.superclasses(receiver).find_map(|class| {
            let candidate = *self.method_index.get(&(class, name, descriptor))?;
            (candidate == method || self.overrides(candidate, method)).then_some(candidate)
        });
        overriding
            .or_else(|| self.interface_method(receiver, name, descriptor))
            .or_else(|| {
                let object = self.well_known.object;
                self.method_index.get(&(object, name, descriptor)).copied()
            })
            .filter(|selected| !self.method(*selected).flags.is_abstract())
    }

    /// JVMS 5.4.5, for a candidate of the same name and descriptor in a subclass.
    fn overrides(&self, candidate: MethodId, method: MethodId) -> bool {
        let (candidate, method) = (self.method(candidate), self.method(method));
        if candidate.flags.is_private() || candidate.flags.is_static() {
            return false;
        }
        method.flags.is_public()
            || method.flags.is_protected()
            || self.class(method.class).flags.is_interface()
            || self.package(candidate.class) == self.package(method.class)
    }

    /// A maximally specific superinterface method: a default one if there is any.
    fn interface_method(
        &self,
        class: ClassId,
        name: Symbol,
        descriptor: Symbol,
    ) -> Option<MethodId> {
        let mut best: Option<MethodId> = None;
        for ancestor in self.supertypes(class) {
            if !self.class(*ancestor).flags.is_interface() {
                continue;
            }
            let Some(candidate) = self
                .method_index
                .get(&(*ancestor, name, descriptor))
                .copied()
            else {
                continue;
            };
            let flags = self.method(candidate).flags;
            if flags.is_private() || flags.is_static() {
                continue;
            }
            let better = best.is_none_or(|best| {
                let (old, new) = (self.method(best).class, self.method(candidate).class);
                // The more specific wins; of unrelated ones the one with code.
                self.is_subtype(new, old)
                    || !self.is_subtype(old, new) && self.method(best).flags.is_abstract()
            });
            if better {
                best = Some(candidate);
            }
        }
        best
    }

    /// JVMS 2.9.3: `MethodHandle.invoke` and the access modes of `VarHandle` fit any descriptor.
    fn signature_polymorphic(&self, class: ClassId, name: Symbol) -> Option<MethodId> {
        if !matches!(
            self.class_name(class),
            "java/lang/invoke/MethodHandle" | "java/lang/invoke/VarHandle"
        ) {
            return None;
        }
        self.class(class).methods.iter().copied().find(|method| {
            let method = self.method(*method);
            let polymorphic = Flags::NATIVE | Flags::VARARGS;
            method.name == name && method.flags.0 & polymorphic == polymorphic
        })
    }
}
