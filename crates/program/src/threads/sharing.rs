//! Escape and sharing.
//!
//! An object *escapes* if it is reachable from a static field, from the object of a started thread or task, or, in library mode, from an instance that clients share or pass.
//! It is *shared* if it escapes and at least two threads may access it, a thread that exists many times counting twice.
//! A thread accesses what its methods may access, as far as it can get hold of it: what it allocates or is given, and what that leads to.
//! Accesses through `this` in constructors do not count, nor do class initializers.
//! An object that an instance of a thread allocated itself, and that nothing outside that instance leads to, counts once even for a thread that exists many times; so does the thread's own object.
//! What a thread-local variable holds does not escape through it.

use rustc_hash::FxHashSet;

use super::{AbstractThread, Multiplicity, ThreadKind, Threads};
use crate::classes::Classes;
use crate::heap::{Heap, HeapField, ObjectKind, ObjectSet};
use crate::ids::{InstrId, NodeId, ObjectId, ThreadId, ValueId};
use crate::ir::Op;
use crate::library::Library;

/// Which objects are shared.
#[derive(Debug)]
pub struct Sharing {
    escaped: ObjectSet,
    shared: ObjectSet,
    accessed: Vec<ObjectSet>,
}

impl Sharing {
    pub(crate) fn find(
        heap: &Heap,
        threads: &Threads,
        classes: &Classes,
        library: &Library,
    ) -> Self {
        let finder = Finder {
            heap,
            threads,
            classes,
            library,
        };
        let statics: ObjectSet = finder.statics();
        let escaped = finder.closure(finder.escape_roots(&statics));
        let mut accessed = finder.accesses();
        for (id, own) in threads.ids().zip(&mut accessed) {
            *own = own.intersection(&finder.accessible(id, &statics));
        }
        let mut twice = ObjectSet::default();
        let mut seen = ObjectSet::default();
        for id in threads.ids() {
            let thread = threads.thread(id);
            if matches!(
                thread.kind,
                ThreadKind::Initializers | ThreadKind::Constructors
            ) {
                continue;
            }
            let own = &accessed[id.index()];
            twice.add_all(&seen.intersection(own), None);
            seen.add_all(own, None);
            if thread.multiplicity == Multiplicity::Many {
                let local = finder.instance_local(id, thread, own, &statics);
                twice.add_all(&own.difference(&local), None);
            }
        }
        let shared = twice.intersection(&escaped);
        Self {
            escaped,
            shared,
            accessed,
        }
    }

    /// Whether several threads may access an object.
    pub fn is_shared(&self, object: ObjectId) -> bool {
        self.shared.contains(object)
    }

    /// Whether an object is reachable from where other threads can start.
    pub fn escapes(&self, object: ObjectId) -> bool {
        self.escaped.contains(object)
    }

    /// All shared objects.
    pub fn shared(&self) -> &ObjectSet {
        &self.shared
    }

    /// All objects that escape.
    pub fn escaped(&self) -> &ObjectSet {
        &self.escaped
    }

    /// The objects whose fields, elements or content a thread may access, `this` in constructors left out.
    pub fn accessed_by(&self, thread: ThreadId) -> &ObjectSet {
        &self.accessed[thread.index()]
    }
}

struct Finder<'a> {
    heap: &'a Heap,
    threads: &'a Threads,
    classes: &'a Classes,
    library: &'a Library,
}

