//! The per-method analysis: symbolic execution of each abstract thread in object contexts.
//!
//! Paper: section 3.2.
//! Starting at what a thread runs, every method is executed once for each [`Context`] it is called in: loops and recursion once, since each round accesses the same abstract objects.
//! Recorded are accesses to objects that several threads reach, calls, and critical sections; [`summary`] then adds up what is done in the scope of each method and each lock.
//!
//! Differences: contexts are sets of objects rather than one alias class each, and are widened to the node's own sets where a method has more than [`MOST_CONTEXTS`]; taking a lock again that is held is no new critical section.
//! Where more than 32 methods call each other in a circle, which imprecise dispatch closes in large programs (the paper's conservative assumptions for `hedc`), each is judged by what it does itself and calls outside the circle.
//! Locks are matched by the program model: `synchronized` and the locks of java.util.concurrent.

mod context;
mod exposure;
mod outer;
mod plain;
mod state;
mod summary;
mod wrapper;

pub use state::{Execution, Section, State, StateId};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use untorn_program::classes::ClassKind;
use untorn_program::heap::{CallEdge, HeapField, ObjectKind, ObjectSet};
use untorn_program::ir::{AccessPath, Body, Def, InvokeKind, Op, Root, Step};
use untorn_program::library::{Access, Operand};
use untorn_program::load::Origin;
use untorn_program::locks::LockRef;
use untorn_program::threads::{Multiplicity, ThreadKind};
use untorn_program::{
    ClassId, FieldId, InstrId, MethodId, NodeId, ObjectId, Program, RegionId, ThreadId, ValueId,
};

use crate::domain::{Entry, Sets, VarId, Variable, Variables};
use crate::options::Options;
use context::{Alias, Context, Held, Objects, Values};
use outer::Makers;

/// Once this many methods in contexts were executed, over all threads, and this many for each node, further contexts are widened at once: precision is for programs that can be read.
const MOST_STATES: (usize, usize) = (20_000, 1);

/// A node that is called in more contexts than these is executed in widened ones from then on.
const MOST_CONTEXTS: u32 = 24;

/// How many of those a node keeps, for the locks its callers hold, once contexts are widened at once.
const FEW_CONTEXTS: u32 = 4;

/// Executes threads; variables and sets are common to all of them.
#[derive(Debug)]
pub struct Executor<'a> {
    program: &'a Program,
    options: &'a Options,
    /// The variables met so far.
    pub variables: Variables,
    /// The sets met so far.
    pub sets: Sets,
    fields: FxHashMap<FieldId, Option<VarId>>,
    owners: FxHashMap<ObjectId, Vec<FieldId>>,
    contents: FxHashMap<MethodId, Option<Content>>,
    makers: Makers<'a>,
    selected: FxHashMap<(ClassId, MethodId), Option<MethodId>>,
    /// The nodes in whose scope something shared may be accessed: all others are passed over.
    relevant: Vec<bool>,
    executed: usize,
    /// How many calls lost their object context to the bounds above.
    pub widened: usize,
}

impl<'a> Executor<'a> {
    /// Nothing is executed yet.
    pub fn new(program: &'a Program, options: &'a Options) -> Self {
        Self {
            program,
            options,
            variables: Variables::default(),
            sets: Sets::default(),
            fields: FxHashMap::default(),
            owners: owners(program, options),
            contents: FxHashMap::default(),
            makers: Makers::new(program),
            selected: FxHashMap::default(),
            relevant: Vec::new(),
            executed: 0,
            widened: 0,
        }
    }

    /// Executes every thread that can meet another.
    pub fn run(&mut self) -> Vec<Execution> {
        let threads = self.program.threads();
        let of_kind = |kind: ThreadKind| threads.ids().find(|id| threads.thread(*id).kind == kind);
        let constructors = of_kind(ThreadKind::Constructors);
        self.relevant = self.find_relevant();
        let mut executions = Vec::new();
        for together in self.together() {
            // Clients also construct: what a constructor does to others' objects meets them.
            let clients = |id: &ThreadId| threads.thread(*id).kind == ThreadKind::Clients;
            let constructors = constructors.filter(|_| together.iter().any(clients));
            executions.push(self.execute(&together, constructors));
        }
        executions
    }

