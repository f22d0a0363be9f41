//! What the points-to analysis found.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Var};
use super::objects::{Context, Object};
use super::precision::GivenUp;
use super::set::ObjectSet;
use super::solver::{Built, NONE};
use crate::ids::{FieldId, InstrId, MethodId, NodeId, ObjectId, ValueId};
use crate::ir::Body;

/// A part of an object that holds references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeapField {
    /// A field.
    Field(FieldId),
    /// The elements of an array.
    Elements,
    /// What an object of a library class that is not entered holds.
    Content,
    /// What a lambda captured, by position.
    Captured(u16),
}

/// A method in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The method.
    pub method: MethodId,
    /// The context.
    pub context: Context,
    /// Whether its code is not read: a library method by its model, or one without code.
    pub opaque: bool,
}

/// That an instruction of one node may call another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEdge {
    /// The calling node.
    pub caller: NodeId,
    /// The call; of an opaque caller, the number of its callback.
    pub instr: InstrId,
    /// The called node.
    pub callee: NodeId,
}

/// That a library method starts a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spawn {
    /// The node of the library method.
    pub starter: NodeId,
    /// The number of its callback.
    pub instr: InstrId,
    /// The thread, task or lambda object.
    pub task: ObjectId,
    /// What the thread runs.
    pub root: NodeId,
    /// Whether one start may be several runs at once.
    pub repeats: bool,
    /// Whether several starts of the task never run beside each other.
    pub sequential: bool,
}

/// Where execution starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root {
    /// The node.
    pub node: NodeId,
    /// Why it runs.
    pub kind: RootKind,
}

/// Why a root runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootKind {
    /// It is the main method.
    Main,
    /// It initializes a class.
    Initializer,
    /// Library mode: a client makes the shared instance.
    Constructor,
    /// Library mode: a client calls it.
    Client,
    /// Code that nobody reads may call it; no abstract thread does.
    Unseen,
}

#[derive(Debug)]
pub(super) struct NodeVars {
    pub params: Var,
    pub values: Var,
    pub built: Option<Arc<Built>>,
}

/// The result: call graph and points-to sets.
#[derive(Debug)]
pub struct Heap {
    graph: Graph,
    objects: Vec<Object>,
    nodes: Vec<Node>,
    vars: Vec<NodeVars>,
    calls: Vec<CallEdge>,
    callers: Vec<CallEdge>,
    spawns: Vec<Spawn>,
    roots: Vec<Root>,
    fields: FxHashMap<ObjectId, Vec<(HeapField, Var)>>,
    statics: FxHashMap<FieldId, Var>,
    by_method: FxHashMap<MethodId, Vec<NodeId>>,
    nothing: ObjectSet,
    given_up: GivenUp,
}

