//! What the reader asks of the agent.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use untorn_facts::Facts;
use untorn_plan::Steering;

/// Sent as JSON when an agent connects, or built from the agent's own options when it is used by hand.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Class patterns; none means every class outside the platform.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Array elements are locations too.
    pub arrays: bool,
    /// Entry and exit of every instrumented method.
    pub stacks: bool,
    /// What the JVMs that the program starts find in JAVA_TOOL_OPTIONS, so that they are watched too.
    pub children: Option<String>,
    /// Sites of a program that calls the runtime itself, instead of being rewritten; their ids count from 0.
    pub sites: Vec<HandSite>,
    /// How accesses and their records are made one.
    pub tracking: Tracking,
    /// Record accesses to objects that one thread alone has touched, too, when tracking is optimistic.
    pub keep_private: bool,
    /// Do not record locks that one thread alone has used: no analysis asks which locks are held.
    pub skip_lone_locks: bool,
    /// Send the class files of what is watched, for who judges findings by their code.
    pub code: bool,
    /// The specification of what ought to be atomic, in its TOML form.
    pub spec: Option<String>,
    pub mode: Mode,
    /// Where threads are held up; absent if the run is not steered.
    pub steering: Option<Steering>,
    /// What need not be watched, since it was proved; whether it holds of the classes that are loaded is for the agent to see.
    pub facts: Option<Facts>,
}

/// Packages of the platform: their classes are never rewritten, since the runtime stands on them.
const PLATFORM: [&str; 9] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "org.ietf.jgss.",
    "netscape.javascript.",
];

/// Whether a class is one of the platform's, or a pattern names nothing else.
pub fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package))
}

/// Packages of libraries that run tasks of others on threads of their own, and have them wait for each other.
const SCHEDULERS: [&str; 1] = ["kotlinx.coroutines."];
/// Whether a class only schedules what a program does, as the platform's executors and locks do.
///
/// Each task and each wait goes through such code, so a region around them would be torn by its queues and counters, in which nobody keeps anything.
pub fn is_scheduler(class: &str) -> bool {
    SCHEDULERS.iter().any(|package| class.starts_with(package))
}

/// Which of the runs of a multi-run analysis it is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The only one.
    #[default]
    Single,
    /// Only which transactions may depend on which is logged.
    First,
    /// Only what first runs chose is recorded.
    Second(Choice),
}

/// What a second run records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Choice {
    /// Events outside of regions, too.
    pub unary: bool,
    /// By the names of their classes, with dots.
    pub classes: BTreeMap<String, ChosenClass>,
    /// What a first run demoted, by class: no regions here.
    #[serde(default)]
    pub demoted: BTreeMap<String, BTreeSet<ChosenRegion>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChosenClass {
    /// Of the class files that the choice was made from; none if that is not known.
    pub hashes: BTreeSet<u64>,
    pub regions: BTreeSet<ChosenRegion>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ChosenRegion {
    pub method: String,
    pub descriptor: String,
    /// The number of a block in its method, from 1; none for the method itself.
    pub block: Option<u32>,
}

impl Choice {
    /// Whether nothing is recorded whatever the program does.
    pub fn is_empty(&self) -> bool {
        !self.unary && self.classes.values().all(|class| class.regions.is_empty())
    }
}

impl ChosenClass {
    /// Whether a class file of this hash is not among those that the choice was made from.
    pub fn is_stale(&self, hash: u64) -> bool {
        !self.hashes.is_empty() && !self.hashes.contains(&hash)
    }
}

/// How the order of conflicting accesses is learned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracking {
    /// Every access locks its object's shadow word.
    #[default]
    Pessimistic,
    /// Threads own shadow words, and give them up when others ask.
    Optimistic,
}

/// A site that somebody wrote by hand, as in tests of the runtime.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HandSite {
    /// With dots.
    pub class: String,
    /// The field, or what the location is called.
    pub field: String,
    pub access: HandAccess,
    pub writes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandAccess {
    Field,
    Static,
    Element,
    Content,
    /// A lock operation.
    None,
}
