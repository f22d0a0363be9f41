//! Ids of what is instrumented, and their declaration to the reader.
//!
//! The rewriter asks for ids while it works on a class; the declarations pile up here and go out before the class is defined ([`Registry::flush`]).
//! They leave in the order of their ids, so a declaration never names what the reader does not know.
//!
//! *Which field.*
//! A class is a name and the loader that defined it; a field is its declaring class, name, type, and whether it is static.
//! A site names a class as its own class's loader finds it, and perhaps a class that inherits the field.
//! What that means is known at once if the loader itself has defined the class and the class declares the field; else the site is declared later, but before its first record.
//!
//! - *Static fields:* at the first use of the reference, when the JVM knows which class it means ([`Registry::same_field`]).
//!   Exact, whatever loaders do.
//! - *Instance fields:* when the declaring class has been seen, by names and superclasses.
//!   The object in the record keeps loaders apart, so one id for the fields of one name in classes of one name is no mistake; only where one object has two classes of one name above it (`A` of one loader above `A` of another) their fields have ids by loader.
//!   Where loaders have defined different classes of the name and it matters which one is meant, the reference has an id of its own: a conflict may be missed, none is made up.
//!   What remains is a loader that defines a newer version of a class after other code of it was rewritten against its parent's version, where the newer version hides a field of its superclass with one of the same name and type.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use untorn_channel::config::{HandAccess, HandSite};
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};
use untorn_channel::protocol::{AgentEnd, Counts};
use untorn_channel::record;

use crate::faults;
use crate::loaders::Loader;

const NO_FIELD: u32 = u32::MAX;

/// A field as a class file names it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldRef {
    /// With dots.
    pub class: String,
    pub name: String,
    pub descriptor: String,
    pub is_static: bool,
}

/// A class as a loader finds it.
type Found = (Loader, String);

#[derive(Clone, Copy, Debug)]
struct ClassEntry {
    id: u32,
    /// Of its class file; `None` while only its name is known.
    hash: Option<u64>,
}

#[derive(Debug, Default)]
struct Tables {
    classes: FxHashMap<Found, ClassEntry>,
    class_count: u32,
    fields: FxHashMap<(Loader, FieldRef), u32>,
    field_refs: Vec<(Loader, FieldRef)>,
    /// By name: the classes that were defined, each with its loader.
    shapes: FxHashMap<String, Vec<(Loader, Shape)>>,
    /// Instance fields whose declaration is not known, by the class that must be seen first.
    unresolved: FxHashMap<String, Vec<u32>>,
    /// The sites of fields that are not known, which are not declared yet.
    withheld: FxHashMap<u32, Vec<Withheld>>,
    /// Fields that turned out to be another one.
    same: FxHashMap<u32, u32>,
    methods: u32,
    regions: u32,
    /// The instance field of each site, or [`NO_FIELD`].
    sites: Vec<u32>,
    pending: Vec<u8>,
}

/// A site that waits until its field is known.
#[derive(Clone, Copy, Debug)]
struct Withheld {
    site: u32,
    method: u32,
    line: u32,
    access: Access,
}

/// What a class declares, as far as others that inherit from it must know.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// With dots.
    pub super_class: Option<String>,
    pub fields: Vec<FieldShape>,
    /// Another class of this name is above it or below it in one hierarchy.
    pub apart: bool,
}

#[derive(Clone, Debug, Default)]
pub struct FieldShape {
    pub name: String,
    pub descriptor: String,
    pub is_static: bool,
    pub is_final: bool,
    pub is_volatile: bool,
}

impl Shape {
    fn declares(&self, field: &FieldRef) -> Option<&FieldShape> {
        self.fields.iter().find(|own| {
            own.name == field.name
                && own.descriptor == field.descriptor
                && own.is_static == field.is_static
        })
    }
}

/// What is known of where an instance field is declared.
enum Declared {
    In(Loader, String, FieldShape),
    /// This class must be seen first.
    Missing(String),
    /// Nobody declares it, or it is not clear who.
    Unclear,
}

