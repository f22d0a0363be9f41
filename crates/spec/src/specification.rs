//! The specification: a heuristic, what is added and taken away, and what may be assumed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClassFacts, Heuristic, MethodFacts, Pattern, Stage};

/// What ought to be atomic, as the user says it in `untorn.toml` or a file of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Specification {
    pub heuristic: Heuristic,
    /// Regions added to what the heuristic proposes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<Pattern>,
    /// Regions taken away; stronger than `include`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Pattern>,
    /// Threads in which nothing is a region, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_threads: Vec<Pattern>,
    /// What analyses may take for granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assume: Vec<Assumption>,
    /// Declared guards of fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<Guard>,
    /// Declared atomicities of methods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub atomicity: Vec<Atomicity>,
    /// Further specifications: a region must be in all of them too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<Specification>,
}

/// Something analyses may take for granted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    pub what: Assume,
    /// A method for `atomic` and `mover`, a field for `guarded`, any of them or a file for `no_warn`.
    pub of: Pattern,
    /// For `no_warn` of a file: the line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Assume {
    /// The method is one step.
    Atomic,
    /// The method is no step at all.
    Mover,
    /// The field is always protected.
    Guarded,
    /// Nothing is reported of it.
    NoWarn,
}

/// A declared guard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Guard {
    pub field: Pattern,
    /// A lock expression, such as `this` or `this.lock`.
    pub by: String,
    /// The guard protects writes; reads may go without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes_only: bool,
}

/// A declared atomicity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Atomicity {
    pub method: Pattern,
    /// In the notation of annotations, such as `this ? mover : atomic`.
    pub is: String,
}

/// Why a region is or is not to be atomic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    Heuristic(Heuristic),
    /// It is annotated, and the heuristic heeds that.
    Annotated,
    Included(Pattern),
    Excluded(Pattern),
    /// A further specification does not have it.
    NotInAll,
    /// It is a block of which nobody can say where it ends.
    Unstructured,
    /// Nothing names it.
    Unnamed,
}

/// Whether a region ought to be atomic, and which rule says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    pub atomic: bool,
    pub rule: Rule,
}

/// Why a specification cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(#[from] toml::de::Error);

/// A file of its own holds the specification at the top, and `untorn.toml` under `[spec]`.
#[derive(Deserialize)]
struct InProject {
    spec: Specification,
}

impl Specification {
    /// Reads a specification file, or the `[spec]` table of an `untorn.toml`.
    pub fn from_toml(text: &str) -> Result<Self, ReadError> {
        let table: toml::Table = toml::from_str(text)?;
        if table.contains_key("spec") {
            return Ok(toml::from_str::<InProject>(text)?.spec);
        }
        Ok(toml::from_str(text)?)
    }

    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Whether a method, or the block of it with this number from 1, ought to be atomic.
    pub fn decide(
        &self,
        stage: Stage,
        class: &ClassFacts,
        method: &MethodFacts,
        block: Option<u32>,
    ) -> Decision {
        let names = |pattern: &&Pattern| {
            pattern.matches_region(&class.name, &method.name, &method.descriptor, block)
        };
        let not = |rule| Decision {
            atomic: false,
            rule,
        };
        if block.is_some() && method.unstructured {
            return not(Rule::Unstructured);
        }
        if let Some(pattern) = self.exclude.iter().find(names) {
            return not(Rule::Excluded(pattern.clone()));
        }
        let rule = if let Some(pattern) = self.include.iter().find(names) {
            Rule::Included(pattern.clone())
        } else {
            let proposed = match block {
                None => self.heuristic.proposes_method(stage, class, method),
                Some(_) => self.heuristic.proposes_blocks(method),
            };
            if !proposed {
                return not(Rule::Unnamed);
            }
            if block.is_none() && method.is_annotated_atomic() {
                Rule::Annotated
            } else {
                Rule::Heuristic(self.heuristic)
            }
        };
        let in_all =
            (self.and.iter()).all(|other| other.decide(stage, class, method, block).atomic);
        if in_all {
            Decision { atomic: true, rule }
        } else {
            not(Rule::NotInAll)
        }
    }

    /// Whether regions of this thread are left alone.
    pub fn excludes_thread(&self, name: &str) -> bool {
        (self.exclude_threads.iter()).any(|pattern| pattern.matches_name(name))
            || (self.and.iter()).any(|other| other.excludes_thread(name))
    }

    /// The specification whose regions are those that both have.
    pub fn intersect(mut self, mut other: Self) -> Self {
        if self == other {
            return self;
        }
        // What may be assumed is not a matter of regions: either user said it, so both hold.
        for assumption in std::mem::take(&mut other.assume) {
            if !self.assume.contains(&assumption) {
                self.assume.push(assumption);
            }
        }
        if self.heuristic == other.heuristic
            && self.include == other.include
            && self.and == other.and
        {
            self.exclude.extend(other.exclude);
            self.exclude.sort();
            self.exclude.dedup();
            self.exclude_threads.extend(other.exclude_threads);
            self.exclude_threads.sort();
            self.exclude_threads.dedup();
        } else {
            self.and.push(other);
        }
        self
    }
}

impl Rule {
    /// Whether nobody said that the region is meant to be one step: a run may find out that it is not, and leave it out from then on.
    pub fn is_guess(&self) -> bool {
        matches!(self, Self::Heuristic(Heuristic::Auto))
    }

    /// Whether a region that this rule makes is meant to be one step even where the thread waits in it.
    ///
    /// What only a rule of thumb proposes is not: such a region ends where the thread begins to wait, and begins anew behind.
    pub fn spans_waits(&self) -> bool {
        !matches!(
            self,
            Self::Heuristic(Heuristic::Auto | Heuristic::AllMethods)
        )
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Heuristic(heuristic) => write!(f, "heuristic {}", heuristic.name()),
            Self::Annotated => write!(f, "annotated"),
            Self::Included(pattern) => write!(f, "included by {pattern}"),
            Self::Excluded(pattern) => write!(f, "excluded by {pattern}"),
            Self::NotInAll => write!(f, "not in every specification"),
            Self::Unstructured => write!(f, "its end is not the same on all ways"),
            Self::Unnamed => write!(f, "named by nothing"),
        }
    }
}
