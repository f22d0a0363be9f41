//! Ids of what is instrumented, and their declaration to the reader.
//!
//! The rewriter asks for ids while it works on a class; the declarations pile up here and go out before the class is defined ([`Registry::flush`]).
//! They leave in the order of their ids, so a declaration never names what the reader does not know.
//!
//! Ids of classes are by name: two classes of one name from different loaders share an id, and a report could not tell them apart either.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use untorn_channel::config::{HandAccess, HandSite};
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};
use untorn_channel::protocol::{AgentEnd, Counts};
use untorn_channel::record;

const NO_FIELD: u32 = u32::MAX;

#[derive(Debug, Default)]
struct Tables {
    classes: FxHashMap<String, u32>,
    class_names: Vec<String>,
    fields: FxHashMap<(u32, String), u32>,
    field_names: Vec<(u32, String)>,
    shapes: FxHashMap<String, Shape>,
    /// Fields whose declaration is not known, by the class that must be seen first.
    unresolved: FxHashMap<String, Vec<u32>>,
    /// The sites of such fields, which are not declared yet.
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
}

#[derive(Clone, Debug, Default)]
pub struct FieldShape {
    pub name: String,
    pub is_final: bool,
    pub is_volatile: bool,
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

    /// The id of a class by its name with dots.
    pub fn class(&self, name: &str, source_file: Option<&str>) -> u32 {
        locked(&self.tables).class(name, source_file)
    }

    /// Makes known what a class declares, before its own references are asked for.
    ///
    /// Classes are seen in the order in which they are loaded, often before their superclasses.
    pub fn shape(&self, class: &str, shape: Shape) {
        let mut t = locked(&self.tables);
        t.shapes.insert(class.to_owned(), shape);
        for id in t.unresolved.remove(class).unwrap_or_default() {
            t.resolve(id);
        }
    }

    /// The id of a field, static or not, that a reference to a class and a name means; and its declaration, if it is known.
    ///
    /// A reference may name a class that inherits the field, even one whose superclass has not been seen.
    /// The sites of such a field are declared when the class that declares it is seen, or else when one of them is first used.
    /// Interfaces are not searched: their fields are constants.
    pub fn field(&self, class: &str, name: &str) -> (u32, Option<FieldShape>) {
        let mut t = locked(&self.tables);
        match t.declaring(class, name) {
            Ok((declaring, shape)) => (t.field(&declaring, name), Some(shape)),
            Err(missing) => {
                let known = t.field_names.len() as u32;
                let id = t.field(class, name);
                if let Some(missing) = missing
                    && id == known
                {
                    t.unresolved.entry(missing).or_default().push(id);
                    t.withheld.insert(id, Vec::new());
                }
                (id, None)
            }
        }
    }

