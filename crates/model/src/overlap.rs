//! Which locations share storage.
//!
//! A range covers elements and other ranges, a whole covers everything of its object that is no field.
//! An analysis keeps state per location and, on an access, looks at the state of the location itself and of all that overlap it.
//! That is exact, and free for programs in which nothing overlaps.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{ObjectId, Part, Var, VarId};

/// Whether two parts of one object share storage.
pub fn parts_overlap(a: Part, b: Part) -> bool {
    use Part::{Element, Key, Range, Whole};
    match (a, b) {
        (Range(a0, a1), Range(b0, b1)) => a0 < b1 && b0 < a1,
        (Range(from, to), Element(i)) | (Element(i), Range(from, to)) => from <= i && i < to,
        (Whole, Whole | Key(_) | Element(_) | Range(..))
        | (Key(_) | Element(_) | Range(..), Whole) => true,
        _ => a == b,
    }
}

/// The locations of one object that can overlap others.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Elements and keys, which never overlap each other.
    disjoint: Vec<VarId>,
    /// Ranges and wholes.
    covers: Vec<(VarId, Part)>,
    parts: Vec<Part>,
}

/// For each location, the others that overlap it.
#[derive(Clone, Debug, Default)]
pub struct Overlaps {
    groups: HashMap<ObjectId, Group, FxBuildHasher>,
    /// By location: 0 for none, else one more than the index into `lists`; as long as the last location with an overlap.
    list_of: Vec<u32>,
    lists: Vec<Vec<VarId>>,
}

impl Overlaps {
    pub(crate) fn add(&mut self, id: VarId, var: Var) {
        if matches!(var.part, Part::Text(_) | Part::Field(_)) {
            return;
        }
        let group = self.groups.entry(var.object).or_default();
        let mut met = Vec::new();
        met.extend(
            (group.covers.iter())
                .filter(|(_, part)| parts_overlap(*part, var.part))
                .map(|(other, _)| *other),
        );
        if var.part.is_approximate() {
            met.extend(
                (group.disjoint.iter().zip(&group.parts))
                    .filter(|(_, part)| parts_overlap(**part, var.part))
                    .map(|(other, _)| *other),
            );
            group.covers.push((id, var.part));
        } else {
            group.disjoint.push(id);
            group.parts.push(var.part);
        }
        for other in met {
            self.link(other, id);
            self.link(id, other);
        }
    }

    fn link(&mut self, from: VarId, to: VarId) {
        if self.list_of.len() <= from.index() {
            self.list_of.resize(from.index() + 1, 0);
        }
        let slot = &mut self.list_of[from.index()];
        if *slot == 0 {
            self.lists.push(Vec::new());
            *slot = self.lists.len() as u32;
        }
        self.lists[*slot as usize - 1].push(to);
    }

    #[inline]
    pub(crate) fn of(&self, var: VarId) -> &[VarId] {
        match self.list_of.get(var.index()) {
            None | Some(0) => &[],
            Some(&list) => &self.lists[list as usize - 1],
        }
    }

    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.lists.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{FieldId, StrId, Tables};

    fn part() -> impl Strategy<Value = Part> {
        prop_oneof![
            (0..3u32).prop_map(|f| Part::Field(FieldId(f))),
            (0..6u32).prop_map(Part::Element),
            (0..6u32, 0..6u32).prop_map(|(a, b)| Part::Range(a.min(b), a.max(b))),
            (0..3u32).prop_map(|k| Part::Key(StrId(k))),
            Just(Part::Whole),
        ]
    }

    /// The storage cells a part covers, spelled out.
    fn cells(part: Part) -> Vec<(u8, u32)> {
        match part {
            Part::Field(f) => vec![(0, f.0)],
            Part::Element(i) => vec![(1, i)],
            Part::Range(a, b) => (a..b).map(|i| (1, i)).collect(),
            Part::Key(k) => vec![(2, k.0)],
            Part::Whole => (0..6).flat_map(|i| [(1, i), (2, i)]).collect(),
            Part::Text(_) => vec![],
        }
    }

    proptest! {
        #[test]
        fn the_index_agrees_with_shared_cells(parts in proptest::collection::hash_set(part(), 1..14)) {
            let mut tables = Tables::default();
            let parts: Vec<Part> = parts.into_iter().collect();
            let ids: Vec<VarId> = (parts.iter())
                .map(|&part| tables.add_var(Var { object: ObjectId(0), part }).unwrap())
                .collect();
            for (i, &a) in parts.iter().enumerate() {
                for (j, &b) in parts.iter().enumerate() {
                    // An empty range holds no cell, yet a whole is taken to cover it: harmless, never wrong.
                    let empty = cells(a).is_empty() || cells(b).is_empty();
                    if i == j || empty {
                        continue;
                    }
                    let shared = cells(a).iter().any(|cell| cells(b).contains(cell));
                    prop_assert_eq!(tables.overlapping(ids[i]).contains(&ids[j]), shared, "{:?} {:?}", a, b);
                }
            }
        }
    }
}