/// Hands out ids.
#[derive(Debug)]
pub struct Registry {
    tables: Mutex<Tables>,
    link: Mutex<Option<AgentEnd>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in another thread leaves tables that are still usable: every change is a push.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// A registry that declares to nobody when there is no link, as in tests.
    pub fn new(link: Option<AgentEnd>) -> Self {
        Self {
            tables: Mutex::default(),
            link: Mutex::new(link),
        }
    }

    /// The id of a class by its loader and its name with dots; `hash` is that of its class file.
    pub fn class(
        &self,
        loader: Loader,
        name: &str,
        source_file: Option<&str>,
        hash: Option<u64>,
    ) -> u32 {
        locked(&self.tables).class(loader, name, source_file, hash)
    }

    /// Hands over the class file of a class.
    pub fn code(&self, class: u32, bytes: &[u8]) {
        locked(&self.tables).declare(&Declaration::Code {
            class,
            bytes: bytes.to_owned(),
        });
    }

    /// Makes known what a class declares, before its own references are asked for.
    ///
    /// Classes are seen in the order in which they are loaded, often before their superclasses; a redefined one is seen again.
    pub fn shape(&self, loader: Loader, class: &str, shape: Shape) {
        let mut t = locked(&self.tables);
        t.define(loader, class, shape);
        for id in t.unresolved.remove(class).unwrap_or_default() {
            t.resolve(id);
        }
    }

    /// The id of a field that a reference in a class of this loader means; and its declaration, if it is known.
    ///
    /// Interfaces are not searched: their fields are constants.
    pub fn field(&self, loader: Loader, field: &FieldRef) -> (u32, Option<FieldShape>) {
        let mut t = locked(&self.tables);
        if let Some(own) = t.shape(loader, &field.class) {
            let apart = own.apart;
            if let Some(shape) = own.declares(field).cloned() {
                let owner = owner(loader, field.is_static, apart);
                return (t.field(owner, field), Some(shape));
            }
        }
        if field.is_static {
            let id = t.field(loader, field);
            if !t.same.contains_key(&id) {
                t.withheld.entry(id).or_default();
            }
            return (id, None);
        }
        match t.declared(loader, field) {
            Declared::In(owner, class, shape) => {
                let declared = FieldRef {
                    class,
                    ..field.clone()
                };
                (t.field(owner, &declared), Some(shape))
            }
            Declared::Unclear => (t.field(loader, field), None),
            Declared::Missing(missing) => {
                let id = t.field(loader, field);
                if !t.withheld.contains_key(&id) && !t.same.contains_key(&id) {
                    t.unresolved.entry(missing).or_default().push(id);
                    t.withheld.insert(id, Vec::new());
                }
                (id, None)
            }
        }
    }

    /// The fields that a class of this loader declares, by name, but for those that share theirs; `None` if it is not watched.
    pub fn declares(&self, loader: Loader, class: &str, is_static: bool) -> Option<Vec<String>> {
        let t = locked(&self.tables);
        let fields = &t.shape(loader, class)?.fields;
        let alone = |field: &&FieldShape| {
            let same = fields.iter().filter(|other| other.name == field.name);
            field.is_static == is_static && same.count() == 1
        };
        let names = fields.iter().filter(alone);
        Some(names.map(|field| field.name.clone()).collect())
    }

    /// The id of one of these fields, as the accesses that name it have it.
    pub fn declared_field(
        &self,
        loader: Loader,
        class: &str,
        name: &str,
        is_static: bool,
    ) -> Option<u32> {
        let descriptor = {
            let t = locked(&self.tables);
            let mut fields = t.shape(loader, class)?.fields.iter();
            let field = fields.find(|field| field.name == name && field.is_static == is_static)?;
            field.descriptor.clone()
        };
        let field = FieldRef {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor,
            is_static,
        };
        let (id, _) = self.field(loader, &field);
        self.flush();
        Some(id)
    }

    /// The class that a static field's reference names, and the loader that finds it; `None` once its field is known.
    pub fn unsettled(&self, field: u32) -> Option<(Loader, String)> {
        let t = locked(&self.tables);
        t.withheld.get(&field)?;
        let (loader, field) = t.field_refs.get(field as usize)?;
        Some((*loader, field.class.clone()))
    }