    /// The threads that can meet another, those that are executed as one together.
    ///
    /// Threads of which any number run are each concurrent to all of them and to themselves; in a large program most of them reach most of it, and executing it once for each would find the same views again.
    fn together(&self) -> Vec<Vec<ThreadId>> {
        let threads = self.program.threads();
        let before_sharing = |id: &ThreadId| {
            matches!(
                threads.thread(*id).kind,
                ThreadKind::Initializers | ThreadKind::Constructors
            )
        };
        let meeting: Vec<ThreadId> = threads.ids().filter(|id| !before_sharing(id)).collect();
        let relevant: Vec<NodeId> = (self.program.heap().node_ids())
            .filter(|node| self.relevant[node.index()])
            .collect();
        let executed: usize = (meeting.iter())
            .map(|id| {
                (relevant.iter())
                    .filter(|node| threads.runs(*id, **node))
                    .count()
            })
            .sum();
        let many = |id: &ThreadId| threads.thread(*id).multiplicity == Multiplicity::Many;
        let (some, _) = MOST_STATES;
        if executed <= some {
            return meeting.into_iter().map(|id| vec![id]).collect();
        }
        let (many, alone): (Vec<ThreadId>, Vec<ThreadId>) = meeting.into_iter().partition(many);
        let alone = alone.into_iter().map(|id| vec![id]);
        let many = (!many.is_empty()).then_some(many);
        many.into_iter().chain(alone).collect()
    }

    /// Executes threads as one; the first gives its name.
    fn execute(&mut self, together: &[ThreadId], constructors: Option<ThreadId>) -> Execution {
        let program = self.program;
        let sharing = program.sharing();
        let mut accessed = ObjectSet::default();
        for id in together.iter().chain(&constructors) {
            accessed.add_all(sharing.accessed_by(*id), None);
        }
        let visible = accessed.intersection(sharing.shared());
        let mut run = Run {
            executor: self,
            visible,
            rings: FxHashMap::default(),
            keys: IndexSet::default(),
            per_node: FxHashMap::default(),
        };
        for id in together {
            for root in &program.threads().thread(*id).roots {
                run.enter(*root, Context::default());
            }
        }
        if let Some(id) = constructors {
            let context = Context {
                fresh: u64::from(run.executor.options.initializers),
                ..Context::default()
            };
            for root in &program.threads().thread(id).roots {
                run.enter(*root, context.clone());
            }
            for node in run.executor.lambdas_of_clients() {
                run.enter(node, Context::default());
            }
        }
        let mut states = Vec::new();
        while states.len() < run.keys.len() {
            states.push(run.state(StateId(states.len() as u32)));
        }
        self.executed += states.len();
        summary::execution(program, self.options, &mut self.sets, together, states)
    }

    /// Lambdas of the program that it gives away and no thread of it is known to run: clients may.
    fn lambdas_of_clients(&self) -> Vec<NodeId> {
        let (program, classes) = (self.program, self.program.classes());
        let heap = program.heap();
        (heap.node_ids())
            .filter(|node| {
                let method = heap.node(*node).method;
                self.relevant[node.index()]
                    && classes.method_name(method).starts_with(LAMBDA)
                    && classes.method(method).flags.is_synthetic()
                    && program.is_input(classes.method(method).class)
                    && program.threads().running(*node).next().is_none()
            })
            .collect()
    }

