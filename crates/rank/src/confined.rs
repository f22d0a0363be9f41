//! Fields that one thread at a time uses by the way their class is written, though no lock says so.
//!
//! These are patterns of a whole class, not of one method: who else uses the field decides.

use std::collections::BTreeSet;

use untorn_program::classes::Type;
use untorn_program::ir::{Body, Def, Op};
use untorn_program::{FieldId, InstrId, MethodId, ValueId};

use crate::code::RegionBody;
use crate::ends::{Access, Ends};
use crate::flow::Flow;
use crate::idiom::Idiom;

const SINGLE_CHECK: Idiom = Idiom {
    name: "racy single check",
    why: "what is written is computed of constants and final fields alone, so every thread writes the same",
};
const VIEW: Idiom = Idiom {
    name: "racy single check",
    why: "the object that is made is a view of the one that makes it or a value, and never changes, so one is as good as another",
};
const COMPUTED: Idiom = Idiom {
    name: "racy single check",
    why: "a value that never changes is put where none was found, and nothing takes it away again, so at worst it is computed twice",
};
const MESSAGE_LOOP: Idiom = Idiom {
    name: "message loop",
    why: "the field is used only by the loop that takes messages from a queue",
};
const RESULT: Idiom = Idiom {
    name: "publication",
    why: "others use the field only after they have waited for what is completed behind the last write",
};

/// The idiom by which a class keeps a field to one thread at a time.
pub fn of(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> Option<Idiom> {
    if ends.same_target() && is_single_check(region, flow, ends) {
        return Some(SINGLE_CHECK);
    }
    if ends.same_target() && is_view(region, flow, ends) {
        return Some(VIEW);
    }
    if ends.same_target() && is_computed(region, flow, ends) {
        return Some(COMPUTED);
    }
    let fields = private_fields(region, flow)?;
    let users = users(region, &fields);
    if users
        .iter()
        .all(|user| is_served(user, &mut BTreeSet::new()))
    {
        return Some(MESSAGE_LOOP);
    }
    let others = (users.iter()).filter(|user| user.method != region.method);
    let mut others = others.peekable();
    let told = others.peek().is_some() && completes_behind(region, flow);
    (told && others.all(|user| waits_before(user, &fields))).then_some(RESULT)
}

/// The private fields that both ends are of.
fn private_fields(region: &RegionBody<'_>, flow: &Flow) -> Option<Vec<FieldId>> {
    let mut fields = Vec::new();
    for id in flow.first.iter().chain(&flow.second) {
        let (Op::GetField { field, .. } | Op::PutField { field, .. }) = region.body.instr(*id).op
        else {
            return None;
        };
        fields.push(field);
    }
    (fields.iter().all(|field| region.is_private(*field))).then_some(fields)
}

/// The methods that use one of the fields, once their object was made.
fn users<'a>(region: &RegionBody<'a>, fields: &[FieldId]) -> Vec<RegionBody<'a>> {
    (region.neighbours())
        .chain(std::iter::once(region.clone()))
        .filter(|body| body.body.instrs.iter().any(|instr| uses(&instr.op, fields)))
        .collect()
}

fn uses(op: &Op, fields: &[FieldId]) -> bool {
    matches!(op, Op::GetField { field, .. } | Op::PutField { field, .. } if fields.contains(field))
}

/// Whether a method is a loop that takes messages, or is called by such alone.
fn is_served(body: &RegionBody<'_>, open: &mut BTreeSet<MethodId>) -> bool {
    if takes_messages(body) {
        return true;
    }
    if !open.insert(body.method) {
        return false;
    }
    let calls = |other: &RegionBody<'_>| {
        (other.body.instrs.iter())
            .any(|instr| matches!(instr.op, Op::Invoke { method, .. } if method == body.method))
    };
    let mut callers = body.neighbours().filter(calls).peekable();
    callers.peek().is_some() && callers.all(|caller| is_served(&caller, open))
}

fn takes_messages(body: &RegionBody<'_>) -> bool {
    body.body.instrs.iter().any(|instr| {
        let takes = (body.callee(instr)).is_some_and(|(class, method)| {
            class.starts_with("java/util/concurrent/")
                && matches!(method, "take" | "takeFirst" | "takeLast" | "poll")
        });
        takes && body.body.block(instr.block).in_loop
    })
}

/// Whether a future is completed, or a latch counted down, behind the last end.
fn completes_behind(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let last = flow.first.iter().chain(&flow.second).max();
    region.body.all_instrs().any(|(id, instr)| {
        last.is_some_and(|last| id > *last)
            && (region.callee(instr)).is_some_and(|(class, method)| {
                class.starts_with("java/util/concurrent/")
                    && matches!(method, "complete" | "completeExceptionally" | "countDown")
            })
    })
}

/// Whether a method waits for a future or a latch before it uses one of the fields.
fn waits_before(body: &RegionBody<'_>, fields: &[FieldId]) -> bool {
    let first = |wanted: &dyn Fn(InstrId) -> bool| {
        let ids = body.body.all_instrs().map(|(id, _)| id);
        ids.into_iter().find(|id| wanted(*id))
    };
    let used = first(&|id| uses(&body.body.instr(id).op, fields));
    let waited = first(&|id| {
        (body.callee(body.body.instr(id))).is_some_and(|(class, method)| {
            class.starts_with("java/util/concurrent/")
                && matches!(method, "join" | "get" | "await" | "getNow")
        })
    });
    matches!((waited, used), (Some(waited), Some(used)) if waited < used)
}