    /// The static field that one turned out to be, asked before its first use.
    ///
    /// `classes` are the class that the reference means and those above it, each with the loader that defined it.
    pub fn same_field(&self, field: u32, classes: &[(Loader, String)]) -> u32 {
        let mut t = locked(&self.tables);
        if t.withheld.contains_key(&field) {
            t.find_static(field, classes);
        }
        let same = t.same.get(&field).copied().unwrap_or(field);
        drop(t);
        self.flush();
        same
    }

    /// A new id for a method; each is asked for once.
    pub fn method(&self, class: u32, name: &str, descriptor: &str) -> u32 {
        let mut t = locked(&self.tables);
        let id = t.methods;
        t.methods += 1;
        t.declare(&Declaration::Method {
            id,
            class,
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        });
        id
    }

    /// A new id for a region: a method, or one of its blocks counted from 1.
    pub fn region(&self, method: u32, block: Option<u32>, line: u32) -> u32 {
        let mut t = locked(&self.tables);
        let id = t.regions;
        t.regions += 1;
        t.declare(&Declaration::Region {
            id,
            method,
            block,
            line,
        });
        id
    }

    /// Whether hardly any numbers for regions are left; the largest class still gets those that it wants.
    pub fn is_short_of_regions(&self) -> bool {
        const SPARE: u32 = 1 << 17;
        let most = (1 << record::REGION_BITS) - SPARE;
        let most = faults::limit("regions").map_or(most, |few| few as u32);
        locked(&self.tables).regions > most
    }

    /// A new id for an instrumented instruction; `None` when there are none left.
    pub fn site(&self, method: u32, line: u32, access: Option<Access>) -> Option<u32> {
        let mut t = locked(&self.tables);
        let id = t.sites.len() as u32;
        if id >> record::SITE_BITS != 0 {
            return None;
        }
        t.sites.push(match access {
            Some(Access {
                target: Target::Field(field),
                ..
            }) => field,
            _ => NO_FIELD,
        });
        match access {
            Some(access) => t.declare_access(Withheld {
                site: id,
                method,
                line,
                access,
            }),
            None => t.declare(&Declaration::Site {
                id,
                method,
                line,
                access: None,
            }),
        }
        Some(id)
    }

    /// What objects of the platform hold under a name, such as the size of a collection: a field that no class file declares.
    pub fn content(&self, class: &str, name: &str) -> u32 {
        let field = FieldRef {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: String::new(),
            is_static: false,
        };
        locked(&self.tables).field(Loader::BOOT, &field)
    }

    /// Sites of a program that calls the runtime itself: their ids are their places, and region 0 is all of it.
    pub fn by_hand(&self, sites: &[HandSite]) {
        if sites.is_empty() {
            return;
        }
        let class = self.class(Loader::BOOT, "Hand", None, None);
        let method = self.method(class, "written", "()V");
        self.region(method, None, 0);
        for (line, site) in (1..).zip(sites) {
            let field = |is_static| {
                let field = FieldRef {
                    class: site.class.clone(),
                    name: site.field.clone(),
                    descriptor: String::new(),
                    is_static,
                };
                self.field(Loader::BOOT, &field).0
            };
            let target = match site.access {
                HandAccess::Field => Some(Target::Field(field(false))),
                HandAccess::Static => Some(Target::Static(field(true))),
                HandAccess::Element => Some(Target::Element),
                HandAccess::Content => Some(Target::Content),
                HandAccess::None => None,
            };
            let access = target.map(|target| Access {
                kind: if site.writes {
                    AccessKind::Write
                } else {
                    AccessKind::Read
                },
                target,
                volatile: false,
                wide: false,
                approximate: false,
            });
            self.site(method, line, access);
        }
        self.flush();
    }

    /// The class and field that a site's field reference names, asked before its first use.
    pub fn site_field(&self, site: u32) -> Option<(String, String)> {
        let mut t = locked(&self.tables);
        let field = *t.sites.get(site as usize)?;
        t.settle(field);
        let (_, named) = t.field_refs.get(field as usize)?;
        let named = (named.class.clone(), named.name.clone());
        drop(t);
        self.flush();
        Some(named)
    }

    /// Declares something that has its id already, at once.
    pub fn declare(&self, declaration: &Declaration) {
        locked(&self.tables).declare(declaration);
        self.flush();
    }

