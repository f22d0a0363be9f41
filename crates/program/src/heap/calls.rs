//! Calls: which method runs for a receiver, in which context, and what flows in and out.

use std::sync::Arc;

use smallvec::SmallVec;
use untorn_classfile::read::HandleKind;

use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::{HeapField, Spawn};
use super::solver::{Solver, Use};
use crate::assumptions::Assumption;
use crate::classes::{ClassKind, Handle, Type};
use crate::ids::{InstrId, MethodId, NodeId, ObjectId};
use crate::ir::Op;
use crate::library::{Effect, Operand, Returns};
use crate::load::Origin;

/// A call, waiting for receivers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    pub caller: NodeId,
    pub instr: InstrId,
    pub target: Target,
    /// The receiver first, if there is one; `None` for what is no reference.
    pub args: SmallVec<[Option<Var>; 4]>,
    pub result: Option<Var>,
    /// Set if the call runs in a thread of its own.
    pub start: Option<Start>,
    /// The lambda whose body is called, if not the receiver is the task.
    pub task: Option<ObjectId>,
    /// Set if values flow, but no abstract thread makes the call.
    pub silent: bool,
}

/// What a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Exactly this method.
    Exact(MethodId),
    /// What the receiver's class selects for this method.
    Virtual(MethodId),
}

/// How a library method starts a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Start {
    pub repeats: bool,
    pub sequential: bool,
}

/// What a method without code can do with references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// It takes and gives nothing but values, so that receivers need not be kept apart.
    Nothing,
    /// It gives its receiver.
    Receiver,
    /// It may store what it takes in its receiver.
    Stores,
    /// It may give what it took, so that call sites must be kept apart too.
    Any,
}

/// Lambdas that call lambdas are followed this far: hostile code may tie a knot.
const DEEPEST_LAMBDA: usize = 8;

