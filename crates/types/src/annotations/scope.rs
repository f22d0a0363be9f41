//! What names mean in an annotation: parameters, ghosts, final fields, classes.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Classes;
use untorn_program::{ClassId, FieldId, MethodId};

use crate::front::Translation;
use crate::input::Guard;
use crate::locks::{Expr, FieldName, Ghost, Lock, Locks, Root};
use crate::notation::NameScope;

/// Which fields never change once others see their object.
#[derive(Debug, Clone, Default)]
pub struct Finals {
    known: FxHashSet<FieldId>,
    unchanging: FxHashSet<FieldId>,
}

impl Finals {
    /// These fields, each with whether it never changes.
    pub fn new(fields: impl Iterator<Item = (FieldId, bool)>) -> Finals {
        let mut finals = Finals::default();
        for (field, unchanging) in fields {
            finals.known.insert(field);
            if unchanging {
                finals.unchanging.insert(field);
            }
        }
        finals
    }

    /// As the translation knows them.
    pub fn of(translation: &Translation) -> Finals {
        let fields = translation.fields.iter().zip(&translation.input.fields);
        let own = fields.filter(|(key, _)| !key.content);
        Finals::new(own.map(|(key, field)| (key.field, field.fixed == Some(Guard::Final))))
    }

    /// Nobody writes the field once others see it; one that nobody accesses is what it says it is.
    pub fn contains(&self, classes: &Classes, field: FieldId) -> bool {
        self.unchanging.contains(&field)
            || (!self.known.contains(&field) && classes.field(field).flags.is_final())
    }
}

/// Ghost parameters by the names that they were given.
#[derive(Debug, Clone, Default)]
pub struct GhostNames {
    /// Of classes.
    pub classes: FxHashMap<ClassId, Vec<(String, Ghost)>>,
    /// Of methods.
    pub methods: FxHashMap<MethodId, Vec<(String, Ghost)>>,
}

/// The names that are in scope at an annotation.
#[derive(Debug)]
pub struct Scope<'a> {
    classes: &'a Classes,
    finals: &'a Finals,
    class: ClassId,
    is_static: bool,
    ghosts: Vec<(String, Ghost)>,
    parameters: Vec<(String, u16, Option<ClassId>)>,
    steps: RefCell<FxHashMap<FieldName, FieldId>>,
    roots: RefCell<FxHashMap<Root, ClassId>>,
}

