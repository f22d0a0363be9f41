//! Idioms that are correct though others come between their parts.

use std::collections::BTreeSet;

use untorn_findings::{Finding, Reduction, Step};
use untorn_program::ir::{Body, Def, Instr, InvokeKind, Op, Test};
use untorn_program::{BlockId, InstrId, ValueId};

use crate::code::RegionBody;
use crate::ends::{Access, Ends};
use crate::flow::{Flow, Stale};

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
const VALIDATED_ELSEWHERE: Idiom = Idiom {
    name: "validated optimistic read elsewhere",
    why: "all of it is under one lock, and who reads without that lock validates what was read",
};
const CAS_LOOP: Idiom = Idiom {
    name: "compareAndSet loop",
    why: "what was read is used only if it is still there, else it is read again",
};
const CONDITIONAL_UPDATE: Idiom = Idiom {
    name: "conditional update after a look",
    why: "the update itself checks again (compareAndSet, putIfAbsent and the like), as one step",
};
const DOUBLE_CHECK: Idiom = Idiom {
    name: "double-checked locking",
    why: "what was read without the lock is read and checked again under the lock before anything depends on it",
};
const SPIN: Idiom = Idiom {
    name: "wait for a value",
    why: "the loop reads until another thread changes the value, and uses nothing else of it",
};
const CLAIM: Idiom = Idiom {
    name: "claim by compareAndSet",
    why: "only the thread whose conditional update succeeds goes on to the rest",
};
const HAND_OVER: Idiom = Idiom {
    name: "hand-over",
    why: "what is taken out of a queue or a variable belongs to the thread that took it",
};
const PUBLICATION: Idiom = Idiom {
    name: "publication",
    why: "plain fields are written first, and then what tells other threads that they are ready",
};
const SNAPSHOT: Idiom = Idiom {
    name: "snapshot",
    why: "the reference is read once, and then what it refers to, which is not changed in place here",
};
const PART: Idiom = Idiom {
    name: "one of several parts",
    why: "it picks one object of an array and calls that, which is all it does",
};
const FOUND: Idiom = Idiom {
    name: "find or make",
    why: "the object under a key is found or made in one step and never removed, and what follows is about that object alone",
};
const MADE_IF_MISSING: Idiom = Idiom {
    name: "made if missing",
    why: "the entry is there from then on, whoever made it, and nothing that was read before is used",
};
const LOOK_BEFORE_WALK: Idiom = Idiom {
    name: "look before a walk",
    why: "it asks whether there is anything before it walks over the collection, and walking over what is empty by then does no harm",
};
const FILLING: Idiom = Idiom {
    name: "filling a queue",
    why: "what is put into the queue is handed over one by one, and nobody counts on two at once",
};
const POOL: Idiom = Idiom {
    name: "taking out and giving back",
    why: "what is taken out of the queue belongs to the thread until it puts something in again",
};
const ADDITIONS: Idiom = Idiom {
    name: "additions to a sum",
    why: "the order in which numbers are added makes no difference to their sum",
};
const NUMBER: Idiom = Idiom {
    name: "a number of its own",
    why: "each thread gets another number out of the counter, whoever comes in between, and goes on with that",
};
const ONE_CALL: Idiom = Idiom {
    name: "one call of a concurrent collection",
    why: "both accesses are parts of one call, which the collection makes as one step",
};
const ROUNDS: Idiom = Idiom {
    name: "loop over a queue",
    why: "each round of the loop is a step of its own",
};

/// Idioms that explain two accesses and nothing else: the region may be torn in another way as well.
const OF_A_PAIR: [Idiom; 6] = [
    ADDITIONS,
    MADE_IF_MISSING,
    NUMBER,
    ONE_CALL,
    POOL,
    VALIDATED_ELSEWHERE,
];

