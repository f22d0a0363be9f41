//! What to load and how.

use std::path::PathBuf;
use std::time::Instant;

use crate::load::{JdkChoice, Limits};

/// What to load and how to look at it.
#[derive(Debug, Clone, Default)]
pub struct LoadPlan {
    /// Folders, jars and class files whose classes are analyzed.
    pub inputs: Vec<PathBuf>,
    /// Classes of the JDK that are analyzed as well, as a user writes them: `java.util.Vector`.
    pub jdk_classes: Vec<String>,
    /// Where the classes that the inputs use are found.
    pub classpath: Vec<PathBuf>,
    /// The JDK whose classes they use.
    pub jdk: JdkChoice,
    /// The main class of an application; without one the inputs are a library.
    pub main: Option<String>,
    /// The release multi-release jars are read for; that of the JDK if not given.
    pub release: Option<u16>,
    /// Whether objects are told apart by their class alone, rather than by where they are made.
    pub by_class: bool,
    /// Whether jars that are packed into an input beside classes of its own are libraries that it uses, as if they were on the class path, and no inputs.
    pub packed_are_libraries: bool,
    /// When to stop telling objects apart by where they are made, if that is not done by then.
    pub hurry: Option<Instant>,
    /// Bounds on what is read.
    pub limits: Limits,
}
