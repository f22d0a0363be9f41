//! What the analysis cannot follow: it is anything, never nothing.
//!
//! One abstract object, the *unknown* one, stands for every object that there may be: it is an instance of every class, its fields hold it, and what it is asked gives it.
//! It is passed to every method that code nobody reads may call: what overrides a method of a class that is not analyzed, what clients of a library can name, and the bodies of lambdas.
//! A reference of analyzed code that would point to nothing of its type points to it, since its value was lost on the way.
//!
//! A call on the unknown object runs what any object made anywhere would run: rapid type analysis, on all objects of the classes that fit.
//! What may run by that rule alone, whatever points-to sets say, is made reachable too: no body is left out because a set is too small.
//!
//! Flows that come from here are no calls of the call graph: no abstract thread runs them.
//! What code nobody reads may call is a root of kind [`RootKind::Unseen`].

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::calls::{Call, Target};
use super::graph::Var;
use super::handles::Handled;
use super::hubs::Hubs;
use super::objects::{Context, ObjectKind};
use super::put::Puts;
use super::reach::Reach;
use super::result::{Root, RootKind};
use super::solver::Solver;
use crate::classes::Type;
use crate::ids::{ClassId, MethodId, NodeId, ObjectId, ValueId};
use crate::ir::{InvokeKind, Op};
use crate::load::Origin;

/// What was found to be unknown, and what was done about it.
#[derive(Debug, Default)]
pub struct Unknown {
    /// The unknown object; there once the solver is.
    pub object: Option<ObjectId>,
    /// A variable that holds nothing else.
    pub var: Option<Var>,
    /// Calls on the unknown object and stores to fields of it.
    pub hubs: Hubs,
    /// What was put into it.
    pub puts: Puts,
    /// Members that handles were made for.
    pub handled: Handled,
    /// What clients of a library were given.
    pub handed_out: Option<Var>,
    /// The nodes that clients of a library call.
    pub called_by_clients: FxHashSet<NodeId>,
    /// Done already: an open method on an object, a lambda.
    bound: FxHashSet<(MethodId, ObjectId)>,
    /// Done already: a method that is called on whatever runs it.
    called: FxHashSet<(MethodId, Option<ObjectId>)>,
    lambdas: FxHashSet<ObjectId>,
    /// How much was done.
    steps: u64,
}

impl Unknown {
    pub fn is(&self, object: ObjectId) -> bool {
        self.object == Some(object)
    }
}

/// Objects by their class, as far as calls on them may run code that is read.
pub(super) type ByClass = FxHashMap<ClassId, Vec<ObjectId>>;

