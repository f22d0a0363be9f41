//! A constant pool that grows: every constant is found or added in constant time.

use crate::edit::error::{EditError, Result};
use crate::read::pool::{ConstantPool, Entry, PoolIndex, decode_entry};
use crate::read::{TypeName, VType, mutf8};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::hash::Hasher;

/// The constants of a class under edit; those of the file keep their indices.
#[derive(Debug, Clone)]
pub struct Pool<'a> {
    base: ConstantPool<'a>,
    added: Vec<u8>,
    /// Where each added entry starts; `None` is the second half of a long or double.
    starts: Vec<Option<u32>>,
    /// Indices by entry bytes; filled on the first addition.
    table: HashTable<u16>,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(base: ConstantPool<'a>) -> Self {
        Self {
            base,
            added: Vec::new(),
            starts: Vec::new(),
            table: HashTable::new(),
        }
    }

    /// The constants of the file.
    pub fn base(&self) -> &ConstantPool<'a> {
        &self.base
    }

    pub(crate) fn count(&self) -> usize {
        self.base.count() as usize + self.starts.len()
    }

    pub(crate) fn added_bytes(&self) -> &[u8] {
        &self.added
    }

    fn entry_bytes(&self, index: PoolIndex) -> Option<&[u8]> {
        let Some(own) = (index.0 as usize).checked_sub(self.base.count() as usize) else {
            return self.base.entry_bytes(index);
        };
        let start = (*self.starts.get(own)?)? as usize;
        let next = self.starts[own + 1..].iter().flatten().next();
        Some(&self.added[start..next.map_or(self.added.len(), |&end| end as usize)])
    }

    /// The constant at an index, of the file or added.
    pub fn entry(&self, index: PoolIndex) -> Option<Entry<'_>> {
        decode_entry(self.entry_bytes(index)?)
    }

    /// The bytes of a `Utf8` constant; nothing if it is none.
    pub(crate) fn utf8_or_empty(&self, index: PoolIndex) -> &[u8] {
        match self.entry(index) {
            Some(Entry::Utf8(bytes)) => bytes,
            _ => &[],
        }
    }

    fn intern(&mut self, entry: &[u8]) -> Result<PoolIndex> {
        if self.table.is_empty() {
            self.index_base();
        }
        let hash = hash(entry);
        let found = self.table.find(hash, |&index| {
            self.entry_bytes(PoolIndex(index)) == Some(entry)
        });
        if let Some(&index) = found {
            return Ok(PoolIndex(index));
        }
        let wide = matches!(entry.first(), Some(5 | 6));
        let index = self.count();
        if index + 1 + usize::from(wide) > 65535 {
            return Err(EditError::PoolFull);
        }
        self.starts.push(Some(self.added.len() as u32));
        if wide {
            self.starts.push(None);
        }
        self.added.extend_from_slice(entry);
        self.insert(hash, index as u16);
        Ok(PoolIndex(index as u16))
    }

    fn insert(&mut self, new: u64, index: u16) {
        let Self {
            base,
            added,
            starts,
            table,
        } = self;
        table.insert_unique(new, index, |&index| {
            let own = (index as usize).checked_sub(base.count() as usize);
            match own {
                None => base.entry_bytes(PoolIndex(index)).map_or(0, hash),
                Some(own) => {
                    let start = starts[own].unwrap_or(0) as usize;
                    let next = starts[own + 1..].iter().flatten().next();
                    hash(&added[start..next.map_or(added.len(), |&end| end as usize)])
                }
            }
        });
    }

    /// Of equal constants in the file, the first is found.
    fn index_base(&mut self) {
        let base = &self.base;
        self.table.reserve(base.count() as usize + 64, |_| 0);
        for index in 1..base.count() {
            if let Some(entry) = base.entry_bytes(PoolIndex(index)) {
                let hash_of = |&index: &u16| base.entry_bytes(PoolIndex(index)).map_or(0, hash);
                let same = |&other: &u16| base.entry_bytes(PoolIndex(other)) == Some(entry);
                self.table
                    .entry(hash(entry), same, hash_of)
                    .or_insert(index);
            }
        }
    }

    pub(crate) fn utf8_bytes(&mut self, bytes: &[u8]) -> Result<PoolIndex> {
        let length = u16::try_from(bytes.len()).map_err(|_| EditError::StringTooLong)?;
        let mut entry = Vec::with_capacity(3 + bytes.len());
        entry.push(1);
        entry.extend(length.to_be_bytes());
        entry.extend_from_slice(bytes);
        self.intern(&entry)
    }

    pub fn utf8(&mut self, text: &str) -> Result<PoolIndex> {
        self.utf8_bytes(&mutf8::encode(text))
    }

    fn one(&mut self, tag: u8, index: PoolIndex) -> Result<PoolIndex> {
        let [high, low] = index.0.to_be_bytes();
        self.intern(&[tag, high, low])
    }

    fn two(&mut self, tag: u8, first: PoolIndex, second: PoolIndex) -> Result<PoolIndex> {
        let ([a, b], [c, d]) = (first.0.to_be_bytes(), second.0.to_be_bytes());
        self.intern(&[tag, a, b, c, d])
    }

    /// A class by internal name, or an array by descriptor.
    pub fn class(&mut self, name: &str) -> Result<PoolIndex> {
        let name = self.utf8(name)?;
        self.one(7, name)
    }

    pub fn string(&mut self, text: &str) -> Result<PoolIndex> {
        let text = self.utf8(text)?;
        self.one(8, text)
    }

    pub fn integer(&mut self, value: i32) -> Result<PoolIndex> {
        let [a, b, c, d] = value.to_be_bytes();
        self.intern(&[3, a, b, c, d])
    }

    pub fn float(&mut self, value: f32) -> Result<PoolIndex> {
        let [a, b, c, d] = value.to_be_bytes();
        self.intern(&[4, a, b, c, d])
    }

    pub fn long(&mut self, value: i64) -> Result<PoolIndex> {
        let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
        self.intern(&[5, a, b, c, d, e, f, g, h])
    }

    pub fn double(&mut self, value: f64) -> Result<PoolIndex> {
        let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
        self.intern(&[6, a, b, c, d, e, f, g, h])
    }

    pub fn name_and_type(&mut self, name: &str, descriptor: &str) -> Result<PoolIndex> {
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        self.two(12, name, descriptor)
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> Result<PoolIndex> {
        let (class, member) = (self.class(class)?, self.name_and_type(name, descriptor)?);
        self.two(tag, class, member)
    }

    pub fn field_ref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<PoolIndex> {
        self.member(9, class, name, descriptor)
    }

    /// A method of a class; for one of an interface see [`Self::interface_method_ref`].
    pub fn method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<PoolIndex> {
        self.member(10, class, name, descriptor)
    }

    pub fn interface_method_ref(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<PoolIndex> {
        self.member(11, class, name, descriptor)
    }

    /// The type of a class's instances, for frames and declared locals.
    pub fn object_type(&mut self, name: &str) -> Result<VType> {
        let class = self.class(name)?;
        Ok(self.class_type(class).unwrap_or(VType::Top))
    }

    /// The type that a `Class` constant names.
    pub(crate) fn class_type(&self, class: PoolIndex) -> Option<VType> {
        let Some(Entry::Class { name: utf8 }) = self.entry(class) else {
            return None;
        };
        let length = self.utf8_or_empty(utf8).len() as u16;
        Some(VType::Object(TypeName {
            class,
            utf8,
            start: 0,
            length,
            dimensions: 0,
        }))
    }

    /// The `Class` constant that a frame needs to name a type.
    pub(crate) fn type_class(&mut self, name: TypeName) -> Result<PoolIndex> {
        if !name.class.is_none() {
            return Ok(name.class);
        }
        let bytes = self.type_name_bytes(name).into_owned();
        let utf8 = self.utf8_bytes(&bytes)?;
        self.one(7, utf8)
    }

    pub(crate) fn type_name_bytes(&self, name: TypeName) -> Cow<'_, [u8]> {
        name.name(|index| self.utf8_or_empty(index))
    }

    /// The internal name of a type, or the descriptor of an array.
    pub fn type_name(&self, name: TypeName) -> String {
        mutf8::decode(&self.type_name_bytes(name)).into_owned()
    }

    /// Whether two slots hold the same type, however their names were come by.
    pub(crate) fn same_type(&self, one: VType, other: VType) -> bool {
        one == other
            || match (one, other) {
                (VType::Object(one), VType::Object(other)) => {
                    self.type_name_bytes(one) == self.type_name_bytes(other)
                }
                _ => false,
            }
    }
}

