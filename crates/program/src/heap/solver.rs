//! The solver: nodes of the call graph, variables, and the loop that lets both grow.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::calls::{Call, Movement, Target};
use super::graph::{Graph, UseId, Var};
use super::objects::{Context, Object, ObjectKind, Objects};
use super::precision::{Detail, Precision};
use super::result::{CallEdge, Heap, HeapField, Node, Root, RootKind, Spawn};
use super::set::ObjectSet;
use super::unknown::Unknown;
use crate::assumptions::Assumption;
use crate::classes::{ClassKind, Classes, Loader, Type};
use crate::ids::{ClassId, FieldId, InstrId, MethodId, NodeId, ObjectId, ValueId};
use crate::ir::{Body, build_bodies};
use crate::library::Library;

/// A body with a number for each of its references.
#[derive(Debug)]
pub struct Built {
    pub body: Body,
    /// For each value its position among the references that are no parameters, `NONE` for others.
    pub references: Vec<u32>,
    pub reference_count: usize,
}

pub const NONE: u32 = u32::MAX;

/// How many instructions a method has that was not built yet.
const USUAL_BODY: usize = 30;

impl Built {
    /// Numbers the references of a body.
    pub fn new(body: Body) -> Self {
        let mut count = 0;
        let references = body
            .values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                if index < body.params.len() || !value.ty.is_reference() {
                    return NONE;
                }
                count += 1;
                count - 1
            })
            .collect();
        Self {
            body,
            references,
            reference_count: count as usize,
        }
    }
}

/// The bodies built so far; `None` for methods that have none.
pub type Bodies = FxHashMap<MethodId, Option<Arc<Built>>>;

/// A method in a context, while the graph grows.
#[derive(Debug)]
pub struct Working {
    pub method: MethodId,
    pub context: Context,
    /// The receiver and parameters, in order.
    pub params: Var,
    pub param_count: usize,
    /// What it returns.
    pub result: Var,
    /// The other references of its body.
    pub values: Var,
    pub built: Option<Arc<Built>>,
    /// Whether it is library code that is not entered.
    pub opaque: bool,
}

/// What is to be done for each object of a variable.
#[derive(Debug, Clone)]
pub enum Use {
    Load {
        field: HeapField,
        into: Var,
        filter: Option<ClassId>,
    },
    Store {
        field: HeapField,
        from: Var,
    },
    /// A call on the object.
    Call(Arc<Call>),
    /// What a cast does not let pass, though it may be an instance.
    Narrow {
        class: ClassId,
        into: Var,
    },
    /// The object is given to code that is not read, whose content is the bag.
    Given {
        call: Arc<Call>,
        bag: Var,
    },
    /// Code that is not read may put what the bag holds into the object.
    Fill {
        call: Arc<Call>,
        bag: Var,
        containers: bool,
    },
}

/// The state of the analysis.
#[derive(Debug)]
pub struct Solver<'a> {
    pub loader: &'a mut Loader,
    pub library: &'a Library,
    pub bodies: &'a mut Bodies,
    pub graph: Graph,
    pub objects: Objects,
    pub nodes: Vec<Working>,
    node_index: FxHashMap<(MethodId, Context), NodeId>,
    pub fields: FxHashMap<(ObjectId, HeapField), Var>,
    pub statics: FxHashMap<FieldId, Var>,
    uses: Vec<Use>,
    /// For each call that waits, the node that runs for all receivers of a class; a table for each, so that one call stays in the processor's cache.
    bound: FxHashMap<UseId, FxHashMap<ClassId, NodeId>>,
    /// Calls that method references pass on to the objects that they are bound to.
    pub(super) passed_on: FxHashSet<Arc<Call>>,
    /// Loads and stores that were connected with the variable that a field is for all objects.
    copied: FxHashSet<UseId>,
    /// Objects whose parts may hold what no analyzed code put there: the unknown one, and those of classes that clients cannot name and have nevertheless.
    hold_anything: ObjectSet,
    pub precision: Precision,
    pub known_calls: FxHashSet<(NodeId, InstrId, NodeId)>,
    new_nodes: Vec<NodeId>,
    pub thrown: Var,
    pub spawns: FxHashSet<Spawn>,
    pub roots: Vec<Root>,
    initialized: FxHashSet<ClassId>,
    /// Arrays of length zero: the empty table that all empty lists share must not mix their elements.
    pub empty_arrays: FxHashSet<ObjectId>,
    entered: FxHashMap<ClassId, bool>,
    containers: FxHashMap<ClassId, bool>,
    merged: FxHashMap<ClassId, bool>,
    pub movements: FxHashMap<MethodId, Movement>,
    pub selected: FxHashMap<(ClassId, MethodId), Option<MethodId>>,
    pub reflective: FxHashMap<MethodId, bool>,
    /// Reflective calls that were counted as assumptions.
    pub unfollowed: FxHashSet<(NodeId, InstrId)>,
    pub unknown: Unknown,
    /// For objects that code nobody reads calls back, what it passes and what it is given.
    pub called_back: FxHashMap<ObjectId, (Var, Var)>,
    /// Contents whose objects are looked into.
    pub watched: FxHashSet<Var>,
    /// For each class the methods that code nobody reads may call on its objects.
    pub open_methods: FxHashMap<ClassId, Vec<MethodId>>,
    pub is_application: bool,
}

