//! Which methods are translated, who may call them, and what a call may run.
//!
//! *Translated* are the reachable methods with code of the inputs, of their supertypes and of the nest mates of both: everything that can touch the fields of an input's object, as far as the program model enters it.
//! Everything else is known by its model only.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_library::scope::scope;
use untorn_library::steps::Step;
use untorn_program::classes::{ClassKind, Classes};
use untorn_program::heap::{CallEdge, Handle, ObjectKind, ObjectSet, handles, names_asked_for};
use untorn_program::ir::{Body, InvokeKind, Op};
use untorn_program::library::LockMode;
use untorn_program::{ClassId, FieldId, InstrId, MethodId, ObjectId, Program, ValueId};

use super::Options;
use super::models::{Model, Models, Operand, is_of_platform, is_value_class};

/// What a call may run.
#[derive(Debug, Clone, Default)]
pub struct Callees {
    /// Methods that are translated.
    pub translated: Vec<MethodId>,
    /// Translated methods that run through an object made of them, a lambda or a method reference: what they get is not what the call names.
    pub handed: Vec<MethodId>,
    /// Methods known by their model at most.
    pub library: Vec<MethodId>,
    /// Code that nobody has seen.
    pub unknown: bool,
}

impl Callees {
    /// Whether nothing is known of what becomes of the arguments, and of where the result comes from.
    pub fn hides_flows(&self) -> bool {
        self.unknown || !self.handed.is_empty()
    }
}

/// A call that a library method makes.
#[derive(Debug, Clone)]
pub struct Asked {
    /// On whom.
    pub whom: ValueId,
    /// The method as the library names it.
    pub method: MethodId,
    /// What it may run.
    pub callees: Callees,
}

/// A side of a read-write lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// The field that holds the lock.
    pub of: FieldId,
    /// Which side.
    pub mode: LockMode,
    /// The lock is known to be the platform's own.
    pub of_platform: bool,
}

/// The program as the translator looks at it.
#[derive(Debug)]
pub struct World<'a> {
    pub program: &'a Program,
    models: &'static Models,
    found: RefCell<FxHashMap<MethodId, Option<&'static Model>>>,
    quiet: RefCell<FxHashMap<ClassId, bool>>,
    below: RefCell<FxHashMap<ClassId, Arc<[ClassId]>>>,
    /// Translated methods, in a fixed order.
    pub methods: Vec<MethodId>,
    translated: FxHashSet<MethodId>,
    pub(super) classes: FxHashSet<ClassId>,
    /// Analyzed classes that have objects.
    pub(super) made: Vec<ClassId>,
    /// Platform classes of which a class outside the platform overrides something.
    hooked: FxHashSet<ClassId>,
    /// Collections that are made with more than nothing, such as a comparator.
    furnished: ObjectSet,
    /// Objects that other threads may get to know.
    escaped: ObjectSet,
    options: Options,
    /// Classes and fields that are accessed behind the back of the bytecode.
    exposed: FxHashSet<ClassId>,
    exposed_fields: FxHashSet<FieldId>,
    /// Fields in which some object keeps itself.
    pub self_fields: FxHashSet<FieldId>,
    callees: FxHashMap<(MethodId, InstrId), Callees>,
    /// Fields that hold a side of the read-write lock in another field of their object, whoever writes them.
    sides: FxHashMap<FieldId, Option<Side>>,
    lambdas: FxHashSet<MethodId>,
    overriding: FxHashSet<MethodId>,
    /// Methods of private and local classes that no other type shows, so that clients cannot name them.
    hidden: FxHashSet<MethodId>,
    roots: FxHashSet<MethodId>,
    /// Methods that code calls which is not translated.
    called_from_afar: FxHashSet<MethodId>,
    /// Methods that run, though no call that is known runs them.
    strays: RefCell<FxHashSet<MethodId>>,
}

/// What every object answers about itself as a value.
fn is_value_method(name: &str, descriptor: &str) -> bool {
    matches!(
        (name, descriptor),
        ("hashCode", "()I")
            | ("equals", "(Ljava/lang/Object;)Z")
            | ("toString", "()Ljava/lang/String;")
            | ("compareTo", "(Ljava/lang/Object;)I")
    )
}

/// The outermost class of a class.
pub fn nest(name: &str) -> &str {
    name.split('$').next().unwrap_or(name)
}

/// The methods of the analyzed classes.
fn program_methods(program: &Program) -> impl Iterator<Item = MethodId> + '_ {
    let classes = program.classes();
    let inputs = program.inputs().iter();
    inputs.flat_map(|&class| classes.class(class).methods.iter().copied())
}

