//! Library models: what is known of library methods without their code.
//!
//! The data is in `models/*.toml`, its words in `models/README.md`.

mod effect;
mod scope;

pub use effect::{Access, Callback, Effect, LockAction, LockMode, Operand, Returns, Stamped, Waits};
pub use scope::Scope;

use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::error::LoadError;
use crate::ids::{ClassId, MethodId};
use crate::load::Origin;

const SCOPE: &str = include_str!("../../models/scope.toml");
const EFFECTS: [(&str, &str); 5] = [
    ("threads.toml", include_str!("../../models/threads.toml")),
    ("locks.toml", include_str!("../../models/locks.toml")),
    ("objects.toml", include_str!("../../models/objects.toml")),
    ("atomics.toml", include_str!("../../models/atomics.toml")),
    (
        "collections.toml",
        include_str!("../../models/collections.toml"),
    ),
];

/// All models.
#[derive(Debug)]
pub struct Library {
    scope: Scope,
    effects: FxHashMap<String, Vec<Effect>>,
}

impl Library {
    /// The models that come with the crate.
    pub fn embedded() -> Result<Self, LoadError> {
        let scope = Scope::parse("scope.toml", SCOPE)?;
        let mut effects: FxHashMap<String, Vec<Effect>> = FxHashMap::default();
        for (name, text) in EFFECTS {
            for effect in effect::parse(name, text)? {
                for method in &effect.names {
                    effects
                        .entry(format!("{}.{method}", effect.class))
                        .or_default()
                        .push(effect.clone());
                }
            }
        }
        Ok(Self { scope, effects })
    }

    /// Which classes are entered, need a context, are values.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The model of a method: that of its class or the nearest supertype that has one.
    ///
    /// Code that is entered is never modelled, whatever it extends.
    pub fn effect(&self, classes: &Classes, method: MethodId) -> Option<&Effect> {
        let info = classes.method(method);
        if info.has_code && self.is_entered(classes, info.class) {
            return None;
        }
        self.find(classes, method)
    }

    /// What a method means for locks, its own code notwithstanding: whoever implements `Lock` is one.
    pub fn lock_effect(&self, classes: &Classes, method: MethodId) -> Option<&Effect> {
        self.find(classes, method)
            .filter(|effect| effect.is_about_locks())
    }

    /// The names of all methods that have to do with locks.
    pub fn lock_names(&self) -> impl Iterator<Item = &str> {
        let about_locks = self.effects.values().flatten();
        about_locks
            .filter(|effect| effect.is_about_locks())
            .flat_map(|effect| &effect.names)
            .map(String::as_str)
    }

    fn find(&self, classes: &Classes, method: MethodId) -> Option<&Effect> {
        let info = classes.method(method);
        let name = classes.method_name(method);
        let descriptor = classes.method_descriptor(method);
        let find = |class: ClassId| {
            let key = format!("{}.{name}", classes.class_name(class));
            self.effects
                .get(&key)?
                .iter()
                .find(|effect| effect.fits(descriptor))
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
    pub fn is_container(&self, classes: &Classes, class: ClassId) -> bool {
        self.scope.is_container(classes.class_name(class)) || self.is_task(classes, class)
    }

    /// Whether threads and executors run instances of a class.
    pub fn is_task(&self, classes: &Classes, class: ClassId) -> bool {
        classes
            .supertypes(class)
            .iter()
            .any(|above| self.scope.is_task(classes.class_name(*above)))
    }
}
