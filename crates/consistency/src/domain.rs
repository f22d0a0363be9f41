//! Variables, views, overlap and chain.
//!
//! Paper: von Praun and Gross, "Static Detection of Atomicity Violations in Object-Oriented Programs", section 2.
//! An *entry* is a variable with r or w.
//! A *lock view* has one entry per variable, w if the variable is written; a *method view* has both for every variable.
//! Views are sets of entries: ascending lists, interned, since most methods of a program share the view of something they call.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use untorn_program::classes::Classes;
use untorn_program::{ClassId, FieldId};

/// What a view speaks of: field symbols, as in the paper, and with `--arrays` what arrays hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// A field, of whatever object.
    Field(FieldId),
    /// The elements of arrays that a field holds.
    Elements(FieldId),
    /// The elements of arrays of a type that no field holds.
    Array(ClassId),
    /// What the concurrent collection or atomic variable holds that a field refers to.
    Content(FieldId),
    /// What the ordinary collection, builder or calendar holds that a field refers to: part of the state of the field's class.
    State(FieldId),
}

impl Variable {
    /// The class whose invariants it takes part in.
    pub fn class(self, classes: &Classes) -> ClassId {
        match self {
            Self::Field(field)
            | Self::Elements(field)
            | Self::Content(field)
            | Self::State(field) => classes.field(field).class,
            Self::Array(class) => class,
        }
    }

    /// As messages name it, without its class.
    pub fn name(self, classes: &Classes) -> String {
        match self {
            Self::Field(field) => classes.field_name(field).to_owned(),
            Self::Elements(field) => format!("{}[]", classes.field_name(field)),
            Self::Array(_) => "elements".to_owned(),
            Self::Content(field) | Self::State(field) => {
                format!("content of {}", classes.field_name(field))
            }
        }
    }
}

/// The number of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarId(pub u32);

/// All variables met.
#[derive(Debug, Default)]
pub struct Variables {
    set: IndexSet<Variable, FxBuildHasher>,
}

impl Variables {
    /// The number of a variable, new if it was not met before.
    pub fn id(&mut self, variable: Variable) -> VarId {
        VarId(self.set.insert_full(variable).0 as u32)
    }

    /// A variable by its number.
    pub fn get(&self, id: VarId) -> Variable {
        self.set[id.0 as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, Variable)> + '_ {
        (self.set.iter().enumerate()).map(|(index, variable)| (VarId(index as u32), *variable))
    }
}

/// A variable with r or w; the entries of one variable are neighbours in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry(u32);

impl Entry {
    /// That a variable is read.
    pub fn read(variable: VarId) -> Self {
        Self(variable.0 << 1)
    }

    /// That a variable is written.
    pub fn write(variable: VarId) -> Self {
        Self(variable.0 << 1 | 1)
    }

    /// Its variable.
    pub fn variable(self) -> VarId {
        VarId(self.0 >> 1)
    }

    /// Whether it is a write.
    pub fn is_write(self) -> bool {
        self.0 & 1 == 1
    }
}

/// An interned set of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(u32);

/// The table of sets.
#[derive(Debug)]
pub struct Sets {
    table: IndexSet<Box<[Entry]>, FxBuildHasher>,
    unions: FxHashMap<Box<[SetId]>, SetId>,
    /// One bit for each entry, all zero between unions.
    scratch: Vec<u64>,
}

impl Default for Sets {
    fn default() -> Self {
        let mut table = IndexSet::default();
        table.insert(Box::from([]));
        Self {
            table,
            unions: FxHashMap::default(),
            scratch: Vec::new(),
        }
    }
}

impl Sets {
    /// The empty set.
    pub const EMPTY: SetId = SetId(0);

    /// The set of some entries, in any order.
    pub fn intern(&mut self, mut entries: Vec<Entry>) -> SetId {
        entries.sort_unstable();
        entries.dedup();
        SetId(self.table.insert_full(entries.into_boxed_slice()).0 as u32)
    }

    /// The entries of a set, ascending.
    pub fn get(&self, id: SetId) -> &[Entry] {
        &self.table[id.0 as usize]
    }

    /// The union of two sets.
    pub fn union(&mut self, left: SetId, right: SetId) -> SetId {
        self.union_all(vec![left, right])
    }