impl<'a> Solver<'a> {
    pub fn new(
        loader: &'a mut Loader,
        library: &'a Library,
        bodies: &'a mut Bodies,
        detail: Detail,
    ) -> Self {
        let mut graph = Graph::default();
        let thrown = graph.variables(1);
        let mut solver = Self {
            loader,
            library,
            bodies,
            graph,
            objects: Objects::default(),
            nodes: Vec::new(),
            node_index: FxHashMap::default(),
            fields: FxHashMap::default(),
            statics: FxHashMap::default(),
            uses: Vec::new(),
            bound: FxHashMap::default(),
            passed_on: FxHashSet::default(),
            copied: FxHashSet::default(),
            hold_anything: ObjectSet::default(),
            precision: Precision::new(detail),
            known_calls: FxHashSet::default(),
            new_nodes: Vec::new(),
            thrown,
            spawns: FxHashSet::default(),
            roots: Vec::new(),
            initialized: FxHashSet::default(),
            empty_arrays: FxHashSet::default(),
            entered: FxHashMap::default(),
            containers: FxHashMap::default(),
            merged: FxHashMap::default(),
            movements: FxHashMap::default(),
            selected: FxHashMap::default(),
            reflective: FxHashMap::default(),
            unfollowed: FxHashSet::default(),
            unknown: Unknown::default(),
            called_back: FxHashMap::default(),
            watched: FxHashSet::default(),
            open_methods: FxHashMap::default(),
            is_application: false,
        };
        let built = solver.bodies.values().flatten();
        solver.precision.program = built.map(|built| built.body.instrs.len()).sum();
        solver.make_unknown();
        solver
    }

    pub fn classes(&self) -> &Classes {
        &self.loader.classes
    }

    /// Runs to the fixpoint; gives nothing if the steps for telling objects apart are exhausted before.
    pub fn solve(mut self) -> Option<Heap> {
        self.run().then(|| self.finish())
    }

    /// Runs to the fixpoint, however long that takes.
    pub fn solve_to_the_end(mut self) -> Heap {
        while !self.run() {}
        self.finish()
    }

    /// Whether the fixpoint was reached.
    fn run(&mut self) -> bool {
        loop {
            let fresh = std::mem::take(&mut self.new_nodes);
            self.build(&fresh);
            for node in &fresh {
                self.constrain(*node);
            }
            // All that is known is propagated before more methods are built, so that batches are large.
            while let Some((uses, objects)) = self.graph.step() {
                self.apply_all(&uses, &objects);
                if self.precision.is_exhausted(self.graph.work()) {
                    return false;
                }
            }
            if self.new_nodes.is_empty() && !self.complete() {
                return true;
            }
        }
    }

    fn apply_all(&mut self, uses: &SmallVec<[UseId; 1]>, objects: &ObjectSet) {
        for of in uses {
            self.precision.work += 1 + objects.len() as u64;
            let action = self.uses[*of as usize].clone();
            match &action {
                Use::Call(call) => self.bind_all(*of, call, objects),
                Use::Load { field, .. } | Use::Store { field, .. } => {
                    self.access_all(*of, &action, *field, objects);
                }
                _ => {
                    for object in objects.iter() {
                        self.apply(&action, object);
                    }
                }
            }
        }
    }