impl Finder<'_> {
    fn statics(&self) -> ObjectSet {
        let mut all = ObjectSet::default();
        for (_, objects) in self.heap.static_fields() {
            all.add_all(objects, None);
        }
        all
    }

    fn escape_roots(&self, statics: &ObjectSet) -> ObjectSet {
        let mut roots = statics.clone();
        for spawn in self.heap.spawns() {
            roots.insert(spawn.task);
        }
        for object in self.heap.object_ids() {
            if matches!(
                self.heap.object(object).kind,
                ObjectKind::Instance | ObjectKind::Passed
            ) {
                roots.insert(object);
            }
        }
        roots
    }

    /// Everything reachable through fields.
    fn closure(&self, mut reached: ObjectSet) -> ObjectSet {
        let mut pending: Vec<ObjectId> = reached.iter().collect();
        while let Some(object) = pending.pop() {
            let class = self.classes.class_name(self.heap.object(object).class);
            let thread_local = self.library.scope().is_thread_local(class);
            for (field, objects) in self.heap.fields_of(object) {
                if thread_local && field == HeapField::Content {
                    continue;
                }
                pending.extend(reached.add_all(objects, None).iter());
            }
        }
        reached
    }

    /// The objects a thread can get hold of: what it allocates or is given, statics, and all they lead to.
    ///
    /// Methods without a context see every receiver of every thread; this takes the others away again.
    fn accessible(&self, id: ThreadId, statics: &ObjectSet) -> ObjectSet {
        let mut roots = statics.clone();
        if let ThreadKind::Started(task) = self.threads.thread(id).kind {
            roots.insert(task);
        }
        for object in self.heap.object_ids() {
            let may_hold = match self.heap.object(object).kind {
                ObjectKind::Allocated { .. } | ObjectKind::Lambda { .. } => self
                    .allocators(object)
                    .iter()
                    .any(|node| self.threads.runs(id, *node)),
                _ => true,
            };
            if may_hold {
                roots.insert(object);
            }
        }
        self.closure(roots)
    }

    /// The nodes that may allocate an object.
    fn allocators(&self, object: ObjectId) -> Vec<NodeId> {
        let (ObjectKind::Allocated { method, .. }
        | ObjectKind::Lambda { method, .. }
        | ObjectKind::Returned(method)) = self.heap.object(object).kind
        else {
            return Vec::new();
        };
        let context = self.heap.object(object).context;
        let nodes = self.heap.nodes_of(method);
        let mut relevant = nodes
            .iter()
            .filter(|node| self.heap.node(**node).context == context)
            .peekable();
        // A bounded context names no node of its own: then any node may have allocated it.
        if relevant.peek().is_some() {
            relevant.copied().collect()
        } else {
            nodes.to_vec()
        }
    }

    /// For each thread the objects it accesses.
    fn accesses(&self) -> Vec<ObjectSet> {
        let mut accessed: Vec<ObjectSet> =
            self.threads.ids().map(|_| ObjectSet::default()).collect();
        for node in self.heap.node_ids() {
            let own = self.node_accesses(node);
            if own.is_empty() {
                continue;
            }
            for thread in self.threads.running(node) {
                accessed[thread.index()].add_all(&own, None);
            }
        }
        accessed
    }

    fn node_accesses(&self, node: NodeId) -> ObjectSet {
        let info = self.heap.node(node);
        let constructor = self.classes.is_constructor(info.method);
        let Some(body) = self.heap.body(node) else {
            return self.opaque_accesses(node);
        };
        let this = if constructor { body.receiver() } else { None };
        let mut objects = ObjectSet::default();
        let mut bases: FxHashSet<ValueId> = FxHashSet::default();
        for instr in &body.instrs {
            let base = match &instr.op {
                Op::GetField { object, .. } | Op::PutField { object, .. } => *object,
                Op::ArrayLoad { array, .. } | Op::ArrayStore { array, .. } => *array,
                _ => continue,
            };
            if Some(base) != this && bases.insert(base) {
                objects.add_all(self.heap.points_to(node, base), None);
            }
        }
        objects
    }

    /// A library method accesses what its receiver holds, if that is an object of the library and no lock or thread.
    fn opaque_accesses(&self, node: NodeId) -> ObjectSet {
        let method = self.heap.node(node).method;
        let info = self.classes.method(method);
        let effect = self.library.effect(self.classes, method);
        let touches = effect.is_none_or(|effect| effect.access.or(effect.touches).is_some());
        if info.flags.is_static() || self.classes.is_constructor(method) || !touches {
            return ObjectSet::default();
        }
        let receivers = self.heap.param_points_to(node, 0);
        let is_library = |object: &ObjectId| {
            let class = self.heap.object(*object).class;
            !self.library.is_entered(self.classes, class)
        };
        receivers.iter().filter(is_library).collect()
    }

    /// The accessed objects that belong to one instance of a thread that exists many times.
    fn instance_local(
        &self,
        id: ThreadId,
        thread: &AbstractThread,
        accessed: &ObjectSet,
        statics: &ObjectSet,
    ) -> ObjectSet {
        let ThreadKind::Started(task) = thread.kind else {
            // Clients share their instances; what they allocate themselves is local if nothing leads to it.
            let foreign = accessed
                .iter()
                .filter(|object| !self.allocates(id, *object))
                .collect();
            return self.outside(foreign, statics, accessed);
        };
        let owned = self.owned_by(thread, task);
        let foreign = accessed
            .iter()
            .filter(|object| !owned.contains(*object) && !self.allocates(id, *object))
            .collect();
        self.outside(foreign, statics, accessed)
    }

    fn outside(
        &self,
        mut foreign: ObjectSet,
        statics: &ObjectSet,
        accessed: &ObjectSet,
    ) -> ObjectSet {
        foreign.add_all(statics, None);
        for object in self.heap.object_ids() {
            if matches!(
                self.heap.object(object).kind,
                ObjectKind::Instance | ObjectKind::Passed
            ) {
                foreign.insert(object);
            }
        }
        accessed.difference(&self.closure(foreign))
    }

    /// Whether only this thread allocates an object.
    fn allocates(&self, id: ThreadId, object: ObjectId) -> bool {
        let nodes = self.allocators(object);
        !nodes.is_empty()
            && nodes
                .iter()
                .all(|node| self.threads.running(*node).all(|thread| thread == id))
    }

    /// The thread's own object, and the task made right beside it, which no other instance has.
    fn owned_by(&self, thread: &AbstractThread, task: ObjectId) -> ObjectSet {
        let mut owned = ObjectSet::default();
        let is_thread = self
            .classes
            .find("java/lang/Thread")
            .is_some_and(|class| self.classes.is_subtype(self.heap.object(task).class, class));
        let beside_start = thread.start_sites.len() == 1
            && thread
                .start_sites
                .iter()
                .all(|site| self.made_beside(task, *site));
        if is_thread || beside_start {
            owned.insert(task);
            for object in self.heap.field(task, HeapField::Content).iter() {
                if self.made_together(task, object) {
                    owned.insert(object);
                }
            }
        }
        owned
    }

    fn place(&self, object: ObjectId) -> Option<(NodeId, InstrId)> {
        let (ObjectKind::Allocated { method, instr, .. } | ObjectKind::Lambda { method, instr }) =
            self.heap.object(object).kind
        else {
            return None;
        };
        match self.heap.nodes_of(method) {
            [node] => Some((*node, instr)),
            _ => None,
        }
    }

    fn made_beside(&self, object: ObjectId, (node, instr): (NodeId, InstrId)) -> bool {
        self.place(object).is_some_and(|(maker, made)| {
            maker == node
                && self
                    .heap
                    .body(node)
                    .is_some_and(|body| body.instr(made).block == body.instr(instr).block)
        })
    }

    fn made_together(&self, left: ObjectId, right: ObjectId) -> bool {
        self.place(left)
            .is_some_and(|place| self.made_beside(right, place))
    }
}