fn hash(entry: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(entry);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::read::ConstantPool;
    use crate::read::cursor::Cursor;
    use crate::read::pool::{Entry, PoolIndex};

    #[test]
    fn equal_constants_share_an_index_also_with_those_of_the_file() {
        let file = [0, 4, 1, 0, 1, b'A', 7, 0, 1, 3, 0, 0, 0, 7];
        let base = ConstantPool::parse(&mut Cursor::new(&file, 0), &file).unwrap();
        let mut pool = Pool::new(base);
        assert_eq!(pool.class("A"), Ok(PoolIndex(2)));
        assert_eq!(pool.integer(7), Ok(PoolIndex(3)));
        let long = pool.long(-1).unwrap();
        assert_eq!(long, PoolIndex(4));
        assert_eq!(pool.long(-1), Ok(long));
        let method = pool.method_ref("A", "m", "()V").unwrap();
        assert!(method.0 > 5, "a long takes two indices");
        assert_eq!(pool.method_ref("A", "m", "()V"), Ok(method));
        assert!(matches!(
            pool.entry(method),
            Some(Entry::Method {
                class: PoolIndex(2),
                ..
            })
        ));
        assert_ne!(pool.float(0.0), pool.float(-0.0));
    }

    #[test]
    fn a_full_pool_refuses() {
        let file = [0, 1];
        let mut pool = Pool::new(ConstantPool::parse(&mut Cursor::new(&file, 0), &file).unwrap());
        let added = (0..70_000)
            .take_while(|&value| pool.integer(value).is_ok())
            .count();
        assert_eq!(added, 65_534);
        assert!(pool.long(1).is_err());
        assert!(pool.integer(0).is_ok(), "what is there is still found");
    }
}
