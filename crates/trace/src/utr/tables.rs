//! Side tables in chunks: what is new since the last one.
//!
//! A payload is a sequence of sections: a tag, the id of the first entry, the number of entries, the entries.
//! Entries refer only to entries before them, in this chunk or an earlier one, so a reader can check each reference as it comes.

use untorn_model::{
    Class, ClassId, Field, FieldId, Lock, LockKind, Method, MethodId, Object, ObjectId, Part,
    Region, RegionId, RegionKind, Site, SiteId, StrId, Tables, Thread, Var,
};

use super::varint::{Bytes, Flaw, put};

/// Chunks are cut where a section would make them longer.
const ENOUGH: usize = 1 << 20;

/// The sections, in an order in which no entry refers forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Tag {
    Strings,
    Threads,
    Classes,
    Fields,
    Methods,
    Objects,
    Vars,
    Locks,
    Sites,
    Regions,
}

const TAGS: [Tag; 10] = [
    Tag::Strings,
    Tag::Threads,
    Tag::Classes,
    Tag::Fields,
    Tag::Methods,
    Tag::Objects,
    Tag::Vars,
    Tag::Locks,
    Tag::Sites,
    Tag::Regions,
];

fn len(tables: &Tables, tag: Tag) -> usize {
    match tag {
        Tag::Strings => tables.strings.len(),
        Tag::Threads => tables.threads.len(),
        Tag::Classes => tables.classes.len(),
        Tag::Fields => tables.fields.len(),
        Tag::Methods => tables.methods.len(),
        Tag::Objects => tables.objects.len(),
        Tag::Vars => tables.vars().len(),
        Tag::Locks => tables.locks.len(),
        Tag::Sites => tables.sites.len(),
        Tag::Regions => tables.regions.len(),
    }
}

/// How much of each table has been written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    lens: [usize; TAGS.len()],
}

impl Written {
    /// Calls `chunk` with the number of sections and the payload of each chunk that is due.
    pub fn new_entries<E>(
        &mut self,
        tables: &Tables,
        mut chunk: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut payload, mut sections) = (Vec::new(), 0);
        let mut entries = Vec::new();
        for tag in TAGS {
            let written = &mut self.lens[tag as usize];
            while *written < len(tables, tag) {
                entries.clear();
                let count = put_entries(tables, tag, *written, &mut entries);
                payload.push(tag as u8);
                put(&mut payload, *written as u64);
                put(&mut payload, count as u64);
                payload.extend_from_slice(&entries);
                *written += count;
                sections += 1;
                if payload.len() >= ENOUGH {
                    chunk(sections, &payload)?;
                    payload.clear();
                    sections = 0;
                }
            }
        }
        if sections > 0 {
            chunk(sections, &payload)?;
        }
        Ok(())
    }
}

fn optional(id: Option<u32>) -> u64 {
    id.map_or(0, |id| u64::from(id) + 1)
}