impl<'a> Scope<'a> {
    /// The scope of a class body.
    pub fn of_class(
        classes: &'a Classes,
        finals: &'a Finals,
        class: ClassId,
        is_static: bool,
    ) -> Scope<'a> {
        Scope {
            classes,
            finals,
            class,
            is_static,
            ghosts: Vec::new(),
            parameters: Vec::new(),
            steps: RefCell::default(),
            roots: RefCell::default(),
        }
    }

    /// The scope of a method, whose parameters have these names; `arg0`, `arg1`, … always work.
    pub fn of_method(
        classes: &'a Classes,
        finals: &'a Finals,
        method: MethodId,
        names: &[String],
    ) -> Scope<'a> {
        let info = classes.method(method);
        let mut scope = Scope::of_class(classes, finals, info.class, info.flags.is_static());
        let added = info.params.len().saturating_sub(names.len());
        for (index, ty) in info.params.iter().enumerate() {
            let written = index.checked_sub(added).and_then(|at| names.get(at));
            let name = written.cloned().unwrap_or_else(|| format!("arg{index}"));
            scope.parameters.push((name, index as u16, ty.class()));
        }
        scope
    }

    /// Adds ghost parameters: those of the class, and of the method if there is one.
    pub fn with_ghosts(mut self, names: &GhostNames, method: Option<MethodId>) -> Scope<'a> {
        let of_class = names.classes.get(&self.class);
        let of_method = method.and_then(|method| names.methods.get(&method));
        for ghosts in of_class.into_iter().chain(of_method) {
            self.ghosts.extend_from_slice(ghosts);
        }
        self
    }

    fn step(&self, locks: &mut Locks, field: FieldId) -> FieldName {
        let owner = self.classes.class_name(self.classes.field(field).class);
        let name = locks.field_name(&owner.replace('/', "."), self.classes.field_name(field));
        self.steps.borrow_mut().insert(name, field);
        name
    }

    fn class_root(&self, locks: &mut Locks, class: ClassId) -> Root {
        let root = Root::Class(locks.class(&self.classes.class_name(class).replace('/', ".")));
        self.roots.borrow_mut().insert(root, class);
        root
    }

    fn type_of(&self, locks: &Locks, lock: Lock) -> Option<ClassId> {
        match locks.expr(lock) {
            Expr::Root(Root::This) => (!self.is_static).then_some(self.class),
            Expr::Root(Root::Param(index)) => {
                let parameter = self.parameters.iter().find(|(_, at, _)| *at == index)?;
                parameter.2
            }
            Expr::Field(_, field) => {
                let field = *self.steps.borrow().get(&field)?;
                self.classes.field(field).ty.class()
            }
            _ => None,
        }
    }

    /// A final field of a class, its superclasses and interfaces, of either kind.
    fn find(&self, class: ClassId, name: &str, is_static: bool) -> Option<FieldId> {
        let supers = self.classes.superclasses(class);
        let all = supers.chain(self.classes.supertypes(class).iter().copied());
        all.filter_map(|owner| self.classes.declared_field(owner, name))
            .find(|&field| {
                self.classes.field(field).flags.is_static() == is_static
                    && self.finals.contains(self.classes, field)
            })
    }

    /// The field of an inner class that refers to the object around it.
    fn outer_field(&self, class: ClassId) -> Option<FieldId> {
        let fields = &self.classes.class(class).fields;
        fields.iter().copied().find(|&field| {
            self.classes.field_name(field).starts_with("this$")
                && self.classes.field(field).flags.is_final()
        })
    }

    /// The objects around `this`, each with its class, innermost first.
    fn around(&self, locks: &mut Locks) -> Vec<(Lock, ClassId)> {
        let mut found = Vec::new();
        if self.is_static {
            return found;
        }
        let (mut lock, mut class) = (Locks::THIS, self.class);
        found.push((lock, class));
        while let Some(field) = self.outer_field(class) {
            let step = self.step(locks, field);
            let (Some(next), Some(outer)) = (
                locks.field(lock, step),
                self.classes.field(field).ty.class(),
            ) else {
                break;
            };
            (lock, class) = (next, outer);
            found.push((lock, class));
        }
        found
    }

    /// Classes that enclose this one, itself first.
    fn nest(&self) -> Vec<ClassId> {
        let mut name = self.classes.class_name(self.class);
        let mut found = vec![self.class];
        while let Some(at) = name.rfind('$') {
            name = &name[..at];
            found.extend(self.classes.find(name));
        }
        found
    }

    fn class_named(&self, name: &str) -> Option<ClassId> {
        let internal = name.replace('.', "/");
        let own = self.classes.class_name(self.class);
        let package = own.rsplit_once('/').map_or("", |(package, _)| package);
        let mut tries = vec![internal.clone()];
        let nested = internal.replace('/', "$");
        let mut outer = own;
        loop {
            tries.push(format!("{outer}${nested}"));
            match outer.rfind('$') {
                Some(at) => outer = &outer[..at],
                None => break,
            }
        }
        for package in [package, "java/lang"] {
            let prefix = if package.is_empty() {
                String::new()
            } else {
                format!("{package}/")
            };
            tries.push(format!("{prefix}{internal}"));
            tries.push(format!("{prefix}{nested}"));
        }
        let by_name = tries.iter().find_map(|name| self.classes.find(name));
        by_name.or_else(|| {
            // Imported: the one known class of that simple name.
            let fits = |class: &ClassId| {
                let known = self.classes.class_name(*class);
                known.rsplit(['/', '$']).next() == Some(name)
            };
            let mut all = self.classes.class_ids().filter(fits);
            let first = all.next()?;
            all.next().is_none().then_some(first)
        })
    }
}

impl NameScope for Scope<'_> {
    fn variable(&self, name: &str) -> Option<Root> {
        if let Some((_, ghost)) = self.ghosts.iter().rev().find(|(known, _)| known == name) {
            return Some(Root::Ghost(*ghost));
        }
        let parameter = self.parameters.iter().find(|(known, index, ty)| {
            ty.is_some() && (known == name || name == format!("arg{index}"))
        });
        parameter.map(|&(_, index, _)| Root::Param(index))
    }

    fn field(&self, locks: &mut Locks, base: Lock, name: &str) -> Option<FieldName> {
        let field = match locks.expr(base) {
            Expr::Root(root @ Root::Class(_)) => {
                let class = *self.roots.borrow().get(&root)?;
                self.find(class, name, true)?
            }
            _ => self.find(self.type_of(locks, base)?, name, false)?,
        };
        Some(self.step(locks, field))
    }

    fn class(&self, locks: &mut Locks, name: &str) -> Option<Root> {
        let class = self.class_named(name)?;
        Some(self.class_root(locks, class))
    }

    fn bare(&self, locks: &mut Locks, name: &str) -> Option<Lock> {
        for (object, class) in self.around(locks) {
            if let Some(field) = self.find(class, name, false) {
                let step = self.step(locks, field);
                return locks.field(object, step);
            }
        }
        for class in self.nest() {
            if let Some(field) = self.find(class, name, true) {
                let owner = self.classes.field(field).class;
                let root = self.class_root(locks, owner);
                let base = locks.root(root);
                let step = self.step(locks, field);
                return locks.field(base, step);
            }
        }
        None
    }

    fn enclosing(&self, locks: &mut Locks, class: Lock) -> Option<Lock> {
        let Expr::Root(root) = locks.expr(class) else {
            return None;
        };
        let wanted = *self.roots.borrow().get(&root)?;
        let around = self.around(locks);
        around
            .into_iter()
            .find(|&(_, class)| self.classes.is_subtype(class, wanted))
            .map(|(object, _)| object)
    }
}