    /// Sends what was declared since the last time.
    pub fn flush(&self) {
        // Tables stay locked while sending, so that declarations leave in order.
        let mut t = locked(&self.tables);
        if t.pending.is_empty() {
            return;
        }
        if let Some(link) = &mut *locked(&self.link) {
            // A reader that is gone is noticed by the thread that watches for it.
            link.declare(&t.pending).ok();
        }
        t.pending.clear();
    }

    /// Says the last word.
    pub fn goodbye(&self, counts: &Counts) {
        self.flush();
        if let Some(link) = &mut *locked(&self.link) {
            link.goodbye(counts).ok();
            link.close();
        }
    }

    /// Says that this process runs unwatched, and why.
    pub fn give_up(&self, why: &str) {
        if let Some(link) = &mut *locked(&self.link) {
            // A reader that is gone asks for no reason.
            link.give_up(why).ok();
        }
    }

    /// What was declared and not sent, for tests of the rewriter.
    pub fn pending(&self) -> Vec<Declaration> {
        let t = locked(&self.tables);
        let (mut rest, mut all) = (&t.pending[..], Vec::new());
        while let Ok(declaration) = Declaration::decode(&mut rest) {
            all.push(declaration);
        }
        all
    }
}

/// Whose a field is: by its loader if it is static or must be kept apart, else by its class's name alone.
fn owner(loader: Loader, is_static: bool, apart: bool) -> Loader {
    if is_static || apart {
        loader
    } else {
        Loader::ANY
    }
}

impl Tables {
    fn class(
        &mut self,
        loader: Loader,
        name: &str,
        source_file: Option<&str>,
        hash: Option<u64>,
    ) -> u32 {
        let key = (loader, name.to_owned());
        // A class that was only named before, or is redefined, is declared anew: an entry never changes.
        if let Some(known) = self.classes.get(&key)
            && (hash.is_none() || known.hash == hash)
        {
            return known.id;
        }
        let id = self.class_count;
        self.class_count += 1;
        self.classes.insert(key, ClassEntry { id, hash });
        self.declare(&Declaration::Class {
            id,
            name: name.to_owned(),
            source_file: source_file.map(str::to_owned),
            hash,
        });
        id
    }

    fn field(&mut self, loader: Loader, field: &FieldRef) -> u32 {
        if let Some(&id) = self.fields.get(&(loader, field.clone())) {
            return id;
        }
        let class = self.class(loader, &field.class, None, None);
        let id = self.field_refs.len() as u32;
        self.fields.insert((loader, field.clone()), id);
        self.field_refs.push((loader, field.clone()));
        self.declare(&Declaration::Field {
            id,
            class,
            name: field.name.clone(),
        });
        id
    }

    /// What the class of this name declares that this very loader has defined.
    fn shape(&self, loader: Loader, class: &str) -> Option<&Shape> {
        let all = self.shapes.get(class)?;
        let (_, shape) = all.iter().find(|(by, _)| *by == loader)?;
        Some(shape)
    }

    fn define(&mut self, loader: Loader, class: &str, mut shape: Shape) {
        let all = self.shapes.entry(class.to_owned()).or_default();
        if let Some((_, known)) = all.iter_mut().find(|(by, _)| *by == loader) {
            shape.apart = known.apart;
            *known = shape;
            return;
        }
        let first = all.is_empty();
        all.push((loader, shape));
        if !first && self.is_above_itself(class) {
            let all = self.shapes.entry(class.to_owned()).or_default();
            if let Some((_, shape)) = all.last_mut() {
                shape.apart = true;
            }
        }
    }

    /// Whether some class of this name has, or may have, another one of this name above it.
    fn is_above_itself(&self, class: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut pending = vec![class];
        while let Some(at) = pending.pop() {
            for (_, shape) in self.shapes.get(at).into_iter().flatten() {
                let Some(above) = shape.super_class.as_deref() else {
                    continue;
                };
                if above == class {
                    return true;
                }
                if !seen.contains(&above) {
                    seen.push(above);
                    pending.push(above);
                }
            }
        }
        false
    }

