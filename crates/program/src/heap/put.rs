//! What is put into something that is not followed: it may be in every array and every container that fits.
//!
//! A store to an element of the unknown object changes any array, and a call that hands something to it as a container of the platform fills any container of that type.

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{Call, Target};
use super::graph::Var;
use super::objects::ObjectKind;
use super::result::HeapField;
use super::solver::Solver;
use crate::classes::{ClassKind, Classes};
use crate::ids::{ClassId, MethodId, ObjectId};
use crate::load::Origin;

/// What was put into the unknown object, and what was done about it.
#[derive(Debug, Default)]
pub struct Puts {
    /// What was stored to its elements; there once something was.
    elements: Option<Var>,
    /// What was handed to it, by the class of the platform that the call names.
    into: FxHashMap<ClassId, Var>,
    /// How many of the methods called on it were looked at.
    looked_at: usize,
    /// A call for each class, for the contexts of what is called.
    calls: FxHashMap<ClassId, Call>,
    /// Done already.
    filled: FxHashSet<(Option<ClassId>, ObjectId)>,
    /// Contents whose containers library methods may fill.
    pub filling: FxHashSet<Var>,
}

impl Solver<'_> {
    /// A store to an element of the unknown object.
    pub(super) fn put_element(&mut self, from: Var) {
        let elements = match self.unknown.puts.elements {
            Some(elements) => elements,
            None => {
                let elements = self.graph.variables(1);
                self.unknown.puts.elements = Some(elements);
                elements
            }
        };
        self.graph.add_edge(from, elements, None);
    }

    /// Draws the consequences of what was put into the unknown object.
    pub(super) fn bind_puts(&mut self) {
        self.find_puts();
        let mut classes: Vec<ClassId> = self.unknown.puts.into.keys().copied().collect();
        classes.sort_unstable();
        let elements = self.unknown.puts.elements;
        if elements.is_none() && classes.is_empty() {
            return;
        }
        for index in 0..self.objects.len() {
            let id = ObjectId::new(index);
            let object = self.objects.get(id);
            if self.unknown.is(id) || matches!(object.kind, ObjectKind::Merged) {
                continue;
            }
            if let (ClassKind::Array(Some(component)), Some(elements)) =
                (self.classes().class(object.class).kind, elements)
            {
                let new =
                    !self.empty_arrays.contains(&id) && self.unknown.puts.filled.insert((None, id));
                if self.step(new) {
                    let into = self.field_var(id, HeapField::Elements);
                    self.edge(elements, into, Some(component));
                }
                continue;
            }
            if self.classes().class(object.class).origin != Origin::Jdk {
                continue;
            }
            for &class in &classes {
                let fits = self.is_instance(id, class);
                let new = fits && self.unknown.puts.filled.insert((Some(class), id));
                if self.step(new) {
                    self.put_into(id, class);
                }
            }
        }
    }

    /// The calls on the unknown object that may put something into it, if it is a container of the platform.
    fn find_puts(&mut self) {
        let first = self.unknown.puts.looked_at;
        let all = self.unknown.hubs.methods();
        self.unknown.puts.looked_at = all;
        for number in first..all {
            let Some((method, call)) = self.unknown.hubs.call(number) else {
                continue;
            };
            let tables = self.classes();
            let class = tables.method(method).class;
            let foreign = tables.class(class).origin == Origin::Jdk;
            if !foreign || class == tables.well_known.object || only_asks(tables, method) {
                continue;
            }
            let given: Vec<Var> = call.args.iter().skip(1).copied().flatten().collect();
            if given.is_empty() {
                continue;
            }
            let known = self.unknown.puts.into.get(&class).copied();
            let into = known.unwrap_or_else(|| self.graph.variables(1));
            self.unknown.puts.into.insert(class, into);
            for var in given {
                self.graph.add_edge(var, into, None);
            }
            let call = Call {
                target: Target::Exact(method),
                result: None,
                ..call
            };
            self.unknown.puts.calls.entry(class).or_insert(call);
        }
    }

    fn put_into(&mut self, object: ObjectId, class: ClassId) {
        let Some(&from) = self.unknown.puts.into.get(&class) else {
            return;
        };
        if !self.is_entered(self.objects.get(object).class) {
            let content = self.field_var(object, HeapField::Content);
            self.graph.add_edge(from, content, None);
        } else if let Some(call) = self.unknown.puts.calls.get(&class).cloned() {
            self.fill(&call, from, true, object);
        }
    }
}

/// Whether a method of the platform leaves what it is given outside of its receiver.
fn only_asks(tables: &Classes, method: MethodId) -> bool {
    matches!(
        tables.method_name(method),
        "get"
            | "getOrDefault"
            | "contains"
            | "containsAll"
            | "containsKey"
            | "containsValue"
            | "equals"
            | "compareTo"
            | "compare"
            | "indexOf"
            | "lastIndexOf"
            | "remove"
            | "removeAll"
            | "retainAll"
    )
}