impl Solver<'_> {
    /// Makes the unknown object.
    pub(super) fn make_unknown(&mut self) {
        let class = self.classes().well_known.object;
        let object = self.object(class, ObjectKind::Unknown, Context::None);
        let var = self.graph.variables(1);
        self.graph.add_object(var, object);
        self.unknown.object = Some(object);
        self.unknown.var = Some(var);
        self.unknown.handed_out = Some(self.graph.variables(1));
    }

    /// The value of a reference that is not followed.
    pub(super) fn add_unknown(&mut self, var: Var) {
        if let Some(object) = self.unknown.object {
            self.graph.add_object(var, object);
        }
    }

    /// Draws the consequences of what is unknown, when all else is done; says whether there were any.
    pub(super) fn complete(&mut self) -> bool {
        let before = self.unknown.steps;
        let objects = self.analyzed_objects();
        self.bind_open(&objects);
        self.bind_lambdas();
        self.change_handed_out(&objects);
        self.bind_hubs(&objects);
        self.bind_puts();
        self.bind_handled(&objects);
        if self.unknown.steps == before {
            self.fill_empty();
        }
        if self.unknown.steps == before {
            self.enter_unreached(&objects);
        }
        self.unknown.steps != before
    }

    pub(super) fn step(&mut self, new: bool) -> bool {
        self.unknown.steps += u64::from(new);
        new
    }

    /// Objects of analyzed classes.
    fn analyzed_objects(&self) -> ByClass {
        let mut all = ByClass::default();
        for index in 0..self.objects.len() {
            let id = ObjectId::new(index);
            let object = self.objects.get(id);
            if !self.unknown.is(id)
                && !matches!(object.kind, ObjectKind::Lambda { .. })
                && self.is_analyzed(object.class)
            {
                all.entry(object.class).or_default().push(id);
            }
        }
        all
    }

    fn is_analyzed(&self, class: ClassId) -> bool {
        self.classes().class(class).origin == Origin::Input
    }

    /// What code nobody reads may call on the objects there are.
    fn bind_open(&mut self, objects: &ByClass) {
        let mut classes: Vec<ClassId> = objects.keys().copied().collect();
        classes.sort_unstable();
        for class in classes {
            let receivers = self.representatives(&objects[&class]);
            self.call_openly(class, &receivers);
        }
    }

    /// Lets code nobody reads call what it can name of objects of a class.
    pub(super) fn call_openly(&mut self, class: ClassId, receivers: &[ObjectId]) {
        for method in self.open_methods(class) {
            for &object in receivers {
                if self.unknown.bound.insert((method, object)) {
                    self.step(true);
                    self.call_from_outside(method, Some(object), true);
                }
            }
        }
    }

    /// The objects that stand for all of a class where code nobody reads calls them: clients of a library share one instance.
    fn representatives(&self, objects: &[ObjectId]) -> Vec<ObjectId> {
        let is_instance = |id: &ObjectId| self.objects.get(*id).kind == ObjectKind::Instance;
        match objects.iter().copied().find(is_instance) {
            Some(instance) if !self.is_application => vec![instance],
            _ => objects.to_vec(),
        }
    }

    /// The methods of an object of this class that code nobody reads can name.
    ///
    /// In an application these override a method of a class that is not analyzed; clients of a library also name what is no secret of its source file.
    fn open_methods(&mut self, class: ClassId) -> Vec<MethodId> {
        if let Some(known) = self.open_methods.get(&class) {
            return known.clone();
        }
        let tables = self.classes();
        let mut found = Vec::new();
        for &above in tables.supertypes(class) {
            let of = tables.class(above);
            // The platform calls these whoever can name them.
            let hooks =
                (of.methods.iter().copied()).filter(|&method| tables.is_serialization_hook(method));
            found.extend(hooks);
            let named_outside = of.origin != Origin::Input || !self.is_application && of.nameable;
            if !named_outside {
                continue;
            }
            for &method in &of.methods {
                let flags = tables.method(method).flags;
                // The package of what is not analyzed is closed to those who use it.
                let secret =
                    of.origin != Origin::Input && !flags.is_public() && !flags.is_protected();
                if secret
                    || flags.is_static()
                    || flags.is_private()
                    || tables.is_constructor(method)
                {
                    continue;
                }
                found.extend(tables.select(class, method));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&method| {
            let info = self.loader.classes.method(method);
            info.has_code && self.library.is_entered(&self.loader.classes, info.class)
        });
        // What every object inherits does nothing.
        let object = self.classes().well_known.object;
        found.retain(|&method| self.loader.classes.method(method).class != object);
        self.open_methods.insert(class, found.clone());
        found
    }

    /// Lets code nobody reads call a method, with anything; if that is what clients do, what they call already needs no more.
    fn call_from_outside(&mut self, method: MethodId, receiver: Option<ObjectId>, as_client: bool) {
        let class = self.classes().method(method).class;
        let context = match receiver {
            Some(object) if self.is_container(class) => {
                self.affordable(class, Context::Object(object))
            }
            _ => Context::None,
        };
        let node = self.node(method, context);
        let params = self.nodes[node.index()].params;
        if let Some(object) = receiver {
            self.graph.add_object(params, object);
        }
        if as_client && self.unknown.called_by_clients.contains(&node) {
            return;
        }
        self.roots.push(Root {
            node,
            kind: RootKind::Unseen,
        });
        self.pass_unknown(node);
    }

    fn pass_unknown(&mut self, node: NodeId) {
        let working = &self.nodes[node.index()];
        let (params, method) = (working.params, working.method);
        let info = self.classes().method(method);
        let first = u32::from(!info.flags.is_static());
        let references: Vec<u32> = (info.params.iter().enumerate())
            .filter(|(_, ty)| ty.is_reference())
            .map(|(position, _)| position as u32)
            .collect();
        for position in references {
            self.add_unknown(Var(params.0 + first + position));
        }
    }

    /// Lambdas may be called by anybody, with anything.
    fn bind_lambdas(&mut self) {
        for index in 0..self.objects.len() {
            let id = ObjectId::new(index);
            let object = self.objects.get(id);
            let ObjectKind::Lambda { method, instr } = object.kind else {
                continue;
            };
            if self.unknown.lambdas.contains(&id) || !self.is_analyzed_method(method) {
                continue;
            }
            let Some(Some(built)) = self.bodies.get(&method).cloned() else {
                continue;
            };
            let Op::Lambda { lambda, .. } = &built.body.instr(instr).op else {
                continue;
            };
            let Some(caller) = self.node_in(method, object.context) else {
                continue;
            };
            self.unknown.lambdas.insert(id);
            self.step(true);
            let target = lambda.handle.method;
            let count = self.classes().method(target).params.len() + 1;
            let mut args: SmallVec<[Option<Var>; 4]> = SmallVec::from_slice(&[None]);
            args.extend((0..count).map(|_| self.unknown.var));
            let call = Call {
                caller,
                instr,
                target: Target::Virtual(target),
                args: args.clone(),
                result: self.unknown.handed_out,
                start: None,
                task: None,
                silent: true,
            };
            self.call_lambda(&call, lambda.handle, id, &args, 0);
        }
    }

    fn is_analyzed_method(&self, method: MethodId) -> bool {
        self.is_analyzed(self.classes().method(method).class)
    }

    /// References of analyzed code that point to nothing of their type point to anything.
    fn fill_empty(&mut self) {
        for index in 0..self.nodes.len() {
            let node = NodeId::new(index);
            let working = &self.nodes[index];
            let Some(built) = working.built.clone() else {
                continue;
            };
            if !self.is_analyzed_method(working.method) {
                continue;
            }
            for (_, instr) in built.body.all_instrs() {
                let Some(base) = base(&instr.op) else {
                    continue;
                };
                let Type::Ref(class) = built.body.ty(base) else {
                    continue;
                };
                let Some(var) = self.value_var(node, base) else {
                    continue;
                };
                let objects = self.graph.objects(var);
                if !objects.iter().any(|object| self.is_instance(object, class)) {
                    self.step(true);
                    self.add_unknown(var);
                }
            }
        }
    }

    /// What may run by rapid type analysis and is in no node runs too, called by code nobody reads.
    fn enter_unreached(&mut self, objects: &ByClass) {
        let mut reach = Reach::new(self, objects);
        reach.find();
        let mut missing = reach.missing();
        missing.sort_unstable();
        for method in missing {
            self.step(true);
            self.call_on_all(method, objects);
        }
    }

    /// Lets code nobody reads call a method on whatever runs it.
    pub(super) fn call_on_all(&mut self, method: MethodId, objects: &ByClass) {
        let info = self.classes().method(method);
        let class = info.class;
        let mut receivers: Vec<Option<ObjectId>> = if info.flags.is_static() {
            vec![None]
        } else {
            let tables = self.classes();
            let runs = |of: ClassId| {
                let selects = || tables.select(of, method) == Some(method);
                tables.is_subtype(of, class)
                    && (tables.method(method).flags.is_private() || selects())
            };
            (objects.iter().filter(|(of, _)| runs(**of)))
                .flat_map(|(_, all)| all.iter().copied().map(Some))
                .collect()
        };
        receivers.sort_unstable();
        if receivers.is_empty() {
            receivers.push(self.unknown.object);
        }
        for receiver in receivers {
            if self.unknown.called.insert((method, receiver)) {
                self.step(true);
                self.call_from_outside(method, receiver, false);
            }
        }
    }

    /// The node of a method in a context, if there is one.
    fn node_in(&self, method: MethodId, context: Context) -> Option<NodeId> {
        self.known_node(method, context).or_else(|| {
            let mut nodes = self.nodes.iter().enumerate();
            let found = nodes.find(|(_, node)| node.method == method);
            found.map(|(index, _)| NodeId::new(index))
        })
    }
}

/// What an instruction asks, reads or writes.
fn base(op: &Op) -> Option<ValueId> {
    match op {
        Op::GetField { object, .. } | Op::PutField { object, .. } => Some(*object),
        Op::ArrayLoad { array, .. } | Op::ArrayStore { array, .. } => Some(*array),
        Op::Invoke { kind, args, .. } if *kind != InvokeKind::Static => args.first().copied(),
        _ => None,
    }
}
