//! What the constant pool of a class means: its references resolved once, so that bodies are built without names.

use std::sync::Arc;

use untorn_classfile::read::{Constant, ConstantPool, Entry, HandleKind, MethodHandle};
use untorn_classfile::{ClassFile, PoolIndex};

use super::loader::Loader;
use super::table::{Field, Flags, Method, Type};
use crate::assumptions::Assumption;
use crate::ids::{ClassId, FieldId, MethodId, Symbol};

/// What one constant stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Nothing an instruction resolves, or malformed.
    None,
    /// A class, and the type of an array of it.
    Class { class: ClassId, array: ClassId },
    /// A field.
    Field(FieldId),
    /// A method, and the class the reference names.
    Method { method: MethodId, named: ClassId },
    /// A dynamic call site or constant, by its position in [`Links::site`].
    Site(u32),
}

/// The meaning of a class's constant pool.
#[derive(Debug, Default)]
pub struct Links {
    by_index: Vec<Link>,
    sites: Vec<CallSite>,
}

/// A dynamic call site or constant.
#[derive(Debug, Clone)]
pub struct CallSite {
    /// The types of its arguments.
    pub params: Box<[Type]>,
    /// The type of its result.
    pub returns: Option<Type>,
    /// What its bootstrap method makes of it.
    pub target: HandleTarget,
}

/// What a dynamic call site does.
#[derive(Debug, Clone)]
pub enum HandleTarget {
    /// Makes an instance of a functional interface.
    Lambda {
        /// The interface.
        interface: ClassId,
        /// The name of its one method.
        name: Symbol,
        /// The one method, if it resolves.
        method: Option<MethodId>,
        /// What runs when the method is called.
        handle: Handle,
    },
    /// Concatenates its arguments to a string.
    Concat,
    /// Anything else, by its bootstrap method.
    Other(Symbol),
}

/// A method handle to a method or constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    /// How the method is invoked.
    pub kind: HandleKind,
    /// The method.
    pub method: MethodId,
    /// The class the reference names; a constructor's handle makes an instance of it.
    pub named: ClassId,
}

impl Links {
    /// What the constant at an index stands for.
    pub fn at(&self, index: PoolIndex) -> Link {
        self.by_index
            .get(usize::from(index.0))
            .copied()
            .unwrap_or(Link::None)
    }

    /// The call site of a [`Link::Site`].
    pub fn site(&self, position: u32) -> Option<&CallSite> {
        self.sites.get(position as usize)
    }
}

impl Loader {
    /// Links classes, loading every class their members belong to.
    pub fn link(&mut self, classes: &[ClassId]) {
        let unlinked: Vec<(ClassId, Arc<[u8]>)> = classes
            .iter()
            .map(|class| (*class, self.classes.class(*class)))
            .filter(|(_, class)| class.links.is_none() && !class.bytes.is_empty())
            .map(|(id, class)| (id, class.bytes.clone()))
            .collect();
        let mut owners = Vec::new();
        for (_, bytes) in &unlinked {
            if let Ok(file) = ClassFile::parse(bytes) {
                self.collect_owners(&file, &mut owners);
            }
        }
        self.load(owners);
        for (id, bytes) in unlinked {
            let links = match ClassFile::parse(&bytes) {
                Ok(file) => self.link_pool(&file),
                Err(_) => Links::default(),
            };
            self.classes.table[id.index()].links = Some(Arc::new(links));
        }
    }

    fn collect_owners(&mut self, file: &ClassFile<'_>, owners: &mut Vec<ClassId>) {
        for (_, entry) in file.pool.entries() {
            match entry {
                Entry::Field { class, .. }
                | Entry::Method { class, .. }
                | Entry::InterfaceMethod { class, .. } => {
                    if let Ok(name) = file.pool.class_name(class) {
                        owners.push(self.classes.intern_class(&name));
                    }
                }
                Entry::InvokeDynamic { name_and_type, .. } => {
                    // The interface of a lambda is what its call site returns.
                    if let Ok((_, descriptor)) = file.pool.name_and_type(name_and_type) {
                        let (_, returns) = self.classes.method_type(&descriptor);
                        owners.extend(returns.and_then(Type::class));
                    }
                }
                _ => {}
            }
        }
    }

    fn link_pool(&mut self, file: &ClassFile<'_>) -> Links {
        let pool = &file.pool;
        let mut links = Links {
            by_index: vec![Link::None; usize::from(pool.count())],
            sites: Vec::new(),
        };
        let bootstraps = file.attributes.bootstrap_methods().unwrap_or_default();
        for (index, entry) in pool.entries() {
            let link = match entry {
                Entry::Class { .. } => pool
                    .class_name(index)
                    .ok()
                    .map(|name| self.link_class(&name)),
                Entry::Field { .. } => self.link_field(pool, index),
                Entry::Method { .. } | Entry::InterfaceMethod { .. } => {
                    self.link_method(pool, index)
                }
                Entry::InvokeDynamic {
                    bootstrap,
                    name_and_type,
                }
                | Entry::Dynamic {
                    bootstrap,
                    name_and_type,
                } => pool
                    .name_and_type(name_and_type)
                    .ok()
                    .and_then(|(name, descriptor)| {
                        let method = bootstraps.get(usize::from(bootstrap))?;
                        let (handle, arguments) = (method.handle, &method.arguments);
                        let site = self.link_site(pool, handle, arguments, &name, &descriptor)?;
                        links.sites.push(site);
                        Some(Link::Site(links.sites.len() as u32 - 1))
                    }),
                _ => None,
            };
            if let Some(link) = link {
                links.by_index[usize::from(index.0)] = link;
            }
        }
        links
    }

