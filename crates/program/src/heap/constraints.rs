//! Constraints of a body: what each instruction does to the variables of its node.

use std::sync::Arc;

use super::calls::{Call, Target};
use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::HeapField;
use super::solver::{Solver, Use};
use crate::assumptions::Assumption;
use crate::classes::{ClassKind, Type};
use crate::ids::{ClassId, InstrId, MethodId, NodeId, ObjectId, ValueId};
use crate::ir::{Const, InvokeKind, Op};

impl Solver<'_> {
    pub(super) fn constrain_body(&mut self, node: NodeId) {
        let Some(built) = self.nodes[node.index()].built.clone() else {
            return;
        };
        let body = &built.body;
        for block in &body.blocks {
            for phi in &block.phis {
                let Some(to) = self.value_var(node, phi.result) else {
                    continue;
                };
                for input in &phi.inputs {
                    if let Some(from) = self.value_var(node, *input) {
                        self.graph.add_edge(from, to, None);
                    }
                }
            }
        }
        for (id, instr) in body.all_instrs() {
            let result = instr.result.and_then(|value| self.value_var(node, value));
            self.constrain_instr(
                node,
                id,
                &instr.op,
                result,
                instr.result.map(|value| body.ty(value)),
            );
        }
    }

    fn constrain_instr(
        &mut self,
        node: NodeId,
        id: InstrId,
        op: &Op,
        result: Option<Var>,
        ty: Option<Type>,
    ) {
        let (method, context) = (
            self.nodes[node.index()].method,
            self.nodes[node.index()].context,
        );
        match op {
            Op::Const(constant) => {
                let known = self.classes().well_known;
                let (class, kind) = match constant {
                    Const::String(_) => (known.string, ObjectKind::Merged),
                    Const::Class(class) => (known.class, ObjectKind::ClassObject(*class)),
                    Const::Opaque => (
                        ty.and_then(Type::class).unwrap_or(known.object),
                        ObjectKind::Returned(method),
                    ),
                    _ => return,
                };
                if let Some(result) = result {
                    let object = self.object(class, kind, Context::None);
                    self.graph.add_object(result, object);
                }
            }
            Op::New { class } => {
                if self.is_entered(*class) {
                    self.initialize(*class);
                }
                if let Some(result) = result {
                    let kind = ObjectKind::Allocated {
                        method,
                        instr: id,
                        dimension: 0,
                    };
                    let object = self.object(*class, kind, context);
                    self.graph.add_object(result, object);
                }
            }
            Op::NewArray { class, lengths } => {
                if let Some(result) = result {
                    let outer = self.new_array(node, id, *class, lengths.len());
                    // One object for all arrays of a class stands for some that are not empty.
                    let kind = self.objects.get(outer).kind;
                    if kind != ObjectKind::AnyOf && self.is_zero(node, lengths) {
                        self.empty_arrays.insert(outer);
                    }
                    self.graph.add_object(result, outer);
                }
            }
            Op::Lambda { lambda, args } => {
                let Some(result) = result else { return };
                let object = self.object(
                    lambda.interface,
                    ObjectKind::Lambda { method, instr: id },
                    context,
                );
                for (position, arg) in args.iter().enumerate() {
                    if let Some(from) = self.value_var(node, *arg) {
                        let into = self.field_var(object, HeapField::Captured(position as u16));
                        self.graph.add_edge(from, into, None);
                    }
                }
                self.graph.add_object(result, object);
            }
            Op::Concat { .. } => {
                if let Some(result) = result {
                    let string = self.classes().well_known.string;
                    let object = self.object(string, ObjectKind::Merged, Context::None);
                    self.graph.add_object(result, object);
                }
            }
            Op::Dynamic { bootstrap, .. } => {
                let name = self.classes().names.name(*bootstrap).to_owned();
                self.loader
                    .assumptions
                    .add(Assumption::UnknownBootstrap, name);
                if let (Some(result), Some(Type::Ref(class))) = (result, ty) {
                    let kind = ObjectKind::Allocated {
                        method,
                        instr: id,
                        dimension: 0,
                    };
                    let object = self.object(class, kind, context);
                    self.graph.add_object(result, object);
                }
            }
            Op::Cast { value, class } => {
                if let (Some(from), Some(to)) = (self.value_var(node, *value), result) {
                    self.edge(from, to, Some(*class));
                    self.on_objects(
                        from,
                        Use::Narrow {
                            class: *class,
                            into: to,
                        },
                    );
                }
            }
            Op::GetField { object, field } => {
                if let (Some(base), Some(into)) = (self.value_var(node, *object), result) {
                    let load = Use::Load {
                        field: HeapField::Field(*field),
                        into,
                        filter: None,
                    };
                    self.on_objects(base, load);
                }
            }
            Op::PutField {
                object,
                field,
                value,
            } => {
                if let (Some(base), Some(from)) =
                    (self.value_var(node, *object), self.value_var(node, *value))
                {
                    self.on_objects(
                        base,
                        Use::Store {
                            field: HeapField::Field(*field),
                            from,
                        },
                    );
                }
            }
            Op::GetStatic { field } => {
                let from = self.static_var(*field);
                if let Some(to) = result {
                    self.graph.add_edge(from, to, None);
                }
            }
            Op::PutStatic { field, value } => {
                let to = self.static_var(*field);
                if let Some(from) = self.value_var(node, *value) {
                    self.graph.add_edge(from, to, None);
                }
            }
            Op::ArrayLoad { array, .. } => {
                if let (Some(base), Some(into)) = (self.value_var(node, *array), result) {
                    self.on_objects(
                        base,
                        Use::Load {
                            field: HeapField::Elements,
                            into,
                            filter: None,
                        },
                    );
                }
            }
            Op::ArrayStore { array, value, .. } => {
                if let (Some(base), Some(from)) =
                    (self.value_var(node, *array), self.value_var(node, *value))
                {
                    self.on_objects(
                        base,
                        Use::Store {
                            field: HeapField::Elements,
                            from,
                        },
                    );
                }
            }
            Op::Invoke {
                kind,
                method: target,
                args,
            } => {
                let args = args.iter().map(|arg| self.value_var(node, *arg)).collect();
                let call = Call {
                    caller: node,
                    instr: id,
                    target: Target::Exact(*target),
                    args,
                    result,
                    start: None,
                    task: None,
                    silent: false,
                };
                self.invoke(*kind, *target, call);
            }
            Op::Return { value: Some(value) } => {
                if let Some(from) = self.value_var(node, *value) {
                    let to = self.nodes[node.index()].result;
                    self.graph.add_edge(from, to, None);
                }
            }
            Op::Throw { value } => {
                if let Some(from) = self.value_var(node, *value) {
                    self.graph.add_edge(from, self.thrown, None);
                }
            }
            Op::Catch => {
                if let (Some(to), Some(Type::Ref(class))) = (result, ty) {
                    self.edge(self.thrown, to, Some(class));
                }
            }
            _ => {}
        }
    }

    fn invoke(&mut self, kind: InvokeKind, method: MethodId, mut call: Call) {
        let receiver = call.args.first().copied().flatten();
        match kind {
            InvokeKind::Static => self.call_static(&call, method),
            InvokeKind::Special => {
                if let Some(receiver) = receiver {
                    self.call_special(call, method, receiver);
                }
            }
            InvokeKind::Virtual | InvokeKind::Interface => {
                if let Some(receiver) = receiver {
                    call.target = Target::Virtual(method);
                    self.on_objects(receiver, Use::Call(Arc::new(call)));
                }
            }
        }
    }

    fn is_zero(&self, node: NodeId, lengths: &[ValueId]) -> bool {
        let built = self.nodes[node.index()].built.as_ref();
        let (Some(built), [length]) = (built, lengths) else {
            return false;
        };
        matches!(
            built.body.defining(*length).map(|instr| &instr.op),
            Some(Op::Const(Const::Int(0)))
        )
    }

    /// The arrays that an instruction allocates, one inside the other; gives the outermost.
    fn new_array(
        &mut self,
        node: NodeId,
        instr: InstrId,
        class: ClassId,
        dimensions: usize,
    ) -> ObjectId {
        let (method, context) = (
            self.nodes[node.index()].method,
            self.nodes[node.index()].context,
        );
        let kind = |dimension: u8| ObjectKind::Allocated {
            method,
            instr,
            dimension,
        };
        let outermost = self.object(class, kind(0), context);
        let (mut outer, mut of) = (outermost, class);
        for dimension in 1..dimensions {
            let ClassKind::Array(Some(component)) = self.classes().class(of).kind else {
                break;
            };
            let inner = self.object(component, kind(dimension as u8), context);
            let elements = self.field_var(outer, HeapField::Elements);
            self.graph.add_object(elements, inner);
            (outer, of) = (inner, component);
        }
        outermost
    }
}
