//! Sets of abstract objects: sorted words of 64 bits.
//!
//! Objects are numbered in the order they are met, so a set's members lie close together and most words are shared.

use crate::ids::ObjectId;

/// A set of objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectSet {
    words: Vec<(u32, u64)>,
}

impl ObjectSet {
    /// The set of one object.
    pub fn of(object: ObjectId) -> Self {
        Self {
            words: vec![(object.0 >> 6, 1 << (object.0 & 63))],
        }
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|(_, bits)| bits.count_ones() as usize)
            .sum()
    }

    /// How many words it has.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Whether an object is a member.
    pub fn contains(&self, object: ObjectId) -> bool {
        let word = self
            .words
            .binary_search_by_key(&(object.0 >> 6), |(index, _)| *index);
        word.is_ok_and(|at| self.words[at].1 & (1 << (object.0 & 63)) != 0)
    }

    /// Adds an object; whether it is new.
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (index, bit) = (object.0 >> 6, 1 << (object.0 & 63));
        match self.words.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(at) => {
                let new = self.words[at].1 & bit == 0;
                self.words[at].1 |= bit;
                new
            }
            Err(at) => {
                self.words.insert(at, (index, bit));
                true
            }
        }
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.words.iter().flat_map(|(index, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(ObjectId(index << 6 | bit))
            })
        })
    }

    /// Whether the two sets share a member.
    pub fn intersects(&self, other: &Self) -> bool {
        let mut rest = other.words.as_slice();
        self.words.iter().any(|(index, bits)| {
            let skip = rest.partition_point(|(other, _)| other < index);
            rest = &rest[skip..];
            rest.first()
                .is_some_and(|(other, theirs)| other == index && theirs & bits != 0)
        })
    }

    /// Adds the members of `other` that are in `filter`, if there is one; gives those that were new.
    pub fn add_all(&mut self, other: &Self, filter: Option<&Self>) -> Self {
        let mut fresh = Vec::new();
        let mut filter_rest = filter.map(|filter| filter.words.as_slice());
        let mut own = 0;
        let mut grows = false;
        for (index, bits) in &other.words {
            let mut bits = *bits;
            if let Some(rest) = &mut filter_rest {
                let skip = rest.partition_point(|(word, _)| word < index);
                *rest = &rest[skip..];
                bits &= rest
                    .first()
                    .filter(|(word, _)| word == index)
                    .map_or(0, |(_, allowed)| *allowed);
            }
            while own < self.words.len() && self.words[own].0 < *index {
                own += 1;
            }
            if own < self.words.len() && self.words[own].0 == *index {
                bits &= !self.words[own].1;
            } else if bits != 0 {
                grows = true;
            }
            if bits != 0 {
                fresh.push((*index, bits));
            }
        }
        if fresh.is_empty() {
            return Self::default();
        }
        if grows {
            self.merge(&fresh);
        } else {
            let mut own = 0;
            for (index, bits) in &fresh {
                while self.words[own].0 < *index {
                    own += 1;
                }
                self.words[own].1 |= bits;
            }
        }
        Self { words: fresh }
    }

    fn merge(&mut self, fresh: &[(u32, u64)]) {
        let mut merged = Vec::with_capacity(self.words.len() + fresh.len());
        let mut rest = fresh;
        for (index, bits) in &self.words {
            let before = rest.partition_point(|(word, _)| word < index);
            merged.extend_from_slice(&rest[..before]);
            rest = &rest[before..];
            match rest.first() {
                Some((word, more)) if word == index => {
                    merged.push((*index, bits | more));
                    rest = &rest[1..];
                }
                _ => merged.push((*index, *bits)),
            }
        }
        merged.extend_from_slice(rest);
        self.words = merged;
    }

    /// The members of both.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut rest = other.words.as_slice();
        let words = self
            .words
            .iter()
            .filter_map(|(index, bits)| {
                let skip = rest.partition_point(|(word, _)| word < index);
                rest = &rest[skip..];
                let shared = rest
                    .first()
                    .filter(|(word, _)| word == index)
                    .map_or(0, |(_, theirs)| theirs & bits);
                (shared != 0).then_some((*index, shared))
            })
            .collect();
        Self { words }
    }

    /// The members that `other` lacks.
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = other.words.as_slice();
        let words = self
            .words
            .iter()
            .filter_map(|(index, bits)| {
                let skip = rest.partition_point(|(word, _)| word < index);
                rest = &rest[skip..];
                let theirs = rest
                    .first()
                    .filter(|(word, _)| word == index)
                    .map_or(0, |(_, theirs)| *theirs);
                (bits & !theirs != 0).then_some((*index, bits & !theirs))
            })
            .collect();
        Self { words }
    }

    /// Bytes of memory it holds.
    pub(crate) fn memory(&self) -> usize {
        self.words.capacity() * size_of::<(u32, u64)>()
    }
}

impl FromIterator<ObjectId> for ObjectSet {
    fn from_iter<T: IntoIterator<Item = ObjectId>>(objects: T) -> Self {
        let mut set = Self::default();
        for object in objects {
            set.insert(object);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::ObjectSet;
    use crate::ids::ObjectId;

    fn set(members: &BTreeSet<u32>) -> ObjectSet {
        members.iter().map(|member| ObjectId(*member)).collect()
    }

    fn members(set: &ObjectSet) -> BTreeSet<u32> {
        set.iter().map(|object| object.0).collect()
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_set(
            a in prop::collection::btree_set(0u32..600, 0..40),
            b in prop::collection::btree_set(0u32..600, 0..40),
            filter in prop::option::of(prop::collection::btree_set(0u32..600, 0..200)),
        ) {
            let (left, right) = (set(&a), set(&b));
            prop_assert_eq!(members(&left), a.clone());
            prop_assert_eq!(left.len(), a.len());
            prop_assert_eq!(members(&left.intersection(&right)), a.intersection(&b).copied().collect());
            prop_assert_eq!(members(&left.difference(&right)), a.difference(&b).copied().collect());
            prop_assert_eq!(left.intersects(&right), a.intersection(&b).next().is_some());
            let allowed: BTreeSet<u32> =
                b.iter().copied().filter(|member| filter.as_ref().is_none_or(|filter| filter.contains(member))).collect();
            let mut sum = left.clone();
            let fresh = sum.add_all(&right, filter.as_ref().map(set).as_ref());
            prop_assert_eq!(members(&fresh), allowed.difference(&a).copied().collect());
            prop_assert_eq!(members(&sum), a.union(&allowed).copied().collect());
            prop_assert!(a.iter().all(|member| sum.contains(ObjectId(*member))));
        }
    }
}
