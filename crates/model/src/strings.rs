//! An append-only string interner.
//!
//! All text lies in one buffer, so that a table of millions of short tokens costs its bytes and little more.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::StrId;

/// Interned strings; equal text has equal ids.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    text: String,
    /// `ends[i]` is where string `i` ends; it starts where the one before ends.
    ends: Vec<usize>,
    ids: HashTable<u32>,
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}

fn slice<'a>(text: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &text[start..ends[id]]
}

impl Strings {
    /// The id of `text`, new or known; `None` when four billion strings are stored.
    pub fn intern(&mut self, text: &str) -> Option<StrId> {
        let hash_of = hash(text);
        if let Some(&id) = self
            .ids
            .find(hash_of, |&id| slice(&self.text, &self.ends, id) == text)
        {
            return Some(StrId(id));
        }
        let id = StrId::from_index(self.ends.len())?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let (all, ends) = (&self.text, &self.ends);
        self.ids
            .insert_unique(hash_of, id.0, |&id| hash(slice(all, ends, id)));
        Some(id)
    }

    /// The id of `text` if it was interned before.
    pub fn find(&self, text: &str) -> Option<StrId> {
        self.ids
            .find(hash(text), |&id| slice(&self.text, &self.ends, id) == text)
            .map(|&id| StrId(id))
    }

    /// The text of an id, or `None` for an id that these strings never gave out.
    pub fn get(&self, id: StrId) -> Option<&str> {
        (id.index() < self.ends.len()).then(|| slice(&self.text, &self.ends, id.0))
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings from the given id on, in order.
    pub fn iter_from(&self, first: usize) -> impl Iterator<Item = &str> {
        (first..self.ends.len()).map(|id| slice(&self.text, &self.ends, id as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_one_id_and_order_is_kept() {
        let mut strings = Strings::default();
        let a = strings.intern("a").unwrap();
        let empty = strings.intern("").unwrap();
        let long = strings.intern("länger").unwrap();
        assert_eq!(strings.intern("a"), Some(a));
        assert_eq!(strings.intern(""), Some(empty));
        assert_eq!(strings.get(long), Some("länger"));
        assert_eq!(strings.find("b"), None);
        assert_eq!(strings.get(StrId(3)), None);
        assert_eq!(strings.iter_from(1).collect::<Vec<_>>(), ["", "länger"]);
    }
}
