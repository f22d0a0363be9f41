//! Which library code is entered, which classes need a context, which are values.

use serde::Deserialize;

use crate::error::LoadError;
use crate::load::Origin;

/// The content of `scope.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    opaque: Vec<String>,
    entered: Vec<String>,
    containers: Vec<String>,
    collections: Vec<String>,
    merged: Vec<String>,
    reflection: Vec<String>,
    io: Vec<String>,
    thread_local: Vec<String>,
    tasks: Vec<String>,
}

impl Scope {
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, LoadError> {
        toml::from_str(text).map_err(|error| LoadError::BadModel {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Whether the code of a library class is read.
    pub fn is_entered(&self, class: &str, origin: Origin) -> bool {
        let opaque = longest(&self.opaque, class);
        let entered = longest(&self.entered, class);
        match (opaque, entered) {
            (None, None) => origin != Origin::Jdk,
            (opaque, entered) => entered > opaque,
        }
    }

    /// Whether a class is analyzed once per receiver object.
    pub fn is_container(&self, class: &str) -> bool {
        longest(&self.containers, class).is_some()
    }

    /// Whether this very class is a kind of collection.
    pub fn is_collection(&self, class: &str) -> bool {
        self.collections.iter().any(|name| name == class)
    }

    /// Whether all instances of a class are one abstract object.
    pub fn is_merged(&self, class: &str) -> bool {
        self.merged.iter().any(|name| {
            if name.ends_with('/') {
                class.starts_with(name)
            } else {
                class == name
            }
        })
    }

    /// Whether the effect of a method is not followed.
    pub fn is_reflection(&self, class: &str, method: &str) -> bool {
        self.reflection.iter().any(|entry| {
            entry
                .rsplit_once('.')
                .is_some_and(|(owner, name)| owner == class && (name == "*" || name == method))
        })
    }

    /// Whether threads and executors run instances of this very class.
    pub fn is_task(&self, class: &str) -> bool {
        self.tasks.iter().any(|name| name == class)
    }

    /// Whether what an instance holds belongs to one thread at a time.
    pub fn is_thread_local(&self, class: &str) -> bool {
        self.thread_local.iter().any(|name| name == class)
    }

    /// Whether a class does input or output.
    pub fn is_io(&self, class: &str) -> bool {
        longest(&self.io, class).is_some()
    }
}

fn longest(prefixes: &[String], name: &str) -> Option<usize> {
    prefixes
        .iter()
        .filter(|prefix| name.starts_with(prefix.as_str()))
        .map(String::len)
        .max()
}