    /// A call on some objects; those of one class mostly run the same.
    fn bind_all(&mut self, of: UseId, call: &Call, objects: &ObjectSet) {
        let instances;
        let objects = match call.target {
            // Sets are not filtered by declared types everywhere; what is no instance cannot be called.
            Target::Virtual(method) if self.precision.detail == Detail::Classes => {
                let declaring = self.classes().method(method).class;
                self.make_mask(declaring);
                instances = self.graph.instances(declaring, objects);
                &instances
            }
            _ => objects,
        };
        let mut bound = self.bound.remove(&of).unwrap_or_default();
        for object in objects.iter() {
            let class = self.objects.get(object).class;
            if let Some(callee) = bound.get(&class) {
                let this = self.nodes[callee.index()].params;
                if !matches!(
                    self.objects.get(object).kind,
                    ObjectKind::Lambda { .. } | ObjectKind::Unknown
                ) {
                    self.graph.add_object(this, object);
                    continue;
                }
            }
            if let Some(callee) = self.bind(call, object) {
                bound.insert(class, callee);
            }
        }
        if !bound.is_empty() {
            self.bound.insert(of, bound);
        }
    }

    /// Loads or stores of a field of some objects; one copy does if they have the field in common.
    fn access_all(&mut self, of: UseId, action: &Use, field: HeapField, objects: &ObjectSet) {
        if self.common_field(field).is_none() {
            for object in objects.iter() {
                self.apply(action, object);
            }
            return;
        }
        for object in objects.intersection(&self.hold_anything).iter() {
            self.apply(action, object);
        }
        if self.copied.contains(&of) {
            return;
        }
        let first = objects
            .iter()
            .find(|object| !self.hold_anything.contains(*object) && self.has(*object, field));
        if let Some(object) = first {
            self.apply(action, object);
            self.copied.insert(of);
        }
    }

    fn apply(&mut self, action: &Use, object: ObjectId) {
        match action {
            Use::Load { into, .. } if self.hold_anything.contains(object) => {
                self.add_unknown(*into);
            }
            Use::Store {
                field: HeapField::Field(field),
                from,
            } if self.unknown.is(object) => self.store_hub(*field, *from),
            Use::Store { from, .. } if self.unknown.is(object) => self.put_element(*from),
            Use::Load { field, .. } | Use::Store { field, .. } if !self.has(object, *field) => {}
            Use::Load {
                field,
                into,
                filter,
            } => {
                self.count_copy(*field);
                let from = self.field_var(object, *field);
                self.edge(from, *into, *filter);
            }
            Use::Store { field, from } => {
                self.count_copy(*field);
                let into = self.field_var(object, *field);
                self.graph.add_edge(*from, into, None);
            }
            Use::Call(call) => {
                self.bind(&Arc::clone(call), object);
            }
            Use::Narrow { class, into } => self.narrow(object, *class, *into),
            Use::Given { call, bag } => self.give(&Arc::clone(call), *bag, object),
            Use::Fill {
                call,
                bag,
                containers,
            } => self.fill(&Arc::clone(call), *bag, *containers, object),
        }
    }

    /// Whether an object has a part that holds references: sets are not filtered by declared types everywhere.
    fn has(&self, object: ObjectId, field: HeapField) -> bool {
        let class = self.objects.get(object).class;
        match field {
            HeapField::Field(field) => self
                .classes()
                .is_subtype(class, self.classes().field(field).class),
            HeapField::Elements => {
                matches!(self.classes().class(class).kind, ClassKind::Array(Some(_)))
                    && !self.empty_arrays.contains(&object)
            }
            HeapField::Content | HeapField::Captured(_) => true,
        }
    }

    /// Registers what is to be done for each object of a variable, and does it for those present.
    pub fn on_objects(&mut self, var: Var, action: Use) {
        let id = self.uses.len() as UseId;
        let present = self.graph.add_use(var, id);
        self.uses.push(action);
        if !present.is_empty() {
            self.apply_all(&SmallVec::from_slice(&[id]), &present);
        }
    }

    /// Builds the bodies of new nodes, in parallel.
    fn build(&mut self, fresh: &[NodeId]) {
        let mut methods: Vec<MethodId> = fresh
            .iter()
            .map(|node| &self.nodes[node.index()])
            .filter(|node| !node.opaque && !self.bodies.contains_key(&node.method))
            .map(|node| node.method)
            .collect();
        methods.sort_unstable();
        methods.dedup();
        let mut classes: Vec<ClassId> = methods
            .iter()
            .map(|method| self.classes().method(*method).class)
            .collect();
        classes.sort_unstable();
        classes.dedup();
        self.loader.link(&classes);
        let tables = &self.loader.classes;
        for (method, built) in build_bodies(tables, &methods) {
            let built = built.map(|body| Arc::new(Built::new(body)));
            if let Err(error) = &built {
                let subject = format!("{}: {error}", self.classes().describe_method(method));
                self.loader
                    .assumptions
                    .add(Assumption::UnreadableBody, subject);
            }
            self.bodies.insert(method, built.ok());
        }
    }

