//! Our objects by the runtime's ids.
//!
//! A thread takes ids for its objects in blocks and hands them out in order, so that objects which a program made together have ids close to each other.
//! Pages keep them together here, too: programs use together what they made together, and a table spread by hashes would miss the cache for each of them.

use rustc_hash::FxHashMap;
use untorn_model::ObjectId;

/// How many ids a page holds, as a power of two.
const PAGE_BITS: u32 = 9;
const PAGE: usize = 1 << PAGE_BITS;

#[derive(Debug, Default)]
pub struct Objects {
    pages: FxHashMap<u64, Box<Page>>,
}

#[derive(Debug)]
struct Page {
    /// How many of the ids have an object.
    used: usize,
    objects: [Option<ObjectId>; PAGE],
}

fn place(id: u64) -> (u64, usize) {
    (id >> PAGE_BITS, id as usize % PAGE)
}

impl Objects {
    #[inline]
    pub fn get(&self, id: u64) -> Option<ObjectId> {
        let (page, at) = place(id);
        self.pages.get(&page)?.objects[at]
    }

    /// Gives an id an object; it must have none.
    pub fn insert(&mut self, id: u64, object: ObjectId) {
        let (page, at) = place(id);
        let page = self.pages.entry(page).or_insert_with(|| {
            Box::new(Page {
                used: 0,
                objects: [None; PAGE],
            })
        });
        debug_assert!(page.objects[at].is_none(), "object {id} is there already");
        page.used += 1;
        page.objects[at] = Some(object);
    }

    /// Takes an id's object away; a page without any goes, too.
    pub fn remove(&mut self, id: u64) -> Option<ObjectId> {
        let (number, at) = place(id);
        let page = self.pages.get_mut(&number)?;
        let object = page.objects[at].take()?;
        page.used -= 1;
        if page.used == 0 {
            self.pages.remove(&number);
        }
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_until_it_is_taken_away() {
        let mut objects = Objects::default();
        let ids = [1, 2, 511, 512, 513, 4096, (1 << 38) - 1];
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(objects.get(id), None);
            objects.insert(id, ObjectId(i as u32));
        }
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(objects.get(id), Some(ObjectId(i as u32)));
        }
        assert_eq!(objects.remove(3), None);
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(objects.remove(id), Some(ObjectId(i as u32)));
            assert_eq!(objects.remove(id), None);
        }
        assert!(objects.pages.is_empty(), "empty pages take no memory");
    }
}
