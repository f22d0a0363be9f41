//! Side tables: what the ids of a trace stand for.
//!
//! Tables only grow while a trace is read, and an entry never changes, so a reader may hand out events as soon as their entries are in, and a writer appends what is new.
//! An id that a damaged file invents resolves to `None`, never to a panic.

use std::marker::PhantomData;
use std::ops::Index;

use crate::overlap::Overlaps;
use crate::{
    ClassId, FieldId, LockId, MethodId, ObjectId, RegionId, SiteId, StrId, Strings, ThreadId, VarId,
};

/// An append-only vector that is indexed by its own id type.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: Vec<T>,
    ids: PhantomData<fn(I) -> I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            ids: PhantomData,
        }
    }
}

macro_rules! tables {
    ($($id:ident => $entry:ident),* $(,)?) => {$(
        impl Table<$id, $entry> {
            /// Appends an entry; `None` when the id space is used up.
            pub fn push(&mut self, entry: $entry) -> Option<$id> {
                let id = $id::from_index(self.entries.len())?;
                self.entries.push(entry);
                Some(id)
            }

            #[inline]
            pub fn get(&self, id: $id) -> Option<&$entry> {
                self.entries.get(id.index())
            }

            /// Every entry with its id.
            pub fn iter(&self) -> impl Iterator<Item = ($id, &$entry)> {
                self.entries.iter().enumerate().map(|(i, e)| ($id(i as u32), e))
            }
        }

        impl Index<$id> for Table<$id, $entry> {
            type Output = $entry;
            #[inline]
            fn index(&self, id: $id) -> &$entry {
                &self.entries[id.index()]
            }
        }
    )*};
}

tables! {
    ThreadId => Thread,
    ObjectId => Object,
    VarId => Var,
    LockId => Lock,
    ClassId => Class,
    FieldId => Field,
    MethodId => Method,
    RegionId => Region,
    SiteId => Site,
}

impl<I, T> Table<I, T> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries from a position on: what a writer has not written yet.
    pub fn entries_from(&self, first: usize) -> &[T] {
        self.entries.get(first..).unwrap_or(&[])
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thread {
    pub name: StrId,
}

/// A class by its binary name, with dots (`java.util.Map$Entry`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    pub name: StrId,
    pub source_file: Option<StrId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    pub class: ClassId,
    pub name: StrId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    pub class: ClassId,
    pub name: StrId,
    pub descriptor: StrId,
}

/// What holds locations: an object, an array, a collection, or a class for its static fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    pub class: Option<ClassId>,
    /// What a person sees; a text trace has only this.
    pub name: Option<StrId>,
}

/// Which part of its object a location is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The rest of a name in a text trace, after the object's own; compared as text.
    Text(StrId),
    Field(FieldId),
    /// One array element.
    Element(u32),
    /// Array elements from the first to before the second.
    Range(u32, u32),
    /// What a collection holds under one key.
    Key(StrId),
    /// A collection or array as a whole.
    Whole,
}

impl Part {
    /// Whether a conflict through this part is an approximation: the program may have touched less than is recorded.
    pub const fn is_approximate(self) -> bool {
        matches!(self, Self::Range(..) | Self::Whole)
    }
}

/// A location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var {
    pub object: ObjectId,
    pub part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockKind {
    /// An object's own monitor.
    Monitor,
    /// A lock of a library.
    Explicit,
    /// A synchronizer that is no lock: latch, future, semaphore.
    Synchronizer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    pub kind: LockKind,
    pub object: Option<ObjectId>,
    pub name: StrId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionKind {
    Method,
    Block,
}

/// A method or block that ought to be atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    pub kind: RegionKind,
    /// The method itself, or the one that holds the block; a text trace has none.
    pub method: Option<MethodId>,
    /// The label of a text trace, or what a person calls the block.
    pub name: StrId,
    /// Where it is declared or begins, if that is one place.
    pub site: SiteId,
}

/// A place in the program text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub method: Option<MethodId>,
    /// A file, or the whole token of a text trace when it names no line.
    pub file: Option<StrId>,
    /// From 1; 0 when unknown.
    pub line: u32,
}

/// All side tables of a trace.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub strings: Strings,
    pub threads: Table<ThreadId, Thread>,
    pub classes: Table<ClassId, Class>,
    pub fields: Table<FieldId, Field>,
    pub methods: Table<MethodId, Method>,
    pub objects: Table<ObjectId, Object>,
    pub locks: Table<LockId, Lock>,
    pub regions: Table<RegionId, Region>,
    pub sites: Table<SiteId, Site>,
    vars: Table<VarId, Var>,
    /// By object: one more than its newest location, or 0; as long as the last object with a location.
    newest: Vec<u32>,
    /// By location: the next older one of the same object, as in `newest`.
    older: Vec<u32>,
    overlaps: Overlaps,
}

impl Tables {
    /// Adds a location; `None` when the id space is used up.
    ///
    /// Whoever adds it makes sure that one location is added once.
    pub fn add_var(&mut self, var: Var) -> Option<VarId> {
        let id = self.vars.push(var)?;
        if self.newest.len() <= var.object.index() {
            self.newest.resize(var.object.index() + 1, 0);
        }
        let before = std::mem::replace(&mut self.newest[var.object.index()], id.0 + 1);
        self.older.push(before);
        self.overlaps.add(id, var);
        Some(id)
    }