/// The analyzed classes that have objects: those that code makes, and in a library all that clients can make.
fn made(program: &Program) -> Vec<ClassId> {
    let (classes, heap) = (program.classes(), program.heap());
    let mut made: Vec<ClassId> = (heap.object_ids())
        .map(|object| heap.object(object).class)
        .filter(|&class| program.is_input(class))
        .collect();
    if !program.is_application() {
        made.extend(program.inputs());
    }
    made.sort_unstable();
    made.dedup();
    made.retain(|&class| {
        let flags = classes.class(class).flags;
        !flags.is_abstract() && !flags.is_interface()
    });
    made
}

/// Platform classes, `Object` aside, whose methods may call code of a class that extends them.
fn hooked(program: &Program) -> FxHashSet<ClassId> {
    let classes = program.classes();
    let of_platform = |class: ClassId| is_of_platform(classes, class);
    let mut hooked = FxHashSet::default();
    for class in classes.class_ids().filter(|&class| !of_platform(class)) {
        let above: Vec<ClassId> = (classes.superclasses(class))
            .filter(|&above| of_platform(above) && above != classes.well_known.object)
            .collect();
        let overrides = |method: &MethodId| {
            let info = classes.method(*method);
            let (name, descriptor) = (
                classes.method_name(*method),
                classes.method_descriptor(*method),
            );
            !info.flags.is_static()
                && !info.flags.is_private()
                && !classes.is_constructor(*method)
                && (above.iter())
                    .any(|&above| classes.declared_method(above, name, descriptor).is_some())
        };
        if !above.is_empty() && classes.class(class).methods.iter().any(overrides) {
            hooked.extend(above);
        }
    }
    hooked
}

