//! Idioms that are correct though others come between their parts.

use untorn_program::InstrId;
use untorn_program::ir::{Body, Instr, Op};

use crate::code::RegionBody;
use crate::ends::{Access, Ends};
use crate::flow::Flow;

/// A name that programmers know, and why the tear does no harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Idiom {
    pub name: &'static str,
    pub why: &'static str,
}

const OPTIMISTIC_READ: Idiom = Idiom {
    name: "validated optimistic read",
    why: "what was read optimistically is validated before it is used",
};
const CAS_LOOP: Idiom = Idiom {
    name: "compareAndSet loop",
    why: "what was read is used only if it is still there, else it is read again",
};
const CONDITIONAL_UPDATE: Idiom = Idiom {
    name: "conditional update after a look",
    why: "the update itself checks again (compareAndSet, putIfAbsent and kin), as one step",
};
const DOUBLE_CHECK: Idiom = Idiom {
    name: "double-checked locking",
    why: "what was read without the lock is read and checked again under the lock before anything depends on it",
};
const SPIN: Idiom = Idiom {
    name: "wait for a value",
    why: "the loop reads until another thread changes the value, and uses nothing else of it",
};
const ROUNDS: Idiom = Idiom {
    name: "loop over a queue",
    why: "each round of the loop is a step of its own",
};

/// Calls that change something only if it is still as expected.
const CONDITIONAL: [&str; 12] = [
    "compareAndSet",
    "weakCompareAndSet",
    "weakCompareAndSetPlain",
    "weakCompareAndSetVolatile",
    "weakCompareAndSetAcquire",
    "weakCompareAndSetRelease",
    "compareAndExchange",
    "putIfAbsent",
    "computeIfAbsent",
    "addIfAbsent",
    "replace",
    "computeIfPresent",
];

/// The idiom that the region follows, if it does.
pub fn of(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> Option<Idiom> {
    let body = &region.body;
    if ends.are_reads() && is_validated(region) {
        return Some(OPTIMISTIC_READ);
    }
    let same = ends.first.object() == ends.second.object();
    if same && ends.first.access != Access::Write && has_cas_loop(region, flow) {
        return Some(CAS_LOOP);
    }
    if same && ends.first.access == Access::Read && is_conditional(region, flow) {
        return Some(CONDITIONAL_UPDATE);
    }
    let repeated = flow.first == flow.second && flow.first.iter().all(|id| in_loop(body, *id));
    if repeated && ends.are_reads() && ends.same_target() && only_tested(body, flow) {
        return Some(SPIN);
    }
    // A `for` loop calls once before its first round and once after each.
    let all = || flow.first.iter().chain(&flow.second);
    if same
        && all().all(|id| is_queue_call(region, *id))
        && flow.second.iter().all(|id| in_loop(body, *id))
    {
        return Some(ROUNDS);
    }
    let double = ends.are_reads()
        && ends.same_target()
        && (flow.first.iter()).any(|first| is_double_checked(region, *first));
    if double {
        return Some(DOUBLE_CHECK);
    }
    of_locks(region, ends)
}

/// As [`of`], where only the locks are known that are given up and taken again.
pub fn of_locks(region: &RegionBody<'_>, ends: &Ends) -> Option<Idiom> {
    let double = ends.gives_up_lock()
        && (region.body.all_instrs()).any(|(id, _)| is_double_checked(region, id));
    double.then_some(DOUBLE_CHECK)
}

fn in_loop(body: &Body, id: InstrId) -> bool {
    body.block(body.instr(id).block).in_loop
}

/// Whether what is read is tested by branches and used for nothing else.
fn only_tested(body: &Body, flow: &Flow) -> bool {
    body.instrs.iter().all(|instr| {
        let mut used = false;
        (instr.op).for_each_operand(|value| used |= flow.derived.contains(&value));
        !used
            || matches!(
                instr.op,
                Op::If { .. } | Op::Switch { .. } | Op::Compute { .. } | Op::Cast { .. }
            )
    })
}

fn is_validated(region: &RegionBody<'_>) -> bool {
    let calls = |name: &str| {
        (region.body.all_instrs())
            .find(|(_, instr)| {
                region
                    .callee(instr)
                    .is_some_and(|(_, method)| method == name)
            })
            .map(|(id, _)| id)
    };
    calls("tryOptimisticRead").is_some()
        && calls("validate").is_some_and(|id| Flow::is_tested(&region.body, id))
}

/// Whether what is read goes into a conditional update whose answer is tested.
fn has_cas_loop(region: &RegionBody<'_>, flow: &Flow) -> bool {
    region.body.all_instrs().any(|(id, instr)| {
        let Op::Invoke { args, .. } = &instr.op else {
            return false;
        };
        // The receiver, or the map's key, is not what is compared.
        let compares = args.iter().skip(1).any(|arg| flow.derived.contains(arg));
        let conditional = (region.callee(instr)).is_some_and(|(_, method)| {
            method.contains("ompareAnd") || (method == "replace" && args.len() == 4)
        });
        conditional && compares && Flow::is_tested(&region.body, id)
    })
}

/// Whether the second end is a conditional update, whose answer, or the variable again, is looked at.
fn is_conditional(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let body = &region.body;
    flow.second.iter().all(|&id| {
        let instr = body.instr(id);
        let conditional = (region.callee(instr)).is_some_and(|(class, method)| {
            class.starts_with("java/") && CONDITIONAL.contains(&method)
        });
        let answered = instr.result.is_some_and(|answer| {
            body.instrs.iter().any(|other| {
                let mut used = false;
                other.op.for_each_operand(|value| used |= value == answer);
                used
            }) || body
                .blocks
                .iter()
                .flat_map(|block| &block.phis)
                .any(|phi| phi.inputs.contains(&answer))
        });
        let asked_again = (flow.first.first()).is_some_and(|&first| {
            let asks = region.callee(body.instr(first));
            (body.all_instrs())
                .any(|(later, other)| later > id && asks.is_some() && region.callee(other) == asks)
        });
        conditional && (answered || asked_again)
    })
}

fn is_queue_call(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        class.starts_with("java/util/")
            && matches!(
                method,
                "poll"
                    | "pollFirst"
                    | "pollLast"
                    | "take"
                    | "takeFirst"
                    | "takeLast"
                    | "offer"
                    | "put"
                    | "add"
            )
    })
}