    /// The locations of an object, the newest first.
    pub fn vars_of(&self, object: ObjectId) -> impl Iterator<Item = VarId> {
        let mut next = self.newest.get(object.index()).copied().unwrap_or(0);
        std::iter::from_fn(move || {
            let id = VarId(next.checked_sub(1)?);
            next = self.older[id.index()];
            Some(id)
        })
    }

    pub fn vars(&self) -> &Table<VarId, Var> {
        &self.vars
    }

    /// Which block of its method a region is, from 1: the name of a block is or ends with its number.
    pub fn block_number(&self, region: &Region) -> Option<u32> {
        match region.kind {
            RegionKind::Method => None,
            RegionKind::Block => self.text(region.name).rsplit('@').next()?.parse().ok(),
        }
    }

    /// Other locations that share storage with this one, among those added so far.
    #[inline]
    pub fn overlapping(&self, var: VarId) -> &[VarId] {
        self.overlaps.of(var)
    }

    /// Whether any two locations overlap: analyses skip the question where nothing does.
    #[inline]
    pub fn any_overlaps(&self) -> bool {
        self.overlaps.any()
    }

    /// The text of a string id, empty for an id that is not there.
    pub fn text(&self, id: StrId) -> &str {
        self.strings.get(id).unwrap_or("")
    }

    pub fn thread_name(&self, id: ThreadId) -> String {
        match self.threads.get(id) {
            Some(thread) => self.text(thread.name).to_owned(),
            None => format!("{id:?}"),
        }
    }

    pub fn lock_name(&self, id: LockId) -> String {
        match self.locks.get(id) {
            Some(lock) => self.text(lock.name).to_owned(),
            None => format!("{id:?}"),
        }
    }

    pub fn class_name(&self, id: ClassId) -> &str {
        self.classes
            .get(id)
            .map_or("", |class| self.text(class.name))
    }

    /// `Class.method(descriptor)`; for a text trace its token.
    pub fn method_name(&self, id: MethodId) -> String {
        let Some(method) = self.methods.get(id) else {
            return format!("{id:?}");
        };
        let class = self.class_name(method.class);
        let dot = if class.is_empty() { "" } else { "." };
        format!(
            "{class}{dot}{}{}",
            self.text(method.name),
            self.text(method.descriptor)
        )
    }

    /// `Class.field` without the object; the whole token of a text trace.
    pub fn field_name(&self, id: FieldId) -> String {
        match self.fields.get(id) {
            Some(field) => format!("{}.{}", self.class_name(field.class), self.text(field.name)),
            None => format!("{id:?}"),
        }
    }

    pub fn object_name(&self, id: ObjectId) -> String {
        match self.objects.get(id) {
            Some(Object {
                name: Some(name), ..
            }) => self.text(*name).to_owned(),
            Some(Object {
                class: Some(class), ..
            }) => format!("{}@{}", self.class_name(*class), id.0),
            _ => format!("{id:?}"),
        }
    }

    /// The location as a person reads it: `Account@7.balance`, `int[]@9[3]`, `cache["k"]`; for a text trace its token.
    pub fn var_name(&self, id: VarId) -> String {
        let Some(var) = self.vars.get(id) else {
            return format!("{id:?}");
        };
        let object = self.object_name(var.object);
        match var.part {
            Part::Text(rest) => object + self.text(rest),
            Part::Field(field) => {
                let name = self.fields.get(field).map_or("", |f| self.text(f.name));
                format!("{object}.{name}")
            }
            Part::Element(index) => format!("{object}[{index}]"),
            Part::Range(from, to) => format!("{object}[{from}..{to}]"),
            Part::Key(key) => format!("{object}[\"{}\"]", self.text(key)),
            Part::Whole => format!("{object}[*]"),
        }
    }

    /// `File.java:12`, the token of a text trace, or `None` where no place is known.
    pub fn site_name(&self, id: SiteId) -> Option<String> {
        let site = self.sites.get(id)?;
        let file = self.text(site.file?);
        Some(if site.line == 0 {
            file.to_owned()
        } else {
            format!("{file}:{}", site.line)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_a_person_writes_them_and_unknown_ids_do_not_panic() {
        let mut t = Tables::default();
        let name = t.strings.intern("bank.Account").unwrap();
        let class = t
            .classes
            .push(Class {
                name,
                source_file: None,
            })
            .unwrap();
        let balance = t.strings.intern("balance").unwrap();
        let field = t
            .fields
            .push(Field {
                class,
                name: balance,
            })
            .unwrap();
        let object = t
            .objects
            .push(Object {
                class: Some(class),
                name: None,
            })
            .unwrap();
        let var = t
            .add_var(Var {
                object,
                part: Part::Field(field),
            })
            .unwrap();
        let part = t
            .add_var(Var {
                object,
                part: Part::Range(2, 5),
            })
            .unwrap();
        assert_eq!(t.vars_of(object).collect::<Vec<_>>(), [part, var]);
        assert_eq!(t.vars_of(ObjectId(9)).count(), 0);
        assert_eq!(t.var_name(var), "bank.Account@0.balance");
        assert_eq!(t.var_name(part), "bank.Account@0[2..5]");
        assert_eq!(t.field_name(field), "bank.Account.balance");
        assert_eq!(t.var_name(VarId(99)), "x99");
        assert_eq!(t.site_name(SiteId::UNKNOWN), None);
        assert_eq!(t.thread_name(ThreadId(3)), "t3");
    }
}