    /// The nodes that access a field of a shared object, and all that lead to them.
    fn find_relevant(&mut self) -> Vec<bool> {
        let program = self.program;
        let (heap, shared) = (program.heap(), program.sharing().shared());
        let mut pending = Vec::new();
        for node in heap.node_ids() {
            let Some(body) = heap.body(node) else {
                continue;
            };
            let accesses = body.instrs.iter().any(|instr| match &instr.op {
                Op::GetField { object, field } | Op::PutField { object, field, .. } => {
                    self.enters_views(*field) && heap.points_to(node, *object).intersects(shared)
                }
                Op::GetStatic { field } | Op::PutStatic { field, .. } => self.enters_views(*field),
                Op::ArrayLoad { .. } | Op::ArrayStore { .. } | Op::Invoke { .. } => {
                    self.options.arrays
                }
                _ => false,
            });
            let accesses = accesses
                || (body.instrs.iter())
                    .filter_map(|instr| plain::content(program, node, body, &instr.op))
                    .any(|of| heap.points_to(node, of.owner).intersects(shared));
            let mut calls = heap.calls_from(node).iter();
            let content = |edge: &CallEdge| self.content(heap.node(edge.callee).method).is_some();
            if accesses || calls.any(content) {
                pending.push(node);
            }
        }
        let mut relevant = vec![false; heap.node_ids().len()];
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut relevant[node.index()], true) {
                pending.extend(heap.calls_to(node).iter().map(|edge| edge.caller));
            }
        }
        relevant
    }

    /// The variable of a field; `None` if it is left out of views.
    fn variable(&mut self, field: FieldId) -> Option<VarId> {
        if let Some(known) = self.fields.get(&field) {
            return *known;
        }
        let variable = self
            .enters_views(field)
            .then(|| self.variables.id(Variable::Field(field)));
        self.fields.insert(field, variable);
        variable
    }

    fn enters_views(&self, field: FieldId) -> bool {
        let classes = self.program.classes();
        let (info, options) = (classes.field(field), self.options);
        let flags = info.flags;
        // What the compiler adds, such as a reference to the outer object, is set once.
        !(flags.is_synthetic()
            || options.final_fields && flags.is_final()
            || options.volatile_fields && flags.is_volatile()
            || options.io && self.is_library_io(info.class))
    }

    /// What a library method does to the content of its receiver; `None` if that is in no view.
    fn content(&mut self, method: MethodId) -> Option<Content> {
        if let Some(known) = self.contents.get(&method) {
            return *known;
        }
        let (program, options) = (self.program, self.options);
        let classes = program.classes();
        let class = classes.class_name(classes.method(method).class);
        let left_out = if class.starts_with(ATOMICS) {
            options.volatile_fields
        } else {
            options.concurrent
        };
        let effect = program
            .library()
            .effect(classes, method)
            .filter(|_| !left_out);
        let content = match effect {
            Some(effect) => effect.access.or(effect.touches).map(|access| Content {
                writes: access != Access::Read,
                checked: effect.checked,
            }),
            None if left_out => None,
            None => self.content_by_name(method),
        };
        self.contents.insert(method, content);
        content
    }

    /// What a method of a concurrent collection does that no model names, such as a set that is a view of a map's keys.
    fn content_by_name(&self, method: MethodId) -> Option<Content> {
        let classes = self.program.classes();
        let info = classes.method(method);
        let collection = classes.find("java/util/Collection")?;
        let concurrent = classes.class_name(info.class).starts_with(CONCURRENT);
        let of_content = concurrent
            && classes.is_subtype(info.class, collection)
            && !info.flags.is_static()
            && !classes.is_constructor(method);
        of_content.then(|| Content {
            writes: plain::writes(self.program, method),
            // Of a set these say whether it was there before.
            checked: matches!(classes.method_name(method), "add" | "remove"),
        })
    }

    /// Whether a class is no part of the platform.
    fn is_own(&self, class: ClassId) -> bool {
        self.program.classes().class(class).origin != Origin::Jdk
    }

    fn is_library_io(&self, class: ClassId) -> bool {
        let name = self.program.classes().class_name(class);
        !self.program.is_input(class) && self.program.library().scope().is_io(name)
    }

    fn selects(&mut self, class: ClassId, method: MethodId) -> Option<MethodId> {
        let classes = self.program.classes();
        *self
            .selected
            .entry((class, method))
            .or_insert_with(|| classes.select(class, method))
    }
}

/// One thread being executed.
struct Run<'e, 'a> {
    executor: &'e mut Executor<'a>,
    /// The shared objects that the thread can get hold of.
    visible: ObjectSet,
    /// For each node that forwards its own method, and one that it forwards to, whether that leads back.
    rings: FxHashMap<(NodeId, NodeId), bool>,
    keys: IndexSet<(NodeId, Context), FxBuildHasher>,
    per_node: FxHashMap<NodeId, u32>,
}

