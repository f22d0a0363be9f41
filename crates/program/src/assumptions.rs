//! What the model assumed because the input did not say: counted, never silent.

use std::collections::BTreeMap;

/// A kind of assumption, with what its subject names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// A referenced class is nowhere: it is taken to have no superclass but Object and no code (subject: class).
    MissingClass,
    /// A field or method does not resolve: it is taken to exist as referenced (subject: member).
    MissingMember,
    /// A class file does not parse and is left out (subject: file and reason).
    UnreadableClass,
    /// A class is found more than once: the first wins (subject: class and the later place).
    DuplicateClass,
    /// A class file's own name is not the name it was found under (subject: place).
    MisnamedClass,
    /// An archive entry has a name that leaves the archive: it is ignored (subject: entry).
    UnsafeEntryName,
    /// An archive entry exceeds a limit: it is ignored (subject: entry).
    EntryTooLarge,
    /// A nested archive does not parse and is left out (subject: entry).
    UnreadableArchive,
    /// An entry of the class path does not exist (subject: path).
    MissingPathEntry,
    /// A class is its own supertype: the closing link is cut (subject: class).
    CyclicHierarchy,
    /// A method's code cannot be brought into SSA form and has no body (subject: method and reason).
    UnreadableBody,
    /// A monitor region is not properly nested: it counts as held where every path holds it (subject: method).
    UnmatchedMonitor,
    /// An explicit lock is not released on every path of its method (subject: method).
    UnmatchedLock,
    /// A call of reflection or method handles that the model does not follow (subject: called method).
    Reflection,
    /// A native method without a model: its result is a new object of its return type (subject: method).
    NativeMethod,
    /// A library method whose code is not entered by the library model (subject: method).
    OpaqueCall,
    /// An invokedynamic whose bootstrap is not understood (subject: bootstrap method).
    UnknownBootstrap,
    /// A virtual call to an object of unknown class: taken to do nothing but return (subject: method).
    UnknownReceiver,
}

/// Every assumption made, by kind and subject.
#[derive(Debug, Clone, Default)]
pub struct Assumptions {
    counts: BTreeMap<Assumption, BTreeMap<String, u64>>,
}

impl Assumptions {
    /// Counts one assumption.
    pub fn add(&mut self, kind: Assumption, subject: impl Into<String>) {
        *self
            .counts
            .entry(kind)
            .or_default()
            .entry(subject.into())
            .or_default() += 1;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: Assumptions) {
        for (kind, subjects) in other.counts {
            let own = self.counts.entry(kind).or_default();
            for (subject, count) in subjects {
                *own.entry(subject).or_default() += count;
            }
        }
    }

    /// How many different subjects an assumption of this kind was made about.
    pub fn subjects(&self, kind: Assumption) -> usize {
        self.counts.get(&kind).map_or(0, BTreeMap::len)
    }

    /// How often an assumption of this kind was made.
    pub fn count(&self, kind: Assumption) -> u64 {
        self.counts
            .get(&kind)
            .map_or(0, |subjects| subjects.values().sum())
    }

    /// All assumptions: kind, subject, count; ordered.
    pub fn iter(&self) -> impl Iterator<Item = (Assumption, &str, u64)> {
        self.counts.iter().flat_map(|(kind, subjects)| {
            subjects
                .iter()
                .map(move |(subject, count)| (*kind, subject.as_str(), *count))
        })
    }
}
