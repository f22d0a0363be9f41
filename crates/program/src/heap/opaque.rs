//! Library methods that are not entered: what their model says, else what their signature suggests.
//!
//! Each object of such a class has one `Content` in which everything passed to its methods ends up, and from which everything they return comes; a static method has one per call site.
//! Functional arguments are called back in the caller's thread with that content, and their results join it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::calls::{Call, Start, Target};
use super::given::Fills;
use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::HeapField;
use super::solver::{Solver, Use};
use crate::assumptions::Assumption;
use crate::classes::{ClassKind, Type};
use crate::ids::{ClassId, InstrId, MethodId, NodeId};
use crate::library::{Callback, Effect, Operand, Returns};

/// A method without code, as the solver sees it.
struct Opaque {
    node: NodeId,
    method: MethodId,
    context: Context,
    has_receiver: bool,
    params: Var,
    types: Vec<Type>,
    returns: Option<Type>,
    result: Var,
    bag: Var,
    /// Callbacks are numbered as if they were instructions.
    sites: u32,
}

impl Opaque {
    fn param(&self, position: usize) -> Var {
        Var(self.params.0 + position as u32)
    }

    fn argument(&self, position: usize) -> Option<Var> {
        let position = position + usize::from(self.has_receiver);
        (position < self.types.len()).then(|| self.param(position))
    }

    fn operand(&self, operand: Operand) -> Option<Var> {
        match operand {
            Operand::Receiver => self.has_receiver.then(|| self.param(0)),
            Operand::Arg(position) => self.argument(position),
            Operand::Content => Some(self.bag),
        }
    }

    fn site(&mut self) -> InstrId {
        self.sites += 1;
        InstrId(self.sites - 1)
    }
}