/// Puts entries from `first` on until there are enough bytes; how many it were.
fn put_entries(tables: &Tables, tag: Tag, first: usize, out: &mut Vec<u8>) -> usize {
    fn each<T>(
        entries: impl IntoIterator<Item = T>,
        out: &mut Vec<u8>,
        mut one: impl FnMut(&mut Vec<u8>, T),
    ) -> usize {
        let mut count = 0;
        for entry in entries {
            one(out, entry);
            count += 1;
            if out.len() >= ENOUGH {
                break;
            }
        }
        count
    }
    match tag {
        Tag::Strings => each(tables.strings.iter_from(first), out, |out, text| {
            put(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }),
        Tag::Threads => each(tables.threads.entries_from(first), out, |out, thread| {
            put(out, u64::from(thread.name.0));
        }),
        Tag::Classes => each(tables.classes.entries_from(first), out, |out, class| {
            put(out, u64::from(class.name.0));
            put(out, optional(class.source_file.map(|s| s.0)));
        }),
        Tag::Fields => each(tables.fields.entries_from(first), out, |out, field| {
            put(out, u64::from(field.class.0));
            put(out, u64::from(field.name.0));
        }),
        Tag::Methods => each(tables.methods.entries_from(first), out, |out, method| {
            put(out, u64::from(method.class.0));
            put(out, u64::from(method.name.0));
            put(out, u64::from(method.descriptor.0));
        }),
        Tag::Objects => each(tables.objects.entries_from(first), out, |out, object| {
            put(out, optional(object.class.map(|c| c.0)));
            put(out, optional(object.name.map(|n| n.0)));
        }),
        Tag::Vars => each(tables.vars().entries_from(first), out, |out, var| {
            put(out, u64::from(var.object.0));
            let (part, numbers) = match var.part {
                Part::Text(text) => (0, [Some(text.0), None]),
                Part::Field(field) => (1, [Some(field.0), None]),
                Part::Element(index) => (2, [Some(index), None]),
                Part::Range(from, to) => (3, [Some(from), Some(to)]),
                Part::Key(key) => (4, [Some(key.0), None]),
                Part::Whole => (5, [None, None]),
            };
            out.push(part);
            for number in numbers.into_iter().flatten() {
                put(out, u64::from(number));
            }
        }),
        Tag::Locks => each(tables.locks.entries_from(first), out, |out, lock| {
            out.push(match lock.kind {
                LockKind::Monitor => 0,
                LockKind::Explicit => 1,
                LockKind::Synchronizer => 2,
            });
            put(out, optional(lock.object.map(|o| o.0)));
            put(out, u64::from(lock.name.0));
        }),
        Tag::Sites => each(tables.sites.entries_from(first), out, |out, site| {
            put(out, optional(site.method.map(|m| m.0)));
            put(out, optional(site.file.map(|f| f.0)));
            put(out, u64::from(site.line));
        }),
        Tag::Regions => each(tables.regions.entries_from(first), out, |out, region| {
            out.push(match region.kind {
                RegionKind::Method => 0,
                RegionKind::Block => 1,
            });
            put(out, optional(region.method.map(|m| m.0)));
            put(out, u64::from(region.name.0));
            put(out, u64::from(region.site.0.wrapping_add(1)));
        }),
    }
}

/// Adds the entries of a payload of so many sections.
pub fn load(tables: &mut Tables, payload: &[u8], sections: u32) -> Result<(), Flaw> {
    let mut bytes = Bytes::new(payload);
    for _ in 0..sections {
        let tag = *(TAGS.get(bytes.byte()? as usize)).ok_or("an unknown table")?;
        if bytes.number()? != len(tables, tag) as u64 {
            return Err("a gap in a table");
        }
        let count = bytes.number()?;
        for _ in 0..count {
            load_entry(tables, tag, &mut bytes)?;
        }
    }
    if bytes.is_empty() {
        Ok(())
    } else {
        Err("bytes after the tables")
    }
}

fn load_entry(tables: &mut Tables, tag: Tag, bytes: &mut Bytes<'_>) -> Result<(), Flaw> {
    const FULL: Flaw = "a full table";
    let known = |id: u32, len: usize| {
        if (id as usize) < len {
            Ok(id)
        } else {
            Err("an id that is in no table")
        }
    };
    let id = |bytes: &mut Bytes<'_>, len: usize| known(bytes.number32()?, len);
    let optional_id = |bytes: &mut Bytes<'_>, len: usize| match bytes.number()? {
        0 => Ok(None),
        more => u32::try_from(more - 1)
            .map_err(|_| "a number too large")
            .and_then(|id| known(id, len))
            .map(Some),
    };
    let strings = tables.strings.len();
    let (classes, methods) = (tables.classes.len(), tables.methods.len());
    match tag {
        Tag::Strings => {
            let len = bytes.number32()? as usize;
            let text = str::from_utf8(bytes.take(len)?).map_err(|_| "invalid UTF-8")?;
            let id = tables.strings.intern(text).ok_or(FULL)?;
            if id.index() != strings {
                return Err("a string twice");
            }
        }
        Tag::Threads => {
            let name = StrId(id(bytes, strings)?);
            tables.threads.push(Thread { name }).ok_or(FULL)?;
        }
        Tag::Classes => {
            let class = Class {
                name: StrId(id(bytes, strings)?),
                source_file: optional_id(bytes, strings)?.map(StrId),
            };
            tables.classes.push(class).ok_or(FULL)?;
        }
        Tag::Fields => {
            let field = Field {
                class: ClassId(id(bytes, classes)?),
                name: StrId(id(bytes, strings)?),
            };
            tables.fields.push(field).ok_or(FULL)?;
        }
        Tag::Methods => {
            let method = Method {
                class: ClassId(id(bytes, classes)?),
                name: StrId(id(bytes, strings)?),
                descriptor: StrId(id(bytes, strings)?),
            };
            tables.methods.push(method).ok_or(FULL)?;
        }
        Tag::Objects => {
            let object = Object {
                class: optional_id(bytes, classes)?.map(ClassId),
                name: optional_id(bytes, strings)?.map(StrId),
            };
            tables.objects.push(object).ok_or(FULL)?;
        }
        Tag::Vars => {
            let object = ObjectId(id(bytes, tables.objects.len())?);
            let part = match bytes.byte()? {
                0 => Part::Text(StrId(id(bytes, strings)?)),
                1 => Part::Field(FieldId(id(bytes, tables.fields.len())?)),
                2 => Part::Element(bytes.number32()?),
                3 => {
                    let (from, to) = (bytes.number32()?, bytes.number32()?);
                    if from > to {
                        return Err("a range that ends before it begins");
                    }
                    Part::Range(from, to)
                }
                4 => Part::Key(StrId(id(bytes, strings)?)),
                5 => Part::Whole,
                _ => return Err("an unknown part of an object"),
            };
            tables.add_var(Var { object, part }).ok_or(FULL)?;
        }
        Tag::Locks => {
            let kind = match bytes.byte()? {
                0 => LockKind::Monitor,
                1 => LockKind::Explicit,
                2 => LockKind::Synchronizer,
                _ => return Err("an unknown kind of lock"),
            };
            let lock = Lock {
                kind,
                object: optional_id(bytes, tables.objects.len())?.map(ObjectId),
                name: StrId(id(bytes, strings)?),
            };
            tables.locks.push(lock).ok_or(FULL)?;
        }
        Tag::Sites => {
            let site = Site {
                method: optional_id(bytes, methods)?.map(MethodId),
                file: optional_id(bytes, strings)?.map(StrId),
                line: bytes.number32()?,
            };
            tables.sites.push(site).ok_or(FULL)?;
        }
        Tag::Regions => {
            let kind = match bytes.byte()? {
                0 => RegionKind::Method,
                1 => RegionKind::Block,
                _ => return Err("an unknown kind of region"),
            };
            let region = Region {
                kind,
                method: optional_id(bytes, methods)?.map(MethodId),
                name: StrId(id(bytes, strings)?),
                site: optional_id(bytes, tables.sites.len())?.map_or(SiteId::UNKNOWN, SiteId),
            };
            let _: RegionId = tables.regions.push(region).ok_or(FULL)?;
        }
    }
    Ok(())
}
