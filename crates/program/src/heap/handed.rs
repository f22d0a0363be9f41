//! Library mode: what clients were given, they change.
//!
//! One instance stands for all objects of a class that clients share, so what they do to another one that the library made and handed out is only seen there.
//! Fields in which clients put something of that instance hold anything in what was handed out.
//! So do arrays and containers of the platform that were handed out: whoever has them puts anything into them.
//!
//! Clients are given what the methods and lambdas that they call return, what is thrown, what unknown code is called with, and what fields hold that are not private.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Var;
use super::objects::ObjectKind;
use super::result::{HeapField, RootKind};
use super::solver::Solver;
use super::unknown::ByClass;
use crate::classes::ClassKind;
use crate::ids::{FieldId, ObjectId};
use crate::load::Origin;

/// The variables of the parts of objects.
type Parts = FxHashMap<ObjectId, Vec<(HeapField, Var)>>;

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
        self.hand_out(self.thrown);
        for part in self.visible_parts() {
            self.hand_out(part);
        }
        let mut parts = Parts::default();
        for ((object, field), part) in &self.fields {
            parts.entry(*object).or_default().push((*field, *part));
        }
        self.fill_handed_out(var, &parts, unknown);
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

    fn is_visible(&self, field: FieldId) -> bool {
        let info = self.classes().field(field);
        let class = self.classes().class(info.class);
        class.origin == Origin::Input
            && class.nameable
            && (info.flags.is_public() || info.flags.is_protected())
    }

    /// What clients see without a call: fields that are not private, of classes that they can name.
    fn visible_parts(&self) -> Vec<Var> {
        let own = self.fields.iter().filter_map(|((object, field), part)| {
            let HeapField::Field(field) = field else {
                return None;
            };
            let shared = self.objects.get(*object).kind == ObjectKind::Instance;
            (shared && self.is_visible(*field)).then_some(*part)
        });
        let statics = (self.statics.iter())
            .filter(|(field, _)| self.is_visible(**field))
            .map(|(_, part)| *part);
        own.chain(statics).collect()
    }

    /// Clients put anything into the arrays and the containers of the platform that they get hold of.
    fn fill_handed_out(&mut self, var: Var, parts: &Parts, unknown: ObjectId) {
        let mut pending: Vec<ObjectId> = self.graph.objects(var).iter().collect();
        let mut seen: FxHashSet<ObjectId> = pending.iter().copied().collect();
        while let Some(object) = pending.pop() {
            let of = self.objects.get(object);
            let class = self.classes().class(of.class);
            let array = matches!(class.kind, ClassKind::Array(_));
            let own = class.origin == Origin::Input && !array;
            // What the methods of such an object give is handed out too.
            if own {
                self.call_openly(of.class, &[object]);
            }
            for &(field, part) in parts.get(&object).into_iter().flatten() {
                let held = match field {
                    HeapField::Captured(_) => false,
                    HeapField::Field(field) if own => self.is_visible(field),
                    _ => true,
                };
                if !held {
                    continue;
                }
                let held = self.graph.objects(part).iter();
                pending.extend(held.filter(|held| seen.insert(*held)));
                let kept = own
                    || of.kind == ObjectKind::Merged
                    || self.empty_arrays.contains(&object)
                    || self.graph.objects(part).contains(unknown);
                if self.step(!kept) {
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