/// Whether a value is written where it was found missing, and every thread would write the same.
fn is_single_check(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    let body = &region.body;
    if ends.first.access != Access::Read || ends.second.access != Access::Write {
        return false;
    }
    let tested = flow.first.iter().any(|id| Flow::is_tested(body, *id));
    let same = |id: &InstrId| match &body.instr(*id).op {
        // The halves of a long can be seen apart.
        Op::PutField { value, .. } | Op::PutStatic { value, .. } => {
            matches!(body.value(*value).ty, Type::Int | Type::Float)
                && is_constant(region, body, *value, 8)
        }
        _ => false,
    };
    tested && flow.second.iter().all(same)
}

/// Whether a value of the platform is put in a field where none was found, which nothing else in the source file changes.
fn is_computed(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    let body = &region.body;
    if ends.first.access != Access::Read || ends.second.access != Access::Write {
        return false;
    }
    let tested = flow.first.iter().any(|id| Flow::is_tested(body, *id));
    let put = |op: &Op| match *op {
        Op::PutField { field, value, .. } | Op::PutStatic { field, value } => Some((field, value)),
        _ => None,
    };
    let is_put = |body: &Body, wanted: FieldId, harmless: &dyn Fn(ValueId) -> bool| {
        (body.instrs.iter())
            .filter_map(|instr| put(&instr.op))
            .any(|(field, value)| field == wanted && !harmless(value))
    };
    // What comes of the value that was there is no value computed anew.
    let anew = |value: ValueId| {
        body.value(value).ty != Type::Null && flow.derived.is_disjoint(&BTreeSet::from([value]))
    };
    let computed = |id: &InstrId| {
        put(&body.instr(*id).op).is_some_and(|(field, _)| {
            region.refers_to_value(field)
                && !is_put(body, field, &anew)
                && !(region.neighbours()).any(|other| is_put(&other.body, field, &|_| false))
        })
    };
    tested && flow.second.iter().all(computed)
}

/// Whether a view of the object itself, or a value, is made where none was found: an object of final fields that is given the one which makes it, or has nothing but numbers and strings.
fn is_view(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    let body = &region.body;
    if ends.first.access != Access::Read || ends.second.access != Access::Write {
        return false;
    }
    let made = |value: ValueId| {
        let Def::Instr(id) = body.value(value).def else {
            return false;
        };
        let Op::New { class } = body.instr(id).op else {
            return false;
        };
        // What is made of the value that was there is no good once that has changed.
        let is_made_of_it = body.instrs.iter().any(|instr| match &instr.op {
            Op::Invoke { args, .. } => {
                args.first() == Some(&value)
                    && args.iter().skip(1).any(|arg| flow.derived.contains(arg))
            }
            _ => false,
        });
        if is_made_of_it {
            return false;
        }
        let given_this = body.instrs.iter().any(|instr| match &instr.op {
            Op::Invoke { args, .. } => {
                args.first() == Some(&value)
                    && (args.iter().skip(1))
                        .any(|arg| matches!(body.value(*arg).def, Def::Param(0)))
            }
            _ => false,
        });
        let view = body.has_receiver && given_this;
        region.has_only_final_fields(class) && (view || region.has_only_values(class))
    };
    (flow.second.iter()).all(|id| match &body.instr(*id).op {
        Op::PutField { value, .. } => alternatives(body, *value).into_iter().any(made),
        _ => false,
    })
}

/// A value, or what meets in it.
fn alternatives(body: &Body, value: ValueId) -> Vec<ValueId> {
    let phis = body.blocks.iter().flat_map(|block| &block.phis);
    let met = phis.into_iter().find(|phi| phi.result == value);
    met.map_or_else(|| vec![value], |phi| phi.inputs.clone())
}

/// Whether a value is the same whoever computes it and whenever.
fn is_constant(region: &RegionBody<'_>, body: &Body, value: ValueId, deep: u32) -> bool {
    let Some(deep) = deep.checked_sub(1) else {
        return false;
    };
    let constant = |value: &ValueId| is_constant(region, body, *value, deep);
    match body.value(value).def {
        Def::Param(n) => n == 0 && body.has_receiver,
        Def::Phi(_) => false,
        Def::Instr(id) => {
            let instr = body.instr(id);
            match &instr.op {
                Op::Const(_) => true,
                Op::Compute { args, .. } | Op::Concat { args } => args.iter().all(constant),
                Op::Cast { value, .. } => constant(value),
                Op::GetField { object, field } => region.is_final(*field) && constant(object),
                Op::GetStatic { field } => region.is_final(*field),
                Op::Invoke { args, .. } => {
                    let pure = (region.callee(instr)).is_some_and(|(class, _)| {
                        matches!(
                            class,
                            "java/lang/String"
                                | "java/lang/Integer"
                                | "java/lang/Long"
                                | "java/lang/Double"
                                | "java/lang/Math"
                        )
                    });
                    pure && args.iter().all(constant)
                }
                _ => false,
            }
        }
    }
}
