//! What may run by rapid type analysis, whatever points-to sets say.
//!
//! From everything in the call graph: a call runs what it names, a virtual one what any object made by code that may run would select, and a lambda is called.
//! Only code of analyzed classes is looked at; what other code may call of it is in the call graph already.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_classfile::read::HandleKind;

use super::solver::{Built, Solver};
use super::unknown::ByClass;
use crate::classes::Classes;
use crate::ids::{ClassId, MethodId, Symbol};
use crate::ir::{Body, InvokeKind, Op};
use crate::load::Origin;

/// Rapid type analysis of the analyzed classes, from what is in the call graph.
pub(super) struct Reach<'s> {
    classes: &'s Classes,
    bodies: FxHashMap<MethodId, Arc<Built>>,
    reached: FxHashSet<MethodId>,
    may_run: FxHashSet<MethodId>,
    pending: Vec<MethodId>,
    made: FxHashSet<ClassId>,
    /// Methods that calls name, by name and descriptor.
    named: FxHashMap<(Symbol, Symbol), FxHashSet<ClassId>>,
}

impl<'s> Reach<'s> {
    pub fn new(solver: &'s Solver<'_>, objects: &ByClass) -> Self {
        let classes = solver.classes();
        let analyzed =
            |method: MethodId| classes.class(classes.method(method).class).origin == Origin::Input;
        let bodies = (solver.bodies.iter())
            .filter(|(method, _)| analyzed(**method))
            .filter_map(|(method, built)| Some((*method, built.clone()?)))
            .collect();
        let reached: FxHashSet<MethodId> = (solver.nodes.iter())
            .map(|node| node.method)
            .filter(|method| analyzed(*method))
            .collect();
        Self {
            classes,
            bodies,
            pending: reached.iter().copied().collect(),
            may_run: reached.clone(),
            reached,
            made: objects.keys().copied().collect(),
            named: FxHashMap::default(),
        }
    }

    pub fn find(&mut self) {
        loop {
            while let Some(method) = self.pending.pop() {
                if let Some(built) = self.bodies.get(&method).cloned() {
                    self.scan(&built.body);
                }
            }
            let made: Vec<ClassId> = self.made.iter().copied().collect();
            for class in made {
                self.select_named(class);
            }
            if self.pending.is_empty() {
                return;
            }
        }
    }

    fn run(&mut self, method: MethodId) {
        if self.may_run.insert(method) {
            self.pending.push(method);
        }
    }

    fn scan(&mut self, body: &Body) {
        for (_, instr) in body.all_instrs() {
            match &instr.op {
                Op::New { class } => {
                    self.made.insert(*class);
                }
                Op::Invoke { kind, method, .. } => match kind {
                    InvokeKind::Static | InvokeKind::Special => self.run(*method),
                    InvokeKind::Virtual | InvokeKind::Interface => self.name(*method),
                },
                Op::Lambda { lambda, .. } => match lambda.handle.kind {
                    HandleKind::NewInvokeSpecial => {
                        self.made.insert(lambda.handle.named);
                        self.run(lambda.handle.method);
                    }
                    HandleKind::InvokeVirtual | HandleKind::InvokeInterface => {
                        self.name(lambda.handle.method);
                    }
                    _ => self.run(lambda.handle.method),
                },
                _ => {}
            }
        }
    }

    fn name(&mut self, method: MethodId) {
        let info = self.classes.method(method);
        let named = self.named.entry((info.name, info.descriptor)).or_default();
        named.insert(info.class);
    }

    /// What the calls that were found run on an object of this class.
    fn select_named(&mut self, class: ClassId) {
        let mut found = Vec::new();
        for &above in self.classes.supertypes(class) {
            for &method in &self.classes.class(above).methods {
                let info = self.classes.method(method);
                let named = self.named.get(&(info.name, info.descriptor));
                if named.is_some_and(|named| named.contains(&above)) {
                    found.extend(self.classes.select(class, method));
                }
            }
        }
        for method in found {
            self.run(method);
        }
    }

    /// What may run and is in no node.
    pub fn missing(self) -> Vec<MethodId> {
        let analyzed = |method: &MethodId| {
            let info = self.classes.method(*method);
            info.has_code && self.classes.class(info.class).origin == Origin::Input
        };
        let found = self.may_run.difference(&self.reached).copied();
        found.filter(analyzed).collect()
    }
}