/// Whether an idiom of that name explains all of the region that shows it.
pub fn explains_region(name: &str) -> bool {
    OF_A_PAIR.iter().all(|idiom| idiom.name != name)
}

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
    if same && looks_before_walk(region, flow, ends) {
        return Some(LOOK_BEFORE_WALK);
    }
    let found = |id: &InstrId| finds_or_makes(region, *id);
    if (flow.first.iter()).all(found) && (flow.second.iter()).all(|id| is_on(body, flow, *id)) {
        return Some(FOUND);
    }
    if same && flow.first.iter().all(|id| makes_if_missing(region, *id)) {
        return Some(MADE_IF_MISSING);
    }
    let repeated = flow.first == flow.second && flow.first.iter().all(|id| in_loop(body, *id));
    // A field that is read anew in each round is a flag; what a call says may be used for the next.
    let waits = || {
        (flow.first.iter())
            .all(|id| region.field(body.instr(*id)).is_some() || only_waits(region, *id))
    };
    if repeated && ends.are_reads() && ends.same_target() && only_tested(body, flow) && waits() {
        return Some(SPIN);
    }
    // A `for` loop calls once before its first round and once after each.
    let all = || flow.first.iter().chain(&flow.second);
    if all().all(|id| fills(region, *id)) {
        return Some(FILLING);
    }
    if same && all().all(|id| adds(region, *id)) {
        return Some(ADDITIONS);
    }
    let gives_back = (flow.first.iter()).all(|id| takes_out(region, *id))
        && (flow.second.iter()).all(|id| fills(region, *id));
    if same && gives_back && !asks_queue(region) {
        return Some(POOL);
    }
    let takes_number = |id: &InstrId| {
        steps_counter(region, *id) && !is_looked_at(body, *id) && flow.stale.is_some()
    };
    if !same && flow.first.iter().all(takes_number) {
        return Some(NUMBER);
    }
    // The same part of the content twice is two calls in two rounds of a loop.
    let is_one_call = flow.first == flow.second
        && !ends.same_target()
        && (flow.first.iter()).all(|id| is_of_concurrent_collection(region, *id));
    if same && is_one_call {
        return Some(ONE_CALL);
    }
    if same
        && all().all(|id| is_queue_call(region, *id))
        && flow.second.iter().all(|id| in_loop(body, *id))
    {
        return Some(ROUNDS);
    }
    let double =
        |first: &InstrId| is_double_checked(region, *first) || is_asked_again(region, flow, *first);
    if ends.are_reads()
        && ends.same_target()
        && flow.first.iter().any(double)
        && !publishes_early(region, flow)
    {
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

/// Idioms by which a check alone can tell that others are kept out: a run sees by itself whether they are.
pub fn without_run(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> Option<Idiom> {
    let body = &region.body;
    let rechecked = ends.first.access == Access::Read
        && (flow.first.iter()).any(|first| is_rechecked(region, flow, *first))
        && !publishes_early(region, flow);
    if rechecked {
        return Some(DOUBLE_CHECK);
    }
    if (flow.first.iter()).all(|id| is_claim(region, *id)) {
        return Some(CLAIM);
    }
    let taken = flow.first.iter().all(|id| takes_out(region, *id));
    if taken && (flow.second.iter()).all(|id| is_on(body, flow, *id)) {
        return Some(HAND_OVER);
    }
    let called = |id: &InstrId| matches!(body.instr(*id).op, Op::Invoke { .. });
    if (flow.second.iter()).all(|id| called(id) && is_on(body, flow, *id)) {
        if (flow.first.iter()).all(|id| matches!(body.instr(*id).op, Op::ArrayLoad { .. })) {
            return Some(PART);
        }
        if (flow.first.iter()).all(|id| is_reference_read(region, *id)) {
            return Some(SNAPSHOT);
        }
    }
    let conditional = |id: &InstrId| is_conditional_call(region, *id) && Flow::is_tested(body, *id);
    let same = ends.first.object() == ends.second.object();
    if same && (flow.second.iter()).all(conditional) {
        return Some(CONDITIONAL_UPDATE);
    }
    if ends.first.access == Access::Write
        && ends.second.access == Access::Write
        && is_published(region, flow)
    {
        return Some(PUBLICATION);
    }
    None
}

/// A reference, and what it refers to, as types name them.
pub fn snapshot(ends: &Ends) -> Option<Idiom> {
    let inside = ends.second.target == format!("what {} holds", ends.first.target);
    (ends.are_reads() && inside).then_some(SNAPSHOT)
}

/// As a double check, whatever the second end is: what was read first goes nowhere once the lock is taken.
fn is_rechecked(region: &RegionBody<'_>, flow: &Flow, first: InstrId) -> bool {
    let lock = (region.body.all_instrs())
        .find(|(id, instr)| *id > first && takes_lock(region, instr))
        .map(|(id, _)| id);
    let used_after = |lock: InstrId| {
        region.body.all_instrs().any(|(id, instr)| {
            id > lock
                && match &instr.op {
                    Op::PutField { value, .. } | Op::PutStatic { value, .. } => {
                        flow.derived.contains(value)
                    }
                    Op::Invoke { args, .. } => args.iter().any(|arg| flow.derived.contains(arg)),
                    _ => false,
                }
        })
    };
    lock.is_some_and(|lock| !used_after(lock)) && is_double_checked(region, first)
}

/// Whether it is a conditional update whose answer decides what follows, or a step of a counter of which one thread alone sees a certain value.
fn is_claim(region: &RegionBody<'_>, id: InstrId) -> bool {
    let instr = region.body.instr(id);
    let Some((_, method)) = (region.callee(instr))
        .filter(|(class, _)| class.starts_with("java/util/concurrent/atomic/"))
    else {
        return false;
    };
    if steps_counter(region, id) {
        return is_compared(&region.body, id);
    }
    (CONDITIONAL.contains(&method) || method == "getAndSet") && Flow::is_tested(&region.body, id)
}

/// Whether a call counts an atomic variable up or down by one.
fn steps_counter(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        class.starts_with("java/util/concurrent/atomic/")
            && matches!(
                method,
                "incrementAndGet" | "decrementAndGet" | "getAndIncrement" | "getAndDecrement"
            )
    })
}