impl<'a> World<'a> {
    pub fn new(program: &'a Program, models: &'static Models, options: Options) -> World<'a> {
        let classes = program.classes();
        let heap = program.heap();
        let mut near: FxHashSet<ClassId> = FxHashSet::default();
        let mut nests: FxHashSet<&str> = FxHashSet::default();
        for &input in program.inputs() {
            near.extend(classes.supertypes(input));
            nests.insert(nest(classes.class_name(input)));
        }
        near.remove(&classes.well_known.object);
        // Nest mates reach the fields of each other, those of a supertype too.
        nests.extend(near.iter().map(|&above| nest(classes.class_name(above))));
        let in_scope = |class: ClassId| {
            options.analyze_jdk
                || program.is_input(class)
                || near.contains(&class)
                || nests.contains(nest(classes.class_name(class)))
        };
        let mut methods: Vec<MethodId> = heap
            .node_ids()
            .filter(|&node| {
                heap.body(node).is_some() && in_scope(classes.method(heap.node(node).method).class)
            })
            .map(|node| heap.node(node).method)
            .collect();
        methods.sort_unstable();
        methods.dedup();
        let translated: FxHashSet<MethodId> = methods.iter().copied().collect();
        let mut world = World {
            program,
            models,
            found: RefCell::default(),
            quiet: RefCell::default(),
            below: RefCell::default(),
            classes: methods.iter().map(|&m| classes.method(m).class).collect(),
            methods,
            translated,
            made: made(program),
            hooked: hooked(program),
            furnished: ObjectSet::default(),
            escaped: ObjectSet::default(),
            options,
            exposed: FxHashSet::default(),
            exposed_fields: FxHashSet::default(),
            self_fields: FxHashSet::default(),
            callees: FxHashMap::default(),
            sides: FxHashMap::default(),
            lambdas: FxHashSet::default(),
            overriding: FxHashSet::default(),
            hidden: FxHashSet::default(),
            roots: FxHashSet::default(),
            called_from_afar: FxHashSet::default(),
            strays: RefCell::default(),
        };
        world.classes.extend(program.inputs());
        world.find_lambdas();
        world.find_callees();
        world.find_furnished();
        world.find_sides();
        world.find_entries();
        world.find_escaped();
        world
    }

    pub fn table(&self) -> &'a Classes {
        self.program.classes()
    }

    pub fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.program.body(method)
    }

    pub fn is_translated(&self, method: MethodId) -> bool {
        self.translated.contains(&method)
    }

    /// Whether a field is accessed behind the back of the bytecode.
    pub fn is_exposed(&self, field: FieldId) -> bool {
        self.exposed_fields.contains(&field)
            || self.exposed.contains(&self.table().field(field).class)
    }

    /// Whether the elements of what the field holds never change once it holds it.
    pub fn is_frozen(&self, field: FieldId) -> bool {
        let classes = self.table();
        let class = classes.class_name(classes.field(field).class);
        self.models.is_frozen(class, classes.field_name(field))
    }

    /// Whether the value methods of an object are harmless.
    pub fn is_value(&self, class: Option<ClassId>) -> bool {
        self.options.pure_values
            || class.is_none_or(|class| {
                is_value_class(self.table().class_name(class)) || self.is_identity(class)
            })
    }

    /// The analyzed classes of a type that have objects.
    pub(super) fn made_below(&self, of: ClassId) -> Arc<[ClassId]> {
        let known = self.below.borrow().get(&of).cloned();
        known.unwrap_or_else(|| {
            let below = self.made.iter().copied();
            let below = below.filter(|&made| self.table().is_subtype(made, of));
            let below: Arc<[ClassId]> = below.collect();
            self.below.borrow_mut().insert(of, below.clone());
            below
        })
    }

    /// Whether all that objects of a type are asked is who they are: nothing of theirs answers for `equals`, `hashCode` and `toString`.
    fn is_identity(&self, class: ClassId) -> bool {
        if let Some(&known) = self.quiet.borrow().get(&class) {
            return known;
        }
        let found = self.has_no_strangers(class) && {
            let mut all = self.made.iter().copied().chain([class]);
            all.all(|below| !self.table().is_subtype(below, class) || self.answers_nothing(below))
        };
        self.quiet.borrow_mut().insert(class, found);
        found
    }

    fn answers_nothing(&self, class: ClassId) -> bool {
        const ASKED: [(&str, &str); 3] = [
            ("equals", "(Ljava/lang/Object;)Z"),
            ("hashCode", "()I"),
            ("toString", "()Ljava/lang/String;"),
        ];
        let classes = self.table();
        let object = classes.well_known.object;
        let of_enums = classes.find("java/lang/Enum");
        let is_enum = of_enums.is_some_and(|of| classes.is_subtype(class, of));
        let known_type = |&above: &ClassId| {
            !is_of_platform(classes, above)
                || above == object
                || matches!(
                    classes.class_name(above),
                    "java/io/Serializable" | "java/lang/Cloneable" | "java/lang/Runnable"
                )
                || is_enum
        };
        classes.supertypes(class).iter().all(known_type)
            && ASKED.iter().all(|&(name, descriptor)| {
                let asked = classes.declared_method(object, name, descriptor);
                let run = asked.and_then(|asked| classes.select(class, asked));
                run.is_some_and(|run| {
                    let of = classes.method(run).class;
                    of == object || Some(of) == of_enums
                })
            })
    }

    /// Whether a value can only be a collection of the platform that takes no locks and runs nobody's code when it is walked through.
    pub fn is_plain_collection(&self, method: MethodId, value: ValueId) -> bool {
        let (classes, heap) = (self.table(), self.program.heap());
        let nodes = heap.nodes_of(method);
        !nodes.is_empty()
            && nodes.iter().all(|&node| {
                let objects = heap.points_to(node, value);
                !objects.is_empty()
                    && objects.iter().all(|object| {
                        let object = heap.object(object);
                        matches!(
                            object.kind,
                            ObjectKind::Allocated { .. } | ObjectKind::AnyOf
                        ) && scope().plain.contains(&classes.class_name(object.class))
                    })
            })
    }

    /// The functions that a value may be, if they are all lambdas of analyzed code or touch nothing; what it runs else is unknown.
    fn applied(&self, method: MethodId, value: ValueId) -> Callees {
        let heap = self.program.heap();
        let nodes = heap.nodes_of(method);
        let mut found = Callees {
            unknown: nodes.is_empty(),
            ..Callees::default()
        };
        for &node in nodes {
            let objects = heap.points_to(node, value);
            found.unknown |= objects.is_empty();
            for object in objects.iter() {
                match self.body_of_lambda(object) {
                    Some(body) if self.translated.contains(&body) => found.handed.push(body),
                    Some(body) if self.touches_nothing(body) => {}
                    _ => found.unknown = true,
                }
            }
        }
        found.handed.sort_unstable();
        found.handed.dedup();
        found
    }

    /// The one method that a lambda or method reference runs.
    fn body_of_lambda(&self, object: ObjectId) -> Option<MethodId> {
        let ObjectKind::Lambda { method, instr } = self.program.heap().object(object).kind else {
            return None;
        };
        let Op::Lambda { lambda, .. } = &self.body(method)?.instr(instr).op else {
            return None;
        };
        let run = lambda.handle.method;
        let info = self.table().method(run);
        let single = info.flags.is_static()
            || self.table().is_constructor(run)
            || info.flags.is_private()
            || info.flags.is_final()
            || self.table().class(info.class).flags.is_final();
        single.then_some(run)
    }

    fn touches_nothing(&self, method: MethodId) -> bool {
        self.model(method).is_some_and(|model| {
            model.is == Step::Const
                && !model.keeps
                && !model.reads_all
                && model.reads.is_empty()
                && model.writes.is_empty()
                && model.calls.is_empty()
                && model.asks.is_empty()
                && model.applies.is_empty()
        })
    }

    /// Whether all code that accesses fields of the class is translated.
    pub fn is_translated_class(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }

    /// What the call at an instruction may run.
    pub fn callees(&self, method: MethodId, instr: InstrId) -> &Callees {
        static UNKNOWN: Callees = Callees {
            translated: Vec::new(),
            handed: Vec::new(),
            library: Vec::new(),
            unknown: true,
        };
        self.callees.get(&(method, instr)).unwrap_or(&UNKNOWN)
    }

    /// The model of a library method, looked up once.
    pub fn model(&self, method: MethodId) -> Option<&'static Model> {
        let known = self.found.borrow().get(&method).copied();
        known.unwrap_or_else(|| {
            let info = self.table().method(method);
            let own = info.flags.is_static() || self.table().is_constructor(method);
            let found = (self.models.find(self.table(), method))
                .filter(|model| own || model.alone || !self.hooked.contains(&info.class))
                .filter(|model| !self.is_any_overridden(model.runs));
            self.found.borrow_mut().insert(method, found);
            found
        })
    }

    /// Whether a class outside the platform overrides one of these methods of the platform.
    fn is_any_overridden(&self, methods: &[(&str, &str)]) -> bool {
        let classes = self.table();
        let mut hooked = self.hooked.iter().copied();
        let above: Vec<ClassId> = (methods.iter())
            .filter_map(|(class, _)| classes.find(class))
            .collect();
        if !hooked.any(|class| above.contains(&class)) {
            return false;
        }
        let mut outside = (classes.class_ids()).filter(|&c| !is_of_platform(classes, c));
        outside.any(|class| {
            methods.iter().any(|&(of, name)| {
                let of = classes.find(of).filter(|&of| classes.is_subtype(class, of));
                let own = &classes.class(class).methods;
                of.is_some()
                    && own.iter().any(|&method| {
                        let own = classes.method_name(method);
                        !own.starts_with('<') && (own == name || name == "*")
                    })
            })
        })
    }

    /// Whether a collection can only be one that was made with nothing, so that no comparator of anybody's orders it.
    pub fn is_natural(&self, method: MethodId, value: ValueId) -> bool {
        let heap = self.program.heap();
        let nodes = heap.nodes_of(method);
        !nodes.is_empty()
            && nodes.iter().all(|&node| {
                let objects = heap.points_to(node, value);
                let made_here = |object: ObjectId| match heap.object(object).kind {
                    ObjectKind::Allocated { method, .. } => self.translated.contains(&method),
                    _ => false,
                };
                !objects.is_empty()
                    && !objects.intersects(&self.furnished)
                    && objects.iter().all(made_here)
            })
    }

    fn find_furnished(&mut self) {
        let (classes, heap) = (self.table(), self.program.heap());
        let mut furnished = ObjectSet::default();
        for &method in &self.methods {
            let Some(body) = self.body(method) else {
                continue;
            };
            for (_, instr) in body.all_instrs() {
                let Op::Invoke {
                    method: callee,
                    args,
                    ..
                } = &instr.op
                else {
                    continue;
                };
                let plain = classes.method_descriptor(*callee) == "()V";
                let of_platform = is_of_platform(classes, classes.method(*callee).class);
                if plain || !of_platform || !classes.is_constructor(*callee) {
                    continue;
                }
                for &node in heap.nodes_of(method) {
                    furnished.add_all(heap.points_to(node, args[0]), None);
                }
            }
        }
        self.furnished = furnished;
    }

    /// What a constructor of the platform runs of the class that is being made: code of that class's own, if it overrides it.
    ///
    /// An exception fills in its stack trace, and a class loader asks for its name.
    fn run_by_constructor(&self, caller: MethodId, callee: MethodId, args: &[ValueId]) -> Callees {
        const HOOKS: [(&str, &str, &str); 2] = [
            (
                "java/lang/Throwable",
                "fillInStackTrace",
                "()Ljava/lang/Throwable;",
            ),
            ("java/lang/ClassLoader", "getName", "()Ljava/lang/String;"),
        ];
        let mut found = Callees::default();
        let classes = self.table();
        let class = classes.method(callee).class;
        if !classes.is_constructor(callee) || !is_of_platform(classes, class) {
            return found;
        }
        let hook = HOOKS.iter().find_map(|&(of, name, descriptor)| {
            let of = (classes.find(of)).filter(|&of| classes.is_subtype(class, of))?;
            classes.declared_method(of, name, descriptor)
        });
        let made = |body: &Body| {
            let &receiver = args.first()?;
            let by = body.defining(receiver).map(|instr| &instr.op);
            let exact = matches!(by, Some(Op::New { .. }));
            Some((body.ty(receiver).class()?, exact))
        };
        let (Some(hook), Some((made, exact))) = (hook, self.body(caller).and_then(made)) else {
            return found;
        };
        let below = (self.made.iter().copied())
            .filter(|&below| !exact && below != made && classes.is_subtype(below, made));
        found.translated = (below.chain([made]))
            .filter_map(|class| classes.select(class, hook))
            .filter(|method| self.translated.contains(method))
            .collect();
        found.translated.sort_unstable();
        found.translated.dedup();
        // Clients complete what is abstract.
        found.unknown = classes.class(made).flags.is_abstract() && !self.program.is_application();
        found
    }

    /// Whether code outside the translated one may call the method, holding nothing.
    pub fn is_open(&self, method: MethodId) -> bool {
        let classes = self.table();
        let exported = !self.program.is_application()
            && self.program.is_input(classes.method(method).class)
            && classes.is_exported(method)
            && !self.hidden.contains(&method);
        exported
            || classes.is_class_initializer(method)
            || self.lambdas.contains(&method)
            || self.overriding.contains(&method)
            || self.roots.contains(&method)
            || self.called_from_afar.contains(&method)
            || self.strays.borrow().contains(&method)
    }

    /// The method runs, and no call that is known runs it: then anybody may.
    pub fn add_stray(&self, method: MethodId) {
        self.strays.borrow_mut().insert(method);
    }

    fn find_lambdas(&mut self) {
        let bodies = self.methods.iter().filter_map(|&method| self.body(method));
        let made = bodies.flat_map(Body::all_instrs);
        self.lambdas = made
            .filter_map(|(_, instr)| match &instr.op {
                Op::Lambda { lambda, .. } => Some(lambda.handle.method),
                _ => None,
            })
            .collect();
    }

    fn find_callees(&mut self) {
        let mut all = FxHashMap::default();
        for &method in &self.methods {
            let Some(body) = self.body(method) else {
                continue;
            };
            for (id, instr) in body.all_instrs() {
                if let Op::Invoke {
                    kind,
                    method: named,
                    args,
                } = &instr.op
                {
                    all.insert((method, id), self.resolve(method, id, *kind, *named, args));
                }
            }
        }
        self.callees = all;
    }

    /// Whether every object of an analyzed class below this lock of the platform locks as the platform does.
    pub fn locks_as(&self, class: ClassId, lock: &str) -> bool {
        const LOCKING: [&str; 6] = [
            "lock",
            "lockInterruptibly",
            "tryLock",
            "unlock",
            "readLock",
            "writeLock",
        ];
        let classes = self.table();
        let Some(lock) = classes.find(lock) else {
            return false;
        };
        if class == lock || !classes.is_subtype(class, lock) || !self.has_no_strangers(class) {
            return false;
        }
        let methods = &classes.class(lock).methods;
        let mut locking = (methods.iter().copied())
            .filter(|&method| LOCKING.contains(&classes.method_name(method)));
        let below: Vec<ClassId> = (self.made.iter().copied())
            .filter(|&below| classes.is_subtype(below, class))
            .chain([class])
            .collect();
        locking.all(|method| {
            below.iter().all(|&of| {
                let run = classes.select(of, method);
                run.is_some_and(|run| is_of_platform(classes, classes.method(run).class))
            })
        })
    }

    fn find_sides(&mut self) {
        let mut sides: FxHashMap<FieldId, Option<Side>> = FxHashMap::default();
        for &method in &self.methods {
            let Some(body) = self.body(method) else {
                continue;
            };
            for (_, instr) in body.all_instrs() {
                let Op::PutField {
                    object,
                    field,
                    value,
                } = instr.op
                else {
                    continue;
                };
                let side = self.side_of(method, body, object, value);
                let known = sides.entry(field).or_insert(side);
                if *known != side {
                    *known = None;
                }
            }
        }
        self.sides = sides;
    }

    /// The side that a value is of the lock in a field of this object, if it is one.
    fn side_of(
        &self,
        method: MethodId,
        body: &Body,
        object: ValueId,
        value: ValueId,
    ) -> Option<Side> {
        let Op::Invoke {
            method: gives,
            args,
            ..
        } = &body.defining(without_casts(body, value))?.op
        else {
            return None;
        };
        let mode = (self.program.library())
            .effect(self.table(), *gives)?
            .view?;
        let &[lock] = args.as_slice() else {
            return None;
        };
        match body.defining(lock)?.op {
            Op::GetField {
                object: owner,
                field,
            } if without_casts(body, owner) == without_casts(body, object) => Some(Side {
                of: field,
                mode,
                of_platform: super::names::is_read_write(self, method, body, lock),
            }),
            _ => None,
        }
    }

    /// The side that this field always holds of the lock in another field of its object, if it does.
    pub fn side(&self, field: FieldId) -> Option<Side> {
        self.sides.get(&field).copied().flatten()
    }

    fn resolve(
        &self,
        caller: MethodId,
        at: InstrId,
        kind: InvokeKind,
        named: MethodId,
        args: &[ValueId],
    ) -> Callees {
        let heap = self.program.heap();
        let mut targets: Vec<MethodId> = Vec::new();
        if matches!(kind, InvokeKind::Static | InvokeKind::Special) {
            targets.push(named);
            let found = self.run_by_constructor(caller, named, args);
            return self.callees_among(named, targets, found, true);
        }
        // Arrays have no methods but those of their superclass.
        let receiver = args.first().zip(self.body(caller));
        let class = receiver.and_then(|(&receiver, body)| body.ty(receiver).class());
        if let Some(class) = class.filter(|&class| self.is_array(class)) {
            targets.extend(self.table().select(class, named));
            return self.callees_among(named, targets, Callees::default(), true);
        }
        for &node in heap.nodes_of(caller) {
            let callees = heap.callees(node, at);
            targets.extend(callees.map(|callee| heap.node(callee).method));
        }
        self.pass_on(caller, args, &mut targets);
        self.dispatched(caller, named, args, targets)
    }

    /// Methods that the platform's collections inherit and that do nothing but ask another of their own: the other stands in for them.
    fn pass_on(&self, caller: MethodId, args: &[ValueId], targets: &mut Vec<MethodId>) {
        const PASSED_ON: [(&str, &str, &str, &str); 5] = [
            ("java/util/AbstractCollection", "isEmpty", "size", "()I"),
            (
                "java/util/AbstractQueue",
                "add",
                "offer",
                "(Ljava/lang/Object;)Z",
            ),
            (
                "java/util/AbstractQueue",
                "remove",
                "poll",
                "()Ljava/lang/Object;",
            ),
            (
                "java/util/AbstractQueue",
                "element",
                "peek",
                "()Ljava/lang/Object;",
            ),
            ("java/util/AbstractMap", "isEmpty", "size", "()I"),
        ];
        let (classes, heap) = (self.table(), self.program.heap());
        let Some(&receiver) = args.first() else {
            return;
        };
        for target in targets.clone() {
            let class = classes.class_name(classes.method(target).class);
            let name = classes.method_name(target);
            let known = (PASSED_ON.iter()).find(|(of, asked, ..)| *of == class && *asked == name);
            let Some(&(.., other, descriptor)) = known else {
                continue;
            };
            let of = classes.method(target).class;
            let mut above = [of]
                .into_iter()
                .chain(classes.supertypes(of).iter().copied());
            let asked = above.find_map(|of| classes.declared_method(of, other, descriptor));
            let Some(asked) = asked.filter(|_| !self.is_translated(target)) else {
                continue;
            };
            targets.retain(|&other| other != target);
            for &node in heap.nodes_of(caller) {
                for object in heap.points_to(node, receiver).iter() {
                    let of = heap.object(object).class;
                    if classes.select(of, target) == Some(target) {
                        targets.extend(classes.select(of, asked));
                    }
                }
            }
        }
        targets.sort_unstable();
        targets.dedup();
    }

    /// Whether a method may run in a call because an object was made of it, and not because it is the receiver's own.
    pub(super) fn may_be_handed(
        &self,
        caller: MethodId,
        named: MethodId,
        args: &[ValueId],
        target: MethodId,
    ) -> bool {
        if !self.lambdas.contains(&target) {
            return false;
        }
        let (classes, heap) = (self.table(), self.program.heap());
        let own = classes.is_subtype(classes.method(target).class, classes.method(named).class)
            && classes.method_name(target) == classes.method_name(named)
            && classes.method_descriptor(target) == classes.method_descriptor(named);
        let nodes = heap.nodes_of(caller);
        let plain = args.first().is_some_and(|&receiver| {
            nodes.iter().all(|&node| {
                let mut objects = heap.points_to(node, receiver).iter();
                objects.all(|object| {
                    let kind = heap.object(object).kind;
                    !matches!(kind, ObjectKind::Lambda { .. } | ObjectKind::Unknown)
                })
            })
        });
        !own || !plain
    }

    /// The targets sorted into what is translated and what is known by its model.
    pub(super) fn callees_among(
        &self,
        named: MethodId,
        mut targets: Vec<MethodId>,
        mut found: Callees,
        exact: bool,
    ) -> Callees {
        let classes = self.table();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            if self.translated.contains(&target) {
                found.translated.push(target);
            } else {
                found.library.push(target);
            }
        }
        found.unknown |=
            found.translated.is_empty() && found.handed.is_empty() && found.library.is_empty();
        let harmless = self.options.pure_values
            && is_value_method(classes.method_name(named), classes.method_descriptor(named));
        if harmless && !exact {
            found.library.clear();
            found.unknown = false;
        }
        found
    }

    fn is_array(&self, class: ClassId) -> bool {
        matches!(self.table().class(class).kind, ClassKind::Array(_))
    }

    /// What a library method calls on its operands, by its model.
    ///
    /// The program model does not know these calls, so they count as unknown unless it knows the operand as a receiver of what they run: what is found out of a method's `this` would not hold otherwise.
    pub fn asked(&self, caller: MethodId, callee: MethodId, args: &[ValueId]) -> Vec<Asked> {
        let classes = self.table();
        let Some(model) = self.model(callee) else {
            return Vec::new();
        };
        let receiver = usize::from(!classes.method(callee).flags.is_static());
        let mut all = Vec::new();
        for question in model.asks {
            let position = match question.operand {
                Operand::Receiver => 0,
                Operand::Arg(index) => index + receiver,
            };
            let class = classes.find(question.class);
            let method = class.and_then(|class| {
                classes.declared_method(class, question.name, question.descriptor)
            });
            let (Some(&whom), Some(method)) = (args.get(position), method) else {
                continue;
            };
            let callees = self.asked_callees(caller, method, whom);
            all.push(Asked {
                whom,
                method,
                callees,
            });
        }
        for &operand in model.applies {
            let position = match operand {
                Operand::Receiver => 0,
                Operand::Arg(index) => index + receiver,
            };
            if let Some(&whom) = args.get(position) {
                let callees = self.applied(caller, whom);
                all.push(Asked {
                    whom,
                    method: callee,
                    callees,
                });
            }
        }
        all
    }

    fn asked_callees(&self, caller: MethodId, method: MethodId, whom: ValueId) -> Callees {
        let (classes, heap) = (self.table(), self.program.heap());
        let mut targets = Vec::new();
        let mut known = true;
        for &node in heap.nodes_of(caller) {
            for id in heap.points_to(node, whom).iter() {
                if heap.object(id).kind == ObjectKind::Unknown {
                    known = false;
                    continue;
                }
                let target = classes.select(heap.object(id).class, method);
                known &= target.is_some_and(|target| self.is_receiver(target, id));
                targets.extend(target);
            }
        }
        let mut callees = self.dispatched(caller, method, &[whom], targets);
        callees.unknown |= !known;
        callees
    }

    /// Whether the program model knows the object as a receiver of the method, or nothing of the method at all.
    fn is_receiver(&self, method: MethodId, object: ObjectId) -> bool {
        let heap = self.program.heap();
        let receiver = self.body(method).and_then(Body::receiver);
        let nodes = heap.nodes_of(method);
        !self.translated.contains(&method)
            || receiver.is_some_and(|receiver| {
                nodes
                    .iter()
                    .any(|&node| heap.points_to(node, receiver).iter().any(|o| o == object))
            })
    }

    fn find_entries(&mut self) {
        let (classes, heap) = (self.table(), self.program.heap());
        let mut self_fields = FxHashSet::default();
        for &method in &self.methods {
            let Some(body) = self.body(method) else {
                continue;
            };
            for (_, instr) in body.all_instrs() {
                if let Op::PutField {
                    object,
                    field,
                    value,
                } = &instr.op
                    && without_casts(body, *object) == without_casts(body, *value)
                {
                    self_fields.insert(*field);
                }
            }
        }
        self.find_exposed();
        // Code that cannot be read may access anything.
        let unreadable = program_methods(self.program)
            .any(|method| classes.method(method).has_code && self.body(method).is_none());
        if unreadable {
            self.exposed.extend(self.classes.iter().copied());
        }
        let mut overriding = FxHashSet::default();
        for &method in &self.methods {
            let info = classes.method(method);
            if info.flags.is_static() || info.flags.is_private() || classes.is_constructor(method) {
                continue;
            }
            let foreign = classes.supertypes(info.class).iter().any(|&above| {
                !self.classes.contains(&above)
                    && classes
                        .declared_method(
                            above,
                            classes.method_name(method),
                            classes.method_descriptor(method),
                        )
                        .is_some()
            });
            if foreign && self.is_inherited_by_objects(method) {
                overriding.insert(method);
            }
        }
        self.hidden = (self.methods.iter().copied())
            .filter(|&method| self.is_hidden(method))
            .collect();
        self.roots = heap
            .roots()
            .iter()
            .map(|root| heap.node(root.node).method)
            .chain(
                heap.spawns()
                    .iter()
                    .map(|spawn| heap.node(spawn.root).method),
            )
            .collect();
        let caller = |edge: &&CallEdge| heap.node(edge.caller).method;
        self.called_from_afar = (heap.calls().iter())
            .filter(|edge| !self.translated.contains(&caller(edge)))
            .map(|edge| heap.node(edge.callee).method)
            .collect();
        self.self_fields = self_fields;
        self.overriding = overriding;
    }

    /// Whether clients have no name for a method: its class is private or local, no other type declares it, and no class that they can name inherits it.
    fn is_hidden(&self, method: MethodId) -> bool {
        let classes = self.table();
        let info = classes.method(method);
        if classes.class(info.class).nameable || !self.program.is_input(info.class) {
            return false;
        }
        if info.flags.is_static() || classes.is_constructor(method) {
            return true;
        }
        let (name, descriptor) = (
            classes.method_name(method),
            classes.method_descriptor(method),
        );
        let mut above = classes.supertypes(info.class).iter();
        let shown = above.any(|&above| {
            above != info.class && classes.declared_method(above, name, descriptor).is_some()
        });
        let mut below = self.program.inputs().iter();
        let inherited = below.any(|&below| {
            classes.class(below).nameable
                && classes.is_subtype(below, info.class)
                && classes.select(below, method) == Some(method)
        });
        !shown && !inherited
    }

    /// Whether some object of a translated class runs this very method, and not one that overrides it.
    fn is_inherited_by_objects(&self, method: MethodId) -> bool {
        let classes = self.table();
        let class = classes.method(method).class;
        self.classes.iter().any(|&below| {
            let flags = classes.class(below).flags;
            !flags.is_abstract()
                && !flags.is_interface()
                && classes.is_subtype(below, class)
                && classes.select(below, method) == Some(method)
        })
    }

    /// Fields that others reach: through handles, and those of a library that clients can name.
    fn find_exposed(&mut self) {
        let classes = self.table();
        let mut any = false;
        let mut asked_for: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        for &method in &self.methods {
            let Some(body) = self.program.body(method) else {
                continue;
            };
            let own = nest(classes.class_name(classes.method(method).class));
            asked_for
                .entry(own)
                .or_default()
                .extend(names_asked_for(body));
            for handle in handles(classes, body) {
                match handle {
                    Handle::Field(field) => {
                        self.exposed_fields.insert(field);
                    }
                    Handle::SomeField => {
                        any = true;
                        let near = self.classes.iter().copied();
                        let near = near.filter(|&class| nest(classes.class_name(class)) == own);
                        self.exposed.extend(near);
                    }
                    Handle::Methods(..) => {}
                }
            }
        }
        for &class in &self.classes {
            let info = classes.class(class);
            let own = asked_for.get(nest(classes.class_name(class)));
            let open = !self.program.is_application() && info.nameable && info.flags.is_public();
            for &field in &info.fields {
                // A wrapper makes handles for those who give it the name.
                let asked = any && own.is_some_and(|own| own.contains(classes.field_name(field)));
                let named = open && classes.field(field).flags.is_public();
                if asked || named {
                    self.exposed_fields.insert(field);
                }
            }
        }
    }

    /// Everything that leads to other threads: what the program model says, what clients get, and what unknown code is given.
    fn find_escaped(&mut self) {
        let heap = self.program.heap();
        let mut escaped = self.program.sharing().escaped().clone();
        let mut pending: Vec<ObjectId> = Vec::new();
        let add = |objects: &ObjectSet, escaped: &mut ObjectSet, pending: &mut Vec<ObjectId>| {
            pending.extend(escaped.add_all(objects, None).iter());
        };
        for object in heap.object_ids() {
            let local = matches!(
                heap.object(object).kind,
                ObjectKind::Allocated { .. } | ObjectKind::Lambda { .. }
            );
            if !local && escaped.insert(object) {
                pending.push(object);
            }
        }
        for &method in &self.methods {
            let Some(body) = self.body(method) else {
                continue;
            };
            let open = self.is_open(method);
            for (id, instr) in body.all_instrs() {
                let leaked: Vec<ValueId> = match &instr.op {
                    Op::Return { value: Some(value) } if open => vec![*value],
                    Op::Throw { value } => vec![*value],
                    Op::Lambda { args, .. } | Op::Dynamic { args, .. } => args.to_vec(),
                    Op::Invoke { args, .. } => {
                        let callees = self.callees(method, id);
                        let harmless = !callees.unknown
                            && callees.library.iter().all(|&callee| {
                                self.model(callee).is_some_and(|m| {
                                    !m.keeps && m.asks.is_empty() && m.applies.is_empty()
                                })
                            });
                        if harmless { Vec::new() } else { args.to_vec() }
                    }
                    _ => continue,
                };
                for value in leaked {
                    for &node in heap.nodes_of(method) {
                        add(heap.points_to(node, value), &mut escaped, &mut pending);
                    }
                }
            }
        }
        while let Some(object) = pending.pop() {
            for (_, objects) in heap.fields_of(object) {
                add(objects, &mut escaped, &mut pending);
            }
        }
        self.escaped = escaped;
    }

    /// Whether an object of the platform is a face of another, such as an iterator: what it shows may be known to others, though it is not.
    fn is_face(&self, object: ObjectId) -> bool {
        let class = self.program.heap().object(object).class;
        is_of_platform(self.table(), class) && self.table().class_name(class).contains('$')
    }

    /// Whether no other thread can ever know what a value refers to.
    pub fn never_escapes(&self, method: MethodId, value: ValueId) -> bool {
        let heap = self.program.heap();
        let nodes = heap.nodes_of(method);
        !nodes.is_empty()
            && nodes.iter().all(|&node| {
                let objects = heap.points_to(node, value);
                !objects.is_empty()
                    && !objects.intersects(&self.escaped)
                    && !objects.iter().any(|object| self.is_face(object))
            })
    }
}

fn without_casts(body: &Body, mut value: ValueId) -> ValueId {
    while let Some(Op::Cast { value: inner, .. }) = body.defining(value).map(|instr| &instr.op) {
        value = *inner;
    }
    value
}
