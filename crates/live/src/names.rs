//! What the ids of a process stand for: its declarations, turned into side tables.
//!
//! Locations and locks are made when the first event names them, since their ids are the runtime's own and sparse.
//! The runtime's ids are never used again, ours may be ([`Lives`]).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};
use untorn_model::{
    AccessFlags, Class, ClassId, Field, FieldId, Lock, LockId, LockKind, Method, MethodId, Object,
    ObjectId, Part, Region, RegionId, RegionKind, Site, SiteId, StrId, Tables, Thread, ThreadId,
    Var, VarId,
};

use crate::lives::{Dropped, Lives, LockShape};
use crate::objects::Objects;

/// An access site, ready for use.
#[derive(Clone, Copy, Debug)]
pub struct AccessSite {
    pub kind: AccessKind,
    pub flags: AccessFlags,
    pub target: SiteTarget,
}

#[derive(Clone, Copy, Debug)]
pub enum SiteTarget {
    Field(FieldId, ClassId),
    Static(VarId),
    Element,
    Content,
}

#[derive(Clone, Copy, Debug)]
struct SiteEntry {
    site: SiteId,
    access: Option<AccessSite>,
}

#[derive(Debug, Default)]
pub struct Names {
    pub tables: Tables,
    classes: Vec<Option<ClassId>>,
    /// The first class of each name.
    class_by_name: FxHashMap<StrId, ClassId>,
    /// By name: the hashes of the class files that were loaded.
    hashes: BTreeMap<String, BTreeSet<u64>>,
    /// By name: the class file that was loaded last, if the program sends them.
    code: BTreeMap<String, Vec<u8>>,
    fields: Vec<Option<(FieldId, ClassId)>>,
    methods: Vec<Option<MethodId>>,
    regions: Vec<Option<RegionId>>,
    sites: Vec<Option<SiteEntry>>,
    runtime_classes: Vec<Option<ClassId>>,
    named_threads: FxHashMap<u32, String>,
    threads: Vec<Option<ThreadId>>,
    keys: FxHashMap<u64, StrId>,
    /// Names that keys have already.
    used_for_keys: FxHashSet<StrId>,
    objects: Objects,
    statics: FxHashMap<ClassId, ObjectId>,
    /// The fields of objects with more than [`NEAR`] locations.
    vars: FxHashMap<(ObjectId, FieldId), VarId>,
    recent: Recent,
    parts: FxHashMap<(ObjectId, Part), VarId>,
    locks: FxHashMap<u64, LockId>,
    /// By lock; none for a class.
    shapes: Vec<Option<LockShape>>,
    /// Ids of objects and locks that are gone; none if ids are not used again.
    pub lives: Option<Lives>,
    /// Locks that were announced and not used yet: their class, and whether they are the class.
    announced: FxHashMap<u64, (u32, bool)>,
}

/// The fields of objects looked up last, in few enough bytes to stay close: the table of all is as large as the program's heap.
#[derive(Debug)]
struct Recent(Vec<(u64, FieldId, VarId)>);

const RECENT: usize = 1 << 10;

/// How many locations of an object are looked at one by one: they were made together and lie together.
const NEAR: usize = 8;

impl Default for Recent {
    fn default() -> Self {
        // The runtime's objects count from 1.
        Self(vec![(0, FieldId(0), VarId(0)); RECENT])
    }
}