/// Whether a branch depends on the value itself, or on what is computed of it.
fn is_looked_at(body: &Body, id: InstrId) -> bool {
    let mut values: Vec<ValueId> = body.instr(id).result.into_iter().collect();
    let computed = body.instrs.iter().filter_map(|instr| {
        let mut used = false;
        (instr.op).for_each_operand(|value| used |= values.contains(&value));
        let result = instr.result.filter(|_| used);
        matches!(instr.op, Op::Compute { .. }).then_some(result)?
    });
    let computed: Vec<ValueId> = computed.collect();
    values.extend(computed);
    body.instrs.iter().any(|instr| {
        let mut used = false;
        (instr.op).for_each_operand(|value| used |= values.contains(&value));
        used && matches!(instr.op, Op::If { .. } | Op::Switch { .. })
    })
}

/// Whether the value itself is compared for equality.
fn is_compared(body: &Body, id: InstrId) -> bool {
    let result = body.instr(id).result;
    body.instrs.iter().any(|instr| {
        let of_it = |value: ValueId| Some(value) == result;
        matches!(instr.op, Op::If { test: Test::Eq | Test::Ne, left, right }
            if of_it(left) || right.is_some_and(of_it))
    })
}

/// Whether a call gives the object under a key, which no method of the same source file takes away again.
fn finds_or_makes(region: &RegionBody<'_>, id: InstrId) -> bool {
    const CHANGES: [&str; 3] = ["put", "compute", "merge"];
    let finds = (region.callee(region.body.instr(id)))
        .is_some_and(|(class, method)| is_map(class) && method == "computeIfAbsent");
    let changed = |method: &str| {
        takes_away(method) || method.starts_with("replace") || CHANGES.contains(&method)
    };
    finds && !is_called_on_map(region, &changed)
}