impl Solver<'_> {
    /// A call of a static method.
    pub(super) fn call_static(&mut self, call: &Call, method: MethodId) {
        if self.reflects(call, method, None, &call.args) {
            return;
        }
        let context = self.context(method, None, call);
        let callee = self.node(method, context);
        self.connect(call, callee, &call.args.clone(), None);
    }

    /// A call of exactly this method on whatever the receiver is.
    pub(super) fn call_special(&mut self, mut call: Call, method: MethodId, receiver: Var) {
        let class = self.classes().method(method).class;
        if self.is_container(class)
            || !self.is_entered(class)
            || !self.classes().method(method).has_code
        {
            call.target = Target::Exact(method);
            self.on_objects(receiver, Use::Call(Arc::new(call)));
        } else {
            let callee = self.node(method, Context::None);
            self.connect(&call, callee, &call.args.clone(), None);
        }
    }

    /// Binds a waiting call to one receiver.
    ///
    /// Gives the node that runs, if it is the same for all receivers of this class.
    pub(super) fn bind(&mut self, call: &Call, object: ObjectId) -> Option<NodeId> {
        let callee = self.bind_one(call, object)?;
        let node = &self.nodes[callee.index()];
        let lambda = matches!(self.objects.get(object).kind, ObjectKind::Lambda { .. });
        let same = !node.opaque && node.context == Context::None && !lambda;
        (same && call.start.is_none()).then_some(callee)
    }

    fn bind_one(&mut self, call: &Call, object: ObjectId) -> Option<NodeId> {
        match call.target {
            Target::Exact(method) => self.call_on(call, method, object, &call.args),
            Target::Virtual(method) if self.unknown.is(object) => {
                if let Some(result) = call.result {
                    self.add_unknown(result);
                }
                for arg in call.args.iter().flatten() {
                    self.hand_out(*arg);
                }
                self.call_hub(call, method);
                None
            }
            Target::Virtual(method) => self.call_virtual(call, method, object, &call.args, 0),
        }
    }

    fn call_virtual(
        &mut self,
        call: &Call,
        method: MethodId,
        object: ObjectId,
        args: &[Option<Var>],
        depth: usize,
    ) -> Option<NodeId> {
        let class = self.objects.get(object).class;
        let declaring = self.classes().method(method).class;
        // Sets are not filtered by declared types everywhere; what is no instance cannot be called.
        if !self.is_instance(object, declaring) {
            return None;
        }
        if let ObjectKind::Lambda {
            method: maker,
            instr,
        } = self.objects.get(object).kind
            && let Some(handle) = self.lambda_body(maker, instr, method)
        {
            self.call_lambda(call, handle, object, args, depth);
            return None;
        }
        let classes = &self.loader.classes;
        let selected = *self
            .selected
            .entry((class, method))
            .or_insert_with(|| classes.select(class, method));
        // What a library made is of a class that has the method, though only the library knows it.
        let made_by_library = matches!(
            self.objects.get(object).kind,
            ObjectKind::Returned(_) | ObjectKind::Static(_)
        ) && self.classes().class(declaring).origin == Origin::Jdk;
        if selected.is_none() && self.is_entered(declaring) && !made_by_library {
            self.call_unknown(call, method, object);
            None
        } else {
            self.call_on(call, selected.unwrap_or(method), object, args)
        }
    }

    /// A call that no known class implements: what a client passed gives more of the kind, all else does nothing.
    fn call_unknown(&mut self, call: &Call, method: MethodId, object: ObjectId) {
        let subject = self.classes().describe_method(method);
        self.loader
            .assumptions
            .add(Assumption::UnknownReceiver, subject);
        for arg in call.args.iter().skip(1).flatten() {
            self.hand_out(*arg);
        }
        let returns = self.classes().method(method).returns.and_then(Type::class);
        if self.objects.get(object).kind == ObjectKind::Passed
            && let (Some(class), Some(result)) = (returns, call.result)
        {
            let given = self.object(class, ObjectKind::Passed, Context::None);
            self.graph.add_object(result, given);
        }
    }

    /// A call of a method on one receiver.
    pub(super) fn call_on(
        &mut self,
        call: &Call,
        method: MethodId,
        object: ObjectId,
        args: &[Option<Var>],
    ) -> Option<NodeId> {
        if self.reflects(call, method, Some(object), args) {
            return None;
        }
        let context = self.context(method, Some(object), call);
        let callee = self.node(method, context);
        if let Some(result) = call.result
            && self.nodes[callee.index()].opaque
            && self.movement(method) == Movement::Receiver
        {
            self.graph.add_object(result, object);
        }
        self.connect(call, callee, args, Some(object));
        Some(callee)
    }

    /// The body of a lambda, if this is the method it implements.
    fn lambda_body(&self, maker: MethodId, instr: InstrId, method: MethodId) -> Option<Handle> {
        let body = &self.bodies.get(&maker)?.as_ref()?.body;
        let Op::Lambda { lambda, .. } = &body.instr(instr).op else {
            return None;
        };
        let info = self.classes().method(method);
        (info.name == lambda.name && !info.has_code).then_some(lambda.handle)
    }

    /// Runs the body of a lambda: captured values first, then the call's arguments.
    pub(super) fn call_lambda(
        &mut self,
        call: &Call,
        handle: Handle,
        object: ObjectId,
        args: &[Option<Var>],
        depth: usize,
    ) {
        let ObjectKind::Lambda {
            method: maker,
            instr,
        } = self.objects.get(object).kind
        else {
            return;
        };
        let Some(Some(built)) = self.bodies.get(&maker).cloned() else {
            return;
        };
        let Op::Lambda { args: captured, .. } = &built.body.instr(instr).op else {
            return;
        };
        let mut all: SmallVec<[Option<Var>; 4]> = captured
            .iter()
            .enumerate()
            .map(|(position, value)| {
                let reference = built.body.ty(*value).is_reference();
                reference.then(|| self.field_var(object, HeapField::Captured(position as u16)))
            })
            .collect();
        all.extend(args.iter().skip(1).copied());
        let method = handle.method;
        match handle.kind {
            HandleKind::InvokeStatic => {
                let context = self.context(method, None, call);
                let callee = self.node(method, context);
                let call = Call {
                    task: Some(call.task.unwrap_or(object)),
                    ..call.clone()
                };
                self.connect(&call, callee, &all, None);
            }
            HandleKind::NewInvokeSpecial => {
                let caller = &self.nodes[call.caller.index()];
                let (kind, context) = (
                    ObjectKind::Allocated {
                        method: maker,
                        instr,
                        dimension: 1,
                    },
                    caller.context,
                );
                let made = self.object(handle.named, kind, context);
                if self.is_entered(handle.named) {
                    self.initialize(handle.named);
                }
                if let Some(result) = call.result {
                    self.graph.add_object(result, made);
                }
                all.insert(0, None);
                let task = Some(call.task.unwrap_or(object));
                let call = Call {
                    result: None,
                    task,
                    ..call.clone()
                };
                let context = self.context(method, Some(made), &call);
                let callee = self.node(method, context);
                self.connect(&call, callee, &all, Some(made));
            }
            HandleKind::InvokeSpecial | HandleKind::InvokeVirtual | HandleKind::InvokeInterface => {
                let Some(Some(receiver)) = all.first().copied() else {
                    return;
                };
                if depth > DEEPEST_LAMBDA {
                    return;
                }
                let exact = handle.kind == HandleKind::InvokeSpecial;
                let target = if exact {
                    Target::Exact(method)
                } else {
                    Target::Virtual(method)
                };
                let task = Some(call.task.unwrap_or(object));
                let inner = Call {
                    target,
                    args: all,
                    task,
                    ..call.clone()
                };
                // A method reference may stand for itself: what it wraps is in a field that holds it, too.
                let inner = Arc::new(inner);
                if self.passed_on.insert(Arc::clone(&inner)) {
                    self.on_objects(receiver, Use::Call(inner));
                }
            }
            _ => {}
        }
    }

    /// The context a method is analyzed in.
    fn context(&mut self, method: MethodId, receiver: Option<ObjectId>, call: &Call) -> Context {
        let class = self.classes().method(method).class;
        let opaque = !self.is_entered(class) || !self.classes().method(method).has_code;
        if !opaque && !self.is_container(class) {
            return Context::None;
        }
        let movement = if opaque {
            self.movement(method)
        } else {
            Movement::Any
        };
        let merged =
            receiver.is_some_and(|object| self.objects.get(object).kind == ObjectKind::Merged);
        let per_site = !opaque || movement == Movement::Any;
        if matches!(movement, Movement::Nothing | Movement::Receiver)
            || (opaque && merged && !per_site)
        {
            return Context::None;
        }
        let caller = &self.nodes[call.caller.index()];
        let (caller_method, caller_context) = (caller.method, caller.context);
        match receiver {
            Some(_) if opaque && merged => Context::Site(caller_method, call.instr),
            Some(object) if opaque => Context::Object(object),
            Some(object) => self.affordable(class, Context::Object(object)),
            None => {
                let caller_class = self.classes().method(caller_method).class;
                let inherits =
                    matches!(caller_context, Context::Object(_)) && self.is_container(caller_class);
                match (inherits, per_site) {
                    (true, _) => caller_context,
                    (false, true) if !opaque => {
                        self.affordable(class, Context::Site(caller_method, call.instr))
                    }
                    (false, true) => Context::Site(caller_method, call.instr),
                    (false, false) => Context::None,
                }
            }
        }
    }

    /// What a method without code can do with references.
    fn movement(&mut self, method: MethodId) -> Movement {
        if let Some(movement) = self.movements.get(&method) {
            return *movement;
        }
        let info = self.classes().method(method);
        let (params, returns) = (info.params.clone(), info.returns.and_then(Type::class));
        let effect = self.library.effect(self.classes(), method);
        let modelled = effect.is_some_and(Effect::moves_references);
        let takes = params
            .iter()
            .any(|ty| ty.class().is_some_and(|class| !self.is_merged(class)));
        let gives = returns.is_some_and(|class| !self.is_merged(class));
        let array = returns
            .is_some_and(|class| matches!(self.classes().class(class).kind, ClassKind::Array(_)));
        // Comparing stores nothing.
        let compares = self.classes().method_name(method) == "equals";
        let movement = match () {
            () if returns_receiver(effect) => Movement::Receiver,
            () if compares || !modelled && !takes && !gives => Movement::Nothing,
            () if gives && !array || effect.is_some_and(|effect| !effect.start.is_empty()) => {
                Movement::Any
            }
            () => Movement::Stores,
        };
        self.movements.insert(method, movement);
        movement
    }

    /// Records that a call runs a method, and lets values flow.
    pub(super) fn connect(
        &mut self,
        call: &Call,
        callee: NodeId,
        args: &[Option<Var>],
        receiver: Option<ObjectId>,
    ) {
        if call.silent {
            self.flow(call, callee, args, receiver);
        } else if let Some(start) = call.start {
            let Some(task) = call.task.or(receiver) else {
                return;
            };
            self.spawns.insert(Spawn {
                starter: call.caller,
                instr: call.instr,
                task,
                root: callee,
                repeats: start.repeats,
                sequential: start.sequential,
            });
            self.flow(call, callee, args, receiver);
        } else if self.known_calls.insert((call.caller, call.instr, callee)) || call.task.is_some()
        {
            self.flow(call, callee, args, receiver);
        } else if let Some(object) = receiver {
            // The arguments flow already; only the receiver is new.
            let param = self.nodes[callee.index()].params;
            self.graph.add_object(param, object);
        }
    }

    /// What flows between a call and a method: arguments in, the result out.
    fn flow(
        &mut self,
        call: &Call,
        callee: NodeId,
        args: &[Option<Var>],
        receiver: Option<ObjectId>,
    ) {
        let (params, count, result) = {
            let node = &self.nodes[callee.index()];
            (node.params, node.param_count, node.result)
        };
        for (position, arg) in args.iter().enumerate().take(count) {
            let param = Var(params.0 + position as u32);
            match (receiver, arg) {
                (Some(object), _) if position == 0 => self.graph.add_object(param, object),
                (_, Some(arg)) => self.graph.add_edge(*arg, param, None),
                _ => {}
            }
        }
        if let Some(into) = call.result {
            self.graph.add_edge(result, into, None);
        }
    }
}

fn returns_receiver(effect: Option<&Effect>) -> bool {
    effect.is_some_and(|effect| effect.returns == Some(Returns::Operand(Operand::Receiver)))
}
