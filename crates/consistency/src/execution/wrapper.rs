//! Wrappers and composites: methods that pass a call on to the same method of what their object refers to, directly, as an element of a collection or through a getter.
//!
//! Two wrappers of one interface may wrap each other as far as types and points-to sets tell; no program makes such a ring, since the call would not end.

use untorn_program::classes::Classes;
use untorn_program::ir::{Body, Def, InvokeKind, Op};
use untorn_program::{MethodId, NodeId, Program, ValueId};

/// How many wrappers are followed.
const MOST: usize = 64;

/// How many steps from an object to what it is made of are followed.
const STEPS: usize = 8;

/// The method of the same name that a call passes its own method's call on to, on what the receiver refers to.
pub fn forwarded(program: &Program, body: &Body, op: &Op) -> Option<MethodId> {
    let Op::Invoke { kind, method, args } = op else {
        return None;
    };
    let by_class = matches!(kind, InvokeKind::Virtual | InvokeKind::Interface);
    let own = is_part_of_receiver(body, *args.first()?);
    (by_class && own && is_same(program.classes(), body.method, *method)).then_some(*method)
}

/// Whether a value comes from a field of the receiver: that itself, what is taken out of it, or what calls without arguments give of either.
fn is_part_of_receiver(body: &Body, value: ValueId) -> bool {
    let mut at = value;
    for step in 0..STEPS {
        if body.receiver() == Some(at) {
            return step > 0;
        }
        let Def::Instr(instr) = body.value(at).def else {
            return false;
        };
        at = match &body.instr(instr).op {
            Op::Cast { value, .. } => *value,
            Op::GetField { object, .. } => *object,
            Op::ArrayLoad { array, .. } => *array,
            Op::Invoke { kind, args, .. } if *kind != InvokeKind::Static => match args.as_slice() {
                [receiver, rest @ ..] if rest.iter().all(|arg| !body.ty(*arg).is_reference()) => {
                    *receiver
                }
                _ => return false,
            },
            _ => return false,
        };
    }
    false
}

/// Whether two methods have one name and one descriptor.
pub fn is_same(classes: &Classes, left: MethodId, right: MethodId) -> bool {
    classes.method_name(left) == classes.method_name(right)
        && classes.method_descriptor(left) == classes.method_descriptor(right)
}

/// Whether what `callee` passes the call on to, in however many steps, is `from` again.
pub fn leads_back(program: &Program, from: NodeId, callee: NodeId) -> bool {
    let heap = program.heap();
    let mut met = vec![callee];
    let mut at = 0;
    while at < met.len() {
        let node = met[at];
        at += 1;
        let Some(body) = heap.body(node) else {
            continue;
        };
        for (id, instr) in body.all_instrs() {
            if forwarded(program, body, &instr.op).is_none() {
                continue;
            }
            for next in heap.callees(node, id) {
                if next == from {
                    return true;
                }
                let same = is_same(
                    program.classes(),
                    heap.node(next).method,
                    heap.node(node).method,
                );
                if same && met.len() < MOST && !met.contains(&next) {
                    met.push(next);
                }
            }
        }
    }
    false
}