impl Recent {
    #[inline]
    fn slot(object: u64, field: FieldId) -> usize {
        let key = (object ^ u64::from(field.0) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (key >> (64 - RECENT.ilog2())) as usize
    }
}

/// Puts a value at an index of a vector that grows; absurd indices are refused, since ids are dense.
fn put<T>(vector: &mut Vec<Option<T>>, index: u32, value: T) -> Option<()> {
    let index = index as usize;
    if index > vector.len() + (1 << 20) {
        return None;
    }
    if vector.len() <= index {
        vector.resize_with(index + 1, || None);
    }
    vector[index] = Some(value);
    Some(())
}

fn get<T: Copy>(vector: &[Option<T>], index: u32) -> Option<T> {
    vector.get(index as usize).copied().flatten()
}

impl Names {
    /// Takes a declaration in; `None` if it names what was not declared, or ids have run out.
    pub fn declare(&mut self, declaration: Declaration) -> Option<()> {
        match declaration {
            Declaration::Class {
                id,
                name,
                source_file,
                hash,
            } => {
                if let Some(hash) = hash {
                    let known = self.hashes.entry(name.clone()).or_default();
                    known.insert(hash);
                }
                let class = self.class(&name, source_file.as_deref())?;
                put(&mut self.classes, id, class)
            }
            Declaration::RuntimeClass { id, name } => {
                // Only its name matters, so any class of that name will do.
                let text = self.tables.strings.intern(&name)?;
                let class = match self.class_by_name.get(&text) {
                    Some(&class) => class,
                    None => self.class(&name, None)?,
                };
                put(&mut self.runtime_classes, id, class)
            }
            Declaration::Field { id, class, name } => {
                let class = get(&self.classes, class)?;
                let name = self.tables.strings.intern(&name)?;
                let field = self.tables.fields.push(Field { class, name })?;
                put(&mut self.fields, id, (field, class))
            }
            Declaration::Method {
                id,
                class,
                name,
                descriptor,
            } => {
                let method = Method {
                    class: get(&self.classes, class)?,
                    name: self.tables.strings.intern(&name)?,
                    descriptor: self.tables.strings.intern(&descriptor)?,
                };
                let method = self.tables.methods.push(method)?;
                put(&mut self.methods, id, method)
            }
            Declaration::Region {
                id,
                method,
                block,
                line,
            } => {
                let region = self.region(method, block, line)?;
                put(&mut self.regions, id, region)
            }
            Declaration::Site {
                id,
                method,
                line,
                access,
            } => {
                let site = self.place(get(&self.methods, method)?, line)?;
                let access = match access {
                    Some(access) => Some(self.access_site(access)?),
                    None => None,
                };
                put(&mut self.sites, id, SiteEntry { site, access })
            }
            Declaration::Thread { id, name } => {
                self.named_threads.insert(id, name);
                Some(())
            }
            Declaration::Key { id, text } => {
                let text = self.key_name(&text)?;
                self.keys.insert(id, text);
                Some(())
            }
            Declaration::Code { class, bytes } => {
                let class = get(&self.classes, class)?;
                let name = self.tables.class_name(class).to_owned();
                self.code.insert(name, bytes);
                Some(())
            }
        }
    }

    /// A name for a key that no other key has: `5` and `"5"` read the same and are not, nor are constants of two loaders' enums.
    fn key_name(&mut self, text: &str) -> Option<StrId> {
        let mut name = text.to_owned();
        for number in 2.. {
            let id = self.tables.strings.intern(&name)?;
            if self.used_for_keys.insert(id) {
                return Some(id);
            }
            name = format!("{text} ({number})");
        }
        None
    }

    /// A new class: several loaders may each have one of this name.
    fn class(&mut self, name: &str, source_file: Option<&str>) -> Option<ClassId> {
        let name = self.tables.strings.intern(name)?;
        let source_file = match source_file {
            Some(file) => Some(self.tables.strings.intern(file)?),
            None => None,
        };
        let class = self.tables.classes.push(Class { name, source_file })?;
        self.class_by_name.entry(name).or_insert(class);
        Some(class)
    }

    fn place(&mut self, method: MethodId, line: u32) -> Option<SiteId> {
        let class = self.tables.methods[method].class;
        self.tables.sites.push(Site {
            method: Some(method),
            file: self.tables.classes[class].source_file,
            line,
        })
    }

    fn region(&mut self, method: u32, block: Option<u32>, line: u32) -> Option<RegionId> {
        let method = get(&self.methods, method)?;
        let entry = self.tables.methods[method];
        let mut name = format!(
            "{}.{}",
            self.tables.class_name(entry.class),
            self.tables.text(entry.name)
        );
        if let Some(block) = block {
            name += &format!("@{block}");
        }
        let region = Region {
            kind: match block {
                None => RegionKind::Method,
                Some(_) => RegionKind::Block,
            },
            method: Some(method),
            name: self.tables.strings.intern(&name)?,
            site: self.place(method, line)?,
        };
        self.tables.regions.push(region)
    }

