//! Which methods wait for other threads, themselves or in what they call.
//!
//! What happens before and after such a wait is not meant to be one step, in whatever class the wait stands.
//! A call counts if every method that it may run waits: where the call graph has to guess, a caller would else wait as soon as anything does.
//! Threads that a method starts wait for themselves.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_classfile::{ClassFile, facts_of};

use crate::classes::Classes;
use crate::heap::Heap;
use crate::ids::{ClassId, MethodId};
use crate::locks::callees;

/// The methods of the call graph that wait.
#[derive(Debug, Default)]
pub(crate) struct Waits(FxHashSet<MethodId>);

impl Waits {
    pub(crate) fn find(heap: &Heap, classes: &Classes) -> Self {
        let mut found = Self::themselves(heap, classes);
        let mut new: Vec<MethodId> = found.0.iter().copied().collect();
        while let Some(method) = new.pop() {
            for &node in heap.nodes_of(method) {
                for edge in heap.calls_to(node) {
                    let caller = heap.node(edge.caller).method;
                    let all_wait = || {
                        let called = callees(heap, caller, edge.instr);
                        called.iter().all(|called| found.0.contains(called))
                    };
                    if !found.0.contains(&caller) && all_wait() {
                        found.0.insert(caller);
                        new.push(caller);
                    }
                }
            }
        }
        found
    }

    /// Those that wait in their own code.
    fn themselves(heap: &Heap, classes: &Classes) -> Self {
        let mut by_class: FxHashMap<ClassId, FxHashSet<MethodId>> = FxHashMap::default();
        for node in heap.node_ids() {
            let method = heap.node(node).method;
            let class = classes.method(method).class;
            by_class.entry(class).or_default().insert(method);
        }
        let mut found = Self::default();
        for (class, methods) in by_class {
            let parsed = ClassFile::parse(&classes.class(class).bytes);
            let Ok(facts) = parsed.and_then(|parsed| facts_of(&parsed)) else {
                continue;
            };
            for own in facts.methods.iter().filter(|own| own.waits) {
                let is_own = |method: &&MethodId| {
                    own.name == classes.method_name(**method)
                        && own.descriptor == classes.method_descriptor(**method)
                };
                found.0.extend(methods.iter().find(is_own));
            }
        }
        found
    }

    pub(crate) fn contains(&self, method: MethodId) -> bool {
        self.0.contains(&method)
    }
}