/// Whether what this instruction reads is tested, read again under a lock that is taken then, tested again, and written only after that.
fn is_double_checked(region: &RegionBody<'_>, first: InstrId) -> bool {
    let body = &region.body;
    let reads = body.instr(first);
    let reads_again = |id: InstrId| {
        let other = body.instr(id);
        match (region.field(reads), region.callee(reads)) {
            (Some(field), _) => {
                matches!(other.op, Op::GetField { .. } | Op::GetStatic { .. })
                    && region.field(other) == Some(field)
            }
            (None, callee) => callee.is_some() && region.callee(other) == callee,
        }
    };
    // Instructions are numbered in the order of the text, and so does a double check read.
    let lock = (body.all_instrs()).find(|(id, instr)| *id > first && takes_lock(region, instr));
    let again = lock.and_then(|(lock, _)| {
        (body.all_instrs())
            .find(|(id, _)| *id > lock && reads_again(*id) && Flow::is_tested(body, *id))
    });
    let Some((again, _)) = again else {
        return false;
    };
    let written_before = body.all_instrs().any(|(id, instr)| {
        id < again
            && matches!(instr.op, Op::PutField { .. } | Op::PutStatic { .. })
            && region.field(instr).is_some()
            && region.field(instr) == region.field(reads)
    });
    Flow::is_tested(body, first) && !written_before
}

fn takes_lock(region: &RegionBody<'_>, instr: &Instr) -> bool {
    matches!(instr.op, Op::MonitorEnter { .. })
        || (region.callee(instr)).is_some_and(|(class, method)| {
            class.starts_with("java/util/concurrent/")
                && matches!(
                    method,
                    "lock"
                        | "lockInterruptibly"
                        | "writeLock"
                        | "readLock"
                        | "acquire"
                        | "acquireUninterruptibly"
                )
        })
}
