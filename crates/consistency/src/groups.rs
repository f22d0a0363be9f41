//! Which variables are looked at together, and which not at all.
//!
//! Paper: section 4, the partition of views by the class of the fields; section 3.3, shared and read-only variables.

use std::cell::RefCell;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use untorn_program::{ClassId, Program};

use crate::domain::{Entry, SetId, Sets, VarId, Variables};
use crate::execution::Execution;
use crate::options::Options;

/// The number of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// Groups of variables.
#[derive(Debug)]
pub struct Grouping<'a> {
    sets: &'a Sets,
    /// For each variable its group; `None` if it is left out.
    of: Vec<Option<GroupId>>,
    /// The class of each group; `None` if all classes are one group.
    classes: IndexSet<Option<ClassId>, FxBuildHasher>,
    /// Groups of a set, each with whether it is written.
    parts: RefCell<FxHashMap<SetId, Vec<(GroupId, bool)>>>,
}

impl<'a> Grouping<'a> {
    /// Groups the variables of all executions.
    pub fn new(
        program: &Program,
        options: &Options,
        variables: &Variables,
        sets: &'a Sets,
        executions: &[Execution],
    ) -> Self {
        let mut use_of = vec![Use::default(); variables.len()];
        for (number, execution) in executions.iter().enumerate() {
            for state in &execution.states {
                for (_, entry) in &state.accesses {
                    let of = &mut use_of[entry.variable().0 as usize];
                    of.written |= entry.is_write();
                    if of.by.last() != Some(&number) {
                        of.by.push(number);
                    }
                }
            }
        }
        let threads = program.threads();
        let concurrent = |left: &usize, right: &usize| {
            threads.are_concurrent(executions[*left].thread, executions[*right].thread)
        };
        let shared = |of: &Use| {
            let pairs = of.by.iter().flat_map(|a| of.by.iter().map(move |b| (a, b)));
            pairs.into_iter().any(|(a, b)| concurrent(a, b))
        };
        let mut classes: IndexSet<Option<ClassId>, FxBuildHasher> = IndexSet::default();
        let of = variables
            .iter()
            .map(|(id, variable)| {
                let of = &use_of[id.0 as usize];
                let kept = shared(of) && (of.written || !options.read_only_fields);
                let class = options.partition.then(|| variable.class(program.classes()));
                kept.then(|| GroupId(classes.insert_full(class).0 as u32))
            })
            .collect();
        Self {
            sets,
            of,
            classes,
            parts: RefCell::default(),
        }
    }

    /// The group of a variable; `None` if it is left out.
    pub fn group(&self, variable: VarId) -> Option<GroupId> {
        self.of[variable.0 as usize]
    }

    /// The class of a group; `None` if it is the only group.
    pub fn class(&self, group: GroupId) -> Option<ClassId> {
        self.classes[group.0 as usize]
    }

    /// Whether an entry is of a group.
    pub fn has(&self, group: GroupId, entry: Entry) -> bool {
        self.group(entry.variable()) == Some(group)
    }

    /// The groups that a set has entries of, ascending.
    pub fn groups(&self, set: SetId) -> Vec<GroupId> {
        self.part(set, |parts| parts.iter().map(|(group, _)| *group).collect())
    }

    /// Whether a set has entries of a group.
    pub fn touches(&self, group: GroupId, set: SetId) -> bool {
        self.part(set, |parts| parts.iter().any(|(own, _)| *own == group))
    }

    /// Whether a set has writes of a group.
    pub fn writes(&self, group: GroupId, set: SetId) -> bool {
        self.part(set, |parts| parts.contains(&(group, true)))
    }

    /// The entries of a set that are of a group, ascending.
    pub fn restrict(&self, set: SetId, group: GroupId) -> Vec<Entry> {
        let own = |entry: &&Entry| self.has(group, **entry);
        self.sets.get(set).iter().filter(own).copied().collect()
    }

    fn part<T>(&self, set: SetId, look: impl FnOnce(&[(GroupId, bool)]) -> T) -> T {
        let mut parts = self.parts.borrow_mut();
        look(parts.entry(set).or_insert_with(|| {
            let mut found: Vec<(GroupId, bool)> = Vec::new();
            for entry in self.sets.get(set) {
                let Some(group) = self.group(entry.variable()) else {
                    continue;
                };
                match found.iter_mut().find(|(own, _)| *own == group) {
                    Some((_, written)) => *written |= entry.is_write(),
                    None => found.push((group, entry.is_write())),
                }
            }
            found.sort_unstable();
            found
        }))
    }
}

#[derive(Debug, Clone, Default)]
struct Use {
    by: Vec<usize>,
    written: bool,
}