    fn access_site(&mut self, access: Access) -> Option<AccessSite> {
        let mut flags = AccessFlags::PLAIN;
        for (is, flag) in [
            (access.volatile, AccessFlags::VOLATILE),
            (access.wide, AccessFlags::WIDE),
            (access.approximate, AccessFlags::APPROXIMATE),
        ] {
            if is {
                flags = flags.with(flag);
            }
        }
        let target = match access.target {
            Target::Field(field) => {
                let (field, class) = get(&self.fields, field)?;
                SiteTarget::Field(field, class)
            }
            Target::Static(field) => {
                let (field, class) = get(&self.fields, field)?;
                SiteTarget::Static(self.static_var(field, class)?)
            }
            Target::Element => SiteTarget::Element,
            Target::Content => SiteTarget::Content,
        };
        Some(AccessSite {
            kind: access.kind,
            flags,
            target,
        })
    }

    fn static_var(&mut self, field: FieldId, class: ClassId) -> Option<VarId> {
        let object = match self.statics.get(&class) {
            Some(&object) => object,
            None => {
                let object = self.tables.objects.push(Object {
                    class: Some(class),
                    name: Some(self.tables.classes[class].name),
                })?;
                self.statics.insert(class, object);
                object
            }
        };
        self.var_of(object, field)
    }

    /// By name: the hashes of the class files that were loaded.
    pub fn hashes(&self) -> &BTreeMap<String, BTreeSet<u64>> {
        &self.hashes
    }

    /// By class name: the class file that was loaded last.
    pub fn code(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.code
    }

    /// Whether a site was declared.
    pub fn knows_site(&self, site: u32) -> bool {
        get(&self.sites, site).is_some()
    }

    pub fn site(&self, site: u32) -> Option<(SiteId, Option<AccessSite>)> {
        get(&self.sites, site).map(|entry| (entry.site, entry.access))
    }

    pub fn region_of(&self, region: u32) -> Option<RegionId> {
        get(&self.regions, region)
    }

    pub fn method_of(&self, method: u32) -> Option<MethodId> {
        get(&self.methods, method)
    }

    pub fn knows_key(&self, key: u64) -> bool {
        self.keys.contains_key(&key)
    }

    pub fn knows_field(&self, field: u32) -> bool {
        get(&self.fields, field).is_some()
    }

    pub fn knows_runtime_class(&self, class: u32) -> bool {
        class == 0 || get(&self.runtime_classes, class).is_some()
    }

    pub fn knows_thread(&self, thread: u32) -> bool {
        get(&self.threads, thread).is_some() || self.named_threads.contains_key(&thread)
    }

    /// A thread by the runtime's id; one whose name never arrived is called by its number.
    pub fn thread(&mut self, id: u32) -> Option<ThreadId> {
        if let Some(thread) = get(&self.threads, id) {
            return Some(thread);
        }
        let name = match self.named_threads.remove(&id) {
            Some(name) if !name.is_empty() => name,
            _ => format!("thread-{id}"),
        };
        let name = self.tables.strings.intern(&name)?;
        let thread = self.tables.threads.push(Thread { name })?;
        put(&mut self.threads, id, thread)?;
        Some(thread)
    }

    /// The field of an object.
    #[inline]
    pub fn field_var(&mut self, object: u64, field: FieldId, class: ClassId) -> Option<VarId> {
        let slot = Recent::slot(object, field);
        let recent = self.recent.0[slot];
        if recent.0 == object && recent.1 == field {
            return Some(recent.2);
        }
        let var = self.new_field_var(object, field, class)?;
        self.recent.0[slot] = (object, field, var);
        Some(var)
    }

    fn new_field_var(&mut self, object: u64, field: FieldId, class: ClassId) -> Option<VarId> {
        let object = self.object(object, Some(class))?;
        self.var_of(object, field)
    }

    /// The field of an object by the rewriter's id.
    pub fn field_of(&mut self, object: u64, field: u32) -> Option<VarId> {
        let (field, class) = get(&self.fields, field)?;
        self.field_var(object, field, class)
    }

    /// A static field by the rewriter's id.
    pub fn static_field(&mut self, field: u32) -> Option<VarId> {
        let (field, class) = get(&self.fields, field)?;
        self.static_var(field, class)
    }

    fn var_of(&mut self, object: ObjectId, field: FieldId) -> Option<VarId> {
        let part = Part::Field(field);
        let mut near = 0;
        for var in self.tables.vars_of(object).take(NEAR) {
            if self.tables.vars()[var].part == part {
                return Some(var);
            }
            near += 1;
        }
        if near == NEAR
            && let Some(&var) = self.vars.get(&(object, field))
        {
            return Some(var);
        }
        self.add_var(Var { object, part })
    }

