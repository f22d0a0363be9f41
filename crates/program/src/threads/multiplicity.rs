//! How often things run: a least fixpoint of what is known to run at most once.
//!
//! A node runs once if it has exactly one way in, and that is the main method, a class initializer, the start of a thread that exists once, or a call outside any loop by a node that runs once.
//! A started thread exists once if its object is allocated once and is a thread or a task of a single thread such as a timer's, or if the one call that starts it runs once.

use crate::classes::Classes;
use crate::heap::{Heap, ObjectKind, RootKind, Spawn};
use crate::ids::{InstrId, NodeId, ObjectId, ValueId};
use crate::library::Library;

use super::{AbstractThread, Multiplicity};

/// What runs at most once.
#[derive(Debug)]
struct Once {
    nodes: Vec<bool>,
}

/// Finds the multiplicity of the started threads.
pub(super) fn find(
    heap: &Heap,
    classes: &Classes,
    library: &Library,
    in_loop: &dyn Fn(NodeId, InstrId) -> bool,
    threads: &mut [AbstractThread],
    started: &[(ObjectId, Vec<Spawn>)],
) {
    let mut ways_in = vec![0u32; heap.node_ids().len()];
    for edge in heap.calls() {
        ways_in[edge.callee.index()] += 1;
    }
    for root in heap.roots() {
        ways_in[root.node.index()] += 1;
    }
    for thread in threads.iter() {
        for root in &thread.roots {
            ways_in[root.index()] += 1;
        }
    }
    let mut once = Once {
        nodes: vec![false; ways_in.len()],
    };
    let mut pending = Vec::new();
    for root in heap.roots() {
        if matches!(root.kind, RootKind::Main | RootKind::Initializer)
            && ways_in[root.node.index()] == 1
        {
            pending.push(root.node);
        }
    }
    loop {
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut once.nodes[node.index()], true) {
                continue;
            }
            // A library method may call back as often as it likes, unless its model says otherwise.
            let opaque = heap.node(node).opaque;
            let modelled = library
                .effect(classes, heap.node(node).method)
                .is_some_and(|effect| !effect.call.is_empty() || !effect.start.is_empty());
            if opaque && !modelled {
                continue;
            }
            for edge in heap.calls_from(node) {
                let repeated = !opaque && in_loop(node, edge.instr);
                if ways_in[edge.callee.index()] == 1 && !repeated {
                    pending.push(edge.callee);
                }
            }
        }
        for (thread, (task, spawns)) in threads.iter_mut().zip(started) {
            if thread.multiplicity == Multiplicity::Many
                && once.starts_once(heap, classes, in_loop, thread, *task, spawns)
            {
                thread.multiplicity = Multiplicity::One;
                let roots = thread.roots.iter().copied();
                pending.extend(roots.filter(|root| ways_in[root.index()] == 1));
            }
        }
        if pending.is_empty() {
            return;
        }
    }
}

impl Once {
    fn runs_once(&self, node: NodeId) -> bool {
        self.nodes[node.index()]
    }

    fn starts_once(
        &self,
        heap: &Heap,
        classes: &Classes,
        in_loop: &dyn Fn(NodeId, InstrId) -> bool,
        thread: &AbstractThread,
        task: ObjectId,
        spawns: &[Spawn],
    ) -> bool {
        if spawns.iter().any(|spawn| spawn.repeats) {
            return false;
        }
        let site_once =
            |(node, instr): &(NodeId, InstrId)| self.runs_once(*node) && !in_loop(*node, *instr);
        if let [site] = thread.start_sites.as_slice()
            && site_once(site)
        {
            return true;
        }
        let is_thread = classes
            .find("java/lang/Thread")
            .is_some_and(|thread| classes.is_subtype(heap.object(task).class, thread));
        let sequential = spawns.iter().all(|spawn| spawn.sequential);
        (is_thread || sequential) && self.allocated_once(heap, in_loop, task)
    }

    fn allocated_once(
        &self,
        heap: &Heap,
        in_loop: &dyn Fn(NodeId, InstrId) -> bool,
        object: ObjectId,
    ) -> bool {
        let ObjectKind::Allocated { method, instr, .. } = heap.object(object).kind else {
            return false;
        };
        match heap.nodes_of(method) {
            [node] => self.runs_once(*node) && !in_loop(*node, instr),
            _ => false,
        }
    }
}

/// The calls of a starting library method that pass the task.
pub(super) fn start_sites(heap: &Heap, spawns: &[Spawn]) -> Vec<(NodeId, InstrId)> {
    let mut sites = Vec::new();
    for spawn in spawns {
        for edge in heap.calls_to(spawn.starter) {
            if heap.node(edge.caller).opaque || passes(heap, edge.caller, edge.instr, spawn.task) {
                sites.push((edge.caller, edge.instr));
            }
        }
    }
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// Whether a call may pass an object, or a lambda's call may, where the arguments are not at hand.
fn passes(heap: &Heap, caller: NodeId, instr: InstrId, task: ObjectId) -> bool {
    let Some(body) = heap.body(caller) else {
        return true;
    };
    let mut passed = false;
    let mut check = |value: ValueId| passed |= heap.points_to(caller, value).contains(task);
    body.instr(instr).op.for_each_operand(&mut check);
    // A collection of tasks, or a thread factory, hides the task itself.
    passed
        || !matches!(
            heap.object(task).kind,
            ObjectKind::Allocated { .. } | ObjectKind::Lambda { .. }
        )
        || hidden(heap, caller, instr, task)
}

/// Whether no argument of the call holds any task, so that it must be inside one.
fn hidden(heap: &Heap, caller: NodeId, instr: InstrId, task: ObjectId) -> bool {
    let Some(body) = heap.body(caller) else {
        return true;
    };
    let class = heap.object(task).class;
    let mut same_kind = false;
    body.instr(instr).op.for_each_operand(|value| {
        same_kind |= heap
            .points_to(caller, value)
            .iter()
            .any(|object| heap.object(object).class == class);
    });
    !same_kind
}
