//! What a call that looks at its receiver may run.
//!
//! Points-to sets say it where they know every object; where anything may be behind the receiver, it is what any object of an analyzed class would run, and code that nobody has seen.

use rustc_hash::FxHashSet;
use untorn_program::heap::{Object, ObjectKind};
use untorn_program::{ClassId, MethodId, ValueId};

use super::models::is_value_class;
use super::world::{Callees, World};

impl World<'_> {
    /// What a call that looks at its receiver may run, besides the targets that are known.
    pub(super) fn dispatched(
        &self,
        caller: MethodId,
        named: MethodId,
        args: &[ValueId],
        mut targets: Vec<MethodId>,
    ) -> Callees {
        let classes = self.table();
        let mut found = Callees::default();
        let info = classes.method(named);
        let declared_here = self.classes.contains(&info.class);
        let closed = info.flags.is_final()
            || info.flags.is_private()
            || classes.class(info.class).flags.is_final();
        if let Some(strangers) = self.strangers(caller, named, args) {
            // What code of an analyzed class does to an object of a class nobody has seen is no access to an object of a class that is analyzed.
            targets.retain(|target| !strangers.contains(target));
            // A model says nothing of what a client wrote.
            let overridable = !closed && (info.flags.is_public() || info.flags.is_protected());
            let theirs = overridable && self.may_be_of_a_client(caller, args);
            // What `Object` does says nothing of what others do instead, where they can.
            let of_object = info.class == classes.well_known.object && !closed;
            if self.model(named).is_some() && !theirs && !of_object {
                found.library.push(named);
            } else {
                found.unknown = true;
            }
        }
        // The heap of a library knows one instance per class; any other may be behind the reference.
        let any = declared_here && !self.program.is_application();
        if any || self.may_be_any(caller, args) {
            targets.extend(self.selected_by_all(named));
        } else {
            targets.extend(self.selected_by_passed(caller, named, args));
        }
        if closed {
            targets.push(named);
        } else if !declared_here {
            let receiver = args.first().copied();
            if receiver.is_none_or(|value| self.may_be_foreign(caller, value)) {
                let of_object = info.class == classes.well_known.object;
                let known = self.model(named).is_some() && !of_object
                    || self.program.library().effect(classes, named).is_some();
                if known {
                    targets.push(named);
                } else {
                    found.unknown = true;
                }
            }
        }
        let is_handed = |&target: &MethodId| self.may_be_handed(caller, named, args, target);
        let (handed, direct): (Vec<MethodId>, Vec<MethodId>) =
            targets.into_iter().partition(is_handed);
        found.unknown |= handed.iter().any(|&method| !self.is_translated(method));
        found.handed = handed;
        found.handed.retain(|&method| self.is_translated(method));
        found.handed.sort_unstable();
        found.handed.dedup();
        self.callees_among(named, direct, found, false)
    }

    /// What the call runs on an object of any analyzed class that has objects.
    fn selected_by_all(&self, named: MethodId) -> Vec<MethodId> {
        let classes = self.table();
        let of = classes.method(named).class;
        (self.made.iter())
            .filter(|&&class| classes.is_subtype(class, of))
            .filter_map(|&class| classes.select(class, named))
            .collect()
    }

    /// What the call runs on an object of an analyzed class below what a client passes: the client may pass such an object, too.
    fn selected_by_passed(
        &self,
        caller: MethodId,
        named: MethodId,
        args: &[ValueId],
    ) -> Vec<MethodId> {
        let (classes, heap) = (self.table(), self.program.heap());
        let Some(&receiver) = args.first() else {
            return Vec::new();
        };
        let passed: FxHashSet<ClassId> = (heap.nodes_of(caller).iter())
            .flat_map(|&node| heap.points_to(node, receiver).iter())
            .map(|object| heap.object(object))
            .filter(|object| matches!(object.kind, ObjectKind::Passed | ObjectKind::Instance))
            .map(|object| object.class)
            .collect();
        if passed.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<MethodId> = (passed.into_iter())
            .flat_map(|of| self.made_below(of).to_vec())
            .filter_map(|made| classes.select(made, named))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether any object may be behind the receiver of a call, for all that points-to sets say.
    fn may_be_any(&self, caller: MethodId, args: &[ValueId]) -> bool {
        let heap = self.program.heap();
        let nodes = heap.nodes_of(caller);
        args.first().is_none_or(|&receiver| {
            nodes.is_empty()
                || nodes.iter().any(|&node| {
                    let objects = heap.points_to(node, receiver);
                    objects.is_empty()
                        || objects.iter().any(|object| {
                            matches!(
                                heap.object(object).kind,
                                ObjectKind::Unknown
                                    | ObjectKind::Returned(_)
                                    | ObjectKind::Static(_)
                            )
                        })
                })
        })
    }

    /// If the receiver may be of a class nobody has seen: the methods that would run only for such objects.
    fn strangers(
        &self,
        caller: MethodId,
        named: MethodId,
        args: &[ValueId],
    ) -> Option<FxHashSet<MethodId>> {
        let (classes, heap) = (self.table(), self.program.heap());
        let (mut own, mut strange) = (FxHashSet::default(), FxHashSet::default());
        let &receiver = args.first()?;
        let nodes = heap.nodes_of(caller);
        let mut seen = !nodes.is_empty();
        for &node in nodes {
            let objects = heap.points_to(node, receiver);
            seen &= !objects.is_empty();
            for object in objects.iter() {
                let object = heap.object(object);
                if object.kind == ObjectKind::Unknown {
                    seen &= self.has_no_strangers(classes.method(named).class);
                    own.extend(self.selected_by_all(named));
                    continue;
                }
                let selected = classes.select(object.class, named);
                if self.may_be_of_another_class(object) {
                    seen = false;
                    strange.extend(selected);
                } else {
                    own.extend(selected);
                }
            }
        }
        if seen {
            return None;
        }
        if !self.program.is_application() {
            own.extend(self.selected_by_all(named));
        }
        strange.retain(|method| !own.contains(method));
        Some(strange)
    }

    /// Whether all objects of a type are of analyzed classes.
    ///
    /// Clients of a library do not extend its classes, but they implement interfaces and complete what is abstract.
    pub(super) fn has_no_strangers(&self, class: ClassId) -> bool {
        let flags = self.table().class(class).flags;
        self.program.is_input(class)
            && (self.program.is_application() || !flags.is_abstract() && !flags.is_interface())
    }

    /// Whether an object may be of a class below the one that is known of it, which nobody has seen.
    fn may_be_of_another_class(&self, object: &Object) -> bool {
        let class = self.table().class(object.class);
        let open = class.flags.is_abstract() || class.flags.is_interface();
        match object.kind {
            // Clients do not extend classes, but they implement interfaces and complete what is abstract.
            ObjectKind::Passed => open,
            ObjectKind::Returned(_) | ObjectKind::Static(_) => open || !class.flags.is_final(),
            _ => false,
        }
    }

    /// Whether the receiver of a call may be an object of a client's own class.
    fn may_be_of_a_client(&self, caller: MethodId, args: &[ValueId]) -> bool {
        let heap = self.program.heap();
        let nodes = heap.nodes_of(caller);
        args.first().is_some_and(|&receiver| {
            nodes.iter().any(|&node| {
                (heap.points_to(node, receiver).iter())
                    .map(|object| heap.object(object))
                    .any(|object| {
                        object.kind == ObjectKind::Passed
                            && self.table().class(object.class).flags.is_public()
                            && self.may_be_of_another_class(object)
                    })
            })
        })
    }

    /// Whether a value may be an object of a class that is not translated and may be anything.
    pub(super) fn may_be_foreign(&self, method: MethodId, value: ValueId) -> bool {
        let heap = self.program.heap();
        heap.nodes_of(method).iter().any(|&node| {
            let objects = heap.points_to(node, value);
            objects.is_empty()
                || objects.iter().any(|object| {
                    let object = heap.object(object);
                    match object.kind {
                        ObjectKind::Allocated { .. }
                        | ObjectKind::AnyOf
                        | ObjectKind::Lambda { .. }
                        | ObjectKind::Instance
                        | ObjectKind::ClassObject(_) => false,
                        ObjectKind::Merged => {
                            !is_value_class(self.table().class_name(object.class))
                        }
                        _ => true,
                    }
                })
        })
    }
}