    /// A new location; once its object has more than are looked at one by one, its fields are found by [`Self::vars`].
    fn add_var(&mut self, var: Var) -> Option<VarId> {
        let before = self.tables.vars_of(var.object).take(NEAR + 1).count();
        let id = self.tables.add_var(var)?;
        if before == NEAR {
            for id in self.tables.vars_of(var.object) {
                if let Part::Field(field) = self.tables.vars()[id].part {
                    self.vars.insert((var.object, field), id);
                }
            }
        } else if before > NEAR
            && let Part::Field(field) = var.part
        {
            self.vars.insert((var.object, field), id);
        }
        Some(id)
    }

    /// An element of an array, or what a collection holds.
    pub fn part_var(&mut self, object: u64, part: Part) -> Option<VarId> {
        let object = self.object(object, None)?;
        if let Some(&var) = self.parts.get(&(object, part)) {
            return Some(var);
        }
        let var = self.add_var(Var { object, part })?;
        self.parts.insert((object, part), var);
        Some(var)
    }

    pub fn key_part(&self, key: Option<u64>) -> Part {
        key.and_then(|key| self.keys.get(&key))
            .map_or(Part::Whole, |&text| Part::Key(text))
    }

    fn object(&mut self, id: u64, class: Option<ClassId>) -> Option<ObjectId> {
        if let Some(object) = self.objects.get(id) {
            return Some(object);
        }
        let free = self.lives.as_mut().and_then(|lives| lives.object(class));
        let object = match free {
            Some(object) => object,
            None => self.tables.objects.push(Object { class, name: None })?,
        };
        self.objects.insert(id, object);
        Some(object)
    }

    /// An object is gone; `begun` as in [`Lives::drop`].
    pub fn drop_object(&mut self, id: u64, begun: u64) {
        let Some(object) = self.objects.remove(id) else {
            return;
        };
        for var in self.tables.vars_of(object) {
            let part = self.tables.vars()[var].part;
            if let Part::Field(field) = part {
                let recent = &mut self.recent.0[Recent::slot(id, field)];
                if recent.0 == id {
                    recent.0 = 0;
                }
            }
            if self.lives.is_none() {
                match part {
                    Part::Field(field) => drop(self.vars.remove(&(object, field))),
                    part => drop(self.parts.remove(&(object, part))),
                }
            }
        }
        if let Some(lives) = &mut self.lives {
            let class = self.tables.objects[object].class;
            lives.drop(Dropped::Object(object, class), begun);
        }
    }

    /// A lock is gone.
    pub fn drop_lock(&mut self, id: u64, begun: u64) {
        self.announced.remove(&id);
        let lock = self.locks.remove(&id);
        if let (Some(lock), Some(lives)) = (lock, &mut self.lives)
            && let Some(shape) = self.shapes[lock.index()]
        {
            lives.drop(Dropped::Lock(lock, shape), begun);
        }
    }

    /// How many ids there are that can be used again.
    pub fn ids(&self) -> usize {
        let tables = &self.tables;
        tables.objects.len() + tables.vars().len() + tables.locks.len()
    }

    /// An array or collection announces itself.
    pub fn new_object(&mut self, id: u64, class: u32) -> Option<()> {
        let class = get(&self.runtime_classes, class);
        self.object(id, class).map(|_| ())
    }

    pub fn new_lock(&mut self, id: u64, class: u32, is_class: bool) {
        self.announced.insert(id, (class, is_class));
    }

    pub fn lock(&mut self, id: u64, kind: LockKind) -> Option<LockId> {
        if let Some(&lock) = self.locks.get(&id) {
            return Some(lock);
        }
        let (class, is_class) = self.announced.remove(&id).unwrap_or_default();
        let shape = (!is_class).then_some((class, kind));
        let lives = self.lives.as_mut().zip(shape);
        if let Some(lock) = lives.and_then(|(lives, shape)| lives.lock(shape)) {
            self.locks.insert(id, lock);
            return Some(lock);
        }
        let class =
            get(&self.runtime_classes, class).map_or("lock", |class| self.tables.class_name(class));
        let name = if is_class {
            format!("{class}.class")
        } else {
            format!("{class}@m{}", self.tables.locks.len())
        };
        let name = self.tables.strings.intern(&name)?;
        let object = None;
        let lock = self.tables.locks.push(Lock { kind, object, name })?;
        self.locks.insert(id, lock);
        self.shapes.push(shape);
        Some(lock)
    }
}