    /// The field that this one turned out to be, asked before its first use.
    pub fn same_field(&self, field: u32) -> u32 {
        let mut t = locked(&self.tables);
        t.settle(field);
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

    /// Sites of a program that calls the runtime itself: their ids are their places, and region 0 is all of it.
    pub fn by_hand(&self, sites: &[HandSite]) {
        if sites.is_empty() {
            return;
        }
        let method = self.method(self.class("Hand", None), "written", "()V");
        self.region(method, None, 0);
        for (line, site) in (1..).zip(sites) {
            let field = || self.field(&site.class, &site.field).0;
            let target = match site.access {
                HandAccess::Field => Some(Target::Field(field())),
                HandAccess::Static => Some(Target::Static(field())),
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
        let (class, name) = t.field_names.get(field as usize)?;
        let named = (t.class_names.get(*class as usize)?.clone(), name.clone());
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

impl Tables {
    fn class(&mut self, name: &str, source_file: Option<&str>) -> u32 {
        if let Some(&id) = self.classes.get(name) {
            return id;
        }
        let id = self.class_names.len() as u32;
        self.classes.insert(name.to_owned(), id);
        self.class_names.push(name.to_owned());
        self.declare(&Declaration::Class {
            id,
            name: name.to_owned(),
            source_file: source_file.map(str::to_owned),
        });
        id
    }

    fn field(&mut self, class: &str, name: &str) -> u32 {
        let class = self.class(class, None);
        if let Some(&id) = self.fields.get(&(class, name.to_owned())) {
            return id;
        }
        let id = self.field_names.len() as u32;
        self.fields.insert((class, name.to_owned()), id);
        self.field_names.push((class, name.to_owned()));
        self.declare(&Declaration::Field {
            id,
            class,
            name: name.to_owned(),
        });
        id
    }

    /// The class that declares a field; the error is the class that must be seen first, if any.
    fn declaring(&self, class: &str, name: &str) -> Result<(String, FieldShape), Option<String>> {
        let mut at = class;
        // A forged hierarchy may be a circle.
        for _ in 0..1000 {
            let Some(shape) = self.shapes.get(at) else {
                return Err(Some(at.to_owned()));
            };
            if let Some(field) = shape.fields.iter().find(|field| field.name == name) {
                return Ok((at.to_owned(), field.clone()));
            }
            match &shape.super_class {
                Some(above) => at = above,
                None => break,
            }
        }
        Err(None)
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

    /// Tries again to find where a field is declared.
    fn resolve(&mut self, id: u32) {
        let Some((class, name)) = self.field_names.get(id as usize).cloned() else {
            return;
        };
        let Some(class) = self.class_names.get(class as usize).cloned() else {
            return;
        };
        match self.declaring(&class, &name) {
            Ok((declaring, shape)) => {
                let same = self.field(&declaring, &name);
                if same != id {
                    self.same.insert(id, same);
                }
                for mut withheld in self.withheld.remove(&id).unwrap_or_default() {
                    if shape.is_volatile {
                        withheld.access.volatile = true;
                        withheld.access.wide = false;
                    }
                    self.declare_access(withheld);
                }
            }
            Err(Some(missing)) => self.unresolved.entry(missing).or_default().push(id),
            Err(None) => self.settle(id),
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
mod tests {
    use super::*;

    #[test]
    fn ids_are_dense_and_declared_in_order() {
        let registry = Registry::new(None);
        let class = registry.class("bank.Account", Some("Account.java"));
        registry.shape("bank.Account", shape(None, &["balance"]));
        assert_eq!(registry.class("bank.Account", None), class);
        let (field, _) = registry.field("bank.Account", "balance");
        assert_eq!(registry.field("bank.Account", "balance").0, field);
        let method = registry.method(class, "deposit", "(I)V");
        let site = registry
            .site(
                method,
                7,
                Some(Access {
                    kind: AccessKind::Write,
                    target: Target::Field(field),
                    volatile: false,
                    wide: false,
                    approximate: false,
                }),
            )
            .unwrap();
        let lock = registry.site(method, 8, None).unwrap();
        assert_eq!(registry.pending().len(), 5);
        registry.flush();
        assert!(registry.pending().is_empty());
        assert_eq!(
            registry.site_field(site),
            Some(("bank.Account".to_owned(), "balance".to_owned()))
        );
        assert_eq!(registry.site_field(lock), None);
        assert_eq!(registry.site_field(99), None);
    }

    fn shape(above: Option<&str>, fields: &[&str]) -> Shape {
        let volatile = |name: &&str| FieldShape {
            name: (*name).to_owned(),
            is_volatile: name.starts_with('v'),
            is_final: false,
        };
        Shape {
            super_class: above.map(str::to_owned),
            fields: fields.iter().map(volatile).collect(),
        }
    }

    fn write(target: Target) -> Access {
        Access {
            kind: AccessKind::Write,
            target,
            volatile: false,
            wide: true,
            approximate: false,
        }
    }

    /// The sites that were declared: id, field, and whether it is volatile.
    fn sites(registry: &Registry) -> Vec<(u32, u32, bool)> {
        let sites = registry.pending().into_iter().filter_map(|declaration| {
            let Declaration::Site { id, access, .. } = declaration else {
                return None;
            };
            let access = access?;
            let (Target::Field(field) | Target::Static(field)) = access.target else {
                return None;
            };
            assert_eq!(access.wide, !access.volatile);
            Some((id, field, access.volatile))
        });
        sites.collect()
    }

    #[test]
    fn an_inherited_field_is_one_field_under_every_name() {
        let registry = Registry::new(None);
        registry.shape("Base", shape(Some("java.lang.Object"), &["x", "vy"]));
        registry.shape("Sub", shape(Some("Base"), &["z"]));
        let (x, declared) = registry.field("Base", "x");
        assert!(declared.is_some());
        assert_eq!(registry.field("Sub", "x").0, x);
        assert!(registry.field("Sub", "vy").1.unwrap().is_volatile);
    }

    #[test]
    fn sites_wait_for_the_superclass_that_declares_their_field() {
        let registry = Registry::new(None);
        registry.shape("Sub", shape(Some("Middle"), &[]));
        let (through_sub, declared) = registry.field("Sub", "vx");
        assert!(declared.is_none());
        registry.site(0, 1, Some(write(Target::Field(through_sub))));
        registry.shape("Middle", shape(Some("Base"), &["y"]));
        assert_eq!(sites(&registry), [], "not yet");
        registry.shape("Base", shape(None, &["vx"]));
        let (base, _) = registry.field("Base", "vx");
        assert_ne!(base, through_sub);
        assert_eq!(registry.same_field(through_sub), base);
        registry.shape("Other", shape(Some("Base"), &[]));
        registry.site(0, 2, Some(write(Target::Static(through_sub))));
        assert_eq!(
            registry.site_field(0),
            Some(("Sub".to_owned(), "vx".to_owned()))
        );
    }

    #[test]
    fn resolved_sites_name_the_inherited_field() {
        let registry = Registry::new(None);
        registry.shape("Sub", shape(Some("Base"), &[]));
        let (through_sub, _) = registry.field("Sub", "vx");
        let site = registry.site(0, 1, Some(write(Target::Static(through_sub))));
        registry.shape("Base", shape(None, &["vx"]));
        let (base, _) = registry.field("Base", "vx");
        assert_eq!(sites(&registry), [(site.unwrap(), base, true)]);
    }

    #[test]
    fn a_site_is_declared_before_its_first_use_in_any_case() {
        let registry = Registry::new(None);
        registry.shape("Sub", shape(Some("Never"), &[]));
        let (field, _) = registry.field("Sub", "x");
        let site = registry
            .site(0, 1, Some(write(Target::Field(field))))
            .unwrap();
        assert_eq!(sites(&registry), []);
        locked(&registry.tables).settle(field);
        assert_eq!(sites(&registry), [(site, field, false)]);
    }

    #[test]
    fn circles_and_fields_that_nobody_declares_end() {
        let registry = Registry::new(None);
        registry.shape("A", shape(Some("B"), &[]));
        registry.shape("B", shape(Some("A"), &[]));
        assert!(registry.field("A", "x").1.is_none());
        registry.shape("C", shape(None, &[]));
        assert!(registry.field("C", "x").1.is_none());
    }
}