    /// The union of some sets: in one go, since what comes out on the way would be kept as well.
    pub fn union_all(&mut self, mut sets: Vec<SetId>) -> SetId {
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| *set != Self::EMPTY);
        match sets.as_slice() {
            [] => return Self::EMPTY,
            [one] => return *one,
            _ => {}
        }
        if let Some(known) = self.unions.get(sets.as_slice()) {
            return *known;
        }
        for set in &sets {
            for entry in &self.table[set.0 as usize] {
                let word = entry.0 as usize / 64;
                if word >= self.scratch.len() {
                    self.scratch.resize(word + 1, 0);
                }
                self.scratch[word] |= 1 << (entry.0 % 64);
            }
        }
        let mut union: Vec<Entry> = Vec::new();
        for (word, bits) in self.scratch.iter_mut().enumerate() {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                union.push(Entry(word as u32 * 64 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        let union = SetId(self.table.insert_full(union.into_boxed_slice()).0 as u32);
        self.unions.insert(sets.into_boxed_slice(), union);
        union
    }
}

/// The lock view of a set of accesses: one entry per variable, w if it is written.
pub fn lock_view(accesses: &[Entry]) -> Vec<Entry> {
    let mut view: Vec<Entry> = Vec::with_capacity(accesses.len());
    for entry in accesses {
        match view.last_mut() {
            Some(last) if last.variable() == entry.variable() => *last = *entry,
            _ => view.push(*entry),
        }
    }
    view
}

/// The method view of a set of accesses: both entries of every variable.
pub fn method_view(accesses: &[Entry]) -> Vec<Entry> {
    let mut view: Vec<Entry> = Vec::with_capacity(accesses.len() * 2);
    for entry in accesses {
        let variable = entry.variable();
        if view.last().is_none_or(|last| last.variable() != variable) {
            view.extend([Entry::read(variable), Entry::write(variable)]);
        }
    }
    view
}

/// What two views have in common; both ascending.
pub fn overlap(left: &[Entry], right: &[Entry]) -> Vec<Entry> {
    let mut rest = right;
    left.iter()
        .filter(|entry| {
            let skip = rest.partition_point(|other| other < *entry);
            rest = &rest[skip..];
            rest.first() == Some(*entry)
        })
        .copied()
        .collect()
}

/// Whether a view is part of another.
pub fn is_subset(part: &[Entry], whole: &[Entry]) -> bool {
    part.len() <= whole.len() && overlap(part, whole).len() == part.len()
}

/// The pairs of overlapping views that are not ordered by inclusion, of which at least one is from a concurrent thread.
///
/// `overlaps` are the non-empty overlaps with the method view, each with whether its thread is concurrent to that of the method view.
/// They form a chain if and only if there is no such pair.
pub fn broken_pairs(overlaps: &[(Vec<Entry>, bool)]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (i, (left, left_concurrent)) in overlaps.iter().enumerate() {
        for (j, (right, right_concurrent)) in overlaps.iter().enumerate().skip(i + 1) {
            if (*left_concurrent || *right_concurrent)
                && !is_subset(left, right)
                && !is_subset(right, left)
            {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const X: VarId = VarId(0);
    const Y: VarId = VarId(1);
    const Z: VarId = VarId(2);

    fn accesses(entries: &[Entry]) -> Vec<Entry> {
        let mut sorted = entries.to_vec();
        sorted.sort_unstable();
        sorted
    }

    /// Whether the lock views of concurrent threads form a chain with respect to a method view.
    fn chain(method: &[Entry], locks: &[&[Entry]]) -> bool {
        let method = method_view(&accesses(method));
        let overlaps: Vec<_> = locks
            .iter()
            .map(|view| (overlap(&lock_view(&accesses(view)), &method), true))
            .filter(|(overlap, _)| !overlap.is_empty())
            .collect();
        broken_pairs(&overlaps).is_empty()
    }

    #[test]
    fn a_read_or_an_update_of_one_variable_breaks_the_chain() {
        let (read, write) = (Entry::read(X), Entry::write(X));
        assert!(!chain(&[read, write], &[&[read], &[read, write]]));
        assert!(chain(&[read, write], &[&[read, write], &[write]]));
        assert!(chain(&[read], &[&[read], &[read]]));
    }

    #[test]
    fn parts_of_a_pair_break_the_chain_and_nested_parts_do_not() {
        let [x, y, z] = [X, Y, Z].map(Entry::write);
        assert!(!chain(&[x, y], &[&[x, y], &[x], &[y]]));
        assert!(chain(&[x, y, z], &[&[x, y, z], &[x, y], &[x]]));
        // What overlaps in one variable only is irrelevant for the others.
        assert!(chain(&[x, y], &[&[x, y, z], &[x, z]]));
        assert!(chain(&[x], &[&[x, y], &[x, z], &[y]]));
    }

    #[test]
    fn views_of_the_methods_own_thread_alone_are_no_conflict() {
        let overlaps = |concurrent| {
            vec![
                (vec![Entry::read(X)], false),
                (vec![Entry::write(X)], concurrent),
            ]
        };
        assert!(broken_pairs(&overlaps(false)).is_empty());
        assert_eq!(broken_pairs(&overlaps(true)), [(0, 1)]);
    }

    fn view() -> impl Strategy<Value = BTreeSet<u32>> {
        proptest::collection::btree_set(0..8u32, 0..5)
    }

    proptest! {
        /// The definition of section 2, on ordinary sets.
        #[test]
        fn overlap_and_chain_agree_with_the_definition(
            method in view(),
            locks in proptest::collection::vec((view(), any::<bool>()), 0..5),
        ) {
            let raw = |set: &BTreeSet<u32>| set.iter().map(|entry| Entry(*entry)).collect::<Vec<_>>();
            let by_definition = {
                let m: BTreeSet<u32> = method.iter().flat_map(|e| [e & !1, e | 1]).collect();
                let l: Vec<(BTreeSet<u32>, bool)> = locks.iter().map(|(view, concurrent)| {
                    let one = view.iter().filter(|e| **e & 1 == 1 || !view.contains(&(**e | 1)));
                    (one.copied().filter(|e| m.contains(e)).collect::<BTreeSet<_>>(), *concurrent)
                }).filter(|(v, _)| !v.is_empty()).collect();
                l.iter().all(|(a, ca)| l.iter().all(|(b, cb)| !(*ca || *cb) || a.is_subset(b) || b.is_subset(a)))
            };
            let m = method_view(&raw(&method));
            let overlaps: Vec<_> = locks.iter()
                .map(|(view, concurrent)| (overlap(&lock_view(&raw(view)), &m), *concurrent))
                .filter(|(view, _)| !view.is_empty())
                .collect();
            prop_assert_eq!(broken_pairs(&overlaps).is_empty(), by_definition);
        }

        #[test]
        fn unions_are_unions(left in view(), right in view()) {
            let mut sets = Sets::default();
            let ids = [&left, &right].map(|set| sets.intern(set.iter().map(|entry| Entry(*entry)).collect()));
            let union = sets.union(ids[0], ids[1]);
            let expected: Vec<Entry> = left.union(&right).map(|entry| Entry(*entry)).collect();
            prop_assert_eq!(sets.get(union), expected.as_slice());
        }
    }
}