impl Run<'_, '_> {
    /// The state of a node in a context, to be executed if it is new.
    fn enter(&mut self, node: NodeId, mut context: Context) -> StateId {
        let heap = self.executor.program.heap();
        if heap.body(node).is_none() {
            context = Context::default();
        }
        let mut key = (node, context);
        if !self.keys.contains(&key) {
            let (some, each) = MOST_STATES;
            let most = some + each * self.executor.relevant.len();
            let spent = self.executor.executed + self.keys.len();
            let many = spent >= most;
            let count = self.per_node.entry(node).or_default();
            if many || *count >= MOST_CONTEXTS {
                key.1 = key.1.widened();
                self.executor.widened += 1;
            }
            if spent >= 2 * most || many && *count >= FEW_CONTEXTS || *count >= 2 * MOST_CONTEXTS {
                key.1.held.clear();
            }
            if !self.keys.contains(&key) {
                *count += 1;
            }
        }
        StateId(self.keys.insert_full(key).0 as u32)
    }

    fn state(&mut self, id: StateId) -> State {
        let (node, context) = self.keys[id.index()].clone();
        let program = self.executor.program;
        let heap = program.heap();
        let mut state = State {
            node,
            accesses: Vec::new(),
            calls: Vec::new(),
            reentrant: SmallVec::new(),
            steps: SmallVec::new(),
            takes_method_lock: false,
        };
        let Some(body) = heap.body(node) else {
            // A library method by its model: it only calls back.
            for edge in heap.calls_from(node) {
                if self.executor.relevant[edge.callee.index()] {
                    let callee = self.enter(edge.callee, Context::default());
                    state.calls.push((edge.instr, callee));
                }
            }
            return state;
        };
        let locks = program.locks(heap.node(node).method);
        let own = locks.method_lock().map(Held::of_method);
        let outer: Vec<Held> = context.held.iter().chain(&own).cloned().collect();
        state.takes_method_lock = own
            .as_ref()
            .is_some_and(|own| !context.held.iter().any(|held| held.covers(own)));
        let mut frame = Frame {
            values: Values::new(heap, node, body, &context),
            node,
            body,
        };
        let regions: Vec<Held> = (locks.regions().iter())
            .map(|region| self.held(&mut frame, &region.lock))
            .collect();
        for (number, lock) in regions.iter().enumerate() {
            let around = locks.held_at(locks.regions()[number].enter);
            let mut enclosing = outer
                .iter()
                .chain(around.iter().map(|id| &regions[id.index()]));
            if enclosing.any(|held| held.covers(lock)) {
                state.reentrant.push(RegionId::new(number));
            }
        }
        for (id, instr) in body.all_instrs() {
            self.accesses(&mut frame, id, &instr.op, &mut state.accesses);
            if let Op::Invoke { args, .. } = &instr.op
                && let Some(receiver) = args.first()
            {
                self.steps(&mut frame, id, *receiver, &mut state);
                self.plain_content(&mut frame, id, &instr.op, &mut state);
            }
            let relevant = |callee: &NodeId| self.executor.relevant[callee.index()];
            let callees: SmallVec<[NodeId; 4]> = heap.callees(node, id).filter(relevant).collect();
            if callees.is_empty() {
                continue;
            }
            let inner = locks.held_at(id).iter().map(|id| &regions[id.index()]);
            let held: Vec<&Held> = outer.iter().chain(inner).collect();
            for callee in callees {
                if self.wraps_itself(&frame, &instr.op, callee) {
                    continue;
                }
                if let Some(context) = self.context(&mut frame, &instr.op, callee, &held) {
                    let callee = self.enter(callee, context);
                    state.calls.push((id, callee));
                }
            }
        }
        state
    }

    /// A lock under its shortest name: a final field that always holds its own object names that object.
    ///
    /// The wrappers of `java.util.Collections` lock `this.mutex`, and their clients the wrapper.
    fn held(&self, frame: &mut Frame<'_>, lock: &LockRef) -> Held {
        let mut held = Held::of(lock);
        let program = self.executor.program;
        let (Root::Value(base), [Step::Field(field)]) = (lock.path.root, &lock.path.steps[..])
        else {
            return held;
        };
        if !program.classes().field(*field).flags.is_final() {
            return held;
        }
        let holds_itself = |object: &ObjectId| {
            let content = program.heap().field(*object, HeapField::Field(*field));
            content.len() == 1 && content.contains(*object)
        };
        let bases = frame.values.objects(base).unwrap_or_default();
        if !bases.is_empty() && bases.iter().all(holds_itself) {
            held.drop_steps();
        }
        held
    }

