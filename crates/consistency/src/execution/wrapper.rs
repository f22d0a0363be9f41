//! Wrappers: methods that pass a call on to the same method of what a field of their object refers to.
//!
//! Two wrappers of one interface may wrap each other as far as types and points-to sets tell; no program makes such a ring, since the call would not end.

use untorn_program::classes::Classes;
use untorn_program::ir::{Body, InvokeKind, Op};
use untorn_program::{MethodId, NodeId, Program};

use super::plain;

/// How many wrappers are followed.
const MOST: usize = 64;

/// The method of the same name that a call passes its own method's call on to, on what a field of the receiver refers to.
pub fn forwarded(program: &Program, body: &Body, op: &Op) -> Option<MethodId> {
    let Op::Invoke { kind, method, args } = op else {
        return None;
    };
    let (owner, _) = plain::field_of(body, *args.first()?)?;
    let by_class = matches!(kind, InvokeKind::Virtual | InvokeKind::Interface);
    let own = body.receiver() == Some(owner);
    (by_class && own && is_same(program.classes(), body.method, *method)).then_some(*method)
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
