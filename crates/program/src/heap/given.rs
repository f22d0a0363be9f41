//! What code that is not read is given: it may look into it, call it back, and put things into it.
//!
//! A library method's content has what its arguments are, what the platform's containers among them hold, and what its own calls of analyzed objects and lambdas give.
//! These calls are no calls of the call graph, since it is not known whether they happen: values flow, and no abstract thread runs them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::calls::Call;
use super::graph::Var;
use super::objects::ObjectKind;
use super::result::HeapField;
use super::solver::{Solver, Use};
use crate::classes::ClassKind;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId};
use crate::ir::Op;
use crate::load::Origin;

impl Solver<'_> {
    /// The object is given to a library method whose content is the bag.
    pub(super) fn give(&mut self, call: &Call, bag: Var, object: ObjectId) {
        let of = self.objects.get(object);
        self.graph.add_object(bag, object);
        match of.kind {
            ObjectKind::Unknown | ObjectKind::Merged | ObjectKind::ClassObject(_) => {}
            ObjectKind::Lambda { .. } => self.call_back(call, bag, object),
            _ if self.classes().class(of.class).origin == Origin::Input => {
                self.call_back(call, bag, object);
            }
            _ => self.look_into(object, of.class, bag),
        }
    }

    /// Code that is not read calls an object back with what the bag holds, and puts there what it gives.
    ///
    /// All such calls of one object are one: what is called is the same, whoever calls it.
    fn call_back(&mut self, call: &Call, bag: Var, object: ObjectId) {
        let (passed, given) = match self.called_back.get(&object) {
            Some(known) => *known,
            None => {
                let passed = self.graph.variables(2);
                let vars = (passed, Var(passed.0 + 1));
                self.called_back.insert(object, vars);
                self.call_any_method(call, object, vars);
                vars
            }
        };
        self.graph.add_edge(bag, passed, None);
        self.graph.add_edge(given, bag, None);
    }

    fn call_any_method(&mut self, call: &Call, object: ObjectId, (passed, given): (Var, Var)) {
        let of = self.objects.get(object);
        let call = |args: &SmallVec<[Option<Var>; 4]>| Call {
            args: args.clone(),
            result: Some(given),
            ..call.clone()
        };
        let ObjectKind::Lambda { method, instr } = of.kind else {
            for method in self.platform_methods(of.class) {
                let count = self.classes().method(method).params.len();
                let args = all_of(count, passed);
                self.call_on(&call(&args), method, object, &args);
            }
            return;
        };
        let Some(Some(built)) = self.bodies.get(&method).cloned() else {
            return;
        };
        if let Op::Lambda { lambda, .. } = &built.body.instr(instr).op {
            let count = self.classes().method(lambda.handle.method).params.len() + 1;
            let args = all_of(count, passed);
            self.call_lambda(&call(&args), lambda.handle, object, &args, 0);
        }
    }

    /// What an object of the platform holds.
    fn look_into(&mut self, object: ObjectId, class: ClassId, bag: Var) {
        if let ClassKind::Array(component) = self.classes().class(class).kind {
            if component.is_some() && !self.empty_arrays.contains(&object) {
                let elements = self.field_var(object, HeapField::Elements);
                self.graph.add_edge(elements, bag, None);
            }
            return;
        }
        if self.classes().class(class).origin != Origin::Jdk {
            return;
        }
        if !self.is_entered(class) {
            let content = self.field_var(object, HeapField::Content);
            self.graph.add_edge(content, bag, None);
            return;
        }
        for field in self.reference_fields(class) {
            let held = self.field_var(object, HeapField::Field(field));
            self.graph.add_edge(held, bag, None);
        }
    }

    fn reference_fields(&self, class: ClassId) -> Vec<FieldId> {
        let tables = self.classes();
        tables
            .superclasses(class)
            .flat_map(|above| tables.class(above).fields.iter().copied())
            .filter(|field| {
                let info = tables.field(*field);
                !info.flags.is_static() && info.ty.is_reference()
            })
            .collect()
    }

    /// A library method may put what it has into what it is given.
    pub(super) fn fill(&mut self, call: &Call, bag: Var, containers: bool, object: ObjectId) {
        let class = self.objects.get(object).class;
        if let ClassKind::Array(component) = self.classes().class(class).kind {
            if component.is_some() && !self.empty_arrays.contains(&object) {
                let elements = self.field_var(object, HeapField::Elements);
                self.graph.add_edge(bag, elements, component);
            }
            return;
        }
        if !containers || self.classes().class(class).origin != Origin::Jdk {
            return;
        }
        for (owner, name, descriptor) in [
            ("java/util/Collection", "add", "(Ljava/lang/Object;)Z"),
            (
                "java/util/Map",
                "put",
                "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            ),
        ] {
            let Some(owner) = self.classes().find(owner) else {
                continue;
            };
            if !self.classes().is_subtype(class, owner) {
                continue;
            }
            let method = self.classes().declared_method(owner, name, descriptor);
            let selected = method.and_then(|method| self.classes().select(class, method));
            if let Some(selected) = selected {
                let args = all_of(2, bag);
                let call = Call {
                    result: None,
                    ..call.clone()
                };
                self.call_on(&call, selected, object, &args);
            }
        }
    }

    /// What a cast does not let pass, though an instance of the class may be behind it.
    pub(super) fn narrow(&mut self, object: ObjectId, class: ClassId, into: Var) {
        let of = self.objects.get(object);
        let vague = matches!(
            of.kind,
            ObjectKind::Returned(_) | ObjectKind::Static(_) | ObjectKind::Passed
        );
        let tables = self.classes();
        let may_be = tables.is_subtype(class, of.class)
            || tables.class(class).flags.is_interface()
            || tables.class(of.class).flags.is_interface();
        if vague && may_be && !self.is_instance(object, class) {
            self.add_unknown(into);
        }
    }

    /// The methods of an object of an analyzed class that the platform can name.
    fn platform_methods(&self, class: ClassId) -> Vec<MethodId> {
        let tables = self.classes();
        let mut found: Vec<MethodId> = tables
            .supertypes(class)
            .iter()
            .filter(|above| tables.class(**above).origin != Origin::Input)
            .flat_map(|above| tables.class(*above).methods.iter())
            .filter(|method| {
                let flags = tables.method(**method).flags;
                !flags.is_static() && !flags.is_private() && !tables.is_constructor(**method)
            })
            .filter_map(|method| tables.select(class, *method))
            .filter(|method| {
                let info = tables.method(*method);
                info.has_code && tables.class(info.class).origin == Origin::Input
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Lets a library method have the arguments of its calls.
    pub(super) fn give_all(&mut self, call: Call, bag: Var, params: &[Var], fills: Fills) {
        let call = Arc::new(call);
        for &param in params {
            let given = Use::Given {
                call: Arc::clone(&call),
                bag,
            };
            self.on_objects(param, given);
            let fill = Use::Fill {
                call: Arc::clone(&call),
                bag,
                containers: fills == Fills::All,
            };
            if fills != Fills::Nothing {
                self.on_objects(param, fill);
            }
        }
        // What is in a container may be a container.
        if params.is_empty() {
            return;
        }
        if self.watched.insert(bag) {
            let call = Arc::clone(&call);
            self.on_objects(bag, Use::Given { call, bag });
        }
        if fills == Fills::All && self.unknown.puts.filling.insert(bag) {
            let containers = true;
            self.on_objects(
                bag,
                Use::Fill {
                    call,
                    bag,
                    containers,
                },
            );
        }
    }
}

/// What a library method may change of what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fills {
    Nothing,
    Arrays,
    All,
}

/// A receiver that stands for itself, and arguments from the content.
fn all_of(count: usize, bag: Var) -> SmallVec<[Option<Var>; 4]> {
    std::iter::once(None)
        .chain((0..count).map(|_| Some(bag)))
        .collect()
}
