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
    methods: u32,
    regions: u32,
    /// The instance field of each site, or [`NO_FIELD`].
    sites: Vec<u32>,
    pending: Vec<u8>,
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
        let mut t = locked(&self.tables);
        if let Some(&id) = t.classes.get(name) {
            return id;
        }
        let id = t.class_names.len() as u32;
        t.classes.insert(name.to_owned(), id);
        t.class_names.push(name.to_owned());
        t.declare(&Declaration::Class {
            id,
            name: name.to_owned(),
            source_file: source_file.map(str::to_owned),
        });
        id
    }

    /// The id of a field, static or not, of the class that a field reference names.
    pub fn field(&self, class: u32, name: &str) -> u32 {
        let mut t = locked(&self.tables);
        if let Some(&id) = t.fields.get(&(class, name.to_owned())) {
            return id;
        }
        let id = t.field_names.len() as u32;
        t.fields.insert((class, name.to_owned()), id);
        t.field_names.push((class, name.to_owned()));
        t.declare(&Declaration::Field {
            id,
            class,
            name: name.to_owned(),
        });
        id
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
        t.declare(&Declaration::Site {
            id,
            method,
            line,
            access,
        });
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
            let class = self.class(&site.class, None);
            let target = match site.access {
                HandAccess::Field => Some(Target::Field(self.field(class, &site.field))),
                HandAccess::Static => Some(Target::Static(self.field(class, &site.field))),
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

    /// The class and field that a site's field reference names.
    pub fn site_field(&self, site: u32) -> Option<(String, String)> {
        let t = locked(&self.tables);
        let (class, field) = t.field_names.get(*t.sites.get(site as usize)? as usize)?;
        Some((t.class_names.get(*class as usize)?.clone(), field.clone()))
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
        assert_eq!(registry.class("bank.Account", None), class);
        let field = registry.field(class, "balance");
        assert_eq!(registry.field(class, "balance"), field);
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
        assert_eq!(
            registry.site_field(site),
            Some(("bank.Account".to_owned(), "balance".to_owned()))
        );
        assert_eq!(registry.site_field(lock), None);
        assert_eq!(registry.site_field(99), None);
        assert_eq!(registry.pending().len(), 5);
        registry.flush();
        assert!(registry.pending().is_empty());
    }
}