/// Whether a call makes sure that there is something under a key, without a look at what; no method of the same source file takes it away again.
fn makes_if_missing(region: &RegionBody<'_>, id: InstrId) -> bool {
    let body = &region.body;
    let instr = body.instr(id);
    let makes = (region.callee(instr)).is_some_and(|(class, method)| {
        is_map(class) && matches!(method, "putIfAbsent" | "computeIfAbsent")
    });
    let is_used = instr.result.is_some_and(|result| {
        let derived = Flow::derived_of(body, &[result]);
        derived.len() > 1
            || body.instrs.iter().any(|other| {
                let mut used = false;
                other.op.for_each_operand(|value| used |= value == result);
                used
            })
    });
    // What these compute may be nothing, which takes the entry away.
    let away = |method: &str| takes_away(method) || matches!(method, "compute" | "merge");
    makes && !is_used && !is_called_on_map(region, &away)
}

fn is_map(class: &str) -> bool {
    class.starts_with("java/util/") && class.ends_with("Map")
}

fn takes_away(method: &str) -> bool {
    method.starts_with("remove")
        || method.starts_with("poll")
        || matches!(method, "clear" | "computeIfPresent")
}

/// Whether the method, or another one of the same source file, calls such a method of a map.
fn is_called_on_map(region: &RegionBody<'_>, wanted: &dyn Fn(&str) -> bool) -> bool {
    let calls = |body: &RegionBody<'_>| {
        (body.body.instrs.iter())
            .filter_map(|instr| body.callee(instr))
            .any(|(class, method)| is_map(class) && wanted(method))
    };
    calls(region) || region.neighbours().any(|other| calls(&other))
}

/// Whether a call only puts something into a queue that threads share.
fn fills(region: &RegionBody<'_>, id: InstrId) -> bool {
    const FILLS: [&str; 7] = [
        "add",
        "addFirst",
        "addLast",
        "offer",
        "offerFirst",
        "offerLast",
        "put",
    ];
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        let is_queue = class.ends_with("Queue") || class.ends_with("Deque");
        class.starts_with("java/util/concurrent/") && is_queue && FILLS.contains(&method)
    })
}

/// Whether a collection that several threads may use is asked how much is in it, only to decide whether it is walked over.
fn looks_before_walk(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    const WALKS: [&str; 7] = [
        "forEach",
        "iterator",
        "listIterator",
        "parallelStream",
        "spliterator",
        "stream",
        "toArray",
    ];
    let is = |ids: &[InstrId], names: &[&str]| {
        let mut called = ids.iter().map(|id| region.callee(region.body.instr(*id)));
        called.all(|callee| callee.is_some_and(|(_, method)| names.contains(&method)))
    };
    ends.first.target.starts_with("java.util.concurrent.")
        && is(&flow.first, &["isEmpty", "size"])
        && is(&flow.second, &WALKS)
        && only_tested(&region.body, flow)
}

/// Whether what is checked twice gets its value under the lock before that is finished: who only looks, without the lock, gets what is still worked on.
pub fn publishes_early(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let body = &region.body;
    flow.first.iter().any(|&first| {
        let Some(field) = region.field(body.instr(first)) else {
            return false;
        };
        let lock = (body.all_instrs()).find(|(id, instr)| *id > first && takes_lock(region, instr));
        let Some((lock, _)) = lock.filter(|_| is_double_checked(region, first)) else {
            return false;
        };
        body.all_instrs().any(|(at, instr)| {
            let (Op::PutField { value, .. } | Op::PutStatic { value, .. }) = instr.op else {
                return false;
            };
            at > lock
                && region.field(instr) == Some(field)
                && is_worked_on(region, &made_for(region, value, lock), at)
        })
    })
}