    fn accesses(
        &mut self,
        frame: &mut Frame<'_>,
        id: InstrId,
        op: &Op,
        accesses: &mut Vec<(InstrId, Entry)>,
    ) {
        match op {
            Op::GetField { object, field } | Op::PutField { object, field, .. } => {
                let writes = matches!(op, Op::PutField { .. });
                if let Some(variable) = self.executor.variable(*field)
                    && !frame.values.is_fresh(*object)
                    && self.sees(frame, *object)
                {
                    accesses.push((id, entry(variable, writes)));
                }
            }
            Op::GetStatic { field } | Op::PutStatic { field, .. } => {
                let writes = matches!(op, Op::PutStatic { .. });
                if let Some(variable) = self.executor.variable(*field) {
                    accesses.push((id, entry(variable, writes)));
                }
            }
            Op::ArrayLoad { array, .. } => self.elements(frame, id, *array, false, accesses),
            Op::ArrayStore { array, .. } => self.elements(frame, id, *array, true, accesses),
            Op::Invoke { method, args, .. } if self.executor.options.arrays => {
                let program = self.executor.program;
                let effect = program.library().effect(program.classes(), *method);
                let Some((from, to)) = effect.and_then(|effect| effect.copies) else {
                    return;
                };
                for (operand, writes) in [(from, false), (to, true)] {
                    if let Operand::Arg(position) = operand
                        && let Some(array) = args.get(position)
                    {
                        self.elements(frame, id, *array, writes, accesses);
                    }
                }
            }
            _ => {}
        }
    }

    /// The accesses to the content of a concurrent collection or atomic variable by a call.
    fn steps(&mut self, frame: &mut Frame<'_>, id: InstrId, receiver: ValueId, state: &mut State) {
        let heap = self.executor.program.heap();
        let contents: SmallVec<[Content; 2]> = heap
            .callees(frame.node, id)
            .filter_map(|callee| self.executor.content(heap.node(callee).method))
            .collect();
        let Some(first) = contents.first() else {
            return;
        };
        let mut owners: Vec<FieldId> = Vec::new();
        for object in self.objects(frame, receiver) {
            owners.extend(self.executor.owners.get(&object).into_iter().flatten());
        }
        // One object of a class may be in many fields, and many such objects in one call.
        owners.sort_unstable();
        owners.dedup();
        let differ = contents.iter().any(|of| of.writes != first.writes);
        for owner in &owners {
            let variable = self.executor.variables.id(Variable::Content(*owner));
            state.accesses.push((id, entry(variable, first.writes)));
            if differ {
                state.accesses.push((id, entry(variable, !first.writes)));
            }
        }
        let checked = (!owners.is_empty()).then(|| contents.iter().all(|of| of.checked));
        state.steps.extend(checked.map(|checked| (id, checked)));
    }

    /// The accesses to what an ordinary collection holds, by a call on the field that refers to it.
    fn plain_content(&mut self, frame: &mut Frame<'_>, id: InstrId, op: &Op, state: &mut State) {
        let executor = &*self.executor;
        let Some(of) = plain::content(executor.program, frame.node, frame.body, op) else {
            return;
        };
        let info = executor.program.classes().field(of.field);
        if info.flags.is_synthetic() || !executor.is_own(info.class) {
            return;
        }
        if !frame.values.is_fresh(of.owner) && self.sees(frame, of.owner) {
            let variable = self.executor.variables.id(Variable::State(of.field));
            state.accesses.push((id, entry(variable, of.writes)));
        }
    }

    /// Whether a call forwards to what a field of the receiver refers to, and this callee is the same method of a wrapper that may in turn wrap the receiver.
    ///
    /// A wrapper is declared to hold what it implements itself, so that by their types alone wrappers would wrap each other without end.
    /// What they wrap in the end is followed from each of them.
    fn wraps_itself(&mut self, frame: &Frame<'_>, op: &Op, callee: NodeId) -> bool {
        let program = self.executor.program;
        if wrapper::forwarded(program, frame.body, op).is_none() {
            return false;
        }
        let classes = program.classes();
        let [own, other] = [frame.node, callee].map(|node| program.heap().node(node).method);
        let [from, to] = [own, other].map(|method| classes.method(method).class);
        wrapper::is_same(classes, own, other)
            && (classes.is_subtype(from, to)
                || classes.is_subtype(to, from)
                || *(self.rings.entry((frame.node, callee)))
                    .or_insert_with(|| wrapper::leads_back(program, frame.node, callee)))
    }

