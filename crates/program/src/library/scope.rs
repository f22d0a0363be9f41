//! Which library code is entered, which classes need a context, which are values.

use untorn_library::scope::{Scope as Lists, scope};

use crate::load::Origin;

/// What the [library model](untorn_library::scope) says of whole classes.
#[derive(Debug, Clone, Copy)]
pub struct Scope(&'static Lists);

impl Scope {
    pub(super) fn embedded() -> Self {
        Self(scope())
    }

    /// Whether the code of a library class is read.
    pub fn is_entered(&self, class: &str, origin: Origin) -> bool {
        let opaque = longest(self.0.opaque, class);
        let entered = longest(self.0.entered, class);
        match (opaque, entered) {
            (None, None) => origin != Origin::Jdk,
            (opaque, entered) => entered > opaque,
        }
    }

    /// Whether a class is analyzed once per receiver object.
    pub fn is_container(&self, class: &str) -> bool {
        longest(self.0.containers, class).is_some()
    }

    /// Whether this very class is a kind of collection.
    pub fn is_collection(&self, class: &str) -> bool {
        self.0.collections.contains(&class)
    }

    /// Whether all instances of a class are one abstract object.
    pub fn is_merged(&self, class: &str) -> bool {
        self.0.merged.iter().any(|name| {
            if name.ends_with('/') {
                class.starts_with(*name)
            } else {
                class == *name
            }
        })
    }

    /// Whether the effect of a method is not followed.
    pub fn is_reflection(&self, class: &str, method: &str) -> bool {
        self.0.reflection.iter().any(|entry| {
            entry
                .rsplit_once('.')
                .is_some_and(|(owner, name)| owner == class && (name == "*" || name == method))
        })
    }

    /// Whether threads and executors run instances of this very class.
    pub fn is_task(&self, class: &str) -> bool {
        self.0.tasks.contains(&class)
    }

    /// Whether what an instance holds belongs to one thread at a time.
    pub fn is_thread_local(&self, class: &str) -> bool {
        self.0.thread_local.contains(&class)
    }

    /// Whether this very class changes and takes no lock.
    pub fn is_unlocked(&self, class: &str) -> bool {
        self.0.unlocked.contains(&class)
    }

    /// Whether a class does input or output.
    pub fn is_io(&self, class: &str) -> bool {
        longest(self.0.io, class).is_some()
    }
}

fn longest(prefixes: &[&str], name: &str) -> Option<usize> {
    prefixes
        .iter()
        .filter(|prefix| name.starts_with(**prefix))
        .map(|prefix| prefix.len())
        .max()
}