/// The objects made behind an instruction that are, or go into, a value.
fn made_for(region: &RegionBody<'_>, value: ValueId, behind: InstrId) -> BTreeSet<ValueId> {
    let body = &region.body;
    let mut made = BTreeSet::new();
    let mut open = vec![value];
    let mut known = BTreeSet::new();
    while let Some(value) = open.pop() {
        if !known.insert(value) {
            continue;
        }
        match body.value(value).def {
            Def::Instr(id) if id > behind => {
                let instr = body.instr(id);
                if matches!(instr.op, Op::New { .. } | Op::Invoke { .. }) {
                    made.insert(value);
                }
                instr.op.for_each_operand(|operand| open.push(operand));
            }
            Def::Phi(_) => {
                let phis = body.blocks.iter().flat_map(|block| &block.phis);
                for phi in phis.filter(|phi| phi.result == value) {
                    open.extend(phi.inputs.iter().copied());
                }
            }
            _ => {}
        }
    }
    // The same objects by the names that casts and merges give them.
    loop {
        let before = made.len();
        for instr in &body.instrs {
            if let (Op::Cast { value, .. }, Some(result)) = (&instr.op, instr.result)
                && made.contains(value)
            {
                made.insert(result);
            }
        }
        for phi in body.blocks.iter().flat_map(|block| &block.phis) {
            if phi.inputs.iter().any(|input| made.contains(input)) {
                made.insert(phi.result);
            }
        }
        if made.len() == before {
            return made;
        }
    }
}

/// Whether one of these objects is changed behind an instruction, or handed to code that may.
fn is_worked_on(region: &RegionBody<'_>, made: &BTreeSet<ValueId>, behind: InstrId) -> bool {
    region.body.all_instrs().any(|(id, instr)| {
        id > behind
            && match &instr.op {
                Op::PutField { object, .. } => made.contains(object),
                Op::Invoke { kind, args, .. } => {
                    let receiver = usize::from(*kind != InvokeKind::Static).min(args.len());
                    let (on, handed) = args.split_at(receiver);
                    let any = |values: &[ValueId]| values.iter().any(|value| made.contains(value));
                    (region.callee(instr)).is_some_and(|(class, method)| {
                        let changes = ["add", "put", "set", "remove", "clear"];
                        let is_changed = class.starts_with("java/util/")
                            && changes.iter().any(|name| method.starts_with(name));
                        // What the platform is given it may keep, and does not change; code that it is told to call may.
                        let is_foreign =
                            !class.starts_with("java/") || class.starts_with("java/util/function/");
                        let speaks = class.contains("Log") || method.starts_with("log");
                        (is_changed && any(on)) || (is_foreign && !speaks && any(handed))
                    })
                }
                _ => false,
            }
    })
}

/// Whether a method of the same source file asks a queue what is in it: to that one, what was taken out is missing.
fn asks_queue(region: &RegionBody<'_>) -> bool {
    let asks = |body: &RegionBody<'_>| {
        (body.body.instrs.iter())
            .filter_map(|instr| body.callee(instr))
            .any(|(class, method)| {
                let is_queue = class.ends_with("Queue") || class.ends_with("Deque");
                is_queue && matches!(method, "isEmpty" | "size" | "contains" | "peek" | "element")
            })
    };
    asks(region) || region.neighbours().any(|other| asks(&other))
}

/// Whether a call only adds to a sum.
fn adds(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        let is_sum = class.ends_with("/atomic/LongAdder") || class.ends_with("/atomic/DoubleAdder");
        is_sum && matches!(method, "add" | "increment" | "decrement")
    })
}

/// Whether a call is on a collection of which each call is one step.
fn is_of_concurrent_collection(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, _)| {
        let name = class.strip_prefix("java/util/concurrent/");
        name.is_some_and(|name| {
            let of_its_own = ["Map", "Set", "List", "Queue", "Deque"];
            !name.contains('/') && of_its_own.iter().any(|kind| name.ends_with(kind))
        })
    })
}

/// Whether what is read first is only tested, and the other end asks again under a lock that is taken in between.
fn is_asked_again(region: &RegionBody<'_>, flow: &Flow, first: InstrId) -> bool {
    let body = &region.body;
    let asks_again = |second: &InstrId| {
        let is_locked = (body.all_instrs())
            .any(|(id, instr)| first < id && id < *second && takes_lock(region, instr));
        is_locked && Flow::is_tested(body, *second)
    };
    let only_tested = matches!(flow.stale, None | Some(Stale::Checked));
    only_tested && Flow::is_tested(body, first) && flow.second.iter().all(asks_again)
}

