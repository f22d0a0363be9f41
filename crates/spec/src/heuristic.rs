//! Rules of thumb for what ought to be atomic when nobody has said so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClassFacts, MethodFacts};

/// For what regions are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// A program is watched while it runs: what tears nothing costs little, and what was not meant to be one step is found out on the way.
    Run,
    /// Class files are checked.
    Check,
}

/// A rule of thumb.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Heuristic {
    /// In a run every method and every synchronized block, and what turns out not to be meant as one step is left out on the way;
    /// in a check synchronized methods and blocks, and exported methods of classes that expect several threads or, in an application, that several threads call.
    /// Not where threads, executors and test frameworks start, not methods that themselves wait, notify, sleep, park, join or await, and in a run not those that start threads or make at most one access.
    #[default]
    Auto,
    /// Every method but thread entries and those that interrupt themselves (DoubleChecker's starting point).
    AllMethods,
    /// Exported methods, and synchronized methods and blocks (Atomizer's).
    #[serde(rename = "export+synch")]
    ExportSynch,
    /// Synchronized methods and blocks (Atomizer's narrower one).
    Synch,
    /// Only what is annotated: `@Atomic` methods, and the exported methods of `@Atomic` and `@ThreadSafe` classes.
    Annotated,
    /// Nothing: only what is included by pattern.
    None,
}

impl Heuristic {
    /// Its name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::AllMethods => "all-methods",
            Self::ExportSynch => "export+synch",
            Self::Synch => "synch",
            Self::Annotated => "annotated",
            Self::None => "none",
        }
    }

    /// Whether the heuristic proposes this method.
    pub fn proposes_method(self, stage: Stage, class: &ClassFacts, method: &MethodFacts) -> bool {
        if !method.has_code || method.is_initializer() || is(&method.annotations, "NotAtomic") {
            return false;
        }
        if method.is_annotated_atomic() {
            return self != Self::None;
        }
        let entry = class.is_thread_entry(method);
        match self {
            Self::Auto if stage == Stage::Run => {
                !class.is_started(method)
                    && !method.interrupts
                    && !method.starts_threads
                    && !method.is_tiny
                    && !method.is_bridge()
            }
            Self::Auto => {
                !entry
                    && !method.interrupts
                    && (method.is_synchronized
                        || (method.is_exported()
                            && (method.is_shared || class.expects_threads_in(method))))
            }
            Self::AllMethods => !entry && !method.interrupts && !method.is_suspend(),
            Self::ExportSynch => !entry && (method.is_exported() || method.is_synchronized),
            Self::Synch => method.is_synchronized,
            Self::Annotated => {
                method.is_exported()
                    && !entry
                    && (is(&class.annotations, "ThreadSafe") || is(&class.annotations, "Atomic"))
            }
            Self::None => false,
        }
    }

    /// Whether the heuristic proposes the blocks of this method.
    pub fn proposes_blocks(self, method: &MethodFacts) -> bool {
        match self {
            // A block around a wait is a guarded wait: it lets others in on purpose.
            Self::Auto => !method.interrupts,
            Self::ExportSynch | Self::Synch => true,
            Self::AllMethods | Self::Annotated | Self::None => false,
        }
    }
}

fn is(annotations: &[String], name: &str) -> bool {
    annotations.iter().any(|annotation| annotation == name)
}
