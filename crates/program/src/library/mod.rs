//! What is known of library methods without their code, by the [library model](untorn_library::flow).

mod scope;

pub use scope::Scope;
pub use untorn_library::flow::{
    Access, Callback, Effect, LockAction, LockMode, Operand, Returns, Stamped, Waits,
};

use rustc_hash::FxHashMap;
use untorn_library::flow::effects;

use crate::classes::{Classes, Type};
use crate::ids::{ClassId, MethodId};
use crate::load::Origin;

/// All models.
#[derive(Debug)]
pub struct Library {
    scope: Scope,
    /// By class and name.
    effects: FxHashMap<(&'static str, &'static str), Vec<&'static Effect>>,
}

impl Library {
    /// The models that come with the program.
    pub fn embedded() -> Self {
        let mut by_method: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for effect in effects() {
            for class in effect.classes {
                for name in effect.names {
                    by_method.entry((*class, *name)).or_default().push(effect);
                }
            }
        }
        Self {
            scope: Scope::embedded(),
            effects: by_method,
        }
    }

    /// Which classes are entered, need a context, are values.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The model of a method: that of its class or the nearest supertype that has one.
    ///
    /// Code that is entered is never modelled, whatever it extends.
    pub fn effect(&self, classes: &Classes, method: MethodId) -> Option<&'static Effect> {
        let info = classes.method(method);
        if info.has_code && self.is_entered(classes, info.class) {
            return None;
        }
        self.find(classes, method)
    }

    /// What a method means for locks, its own code notwithstanding: whoever implements `Lock` is one.
    pub fn lock_effect(&self, classes: &Classes, method: MethodId) -> Option<&'static Effect> {
        self.find(classes, method)
            .filter(|effect| effect.is_about_locks())
    }

    /// The names of all methods that have to do with locks.
    pub fn lock_names(&self) -> impl Iterator<Item = &'static str> {
        let about_locks = effects().iter().filter(|effect| effect.is_about_locks());
        about_locks.flat_map(|effect| effect.names).copied()
    }

    fn find(&self, classes: &Classes, method: MethodId) -> Option<&'static Effect> {
        let info = classes.method(method);
        let name = classes.method_name(method);
        let descriptor = classes.method_descriptor(method);
        let find = |class: ClassId| {
            let effects = self.effects.get(&(classes.class_name(class), name))?;
            (effects.iter().copied()).find(|effect| effect.fits(descriptor))
        };
        // The class itself and its superclasses come before interfaces.
        classes.superclasses(info.class).find_map(find).or_else(|| {
            classes
                .supertypes(info.class)
                .iter()
                .find_map(|class| find(*class))
        })
    }

    /// Whether the code of a class is read, or only its model.
    pub fn is_entered(&self, classes: &Classes, class: ClassId) -> bool {
        match classes.class(class).origin {
            Origin::Input => true,
            origin => self.scope.is_entered(classes.class_name(class), origin),
        }
    }

    /// Whether a class is analyzed once per receiver object: containers, wrappers, threads and tasks.
    ///
    /// Outside of the JDK a class is a container if it declares type parameters or is nested in one that does, or if it is a collection, map or iterator;
    /// it is a wrapper if it has just one field of an interface that it implements itself.
    pub fn is_container(&self, classes: &Classes, class: ClassId) -> bool {
        self.scope.is_container(classes.class_name(class))
            || self.is_task(classes, class)
            || classes.class(class).origin != Origin::Jdk
                && (is_generic(classes, class)
                    || self.is_collection(classes, class)
                    || wraps(classes, class))
    }

    fn is_collection(&self, classes: &Classes, class: ClassId) -> bool {
        classes
            .supertypes(class)
            .iter()
            .any(|above| self.scope.is_collection(classes.class_name(*above)))
    }

    /// Whether threads and executors run instances of a class.
    pub fn is_task(&self, classes: &Classes, class: ClassId) -> bool {
        classes
            .supertypes(class)
            .iter()
            .any(|above| self.scope.is_task(classes.class_name(*above)))
    }
}

/// Whether a class, or one it is nested in, declares type parameters.
fn is_generic(classes: &Classes, class: ClassId) -> bool {
    let mut name = classes.class_name(class);
    let mut at = Some(class);
    loop {
        if at.is_some_and(|class| classes.class(class).generic) {
            return true;
        }
        match name.rsplit_once('$') {
            Some((outer, _)) => name = outer,
            None => return false,
        }
        at = classes.find(name);
    }
}

/// Whether a class has just one instance field of an interface that it implements itself.
fn wraps(classes: &Classes, class: ClassId) -> bool {
    let own = &classes.class(class).fields;
    let mut wrapped = own.iter().filter(|field| {
        let field = classes.field(**field);
        let of = match field.ty {
            Type::Ref(of) if !field.flags.is_static() => of,
            _ => return false,
        };
        of != class && classes.class(of).flags.is_interface() && classes.is_subtype(class, of)
    });
    wrapped.next().is_some() && wrapped.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_a_model_of_threads_and_of_values() {
        let library = Library::embedded();
        assert!(library.scope().is_merged("java/lang/String"));
        assert!(!library.scope().is_merged("java/lang/StringBuffer"));
        assert!(library.scope().is_merged("java/time/Instant"));
        assert!(
            library
                .scope()
                .is_reflection("java/lang/invoke/MethodHandle", "invokeExact")
        );
        assert!(library.effects.contains_key(&("java/lang/Thread", "start")));
    }
}