/// Whether both ends are in loops.
pub fn in_rounds(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let mut both = flow.first.iter().chain(&flow.second);
    both.all(|id| in_loop(&region.body, *id))
}

/// Whether a loop without a lock takes one and the same step again and again, of which nothing is used for the next.
pub fn repeats_step(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    let steps = |ids: &[InstrId]| -> Vec<_> {
        let callee = |id: &InstrId| region.callee(region.body.instr(*id));
        ids.iter().map(callee).collect()
    };
    let (first, second) = (steps(&flow.first), steps(&flow.second));
    let same = first.iter().all(Option::is_some) && second.iter().all(|step| first.contains(step));
    let locks = region.is_synchronized()
        || (region.body.all_instrs()).any(|(_, instr)| takes_lock(region, instr));
    same && flow.stale.is_none()
        && !locks
        && ends.first.access != Access::Read
        && in_rounds(region, flow)
}

/// Whether what is read first is read and checked again under a lock before it counts.
pub fn double_check(region: &RegionBody<'_>, flow: &Flow) -> Option<Idiom> {
    ((flow.first.iter()).any(|first| is_double_checked(region, *first))
        && !publishes_early(region, flow))
    .then_some(DOUBLE_CHECK)
}

/// Whether a call reads a reference that others may replace.
fn is_reference_read(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        class.ends_with("/atomic/AtomicReference")
            && method.starts_with("get")
            && !method.contains("And")
    })
}

/// Whether a call gives what it returns to its caller alone.
fn takes_out(region: &RegionBody<'_>, id: InstrId) -> bool {
    (region.callee(region.body.instr(id))).is_some_and(|(class, method)| {
        class.starts_with("java/util/")
            && ["take", "poll", "remove", "pop", "getAndSet", "exchange"]
                .iter()
                .any(|name| method.starts_with(name))
    })
}

/// Whether an instruction works on an object that comes from the first end.
fn is_on(body: &Body, flow: &Flow, id: InstrId) -> bool {
    match &body.instr(id).op {
        Op::GetField { object, .. } | Op::PutField { object, .. } => flow.derived.contains(object),
        Op::Invoke { args, .. } => args.first().is_some_and(|on| flow.derived.contains(on)),
        _ => false,
    }
}

/// Whether plain fields are written, and behind them what others wait for or look at.
fn is_published(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let plain = flow
        .first
        .iter()
        .all(|id| !region.is_volatile(region.body.instr(*id)));
    let last = flow.second.iter().max();
    let tells = |(id, instr): (InstrId, &Instr)| {
        let later = last.is_some_and(|last| id >= *last);
        let told = match &instr.op {
            Op::PutField { .. } | Op::PutStatic { .. } => region.is_volatile(instr),
            Op::Invoke { .. } => region.callee(instr).is_some_and(|(class, method)| {
                class.starts_with("java/util/concurrent/")
                    && matches!(
                        method,
                        "countDown" | "complete" | "put" | "offer" | "arrive"
                    )
            }),
            _ => false,
        };
        later && told
    };
    plain && region.body.all_instrs().any(tells)
}

/// Whether the loop around a read does nothing but read and wait.
fn only_waits(region: &RegionBody<'_>, id: InstrId) -> bool {
    let body = &region.body;
    let at = body.instr(id).block;
    let (before, behind) = (reached(body, at, false), reached(body, at, true));
    let asks = region.callee(body.instr(id));
    body.instrs.iter().all(|instr| {
        let inside = before.contains(&instr.block) && behind.contains(&instr.block);
        !inside
            || match &instr.op {
                Op::PutField { .. } | Op::PutStatic { .. } | Op::ArrayStore { .. } => false,
                Op::Invoke { .. } => region
                    .callee(instr)
                    .is_some_and(|callee| Some(callee) == asks || is_pause(callee)),
                _ => true,
            }
    })
}

