//! Library mode: what clients were given, they change.
//!
//! One instance stands for all objects of a class that clients share, so what they do to another one that the library made and handed out is only seen there.
//! Fields in which clients put something of that instance hold anything in what was handed out.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Var;
use super::objects::ObjectKind;
use super::result::{HeapField, RootKind};
use super::solver::Solver;
use super::unknown::ByClass;
use crate::ids::ObjectId;

impl Solver<'_> {
    /// Clients, or others whose code nobody reads, get what the variable holds.
    pub(super) fn hand_out(&mut self, from: Var) {
        if let Some(to) = self.unknown.handed_out.filter(|_| !self.is_application) {
            self.graph.add_edge(from, to, None);
        }
    }

    /// What clients may put into the fields of what they were given.
    pub(super) fn change_handed_out(&mut self, objects: &ByClass) {
        let (Some(var), Some(unknown)) = (self.unknown.handed_out, self.unknown.object) else {
            return;
        };
        if self.is_application {
            return;
        }
        let results: Vec<Var> = (self.roots.iter())
            .filter(|root| matches!(root.kind, RootKind::Client | RootKind::Unseen))
            .map(|root| self.nodes[root.node.index()].result)
            .collect();
        for result in results {
            self.hand_out(result);
        }
        self.add_common_parts();
        let mut parts: FxHashMap<ObjectId, Vec<(HeapField, Var)>> = FxHashMap::default();
        for ((object, field), part) in &self.fields {
            parts.entry(*object).or_default().push((*field, *part));
        }
        let mut pending: Vec<ObjectId> = self.graph.objects(var).iter().collect();
        let mut seen: FxHashSet<ObjectId> = pending.iter().copied().collect();
        while let Some(object) = pending.pop() {
            for (_, part) in parts.get(&object).into_iter().flatten() {
                let held = self.graph.objects(*part).iter();
                pending.extend(held.filter(|held| seen.insert(*held)));
            }
            let of = self.objects.get(object);
            if !matches!(of.kind, ObjectKind::Allocated { .. }) {
                continue;
            }
            let instance = objects.get(&of.class).into_iter().flatten();
            let instance = (instance.copied())
                .find(|other| self.objects.get(*other).kind == ObjectKind::Instance);
            let Some(instance) = instance else { continue };
            let changed: Vec<HeapField> = (parts.get(&instance).into_iter().flatten())
                .filter(|(_, part)| self.is_from_outside(*part))
                .map(|(field, _)| *field)
                .collect();
            for field in changed {
                let part = self.field_var(object, field);
                let new = !self.graph.objects(part).contains(unknown);
                if self.step(new) {
                    self.graph.add_object(part, unknown);
                }
            }
        }
    }

    fn is_from_outside(&self, part: Var) -> bool {
        self.graph.objects(part).iter().any(|object| {
            matches!(
                self.objects.get(object).kind,
                ObjectKind::Passed | ObjectKind::Unknown
            )
        })
    }
}