    fn constrain(&mut self, id: NodeId) {
        let node = &self.nodes[id.index()];
        if node.opaque {
            self.constrain_opaque(id);
        } else if let Some(Some(built)) = self.bodies.get(&node.method).cloned() {
            let values = self.graph.variables(built.reference_count);
            let node = &mut self.nodes[id.index()];
            node.values = values;
            node.built = Some(built);
            self.constrain_body(id);
        }
    }

    /// The node of a method in a context, if there is one.
    pub fn known_node(&self, method: MethodId, context: Context) -> Option<NodeId> {
        self.node_index.get(&(method, context)).copied()
    }

    /// The node of a method in a context.
    pub fn node(&mut self, method: MethodId, context: Context) -> NodeId {
        if let Some(node) = self.node_index.get(&(method, context)) {
            return *node;
        }
        let info = self.classes().method(method);
        let (class, has_code, has_receiver) = (info.class, info.has_code, !info.flags.is_static());
        let param_count = info.params.len() + usize::from(has_receiver);
        let params = self.graph.variables(param_count + 1);
        let id = NodeId::new(self.nodes.len());
        let entered = self.is_entered(class);
        if context != Context::None && entered && has_code {
            // What was not built yet is of the usual size.
            let body = self.bodies.get(&method).and_then(Option::as_ref);
            let instrs = body.map_or(USUAL_BODY, |built| built.body.instrs.len());
            self.precision.spend(class, instrs);
        }
        self.nodes.push(Working {
            method,
            context,
            params,
            param_count,
            result: Var(params.0 + param_count as u32),
            values: Var(NONE),
            built: None,
            opaque: !has_code || !entered,
        });
        self.node_index.insert((method, context), id);
        self.new_nodes.push(id);
        if entered && !has_receiver {
            self.initialize(class);
        }
        id
    }

    /// The variable of a value in a node; `None` if it is no reference.
    pub fn value_var(&self, node: NodeId, value: ValueId) -> Option<Var> {
        let node = &self.nodes[node.index()];
        let built = node.built.as_ref()?;
        if value.index() < built.body.params.len() {
            let reference = built.body.ty(value).is_reference();
            return reference.then_some(Var(node.params.0 + value.0));
        }
        let number = built.references[value.index()];
        (number != NONE).then_some(Var(node.values.0 + number))
    }

    /// The variable of a field of an object.
    pub fn field_var(&mut self, object: ObjectId, field: HeapField) -> Var {
        if let Some(var) = self.fields.get(&(object, field)) {
            return *var;
        }
        let var = match self.common_field(field) {
            Some(common) => common,
            None => {
                self.has_field(object, field);
                self.graph.variables(1)
            }
        };
        self.fields.insert((object, field), var);
        var
    }

    /// The variable of a static field; that of opaque library classes holds something from the start.
    pub fn static_var(&mut self, field: FieldId) -> Var {
        if let Some(var) = self.statics.get(&field) {
            return *var;
        }
        let var = self.graph.variables(1);
        self.statics.insert(field, var);
        let info = self.classes().field(field);
        let (class, ty) = (info.class, info.ty);
        if self.is_entered(class) {
            self.initialize(class);
        } else if let Type::Ref(of) = ty {
            let object = self.object(of, ObjectKind::Static(field), Context::None);
            self.graph.add_object(var, object);
        }
        var
    }

    /// A copy edge that lets only instances of a class pass.
    pub fn edge(&mut self, from: Var, to: Var, filter: Option<ClassId>) {
        let filter = filter.filter(|class| *class != self.classes().well_known.object);
        if let Some(class) = filter {
            self.make_mask(class);
        }
        self.graph.add_edge(from, to, filter);
    }

    /// Finds the instances of a class, unless they are known.
    fn make_mask(&mut self, class: ClassId) {
        if self.graph.needs_mask(class) {
            let members = (0..self.objects.len())
                .map(ObjectId::new)
                .filter(|object| self.is_instance(*object, class))
                .collect();
            self.graph.set_mask(class, members);
        }
    }