    fn link_class(&mut self, name: &str) -> Link {
        let class = self.classes.intern_class(name);
        let array = if name.starts_with('[') {
            format!("[{name}")
        } else {
            format!("[L{name};")
        };
        let array = self.classes.intern_class(&array);
        Link::Class { class, array }
    }

    fn link_field(&mut self, pool: &ConstantPool<'_>, index: PoolIndex) -> Option<Link> {
        let reference = pool.field_ref(index).ok()?;
        let class = self.classes.intern_class(&reference.class);
        let name = self.classes.names.intern(&reference.name);
        let descriptor = self.classes.names.intern(&reference.descriptor);
        if let Some(field) = self.classes.resolve_field(class, name, descriptor) {
            return Some(Link::Field(field));
        }
        let ty = self.classes.field_type(&reference.descriptor);
        let flags = Flags::default();
        let field = self.classes.add_field(Field {
            class,
            name,
            descriptor,
            flags,
            ty,
            missing: true,
        });
        self.assumptions.add(
            Assumption::MissingMember,
            self.classes.describe_field(field),
        );
        Some(Link::Field(field))
    }

    fn link_method(&mut self, pool: &ConstantPool<'_>, index: PoolIndex) -> Option<Link> {
        let reference = pool.method_ref(index).ok()?;
        let named = self.classes.intern_class(&reference.class);
        let method = self.method_named(named, &reference.name, &reference.descriptor);
        Some(Link::Method { method, named })
    }

    /// The method a reference resolves to; assumed to exist if it does not resolve.
    pub(crate) fn method_named(
        &mut self,
        class: ClassId,
        name: &str,
        descriptor: &str,
    ) -> MethodId {
        let name = self.classes.names.intern(name);
        let symbol = self.classes.names.intern(descriptor);
        if let Some(method) = self.classes.resolve_method(class, name, symbol) {
            return method;
        }
        let (params, returns) = self.classes.method_type(descriptor);
        let method = self.classes.add_method(Method {
            class,
            name,
            descriptor: symbol,
            flags: Flags(Flags::PUBLIC),
            params,
            returns,
            has_code: false,
            missing: true,
            position: u32::MAX,
        });
        self.assumptions.add(
            Assumption::MissingMember,
            self.classes.describe_method(method),
        );
        method
    }

    fn link_site(
        &mut self,
        pool: &ConstantPool<'_>,
        bootstrap: PoolIndex,
        arguments: &[PoolIndex],
        name: &str,
        descriptor: &str,
    ) -> Option<CallSite> {
        let bootstrap = pool.method_handle(bootstrap).ok()?.member;
        let (params, returns) = if descriptor.starts_with('(') {
            self.classes.method_type(descriptor)
        } else {
            (Box::default(), Some(self.classes.field_type(descriptor)))
        };
        let lambda = match (&*bootstrap.class, &*bootstrap.name) {
            ("java/lang/invoke/StringConcatFactory", _) => {
                return Some(CallSite {
                    params,
                    returns,
                    target: HandleTarget::Concat,
                });
            }
            ("java/lang/invoke/LambdaMetafactory", "metafactory" | "altMetafactory") => returns
                .and_then(Type::class)
                .and_then(|interface| self.link_lambda(pool, arguments, name, interface)),
            _ => None,
        };
        let target = lambda.unwrap_or_else(|| {
            let full = format!("{}.{}", bootstrap.class, bootstrap.name);
            HandleTarget::Other(self.classes.names.intern(&full))
        });
        Some(CallSite {
            params,
            returns,
            target,
        })
    }

    fn link_lambda(
        &mut self,
        pool: &ConstantPool<'_>,
        arguments: &[PoolIndex],
        name: &str,
        interface: ClassId,
    ) -> Option<HandleTarget> {
        let Constant::MethodType(erased) = pool.constant(*arguments.first()?).ok()? else {
            return None;
        };
        let MethodHandle { kind, member } = pool.method_handle(*arguments.get(1)?).ok()?;
        if kind.is_field() {
            return None;
        }
        let named = self.classes.intern_class(&member.class);
        let method = self.method_named(named, &member.name, &member.descriptor);
        let name = self.classes.names.intern(name);
        let erased = self.classes.names.intern(&erased);
        let handle = Handle {
            kind,
            method,
            named,
        };
        let functional = self.classes.resolve_method(interface, name, erased);
        Some(HandleTarget::Lambda {
            interface,
            name,
            method: functional,
            handle,
        })
    }
}
