//! Which variables are looked at together, and which not at all.
//!
//! Paper: section 4, the partition of views by the class of the fields; section 3.3, shared and read-only variables.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use untorn_program::{ClassId, FieldId, Program};

use crate::domain::{Entry, SetId, Sets, VarId, Variable, Variables};
use crate::execution::Execution;
use crate::options::Options;

/// The number of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// An interned set of entries of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(u32);

/// What a set has of one group.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The group.
    pub group: GroupId,
    /// Whether there is a write among it.
    pub writes: bool,
    /// The entries.
    pub id: PartId,
}

type Key = (ClassId, Option<FieldId>);
type Known = IndexSet<(GroupId, Box<[Entry]>), FxBuildHasher>;

/// Groups of variables.
#[derive(Debug)]
pub struct Grouping<'a> {
    sets: &'a Sets,
    /// For each variable its group; `None` if it is left out.
    of: Vec<Option<GroupId>>,
    /// The class of each group, and the field if it is what that refers to; `None` if all classes are one group.
    classes: IndexSet<Option<Key>, FxBuildHasher>,
    /// For each set its parts, found when first asked for: most methods share their set with others.
    parts: RefCell<FxHashMap<SetId, Rc<[Part]>>>,
    known: RefCell<Known>,
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
        let mut classes: IndexSet<Option<Key>, FxBuildHasher> = IndexSet::default();
        let of = variables
            .iter()
            .map(|(id, variable)| {
                let of = &use_of[id.0 as usize];
                let kept = shared(of) && (of.written || !options.read_only_fields);
                // A collection has its own consistency, as if its fields could be seen.
                let content = match variable {
                    Variable::Content(field) => Some(field),
                    _ => None,
                };
                let key = (options.partition).then(|| (variable.class(program.classes()), content));
                kept.then(|| GroupId(classes.insert_full(key).0 as u32))
            })
            .collect();
        Self {
            sets,
            of,
            classes,
            parts: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// The group of a variable; `None` if it is left out.
    pub fn group(&self, variable: VarId) -> Option<GroupId> {
        self.of[variable.0 as usize]
    }

    /// The class of a group; `None` if it is the only group.
    pub fn class(&self, group: GroupId) -> Option<ClassId> {
        self.classes[group.0 as usize].map(|(class, _)| class)
    }

    /// Whether an entry is of a group.
    pub fn has(&self, group: GroupId, entry: Entry) -> bool {
        self.group(entry.variable()) == Some(group)
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// The parts of a set, ascending by group.
    pub fn parts(&self, set: SetId) -> Rc<[Part]> {
        let mut parts = self.parts.borrow_mut();
        Rc::clone(parts.entry(set).or_insert_with(|| self.divide(set)))
    }

    /// Whether a set has entries of a group.
    pub fn touches(&self, group: GroupId, set: SetId) -> bool {
        self.part(group, set).is_some()
    }

    /// Whether a set has writes of a group.
    pub fn writes(&self, group: GroupId, set: SetId) -> bool {
        self.part(group, set).is_some_and(|part| part.writes)
    }

    /// The entries of a part, ascending.
    pub fn entries(&self, part: PartId) -> Box<[Entry]> {
        self.known.borrow()[part.0 as usize].1.clone()
    }

    /// The group of a part.
    pub fn group_of(&self, part: PartId) -> GroupId {
        self.known.borrow()[part.0 as usize].0
    }

    fn part(&self, group: GroupId, set: SetId) -> Option<Part> {
        let parts = self.parts(set);
        let at = parts.binary_search_by_key(&group, |part| part.group).ok()?;
        Some(parts[at])
    }

    fn divide(&self, set: SetId) -> Rc<[Part]> {
        let mut found: BTreeMap<GroupId, Vec<Entry>> = BTreeMap::new();
        for entry in self.sets.get(set) {
            if let Some(group) = self.group(entry.variable()) {
                found.entry(group).or_default().push(*entry);
            }
        }
        let mut known = self.known.borrow_mut();
        let part = |(group, entries): (GroupId, Vec<Entry>)| Part {
            group,
            writes: entries.iter().any(|entry| entry.is_write()),
            id: PartId(known.insert_full((group, entries.into())).0 as u32),
        };
        found.into_iter().map(part).collect()
    }
}

#[derive(Debug, Clone, Default)]
struct Use {
    by: Vec<usize>,
    written: bool,
}