    pub fn is_instance(&self, object: ObjectId, class: ClassId) -> bool {
        is_instance(
            &self.objects.get(object),
            class,
            self.classes(),
            self.library,
        )
    }

    /// The abstract object of a class and kind.
    pub fn object(&mut self, class: ClassId, kind: ObjectKind, context: Context) -> ObjectId {
        if self.classes().class(class).kind == ClassKind::Named {
            self.loader.load([class]);
        }
        let exact = matches!(kind, ObjectKind::ClassObject(_) | ObjectKind::Member { .. });
        let merged = !exact && self.is_merged(class);
        let (kind, context) = if merged {
            (ObjectKind::Merged, Context::None)
        } else {
            self.told_apart(class, kind, context)
        };
        let (id, new) = self.objects.intern(class, kind, context);
        if new {
            let (object, classes, library) =
                (self.objects.get(id), &self.loader.classes, self.library);
            self.graph
                .extend_masks(id, |class| is_instance(&object, class, classes, library));
            let anything = object.kind == ObjectKind::Unknown
                || object.kind == ObjectKind::Passed && !classes.class(object.class).nameable;
            if anything {
                self.hold_anything.insert(id);
            }
        }
        id
    }

    /// Whether all instances of a class are one abstract object: values and exceptions.
    pub fn is_merged(&mut self, class: ClassId) -> bool {
        if let Some(merged) = self.merged.get(&class) {
            return *merged;
        }
        let classes = &self.loader.classes;
        let merged = self.library.scope().is_merged(classes.class_name(class))
            || classes.is_subtype(class, classes.well_known.throwable);
        self.merged.insert(class, merged);
        merged
    }

    /// Whether the code of a class is read.
    pub fn is_entered(&mut self, class: ClassId) -> bool {
        let (library, classes) = (self.library, &self.loader.classes);
        *self
            .entered
            .entry(class)
            .or_insert_with(|| library.is_entered(classes, class))
    }

    /// Whether the methods of a class are analyzed per receiver.
    pub fn is_container(&mut self, class: ClassId) -> bool {
        let (library, classes) = (self.library, &self.loader.classes);
        *self
            .containers
            .entry(class)
            .or_insert_with(|| library.is_container(classes, class))
    }

    /// Makes the initializers of a class and its superclasses reachable.
    pub fn initialize(&mut self, class: ClassId) {
        if !self.initialized.insert(class) {
            return;
        }
        for class in self.classes().superclasses(class).collect::<Vec<_>>() {
            self.initialized.insert(class);
            let Some(method) = self.classes().declared_method(class, "<clinit>", "()V") else {
                continue;
            };
            if self.is_entered(class) {
                let node = self.node(method, Context::None);
                self.roots.push(Root {
                    node,
                    kind: RootKind::Initializer,
                });
            }
        }
    }

    fn finish(mut self) -> Heap {
        self.add_common_parts();
        let given_up = self.precision.given_up();
        let nodes = self
            .nodes
            .iter()
            .map(|node| Node {
                method: node.method,
                context: node.context,
                opaque: node.opaque,
            })
            .collect();
        let working = self
            .nodes
            .into_iter()
            .map(|node| super::result::NodeVars {
                params: node.params,
                values: node.values,
                built: node.built,
            })
            .collect();
        let mut calls: Vec<CallEdge> = self
            .known_calls
            .into_iter()
            .map(|(caller, instr, callee)| CallEdge {
                caller,
                instr,
                callee,
            })
            .collect();
        calls.sort_unstable();
        let mut spawns: Vec<Spawn> = self.spawns.into_iter().collect();
        spawns.sort_unstable();
        let mut roots = self.roots;
        roots.sort_unstable();
        roots.dedup();
        Heap::new(
            self.graph,
            self.objects.into_vec(),
            nodes,
            working,
            calls,
            spawns,
            roots,
            self.fields,
            self.statics,
            given_up,
        )
    }
}

/// Whether an object may be an instance of a class.
///
/// What library code returns may be of any library subclass of what it declares, but no program's own class is made there.
fn is_instance(object: &Object, class: ClassId, classes: &Classes, library: &Library) -> bool {
    let vague = matches!(
        object.kind,
        ObjectKind::Returned(_) | ObjectKind::Static(_) | ObjectKind::Passed
    );
    object.kind == ObjectKind::Unknown
        || classes.is_subtype(object.class, class)
        || vague && classes.is_subtype(class, object.class) && !library.is_entered(classes, class)
}
