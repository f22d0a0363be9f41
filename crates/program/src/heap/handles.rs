//! Ways to a member that the bytecode of an access does not show: handles, updaters, offsets and reflected fields.
//!
//! What is found by a constant class and name is that member.
//! Without them it may be any field of the class that asks, and any field whose name its own source file passes on together with a class: a wrapper asks for others.
//! A field that a handle was made for may be changed through it, so what it holds then is unknown; a method may be called by anybody, with anything.

use rustc_hash::FxHashSet;

use super::result::HeapField;
use super::solver::Solver;
use super::unknown::ByClass;
use crate::classes::Classes;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId};
use crate::ir::{Body, Const, Op};
use crate::load::Origin;

/// What handles were found so far.
#[derive(Debug, Default)]
pub struct Handled {
    searched: FxHashSet<MethodId>,
    fields: FxHashSet<FieldId>,
    methods: FxHashSet<MethodId>,
}

/// What a handle that some code makes may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handle {
    /// This field.
    Field(FieldId),
    /// A field that nothing says.
    SomeField,
    /// The methods of this name, of this class if it is known.
    Methods(Option<ClassId>, Box<str>),
}

/// The handles that a body makes.
pub fn handles(tables: &Classes, body: &Body) -> Vec<Handle> {
    let mut found = Vec::new();
    for (_, instr) in body.all_instrs() {
        let Op::Invoke { method, args, .. } = &instr.op else {
            continue;
        };
        let of = tables.method(*method).class;
        if tables.class(of).origin == Origin::Input {
            continue;
        }
        let name = tables.method_name(*method);
        let reflected = tables.class_name(of) == "java/lang/Class";
        let constants = || {
            args.iter()
                .filter_map(|&arg| match &body.defining(arg)?.op {
                    Op::Const(constant) => Some(constant),
                    _ => None,
                })
        };
        let class = constants().find_map(|constant| match constant {
            Const::Class(class) => Some(*class),
            _ => None,
        });
        let member = constants().find_map(|constant| match constant {
            Const::String(name) => Some(name),
            _ => None,
        });
        let field =
            || (class.zip(member)).and_then(|(class, name)| tables.declared_field(class, name));
        match name {
            // What reflection finds otherwise is a counted assumption.
            "getField" | "getDeclaredField" if reflected => {
                found.extend(field().map(Handle::Field));
            }
            "findVirtual" | "findStatic" | "findSpecial" | "bind" if is_lookup(tables, of) => {
                found.extend(member.map(|name| Handle::Methods(class, name.clone())));
            }
            _ if makes_handle(name) => {
                found.push(field().map_or(Handle::SomeField, Handle::Field));
            }
            _ => {}
        }
    }
    found
}

fn is_lookup(tables: &Classes, class: ClassId) -> bool {
    tables.class_name(class) == "java/lang/invoke/MethodHandles$Lookup"
}

/// Whether a method of the platform makes a handle, an updater or an offset of a field.
fn makes_handle(name: &str) -> bool {
    matches!(
        name,
        "objectFieldOffset"
            | "staticFieldOffset"
            | "newUpdater"
            | "findVarHandle"
            | "findStaticVarHandle"
            | "findGetter"
            | "findSetter"
            | "findStaticGetter"
            | "findStaticSetter"
            | "unreflectVarHandle"
            | "unreflectGetter"
            | "unreflectSetter"
    )
}

/// The names that a body passes on together with a class: it may ask somebody for a handle of such a member.
pub fn names_asked_for(body: &Body) -> impl Iterator<Item = &str> {
    let constant = |value| match &body.defining(value)?.op {
        Op::Const(constant) => Some(constant),
        _ => None,
    };
    body.all_instrs()
        .filter_map(|(_, instr)| match &instr.op {
            Op::Invoke { args, .. } => Some(args),
            _ => None,
        })
        .filter(move |args| {
            (args.iter()).any(|&arg| matches!(constant(arg), Some(Const::Class(_))))
        })
        .flat_map(move |args| {
            args.iter().filter_map(move |&arg| match constant(arg) {
                Some(Const::String(text)) => Some(&**text),
                _ => None,
            })
        })
}

impl Solver<'_> {
    /// Draws the consequences of handles: fields hold anything, and methods are called by anybody.
    pub(super) fn bind_handled(&mut self, objects: &ByClass) {
        let new: Vec<MethodId> = (self.nodes.iter())
            .filter(|node| node.built.is_some())
            .map(|node| node.method)
            .filter(|method| !self.unknown.handled.searched.contains(method))
            .collect();
        for method in new {
            if self.unknown.handled.searched.insert(method) {
                self.search(method);
            }
        }
        self.fill_handled();
        let mut methods: Vec<MethodId> = self.unknown.handled.methods.iter().copied().collect();
        methods.sort_unstable();
        for method in methods {
            self.call_on_all(method, objects);
        }
    }

    fn search(&mut self, method: MethodId) {
        let class = self.classes().method(method).class;
        let Some(Some(built)) = self.bodies.get(&method).cloned() else {
            return;
        };
        if self.classes().class(class).origin != Origin::Input {
            return;
        }
        for handle in handles(self.classes(), &built.body) {
            let tables = &self.loader.classes;
            let handled = &mut self.unknown.handled;
            match handle {
                Handle::Field(field) => {
                    handled.fields.insert(field);
                }
                Handle::SomeField => {
                    let own = tables.class(class).fields.iter().copied();
                    handled.fields.extend(own);
                }
                Handle::Methods(of, name) => {
                    let of_class = |class: &ClassId| {
                        of.is_none_or(|of| {
                            tables.is_subtype(*class, of) || tables.is_subtype(of, *class)
                        })
                    };
                    let analyzed = (tables.class_ids())
                        .filter(|class| tables.class(*class).origin == Origin::Input)
                        .filter(of_class);
                    let named = analyzed.flat_map(|class| tables.methods_named(class, &name));
                    let found: Vec<MethodId> = named
                        .filter(|method| tables.method(*method).has_code)
                        .collect();
                    handled.methods.extend(found);
                }
            }
        }
    }

    fn fill_handled(&mut self) {
        let Some(unknown) = self.unknown.object else {
            return;
        };
        let mut handled: Vec<FieldId> = self.unknown.handled.fields.iter().copied().collect();
        handled.retain(|field| self.classes().field(*field).ty.is_reference());
        handled.sort_unstable();
        for field in handled {
            let info = self.classes().field(field);
            let (owner, is_static) = (info.class, info.flags.is_static());
            let mut parts = Vec::new();
            if is_static {
                parts.push(self.static_var(field));
            } else {
                for index in 0..self.objects.len() {
                    let id = ObjectId::new(index);
                    if self.classes().is_subtype(self.objects.get(id).class, owner) {
                        parts.push(self.field_var(id, HeapField::Field(field)));
                    }
                }
            }
            for part in parts {
                let new = !self.graph.objects(part).contains(unknown);
                if self.step(new) {
                    self.graph.add_object(part, unknown);
                }
            }
        }
    }
}