    /// The shared objects that a value may be.
    fn objects(&self, frame: &mut Frame<'_>, value: ValueId) -> Vec<ObjectId> {
        let heap = self.executor.program.heap();
        let visible = |object: &ObjectId| self.visible.contains(*object);
        match frame.values.objects(value) {
            Some(objects) => objects.into_iter().filter(visible).collect(),
            None => heap
                .points_to(frame.node, value)
                .iter()
                .filter(visible)
                .collect(),
        }
    }

    /// Whether a value may be a shared object.
    fn sees(&self, frame: &mut Frame<'_>, value: ValueId) -> bool {
        match frame.values.objects(value) {
            Some(objects) => objects.iter().any(|object| self.visible.contains(*object)),
            None => {
                let heap = self.executor.program.heap();
                heap.points_to(frame.node, value).intersects(&self.visible)
            }
        }
    }

    fn elements(
        &mut self,
        frame: &mut Frame<'_>,
        id: InstrId,
        array: ValueId,
        writes: bool,
        accesses: &mut Vec<(InstrId, Entry)>,
    ) {
        if !self.executor.options.arrays {
            return;
        }
        let heap = self.executor.program.heap();
        for object in self.objects(frame, array) {
            let owners = self.executor.owners.get(&object);
            let variables = match owners {
                Some(owners) => owners.iter().copied().map(Variable::Elements).collect(),
                None => vec![Variable::Array(heap.object(object).class)],
            };
            for variable in variables {
                let variable = self.executor.variables.id(variable);
                accesses.push((id, entry(variable, writes)));
            }
        }
    }

    /// The context in which an instruction calls a node; `None` if this caller's receiver never selects it.
    fn context(
        &mut self,
        frame: &mut Frame<'_>,
        op: &Op,
        callee: NodeId,
        held: &[&Held],
    ) -> Option<Context> {
        let program = self.executor.program;
        let classes = program.classes();
        let heap = program.heap();
        let node = heap.node(callee);
        let mut context = Context::default();
        if self.executor.options.initializers && classes.is_constructor(node.method) {
            context.fresh = 1;
        }
        let (kind, method, args) = match op {
            Op::Invoke { kind, method, args } => (*kind, *method, args),
            // String concatenation and the like: nothing is known of the arguments.
            _ => {
                context.pass_held(held.iter().copied(), &[], &[]);
                return Some(context);
            }
        };
        let has_receiver = !classes.method(node.method).flags.is_static();
        let mut direct = has_receiver == (kind != InvokeKind::Static);
        let mut receivers = None;
        if direct
            && kind != InvokeKind::Static
            && let Some(possible) = frame.values.objects(args[0])
        {
            let by_class = kind != InvokeKind::Special;
            let selecting = self.selecting(&possible, method, callee, by_class);
            if selecting.is_empty() {
                let unknown = |object: &ObjectId| {
                    let object = heap.object(*object);
                    matches!(object.kind, ObjectKind::Lambda { .. })
                        || classes.select(object.class, method).is_none()
                };
                if !by_class || !possible.iter().any(unknown) {
                    return None;
                }
                direct = false;
            }
            receivers = Some(selecting);
        }
        if !direct {
            // A lambda or method reference: the arguments are not those of the call.
            context.pass_held(held.iter().copied(), &[], &[]);
            return Some(context);
        }
        let library = program.library();
        let stable = |method: MethodId| {
            library
                .effect(classes, method)
                .is_some_and(|effect| effect.view.is_some())
        };
        let mut paths: SmallVec<[AccessPath; 4]> = SmallVec::new();
        for (position, arg) in args.iter().enumerate() {
            paths.push(frame.body.access_path(*arg, &stable));
            if self.executor.options.initializers && position < 64 && frame.values.is_fresh(*arg) {
                context.fresh |= 1 << position;
            }
            if !frame.body.ty(*arg).is_reference() {
                continue;
            }
            let objects = match (position, &receivers) {
                (0, Some(receivers)) => Some(receivers.clone()),
                _ => frame.values.objects(*arg),
            };
            if let Some(objects) = objects {
                context.pass_objects(heap, callee, position, objects);
            }
        }
        let aliases = if held.is_empty() {
            Vec::new()
        } else {
            self.aliases(frame, args, &stable)
        };
        context.pass_held(held.iter().copied(), &paths, &aliases);
        Some(context)
    }

