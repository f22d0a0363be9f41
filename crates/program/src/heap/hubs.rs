//! Calls on the unknown object and stores to its fields, which mean every object that fits.
//!
//! All calls that name one method meet in a *hub*, with a variable for each argument and one for the result, and so do all stores to one field: calls and objects are then added up, where binding each call to each object would multiply them.
//! What is called has one node for all its callers, or one for each receiver, so nothing is mixed that would be kept apart otherwise.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::calls::{Call, Target};
use super::graph::Var;
use super::result::HeapField;
use super::solver::Solver;
use super::unknown::ByClass;
use crate::classes::Type;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId};

/// All calls of methods, and stores to fields, of the unknown object.
#[derive(Debug, Default)]
pub struct Hubs {
    calls: IndexMap<MethodId, Call, FxBuildHasher>,
    stores: IndexMap<FieldId, Var, FxBuildHasher>,
    /// How many objects of a class were bound; their lists only grow.
    called: FxHashMap<(MethodId, ClassId), usize>,
    stored: FxHashMap<(FieldId, ClassId), usize>,
}

impl Hubs {
    /// How many methods are called on the unknown object.
    pub fn methods(&self) -> usize {
        self.calls.len()
    }

    /// One of these methods, and the call that stands for all calls of it.
    pub fn call(&self, number: usize) -> Option<(MethodId, Call)> {
        let (method, call) = self.calls.get_index(number)?;
        Some((*method, call.clone()))
    }
}

impl Solver<'_> {
    /// A call on the unknown object.
    pub(super) fn call_hub(&mut self, call: &Call, method: MethodId) {
        let hub = match self.unknown.hubs.calls.get(&method) {
            Some(hub) => hub.clone(),
            None => self.make_hub(call, method),
        };
        for (from, to) in call.args.iter().zip(&hub.args).skip(1) {
            if let (Some(from), Some(to)) = (from, to) {
                self.graph.add_edge(*from, *to, None);
            }
        }
        if let (Some(from), Some(to)) = (hub.result, call.result) {
            self.graph.add_edge(from, to, None);
        }
    }

    fn make_hub(&mut self, call: &Call, method: MethodId) -> Call {
        let info = self.classes().method(method);
        let returns = info.returns.is_some_and(Type::is_reference);
        let references: SmallVec<[bool; 4]> =
            info.params.iter().map(|ty| ty.is_reference()).collect();
        let mut args: SmallVec<[Option<Var>; 4]> = SmallVec::from_slice(&[None]);
        for reference in references {
            args.push(reference.then(|| self.graph.variables(1)));
        }
        let hub = Call {
            caller: call.caller,
            instr: call.instr,
            target: Target::Virtual(method),
            args,
            result: returns.then(|| self.graph.variables(1)),
            start: None,
            task: None,
            silent: true,
        };
        self.unknown.hubs.calls.insert(method, hub.clone());
        hub
    }

    /// A store to a field of the unknown object.
    pub(super) fn store_hub(&mut self, field: FieldId, from: Var) {
        let hub = match self.unknown.hubs.stores.get(&field) {
            Some(hub) => *hub,
            None => {
                let hub = self.graph.variables(1);
                self.unknown.hubs.stores.insert(field, hub);
                hub
            }
        };
        self.graph.add_edge(from, hub, None);
    }

    /// Calls on the unknown object run what any object that fits would; stores to it change any that has the field.
    pub(super) fn bind_hubs(&mut self, objects: &ByClass) {
        let mut below: FxHashMap<ClassId, Vec<ClassId>> = FxHashMap::default();
        for class in objects.keys() {
            for above in self.classes().supertypes(*class) {
                below.entry(*above).or_default().push(*class);
            }
        }
        // A class whose superclass is missing is an Object all the same.
        below.insert(
            self.classes().well_known.object,
            objects.keys().copied().collect(),
        );
        for classes in below.values_mut() {
            classes.sort_unstable();
        }
        for number in 0..self.unknown.hubs.calls.len() {
            let Some((&method, _)) = self.unknown.hubs.calls.get_index(number) else {
                continue;
            };
            let named = self.classes().method(method).class;
            for &class in below.get(&named).into_iter().flatten() {
                self.bind_hub(method, class, &objects[&class]);
            }
        }
        for number in 0..self.unknown.hubs.stores.len() {
            let Some((&field, &hub)) = self.unknown.hubs.stores.get_index(number) else {
                continue;
            };
            let owner = self.classes().field(field).class;
            for &class in below.get(&owner).into_iter().flatten() {
                let done = self.unknown.hubs.stored.entry((field, class)).or_default();
                let from = std::mem::replace(done, objects[&class].len());
                for &object in &objects[&class][from..] {
                    self.step(true);
                    let into = self.field_var(object, HeapField::Field(field));
                    self.graph.add_edge(hub, into, None);
                }
            }
        }
    }

    fn bind_hub(&mut self, method: MethodId, class: ClassId, objects: &[ObjectId]) {
        let done = self.unknown.hubs.called.entry((method, class)).or_default();
        let from = std::mem::replace(done, objects.len());
        if from == objects.len() {
            return;
        }
        let Some(selected) = self.classes().select(class, method) else {
            return;
        };
        let Some(hub) = self.unknown.hubs.calls.get(&method).cloned() else {
            return;
        };
        for &object in &objects[from..] {
            self.step(true);
            self.call_on(&hub, selected, object, &hub.args);
        }
    }
}
