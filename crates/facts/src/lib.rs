//! Facts: what `untorn check` proved of class files, in a form that a run can use and check.
//!
//! A fact is about a class file with one hash, and says what it rests on:
//! - [`Field::ReadOnly`] on the class files alone: whoever else writes the field names it in its own class file, and is noticed when it is loaded.
//! - [`Field::Confined`] and [`Class::locks`] on a closed world: the program starts at [`Facts::main`], and every class outside the platform is one of these.
//! - [`Facts::proved`] on what [`Facts::assumptions`] say.
//!
//! Whether that is so in a JVM is for the agent to find out; nothing here knows a JVM, and nothing here analyzes.
//!
//! The saved form is `untorn-facts/1`, a JSON object: see [`Facts`].

mod hash;

pub use hash::{Hash, hash_of};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The name and version of the saved form; a change that old readers cannot take raises the number.
pub const SCHEMA: &str = "untorn-facts/1";

/// What is known of a program.
///
/// ```json
/// {
///   "schema": "untorn-facts/1",
///   "tool": "0.1.0",
///   "main": "bank.Main",
///   "assumptions": [ "class initialization is no step of its own" ],
///   "classes": {
///     "bank.Account": {
///       "hash": "8c1f0a37d2f6be41",
///       "above": "java.lang.Object",
///       "analyzed": true,
///       "fields": { "balance J": "shared", "owner Ljava/lang/String;": "read-only" }
///     }
///   },
///   "proved": [ { "class": "bank.Account", "method": "deposit", "descriptor": "(J)V" } ]
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `untorn-facts/1`.
    pub schema: String,
    /// The version of Untorn that proved them.
    pub tool: String,
    /// The main class of a closed world; absent where any client may use the classes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub main: Option<String>,
    /// What they rest on besides the class files, in words.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// Classes outside the platform, by their names with dots.
    pub classes: BTreeMap<String, Class>,
    /// Regions that no run tears.
    #[serde(default)]
    pub proved: BTreeSet<Region>,
}

/// A class file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    pub hash: Hash,
    /// The superclass, with dots.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub above: Option<String>,
    /// Its bodies were looked at, rather than only used by others.
    pub analyzed: bool,
    /// Every field that it declares, by name and descriptor with a space between.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub fields: BTreeMap<String, Field>,
    /// Synchronized methods and blocks whose locks only one thread ever knows.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub locks: BTreeSet<Monitor>,
}

/// What is known of a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// Written only while its object is made and nobody else knows it, or while its class is initialized: it could be declared final.
    ReadOnly,
    /// Accessed only in objects that no other thread ever knows.
    Confined,
    /// Nothing that would be of use.
    Shared,
}

/// A synchronized method, or a synchronized block of a method.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    pub method: String,
    pub descriptor: String,
    /// From 1, in the order of the code; absent for the method itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<u32>,
}

/// A region that is atomic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// With dots.
    pub class: String,
    pub method: String,
    pub descriptor: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<u32>,
}

/// Why saved facts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not a file of facts: {0}")]
    NotFacts(#[source] serde_json::Error),
    #[error("the facts are of schema {found}, this version reads {SCHEMA}: check again")]
    OtherSchema { found: String },
}

/// How a field stands in [`Class::fields`].
pub fn key(name: &str, descriptor: &str) -> String {
    format!("{name} {descriptor}")
}

impl Facts {
    /// The facts as text, ending in a newline.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads saved facts, telling newer ones from something else.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_str(text).map_err(ReadError::NotFacts)?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherSchema { found: head.schema });
        }
        serde_json::from_str(text).map_err(ReadError::NotFacts)
    }

    /// What a run needs to leave sites out: all but what was proved of regions.
    pub fn of_classes(&self) -> Self {
        Self {
            proved: BTreeSet::new(),
            assumptions: Vec::new(),
            ..self.clone()
        }
    }

    /// The class that declares what is named as a field of a class, and what is known of it; `None` where the names lead out of the known classes.
    pub fn field<'a>(&'a self, class: &'a str, key: &str) -> Option<(&'a str, Field)> {
        // A file that somebody edited may have a circle.
        let mut at = class;
        for _ in 0..=self.classes.len() {
            let known = self.classes.get(at)?;
            if let Some(&field) = known.fields.get(key) {
                return Some((at, field));
            }
            at = known.above.as_deref()?;
        }
        None
    }

    /// How many fields are read-only and confined, and how many locks are of one thread.
    pub fn counts(&self) -> (usize, usize, usize) {
        let fields = |wanted: Field| {
            let all = self
                .classes
                .values()
                .flat_map(|class| class.fields.values());
            all.filter(|&&field| field == wanted).count()
        };
        let locks = self.classes.values().map(|class| class.locks.len()).sum();
        (fields(Field::ReadOnly), fields(Field::Confined), locks)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn class(above: Option<&str>, fields: &[(&str, Field)]) -> Class {
        Class {
            hash: Hash(7),
            above: above.map(str::to_owned),
            analyzed: true,
            fields: (fields.iter())
                .map(|&(key, field)| (key.to_owned(), field))
                .collect(),
            locks: BTreeSet::new(),
        }
    }

    fn facts(classes: &[(&str, Class)]) -> Facts {
        Facts {
            schema: SCHEMA.to_owned(),
            classes: (classes.iter())
                .map(|(name, class)| ((*name).to_owned(), class.clone()))
                .collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn a_field_is_found_where_it_is_declared() {
        let facts = facts(&[
            (
                "A",
                class(None, &[("x I", Field::ReadOnly), ("y I", Field::Confined)]),
            ),
            ("B", class(Some("A"), &[("x I", Field::Shared)])),
            ("C", class(Some("Unknown"), &[])),
            ("D", class(Some("D"), &[])),
        ]);
        assert_eq!(facts.field("B", "y I"), Some(("A", Field::Confined)));
        assert_eq!(
            facts.field("B", "x I"),
            Some(("B", Field::Shared)),
            "the nearer one hides it"
        );
        assert_eq!(facts.field("B", "x J"), None);
        assert_eq!(facts.field("C", "x I"), None);
        assert_eq!(facts.field("D", "x I"), None, "a circle ends");
    }

    #[test]
    fn what_is_saved_is_read_and_what_is_newer_is_told() {
        let facts = facts(&[("A", class(None, &[("x I", Field::ReadOnly)]))]);
        let text = facts.to_json().unwrap();
        assert_eq!(Facts::from_json(&text).unwrap(), facts);
        let newer = text.replace(SCHEMA, "untorn-facts/2");
        let said = Facts::from_json(&newer).unwrap_err().to_string();
        assert!(said.contains("untorn-facts/2"), "{said}");
        assert!(Facts::from_json("[1]").is_err() && Facts::from_json("").is_err());
    }
}