impl Heap {
    #[allow(
        clippy::too_many_arguments,
        reason = "called once, by the solver that takes itself apart"
    )]
    pub(super) fn new(
        graph: Graph,
        objects: Vec<Object>,
        nodes: Vec<Node>,
        vars: Vec<NodeVars>,
        calls: Vec<CallEdge>,
        spawns: Vec<Spawn>,
        roots: Vec<Root>,
        fields: FxHashMap<(ObjectId, HeapField), Var>,
        statics: FxHashMap<FieldId, Var>,
        given_up: GivenUp,
    ) -> Self {
        let mut callers = calls.clone();
        callers.sort_unstable_by_key(|edge| (edge.callee, edge.caller, edge.instr));
        let mut by_object: FxHashMap<ObjectId, Vec<(HeapField, Var)>> = FxHashMap::default();
        for ((object, field), var) in fields {
            by_object.entry(object).or_default().push((field, var));
        }
        for list in by_object.values_mut() {
            list.sort_unstable();
        }
        let mut by_method: FxHashMap<MethodId, Vec<NodeId>> = FxHashMap::default();
        for (index, node) in nodes.iter().enumerate() {
            by_method
                .entry(node.method)
                .or_default()
                .push(NodeId::new(index));
        }
        let nothing = ObjectSet::default();
        Self {
            graph,
            objects,
            nodes,
            vars,
            calls,
            callers,
            spawns,
            roots,
            fields: by_object,
            statics,
            by_method,
            nothing,
            given_up,
        }
    }

    /// Where precision was given up.
    pub fn given_up(&self) -> &GivenUp {
        &self.given_up
    }

    /// An abstract object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    /// All abstract objects.
    pub fn object_ids(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.objects.len()).map(ObjectId::new)
    }

    /// A node of the call graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All nodes of the call graph: the reachable methods in their contexts.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    /// The contexts a method is reachable in.
    pub fn nodes_of(&self, method: MethodId) -> &[NodeId] {
        self.by_method.get(&method).map_or(&[], Vec::as_slice)
    }

    /// The body a node runs; `None` if its code is not read.
    pub fn body(&self, node: NodeId) -> Option<&Body> {
        self.vars[node.index()]
            .built
            .as_deref()
            .map(|built| &built.body)
    }

    /// What a value of a node may point to.
    pub fn points_to(&self, node: NodeId, value: ValueId) -> &ObjectSet {
        let vars = &self.vars[node.index()];
        let Some(built) = &vars.built else {
            return &self.nothing;
        };
        if value.index() < built.body.params.len() {
            return self.graph.objects(Var(vars.params.0 + value.0));
        }
        match built.references.get(value.index()) {
            Some(number) if *number != NONE => self.graph.objects(Var(vars.values.0 + number)),
            _ => &self.nothing,
        }
    }

    /// What a node's receiver or parameter may point to, by position; for nodes without a body too.
    pub fn param_points_to(&self, node: NodeId, position: usize) -> &ObjectSet {
        self.graph
            .objects(Var(self.vars[node.index()].params.0 + position as u32))
    }

    /// What a field of an object may point to.
    pub fn field(&self, object: ObjectId, field: HeapField) -> &ObjectSet {
        self.fields_of(object)
            .find(|(own, _)| *own == field)
            .map_or(&self.nothing, |(_, objects)| objects)
    }

    /// Every part of an object that holds references, with what it may point to.
    pub fn fields_of(&self, object: ObjectId) -> impl Iterator<Item = (HeapField, &ObjectSet)> {
        self.fields
            .get(&object)
            .into_iter()
            .flatten()
            .map(|(field, var)| (*field, self.graph.objects(*var)))
    }

    /// What a static field may point to.
    pub fn static_field(&self, field: FieldId) -> &ObjectSet {
        self.statics
            .get(&field)
            .map_or(&self.nothing, |var| self.graph.objects(*var))
    }

    /// Every static field in use, with what it may point to.
    pub fn static_fields(&self) -> impl Iterator<Item = (FieldId, &ObjectSet)> {
        self.statics
            .iter()
            .map(|(field, var)| (*field, self.graph.objects(*var)))
    }

    /// The calls of a node, ordered by instruction.
    pub fn calls_from(&self, node: NodeId) -> &[CallEdge] {
        let start = self.calls.partition_point(|edge| edge.caller < node);
        let end = self.calls.partition_point(|edge| edge.caller <= node);
        &self.calls[start..end]
    }

    /// What an instruction of a node may call.
    pub fn callees(&self, node: NodeId, instr: InstrId) -> impl Iterator<Item = NodeId> + '_ {
        let calls = self.calls_from(node);
        let start = calls.partition_point(|edge| edge.instr < instr);
        calls[start..]
            .iter()
            .take_while(move |edge| edge.instr == instr)
            .map(|edge| edge.callee)
    }

    /// The calls of a node by others.
    pub fn calls_to(&self, node: NodeId) -> &[CallEdge] {
        let start = self.callers.partition_point(|edge| edge.callee < node);
        let end = self.callers.partition_point(|edge| edge.callee <= node);
        &self.callers[start..end]
    }

    /// All calls.
    pub fn calls(&self) -> &[CallEdge] {
        &self.calls
    }

    /// All starts of threads.
    pub fn spawns(&self) -> &[Spawn] {
        &self.spawns
    }

    /// Where execution starts.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// How large the constraint graph became: variables, copy edges, bytes of sets.
    pub fn size(&self) -> (usize, usize, usize) {
        (
            self.graph.len(),
            self.graph.edge_count(),
            self.graph.set_memory(),
        )
    }
}