fn is_pause((class, method): (&str, &str)) -> bool {
    matches!(class, "java/lang/Thread" | "java/lang/System")
        || class.ends_with("/LockSupport")
        || class.ends_with("/TimeUnit")
        || method == "wait"
        || method.starts_with("await")
}

/// The blocks on cycles or ways from this one, or to it.
fn reached(body: &Body, from: BlockId, forward: bool) -> BTreeSet<BlockId> {
    let mut known = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let block = body.block(at);
        let next = if forward { &block.succs } else { &block.preds };
        open.extend(next.iter().copied().filter(|next| known.insert(*next)));
    }
    known
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

/// Whether all that the finding is about is done under a lock, and who reads that without the lock validates what was read.
pub fn lacks_only_validated_reads(finding: &Finding, region: &RegionBody<'_>) -> Option<Idiom> {
    let evidence = &finding.evidence;
    if evidence.reductions.is_empty() || !evidence.interleavings.is_empty() {
        return None;
    }
    let steps = || (evidence.reductions.iter()).flat_map(|it| [&it.commit, &it.violation]);
    let is_access = |step: &Step| matches!(step.op.as_str(), "read" | "write" | "update");
    let is_locked = |reduction: &Reduction| {
        let (first, second) = (&reduction.commit.locks, &reduction.violation.locks);
        first.iter().any(|lock| second.contains(lock))
    };
    if !steps().all(is_access) || !evidence.reductions.iter().all(is_locked) {
        return None;
    }
    let validated: Vec<RegionBody<'_>> = region
        .neighbours()
        .filter(|other| is_validated(other))
        .collect();
    let is_validated_elsewhere = |step: &Step| {
        let name = step.target.rsplit('.').next().unwrap_or(&step.target);
        let reads = |other: &RegionBody<'_>| {
            (other.body.all_instrs()).any(|(_, instr)| other.field(instr) == Some(name))
        };
        validated.iter().any(reads)
    };
    steps()
        .all(is_validated_elsewhere)
        .then_some(VALIDATED_ELSEWHERE)
}

/// Whether nobody comes between two writes but who reads optimistically, and validates what was read.
pub fn is_seen_only_by_validated_reads(
    finding: &Finding,
    region: &RegionBody<'_>,
    ends: &Ends,
) -> Option<Idiom> {
    let order = finding.evidence.interleavings.first()?;
    let torn = order.torn?;
    let own = &order.steps.iter().find(|step| step.n == torn.0)?.thread;
    let mut others = (order.steps.iter())
        .filter(|step| step.thread != *own && (torn.0..torn.1).contains(&step.n))
        .peekable();
    others.peek()?;
    let validated: Vec<RegionBody<'_>> = region
        .neighbours()
        .filter(|other| is_validated(other))
        .collect();
    let is_validated_read = |step: &Step| {
        step.op.trim_start_matches("volatile ") == "read"
            && (step.place.as_ref())
                .is_some_and(|place| validated.iter().any(|other| other.holds(place)))
    };
    let writes = ends.first.access == Access::Write && ends.second.access == Access::Write;
    (writes && others.all(is_validated_read)).then_some(VALIDATED_ELSEWHERE)
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
        let conditional = is_conditional_call(region, id);
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

/// Whether a call of the library changes something only if it is still as expected.
fn is_conditional_call(region: &RegionBody<'_>, id: InstrId) -> bool {
    let instr = region.body.instr(id);
    let Op::Invoke { args, .. } = &instr.op else {
        return false;
    };
    (region.callee(instr)).is_some_and(|(class, method)| {
        // `remove(key, value)` of a map; a list's `remove(index)` has one argument less.
        let expects = method == "remove" && class.ends_with("Map") && args.len() == 3;
        class.starts_with("java/") && (CONDITIONAL.contains(&method) || expects)
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