    /// Which fields of arguments hold something that the caller names otherwise: an argument made by a call keeps what that was called on.
    fn aliases(
        &mut self,
        frame: &Frame<'_>,
        args: &[ValueId],
        stable: &dyn Fn(MethodId) -> bool,
    ) -> Vec<Alias> {
        let heap = self.executor.program.heap();
        let mut aliases = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let Def::Instr(made) = frame.body.value(*arg).def else {
                continue;
            };
            let Op::Invoke { args: given, .. } = &frame.body.instr(made).op else {
                continue;
            };
            let mut callees = heap.callees(frame.node, made);
            let Some(first) = callees.next() else {
                continue;
            };
            let kept = (self.executor.makers)
                .kept(heap.node(first).method)
                .to_vec();
            let others: SmallVec<[NodeId; 4]> = callees.collect();
            for (field, param) in kept {
                let mut agree = others.iter().map(|callee| heap.node(*callee).method);
                let makers = &mut self.executor.makers;
                if agree.all(|method| makers.kept(method).contains(&(field, param)))
                    && let Some(given) = given.get(param)
                {
                    aliases.push(Alias {
                        position,
                        field,
                        path: frame.body.access_path(*given, stable),
                    });
                }
            }
        }
        aliases
    }

    /// The receivers for which a call runs exactly this node.
    fn selecting(
        &mut self,
        objects: &Objects,
        method: MethodId,
        callee: NodeId,
        by_class: bool,
    ) -> Objects {
        let heap = self.executor.program.heap();
        let node = heap.node(callee);
        let fits = |object: &&ObjectId| {
            let info = heap.object(**object);
            let own_context = match node.context {
                untorn_program::heap::Context::Object(of) => of == **object,
                _ => true,
            };
            own_context
                && (!by_class
                    || !matches!(info.kind, ObjectKind::Lambda { .. })
                        && self.executor.selects(info.class, method) == Some(node.method))
        };
        objects.iter().filter(fits).copied().collect()
    }
}

/// A body being executed.
struct Frame<'f> {
    values: Values<'f>,
    node: NodeId,
    body: &'f Body,
}

fn entry(variable: VarId, writes: bool) -> Entry {
    if writes {
        Entry::write(variable)
    } else {
        Entry::read(variable)
    }
}

/// What a library method does to the content of its receiver.
#[derive(Debug, Clone, Copy)]
struct Content {
    writes: bool,
    checked: bool,
}

/// How compilers begin the names of the bodies of lambdas.
const LAMBDA: &str = "lambda$";

/// The packages whose objects are variables that need no lock.
const CONCURRENT: &str = "java/util/concurrent/";
const ATOMICS: &str = "java/util/concurrent/atomic/";

/// The fields that refer to each concurrent object, and to each array if these count.
///
/// Fields of the platform's own wrappers are left out: all wrappers of one kind would share what they wrap.
fn owners(program: &Program, options: &Options) -> FxHashMap<ObjectId, Vec<FieldId>> {
    let (heap, classes) = (program.heap(), program.classes());
    let counts = |object: &ObjectId| {
        let class = heap.object(*object).class;
        match classes.class(class).kind {
            ClassKind::Array(_) => options.arrays,
            _ => classes.class_name(class).starts_with(CONCURRENT),
        }
    };
    let counted: ObjectSet = heap.object_ids().filter(counts).collect();
    let mut owners: FxHashMap<ObjectId, Vec<FieldId>> = FxHashMap::default();
    let mut add = |field: FieldId, objects: &ObjectSet| {
        if classes.class(classes.field(field).class).origin == Origin::Jdk && !options.arrays {
            return;
        }
        for object in objects.intersection(&counted).iter() {
            let known = owners.entry(object).or_default();
            if !known.contains(&field) {
                known.push(field);
            }
        }
    };
    for object in heap.object_ids() {
        for (field, objects) in heap.fields_of(object) {
            if let HeapField::Field(field) = field {
                add(field, objects);
            }
        }
    }
    for (field, objects) in heap.static_fields() {
        add(field, objects);
    }
    owners
}
