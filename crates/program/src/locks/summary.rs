//! What a call does to locks that its caller can name: wrappers around locks, and methods that wait.
//!
//! A method has a summary if all its returns leave the same locks held or given up, and if it names them by its parameters or by static fields.
//! Summaries are found from the methods that touch explicit locks to their callers, until nothing changes.
//! A call has the effect that all methods it may run have in common; if they differ, none.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::actions::{self, Act, Action, Vocabulary};
use super::flow;
use super::{LockKind, LockRef};
use crate::classes::Classes;
use crate::heap::Heap;
use crate::ids::{InstrId, MethodId, ValueId};
use crate::ir::{AccessPath, Body, Op, Root};
use crate::library::{Library, LockMode};

/// How often a method is looked at again: wrappers of wrappers of wrappers.
const MOST_ROUNDS: u8 = 6;

/// One thing a method does to a lock; the path starts at a parameter or at a static field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub act: Act,
    pub kind: LockKind,
    pub mode: LockMode,
    pub path: AccessPath,
}

impl Done {
    /// The same, if the caller of a body can name the lock.
    pub fn of(act: Act, lock: &LockRef, body: &Body) -> Option<Self> {
        let nameable = match lock.path.root {
            Root::Value(value) => body.params.contains(&value),
            Root::Static(_) | Root::Class(_) => true,
        };
        nameable.then(|| Self {
            act,
            kind: lock.kind,
            mode: lock.mode,
            path: lock.path.clone(),
        })
    }

    fn called(&self, vocabulary: &Vocabulary, body: &Body, args: &[ValueId]) -> Option<Action> {
        let (value, path) = match self.path.root {
            Root::Value(param) => {
                let arg = *args.get(param.index())?;
                let mut path = vocabulary.path(body, arg);
                path.steps.extend_from_slice(&self.path.steps);
                let at_hand = self.path.steps.is_empty().then_some(arg);
                (at_hand, path)
            }
            _ => (None, self.path.clone()),
        };
        Some(Action {
            act: self.act,
            lock: Some(LockRef {
                kind: self.kind,
                mode: self.mode,
                value,
                path,
            }),
        })
    }
}

/// What methods do to locks of their callers.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    vocabulary: Vocabulary,
    known: FxHashMap<MethodId, Vec<Done>>,
}

impl Summaries {
    /// Finds the summaries of all methods of a call graph.
    pub fn find(heap: &Heap, classes: &Classes, library: &Library) -> Self {
        let mut bodies: FxHashMap<MethodId, &Body> = FxHashMap::default();
        for node in heap.node_ids() {
            if let Some(body) = heap.body(node) {
                bodies.entry(heap.node(node).method).or_insert(body);
            }
        }
        let mut vocabulary = Vocabulary::new(classes, library);
        let mut pending: Vec<MethodId> = Vec::new();
        for (method, body) in &bodies {
            if vocabulary.concerns(body) {
                vocabulary.learn(body);
                pending.push(*method);
            }
        }
        pending.sort_unstable();
        let mut found = Self {
            vocabulary,
            known: FxHashMap::default(),
        };
        let mut rounds: FxHashMap<MethodId, u8> = FxHashMap::default();
        while let Some(method) = pending.pop() {
            let Some(body) = bodies.get(&method) else {
                continue;
            };
            let done = found.summary(heap, classes, body);
            if found.known.get(&method).map_or(&[][..], Vec::as_slice) == done {
                continue;
            }
            let round = rounds.entry(method).or_default();
            *round += 1;
            if *round > MOST_ROUNDS {
                continue;
            }
            found.known.insert(method, done);
            let callers: FxHashSet<MethodId> = (heap.nodes_of(method).iter())
                .flat_map(|node| heap.calls_to(*node))
                .map(|edge| heap.node(edge.caller).method)
                .collect();
            pending.extend(callers);
        }
        found
    }

    fn summary(&self, heap: &Heap, classes: &Classes, body: &Body) -> Vec<Done> {
        let callees = |instr: InstrId| callees(heap, body.method, instr);
        let actions = actions::find(body, self, &callees);
        if actions.is_empty() {
            return Vec::new();
        }
        flow::find(body, actions, actions::method_lock(classes, body.method)).1
    }

    /// Which methods have to do with locks.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// What a call does to locks.
    pub(super) fn of_call(
        &self,
        body: &Body,
        args: &[ValueId],
        callees: &dyn Fn() -> Vec<MethodId>,
    ) -> SmallVec<[Action; 1]> {
        if self.known.is_empty() {
            return SmallVec::new();
        }
        let callees = callees();
        let Some(first) = callees.first().and_then(|callee| self.known.get(callee)) else {
            return SmallVec::new();
        };
        let agree = |callee: &MethodId| self.known.get(callee) == Some(first);
        if !callees.iter().all(agree) {
            return SmallVec::new();
        }
        first
            .iter()
            .filter_map(|done| done.called(&self.vocabulary, body, args))
            .collect()
    }
}

/// The methods that an instruction may run: by the call graph, or if that never gets there, those that need no receiver to be chosen.
pub(crate) fn callees(heap: &Heap, method: MethodId, instr: InstrId) -> Vec<MethodId> {
    let mut found: Vec<MethodId> = Vec::new();
    for node in heap.nodes_of(method) {
        for callee in heap.callees(*node, instr) {
            let callee = heap.node(callee).method;
            if !found.contains(&callee) {
                found.push(callee);
            }
        }
    }
    found
}

/// Whether a body returns what a call in it gives.
pub(super) fn returns(body: &Body, value: ValueId) -> bool {
    let mut any = false;
    let all = body.instrs.iter().all(|instr| match instr.op {
        Op::Return { value: returned } => {
            any = true;
            returned == Some(value)
        }
        _ => true,
    });
    any && all
}