    /// Who declares the instance field that a class of this loader names, as far as names tell.
    fn declared(&self, loader: Loader, field: &FieldRef) -> Declared {
        let mut at = (loader, field.class.as_str());
        // A forged hierarchy may be a circle.
        for _ in 0..1000 {
            let (by, name) = at;
            let Some(all) = self.shapes.get(name) else {
                return Declared::Missing(name.to_owned());
            };
            let found = match all.iter().find(|(other, _)| *other == by) {
                Some(own) => own,
                None => match &all[..] {
                    [only] => only,
                    _ => return Self::agreed(all, name, field),
                },
            };
            let (by, shape) = found;
            if let Some(own) = shape.declares(field) {
                let owner = owner(*by, false, shape.apart);
                return Declared::In(owner, name.to_owned(), own.clone());
            }
            match &shape.super_class {
                Some(above) => at = (*by, above),
                None => break,
            }
        }
        Declared::Unclear
    }

    /// Several loaders have defined the class: clear only if that makes no difference.
    fn agreed(all: &[(Loader, Shape)], name: &str, field: &FieldRef) -> Declared {
        let own = all.iter().map(|(_, shape)| {
            let own = shape.declares(field)?;
            (!shape.apart).then_some(own)
        });
        match own.collect::<Option<Vec<&FieldShape>>>().as_deref() {
            Some([first, ..]) => {
                let own = FieldShape {
                    // What only some of them are cannot be taken for granted.
                    is_final: false,
                    ..(*first).clone()
                };
                Declared::In(Loader::ANY, name.to_owned(), own)
            }
            _ => Declared::Unclear,
        }
    }

    /// Declares an access, of the field that its field turned out to be, unless that is not known yet.
    fn declare_access(&mut self, withheld: Withheld) {
        let mut access = withheld.access;
        if let Target::Field(field) | Target::Static(field) = &mut access.target {
            if let Some(waiting) = self.withheld.get_mut(field) {
                waiting.push(withheld);
                return;
            }
            if let Some(&same) = self.same.get(field) {
                *field = same;
            }
        }
        self.declare(&Declaration::Site {
            id: withheld.site,
            method: withheld.method,
            line: withheld.line,
            access: Some(access),
        });
    }

    /// Tries again to find where an instance field is declared.
    fn resolve(&mut self, id: u32) {
        let Some((loader, field)) = self.field_refs.get(id as usize).cloned() else {
            return;
        };
        match self.declared(loader, &field) {
            Declared::In(owner, class, shape) => {
                let same = self.field(owner, &FieldRef { class, ..field });
                self.found(id, same, &shape);
            }
            Declared::Missing(missing) => self.unresolved.entry(missing).or_default().push(id),
            Declared::Unclear => self.settle(id),
        }
    }

    /// The classes that a static field can be in are known: the first that declares it has it.
    fn find_static(&mut self, id: u32, classes: &[(Loader, String)]) {
        let Some((_, field)) = self.field_refs.get(id as usize).cloned() else {
            return;
        };
        for (loader, class) in classes {
            let declared = self.shape(*loader, class).and_then(|s| s.declares(&field));
            if let Some(shape) = declared.cloned() {
                let class = class.clone();
                let same = self.field(*loader, &FieldRef { class, ..field });
                return self.found(id, same, &shape);
            }
        }
        // A constant of an interface, or of a class that is not watched.
        self.same.insert(id, id);
        self.settle(id);
    }

    /// A field turned out to be another one: its sites are declared.
    fn found(&mut self, id: u32, same: u32, shape: &FieldShape) {
        self.same.insert(id, same);
        for mut withheld in self.withheld.remove(&id).unwrap_or_default() {
            if shape.is_volatile {
                withheld.access.volatile = true;
                withheld.access.wide = false;
            }
            self.declare_access(withheld);
        }
    }

    /// A field is about to be used: what is not known of it by now will not be.
    fn settle(&mut self, field: u32) {
        for withheld in self.withheld.remove(&field).unwrap_or_default() {
            self.declare_access(withheld);
        }
    }

    fn declare(&mut self, declaration: &Declaration) {
        declaration.encode(&mut self.pending);
    }
}

#[cfg(test)]
mod tests;