impl Solver<'_> {
    pub(super) fn constrain_opaque(&mut self, node: NodeId) {
        let working = &self.nodes[node.index()];
        let (method, context, params, result) = (
            working.method,
            working.context,
            working.params,
            working.result,
        );
        let has_receiver = !self.classes().method(method).flags.is_static();
        let bag = match context {
            Context::Object(object) if has_receiver => self.field_var(object, HeapField::Content),
            _ => self.graph.variables(1),
        };
        let info = self.classes().method(method);
        let receiver = has_receiver.then_some(Type::Ref(info.class));
        let types = receiver
            .into_iter()
            .chain(info.params.iter().copied())
            .collect();
        let returns = info.returns;
        let mut opaque = Opaque {
            node,
            method,
            context,
            has_receiver,
            params,
            types,
            returns,
            result,
            bag,
            sites: 0,
        };
        if let Context::Object(object) = context
            && self.objects.get(object).kind == ObjectKind::Passed
        {
            self.hand_out(bag);
        }
        self.count(method);
        let effect = self.library.effect(self.classes(), method);
        self.keep_arguments(&mut opaque, effect);
        match effect {
            Some(effect) if !effect.start.is_empty() || !effect.call.is_empty() => {
                self.modelled_callbacks(&mut opaque, effect);
            }
            _ => self.assumed_callbacks(&mut opaque),
        }
        self.returned(&opaque, effect);
        if let Some((from, to)) = effect.and_then(|effect| effect.copies)
            && let (Some(from), Some(to)) = (opaque.operand(from), opaque.operand(to))
        {
            let between = self.graph.variables(1);
            self.on_objects(
                from,
                Use::Load {
                    field: HeapField::Elements,
                    into: between,
                    filter: None,
                },
            );
            self.on_objects(
                to,
                Use::Store {
                    field: HeapField::Elements,
                    from: between,
                },
            );
        }
    }

    fn count(&mut self, method: MethodId) {
        let info = self.classes().method(method);
        let (class, native, missing) = (info.class, info.flags.is_native(), info.missing);
        let subject = self.classes().describe_method(method);
        let entered = self.is_entered(class);
        if self.is_reflective(method) {
            // Counted where it is called.
        } else if native && entered {
            self.loader
                .assumptions
                .add(Assumption::NativeMethod, subject);
        } else if !entered && !missing {
            self.loader.assumptions.add(Assumption::OpaqueCall, subject);
        }
    }

    /// Everything passed ends up in the content, elements of arrays too.
    fn keep_arguments(&mut self, opaque: &mut Opaque, effect: Option<&Effect>) {
        let mut kept = Vec::new();
        for position in usize::from(opaque.has_receiver)..opaque.types.len() {
            let Type::Ref(class) = opaque.types[position] else {
                continue;
            };
            let param = opaque.param(position);
            self.graph.add_edge(param, opaque.bag, None);
            kept.push(param);
            if matches!(self.classes().class(class).kind, ClassKind::Array(Some(_))) {
                self.on_objects(
                    param,
                    Use::Load {
                        field: HeapField::Elements,
                        into: opaque.bag,
                        filter: None,
                    },
                );
            }
        }
        // What is known to store or to lock does nothing else.
        let plain = effect.is_some_and(|effect| effect.access.is_some() || effect.is_about_locks());
        let moves =
            effect.is_some_and(|effect| effect.returns.is_some() || effect.copies.is_some());
        if plain || moves || kept.is_empty() {
            return;
        }
        let name = self.classes().method_name(opaque.method);
        let fills = match () {
            () if name == "<init>" => Fills::Nothing,
            () if effect.is_none() || name == "drainTo" => Fills::All,
            () => Fills::Arrays,
        };
        let call = Call {
            caller: opaque.node,
            instr: opaque.site(),
            target: Target::Exact(opaque.method),
            args: SmallVec::new(),
            result: Some(opaque.bag),
            start: None,
            task: None,
            silent: true,
        };
        self.give_all(call, opaque.bag, &kept, fills);
    }

    fn returned(&mut self, opaque: &Opaque, effect: Option<&Effect>) {
        let Some(Type::Ref(class)) = opaque.returns else {
            return;
        };
        match effect.and_then(|effect| effect.returns) {
            // The receiver goes straight to the call, so that receivers are not mixed here.
            Some(Returns::Operand(Operand::Receiver)) => return,
            Some(Returns::Operand(operand)) => {
                if let Some(from) = opaque.operand(operand) {
                    self.graph.add_edge(from, opaque.result, None);
                }
                return;
            }
            Some(Returns::New(name)) => {
                let class = self.loader.class_named(name);
                let object =
                    self.object(class, ObjectKind::Returned(opaque.method), opaque.context);
                self.graph.add_object(opaque.result, object);
                return;
            }
            None => {}
        }
        self.edge(opaque.bag, opaque.result, Some(class));
        // A method that declares Object gives what it holds; any other may make what it declares.
        if class == self.classes().well_known.object {
            return;
        }
        if opaque.has_receiver {
            self.edge(opaque.param(0), opaque.result, Some(class));
        }
        let context = match opaque.context {
            Context::Object(receiver) if opaque.has_receiver => {
                let receiver = self.objects.get(receiver);
                // Fluent methods and views of the same type give themselves, for all that can be told.
                if receiver.class == class {
                    return;
                }
                // What a view gives hangs on what the view hangs on, or chains of views would never end.
                let vague = matches!(
                    receiver.kind,
                    ObjectKind::Returned(_) | ObjectKind::Static(_) | ObjectKind::Passed
                );
                if vague {
                    receiver.context
                } else {
                    opaque.context
                }
            }
            context => context,
        };
        let made = self.object(class, ObjectKind::Returned(opaque.method), context);
        self.graph.add_object(opaque.result, made);
        if self.objects.get(made).kind == ObjectKind::Merged {
            return;
        }
        match self.classes().class(class).kind {
            ClassKind::Array(Some(component)) => {
                let elements = self.field_var(made, HeapField::Elements);
                self.edge(opaque.bag, elements, Some(component));
            }
            ClassKind::Array(None) => {}
            _ => {
                let content = self.field_var(made, HeapField::Content);
                self.graph.add_edge(opaque.bag, content, None);
                self.make_entries(opaque, context, content);
            }
        }
    }

    /// The entries of a map are objects of their own, which the set of them holds.
    fn make_entries(&mut self, opaque: &Opaque, context: Context, content: Var) {
        if self.classes().method_name(opaque.method) != "entrySet" {
            return;
        }
        let class = self.loader.class_named("java/util/Map$Entry");
        let entry = self.object(class, ObjectKind::Returned(opaque.method), context);
        self.graph.add_object(content, entry);
        let held = self.field_var(entry, HeapField::Content);
        self.graph.add_edge(opaque.bag, held, None);
        // `setValue` changes the map.
        self.graph.add_edge(held, opaque.bag, None);
    }

    /// Without a model, every functional argument may be called.
    fn assumed_callbacks(&mut self, opaque: &mut Opaque) {
        let constructor = self.classes().is_constructor(opaque.method);
        for position in usize::from(opaque.has_receiver)..opaque.types.len() {
            let Type::Ref(class) = opaque.types[position] else {
                continue;
            };
            if let Some(method) = self.functional_method(class)
                && !(constructor && self.library.is_task(self.classes(), class))
            {
                self.callback(opaque, opaque.param(position), method, None);
            }
        }
    }

    fn modelled_callbacks(&mut self, opaque: &mut Opaque, effect: &Effect) {
        let start = Start {
            repeats: effect.repeats,
            sequential: effect.sequential,
        };
        for (list, start) in [(effect.start, Some(start)), (effect.call, None)] {
            for callback in list {
                let Some(from) = self.follow_steps(opaque, callback) else {
                    continue;
                };
                let class = self.loader.class_named(callback.class);
                self.loader.load([class]);
                let methods: Vec<MethodId> = self
                    .classes()
                    .methods_named(class, callback.method)
                    .filter(|method| !self.classes().method(*method).flags.is_static())
                    .collect();
                // Only what is an instance of the class can be called on.
                let instances = self.graph.variables(1);
                self.edge(from, instances, Some(class));
                for method in methods {
                    self.callback(opaque, instances, method, start);
                }
            }
        }
    }

    /// Follows the calls that lead from a callback's operand to its receiver.
    fn follow_steps(&mut self, opaque: &mut Opaque, callback: &Callback) -> Option<Var> {
        let mut at = opaque.operand(callback.operand)?;
        let mut class = match callback.operand {
            Operand::Arg(position) => opaque
                .types
                .get(position + usize::from(opaque.has_receiver))
                .copied()
                .and_then(Type::class),
            _ => None,
        };
        for step in callback.steps {
            self.loader.load(class);
            let method = self
                .classes()
                .methods_named(class?, step)
                .find(|method| self.classes().method(*method).params.is_empty())?;
            let result = self.graph.variables(1);
            let call = Call {
                caller: opaque.node,
                instr: opaque.site(),
                target: Target::Virtual(method),
                args: SmallVec::from_slice(&[Some(at)]),
                result: Some(result),
                start: None,
                task: None,
                silent: false,
            };
            self.on_objects(at, Use::Call(Arc::new(call)));
            at = result;
            class = self.classes().method(method).returns.and_then(Type::class);
        }
        Some(at)
    }

    fn callback(
        &mut self,
        opaque: &mut Opaque,
        receiver: Var,
        method: MethodId,
        start: Option<Start>,
    ) {
        let mut args: SmallVec<[Option<Var>; 4]> = SmallVec::from_slice(&[Some(receiver)]);
        let info = self.classes().method(method);
        args.extend(
            info.params
                .iter()
                .map(|ty| ty.is_reference().then_some(opaque.bag)),
        );
        let result = info
            .returns
            .filter(|ty| ty.is_reference())
            .map(|_| opaque.bag);
        let (caller, instr) = (opaque.node, opaque.site());
        let call = Call {
            caller,
            instr,
            target: Target::Virtual(method),
            args,
            result,
            start,
            task: None,
            silent: false,
        };
        self.on_objects(receiver, Use::Call(Arc::new(call)));
    }

    /// The one abstract method of a functional interface.
    fn functional_method(&mut self, class: ClassId) -> Option<MethodId> {
        if self.classes().class(class).kind == ClassKind::Named {
            self.loader.load([class]);
        }
        let classes = self.classes();
        if !classes.class(class).flags.is_interface() {
            return None;
        }
        let object = classes.well_known.object;
        let mut found: Option<MethodId> = None;
        for interface in classes.supertypes(class) {
            for method in &classes.class(*interface).methods {
                let info = classes.method(*method);
                let inherited =
                    classes
                        .method_index
                        .contains_key(&(object, info.name, info.descriptor));
                if !info.flags.is_abstract() || inherited {
                    continue;
                }
                let same = found.is_none_or(|found| classes.method(found).name == info.name);
                if !same {
                    return None;
                }
                found.get_or_insert(*method);
            }
        }
        found
    }
}
