//! Whether the two parts of a tear belong together at all, where only class files say so and no run has shown it.
//!
//! A check names any two steps that do not compose, and most pairs of steps of a program are nobody's invariant.
//! Two parts belong together if something read in the first is used in the second ([`crate::flow`]), or if the program uses both in one place elsewhere: who keeps a list and a count beside it has a method that looks at both.

use untorn_findings::{Finding, GuardLoss, LockView, MethodViews, Place, Region, TypingPart};
use untorn_program::ir::{Body, Def, Instr, Op};
use untorn_program::{BlockId, FieldId, InstrId, ValueId};

use crate::code::RegionBody;
use crate::ends::{Access, End, Ends, access_of_call};
use crate::flow::Flow;
use crate::intent;

/// Why the object of a region cannot be torn by others yet, or any more.
pub fn at_either_end_of_life(region: &Region) -> Option<&'static str> {
    if region.method.starts_with('<') {
        return Some("it makes an object that nobody else has yet");
    }
    let descriptor = region.descriptor.as_deref().unwrap_or("()V");
    (region.method == "finalize" && descriptor == "()V")
        .then_some("it runs when nobody else has the object any more")
}

/// Why one thread at a time uses the objects of a class: it is a stream or an iterator, and takes no lock in any of its methods.
pub fn is_used_alone(body: &RegionBody<'_>) -> Option<&'static str> {
    const USED_ALONE: [&str; 6] = [
        "java/io/InputStream",
        "java/io/OutputStream",
        "java/io/Reader",
        "java/io/Writer",
        "java/util/Enumeration",
        "java/util/Iterator",
    ];
    let mut all = std::iter::once(body.clone()).chain(body.neighbours());
    (body.is_below(&USED_ALONE) && !all.any(|it| it.is_of_same_class(body) && intent::locks(&it)))
        .then_some("it is a method of a stream or an iterator without locks, which one thread at a time uses")
}

/// Whether an end is a view of a map that the map keeps of itself: made twice at worst.
pub fn is_view_of_map(end: &End) -> bool {
    const VIEWS: [&str; 4] = ["entrySet", "keySet", "navigableKeySet", "values"];
    let field = end
        .target
        .strip_prefix("java.util.")
        .and_then(|rest| rest.split_once('.'));
    field.is_some_and(|(_, field)| VIEWS.contains(&field))
}

/// Why critical sections are no evidence against a region: what they are about belongs to a class that the region does not deal with itself.
pub fn is_far(finding: &Finding, views: &MethodViews, flows: bool) -> bool {
    let own = finding.region.class.as_deref().unwrap_or_default();
    if is_platform(&views.class) && !is_platform(own) {
        // The content of a collection: the region's own where its lock is, or where the region calls it itself.
        let named = views
            .sections
            .iter()
            .all(|section| section.lock == "this" || section.lock.starts_with("this."));
        let direct = (views.sections.iter())
            .all(|section| section.method.class.as_deref().is_some_and(is_platform));
        return !named && !direct;
    }
    let of = |class: &str| outermost(class) == outermost(&views.class);
    // A helper of its own leads there by a lock: near if something comes back from it.
    let near = |section: &LockView| {
        (section.method.class.as_deref()).is_some_and(|class| {
            of(class) || (flows && !section.lock.is_empty() && outermost(class) == outermost(own))
        })
    };
    !of(own) && !views.sections.iter().all(near)
}

/// Whether the critical sections are one and the same step, taken twice: a getter that is asked again, or a method and another one that calls it.
pub fn is_repeated(finding: &Finding, views: &MethodViews) -> bool {
    let [first, later @ ..] = views.sections.as_slice() else {
        return false;
    };
    let named = |section: &LockView| section.lock.starts_with("this");
    let called = |section: &LockView| !section.method.same_as(&finding.region);
    let same = |section: &LockView| {
        let again = section.method.same_as(&first.method) && section.lock == first.lock;
        section.accesses == first.accesses && (again || !(named(section) && named(first)))
    };
    !later.is_empty() && later.iter().all(same) && views.sections.iter().all(called)
}

pub fn is_platform(class: &str) -> bool {
    class.starts_with("java.") || class.starts_with("javax.") || class.starts_with("jdk.")
}

/// Whether an end asks the platform for what is no shared data of a program: who the thread is, what an exception says, what a class is called.
pub fn asks_platform(end: &End) -> bool {
    const OF_LANGUAGE: [&str; 5] = ["Thread", "Throwable", "Class", "ClassLoader", "System"];
    let class = (end.target.strip_prefix("java.lang.")).and_then(|rest| rest.strip_suffix("[*]"));
    end.access != Access::Update && class.is_some_and(|class| OF_LANGUAGE.contains(&class))
}

/// Whether an end is a table of the compiler's own, as for a switch over an enum.
pub fn is_of_compiler(end: &End) -> bool {
    end.target.contains(".$SwitchMap$") || end.target.contains(".$VALUES")
}

/// Whether the evidence gets from the region to code of another file only by a call of a library's class or interface: which object is called there is a guess.
pub fn is_guessed(finding: &Finding, region: &RegionBody<'_>) -> bool {
    let own = finding.region.class.as_deref().map(outermost);
    let is_elsewhere = |class: Option<&str>| {
        class.is_some_and(|class| !is_platform(class) && Some(outermost(class)) != own)
    };
    let by_view = |views: &MethodViews| {
        (views.sections.iter()).any(|section| {
            is_elsewhere(section.method.class.as_deref())
                && (section.places.iter()).all(|place| only_library(region, place))
        })
    };
    let by_types = |parts: &[TypingPart]| {
        let class = |part: &TypingPart| part.place.as_ref().and_then(|place| place.class.clone());
        let mut through = false;
        let mut before: Option<&TypingPart> = None;
        parts.iter().any(|part| {
            let class = class(part);
            let called = before.is_some_and(|before| before.what.starts_with("calls java."));
            let entered = before.is_some_and(|before| {
                before.place.as_ref().and_then(|place| place.class.as_ref()) != class.as_ref()
            });
            let guessed = (through || called && entered) && is_elsewhere(class.as_deref());
            through |= class.as_deref().is_some_and(is_platform);
            before = Some(part);
            guessed
        })
    };
    let evidence = &finding.evidence;
    evidence.method_views.first().is_some_and(by_view)
        || (evidence.method_views.is_empty()
            && (evidence.typings.first()).is_some_and(|typing| by_types(&typing.parts)))
}

/// Whether all calls at a line of the region name classes of the platform; constructors are no such.
fn only_library(region: &RegionBody<'_>, place: &Place) -> bool {
    let Some(line) = place.line.filter(|_| region.holds(place)) else {
        return false;
    };
    let mut calls = region
        .at_line(line)
        .filter_map(|id| region.callee(region.body.instr(id)))
        .peekable();
    calls.peek().is_some()
        && calls.all(|(class, _)| {
            ["java/", "javax/", "jdk/"]
                .iter()
                .any(|own| class.starts_with(own))
        })
}

/// Whether methods of the same source file change fields by compareAndSet, so that a protocol without locks keeps them together.
pub fn is_lock_free(region: &RegionBody<'_>) -> bool {
    region.neighbours().any(|other| swaps(&other))
}

/// Whether methods of the same source file take a lock that a coroutine has, whatever thread it is on: no thread can be said to hold it.
pub fn is_of_coroutines(region: &RegionBody<'_>) -> bool {
    let locks = |body: &RegionBody<'_>| {
        calls(body, |class, _| {
            class.starts_with("kotlinx/coroutines/sync/")
        })
    };
    locks(region) || region.neighbours().any(|other| locks(&other))
}

/// Why a check cannot tell what the region does between its two parts: the step that decides is one that types do not follow.
pub fn is_not_followed(region: &RegionBody<'_>) -> Option<&'static str> {
    let converts = || {
        calls(region, |class, method| {
            class == "java/util/concurrent/locks/StampedLock" && method.starts_with("tryConvertTo")
        })
    };
    if swaps(region) {
        Some("it changes a field by compareAndSet of what it read, which a check does not follow")
    } else if converts() {
        Some("it turns one kind of hold into another by a stamp, which a check does not follow")
    } else {
        None
    }
}

fn swaps(body: &RegionBody<'_>) -> bool {
    calls(body, |class, method| {
        let by_address = class.ends_with("/Unsafe")
            || class == "java/lang/invoke/VarHandle"
            || class.ends_with("FieldUpdater");
        by_address && method.to_ascii_lowercase().contains("compareand")
    })
}

fn calls(body: &RegionBody<'_>, wanted: impl Fn(&str, &str) -> bool) -> bool {
    let mut instrs = body.body.instrs.iter();
    instrs.any(|instr| {
        body.callee(instr)
            .is_some_and(|(class, method)| wanted(class, method))
    })
}

/// The class whose file a nested class is declared in.
fn outermost(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

/// Whether the second end is an access to the very object that the first end finds: the way to it, and no pair.
pub fn follows_reference(body: &Body, flow: &Flow) -> bool {
    let finds = |id: &InstrId| {
        let instr = body.instr(*id);
        matches!(instr.op, Op::GetField { .. } | Op::GetStatic { .. })
            && (instr.result).is_some_and(|value| body.value(value).ty.is_reference())
    };
    let on_it = |id: &InstrId| {
        let object = match &body.instr(*id).op {
            Op::GetField { object, .. } | Op::PutField { object, .. } => Some(*object),
            Op::Invoke { args, .. } => args.first().copied(),
            Op::ArrayLoad { array, .. } | Op::ArrayStore { array, .. } => Some(*array),
            _ => None,
        };
        object.is_some_and(|object| {
            (flow.first.iter()).any(|first| body.instr(*first).result == Some(source(body, object)))
        })
    };
    flow.first.iter().all(finds) && flow.second.iter().all(on_it)
}

/// What a value was before casts.
fn source(body: &Body, value: ValueId) -> ValueId {
    match body.value(value).def {
        Def::Instr(id) => match &body.instr(id).op {
            Op::Cast { value, .. } => source(body, *value),
            _ => value,
        },
        _ => value,
    }
}

/// Whether a check before the second end does nothing but refuse the call.
pub fn only_refuses(body: &Body, flow: &Flow) -> bool {
    let tested = |instr: &&Instr| {
        let mut used = false;
        instr
            .op
            .for_each_operand(|value| used |= flow.derived.contains(&value));
        used
    };
    let mut branches = (body.instrs.iter())
        .filter(|instr| matches!(instr.op, Op::If { .. } | Op::Switch { .. }))
        .filter(tested)
        .peekable();
    branches.peek().is_some()
        && branches.all(|instr| {
            body.block(instr.block)
                .succs
                .iter()
                .any(|to| throws(body, *to))
        })
}

/// Whether the access without a guard is one by which the region writes to an object that it was given, and of which it reads nothing.
pub fn is_written_to_another(region: &RegionBody<'_>, guard: &GuardLoss) -> bool {
    let field = guard.field.rsplit('.').next();
    let given = |object: ValueId| {
        matches!(region.body.value(source(&region.body, object)).def, Def::Param(n)
            if n > 0 || !region.body.has_receiver)
    };
    let mut written = false;
    for instr in &region.body.instrs {
        if field.is_none() || region.field(instr) != field {
            continue;
        }
        match instr.op {
            Op::PutField { object, .. } if given(object) => written = true,
            Op::GetField { object, .. } if !given(object) => {}
            _ => return false,
        }
    }
    written
        && guard
            .place
            .as_ref()
            .is_some_and(|place| region.holds(place))
}

/// Whether another method of the class or its neighbours in the same source file uses both parts too.
pub fn used_together(region: &RegionBody<'_>, flow: &Flow, ends: &Ends) -> bool {
    let first = anchors(region, &flow.first);
    let second = anchors(region, &flow.second);
    let uses = |other: &RegionBody<'_>| {
        let by_field = |wanted: &[FieldId]| {
            let all = other.body.all_instrs();
            all.filter(|(_, instr)| field_of(instr).is_some_and(|field| wanted.contains(&field)))
                .count()
        };
        let by_name = |end: &End| {
            let all = other.body.instrs.iter();
            all.filter(|instr| end.anchor().is_some() && other.field(instr) == end.anchor())
                .count()
        };
        if first.is_empty() || second.is_empty() {
            by_name(&ends.first) > 0 && by_name(&ends.second) > 0
        } else if first == second {
            by_field(&first) > 1
        } else {
            by_field(&first) > 0 && by_field(&second) > 0
        }
    };
    region.neighbours().any(|other| uses(&other))
}

/// Whether both ends are calls on what one field refers to.
pub fn on_one_object(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let calls = |ids: &[InstrId]| {
        (ids.iter()).all(|id| matches!(region.body.instr(*id).op, Op::Invoke { .. }))
    };
    let first = anchors(region, &flow.first);
    calls(&flow.first)
        && calls(&flow.second)
        && first.len() == 1
        && first == anchors(region, &flow.second)
}

/// Whether the ends are calls on what two fields refer to.
pub fn on_two_objects(region: &RegionBody<'_>, flow: &Flow) -> bool {
    let calls = |ids: &[InstrId]| {
        (ids.iter()).all(|id| matches!(region.body.instr(*id).op, Op::Invoke { .. }))
    };
    let (first, second) = (anchors(region, &flow.first), anchors(region, &flow.second));
    calls(&flow.first)
        && calls(&flow.second)
        && matches!((first.as_slice(), second.as_slice()), ([one], [other]) if one != other)
}

/// A call behind an end, on what the same field refers to, by which a class of the library is changed.
pub fn changed_behind(region: &RegionBody<'_>, first: InstrId) -> Option<InstrId> {
    let wanted = anchors(region, &[first]);
    (region.body.all_instrs())
        .filter(|(id, _)| *id > first && !wanted.is_empty())
        .find(|(id, instr)| {
            let changes = (region.callee(instr)).is_some_and(|(class, method)| {
                class.starts_with("java/") && access_of_call(method) == Access::Update
            });
            changes && anchors(region, &[*id]) == wanted
        })
        .map(|(id, _)| id)
}

/// Whether all that lies behind the second end is an exception: it is asked for the text of the message.
pub fn only_thrown(body: &Body, flow: &Flow) -> bool {
    (flow.second.iter()).all(|id| throws(body, body.instr(*id).block))
}

/// Whether what is called here reads the field of an end, tests it, and throws on one side: what comes after it in the caller is reached only on the other.
pub fn is_guard(region: &RegionBody<'_>, call: InstrId, end: &End) -> bool {
    let Some(inner) = region.called(region.body.instr(call)) else {
        return false;
    };
    let body = &inner.body;
    let is_read = |instr: &Instr| matches!(instr.op, Op::GetField { .. } | Op::GetStatic { .. });
    let reads = body.all_instrs().filter(|(_, instr)| match end.field() {
        // What it learned under the lock that it gave up.
        _ if end.access == Access::GiveUp => {
            is_read(instr) && inner.changing_field(instr).is_some()
        }
        Some(field) => is_read(instr) && inner.field(instr) == Some(field),
        None => inner
            .callee(instr)
            .is_some_and(|(class, _)| class.starts_with("java/util/")),
    });
    let values: Vec<ValueId> = reads.filter_map(|(_, instr)| instr.result).collect();
    let derived = Flow::derived_of(body, &values);
    body.instrs.iter().any(|instr| {
        let mut tested = false;
        instr
            .op
            .for_each_operand(|value| tested |= derived.contains(&value));
        tested
            && matches!(instr.op, Op::If { .. } | Op::Switch { .. })
            && (body.block(instr.block).succs.iter()).any(|to| throws(body, *to))
    })
}

/// Whether control that enters a block ends in an exception: what is thrown is made first, in a few blocks without a branch.
fn throws(body: &Body, from: BlockId) -> bool {
    let mut at = from;
    for _ in 0..4 {
        let block = body.block(at);
        let last = block
            .end
            .0
            .checked_sub(1)
            .filter(|last| *last >= block.first.0);
        if last.is_some_and(|last| matches!(body.instr(InstrId(last)).op, Op::Throw { .. })) {
            return true;
        }
        let [next] = block.succs.as_slice() else {
            return false;
        };
        at = *next;
    }
    false
}

/// The fields by which the region gets at an end.
fn anchors(region: &RegionBody<'_>, ids: &[InstrId]) -> Vec<FieldId> {
    let body = &region.body;
    let mut fields: Vec<FieldId> = (ids.iter())
        .filter_map(|id| {
            let instr = body.instr(*id);
            field_of(instr).or_else(|| {
                // `new ArrayList<>(other)` is about the other one.
                let copies = region
                    .callee(instr)
                    .is_some_and(|(_, name)| name == "<init>");
                let object = match &instr.op {
                    Op::Invoke { args, .. } => *args.get(usize::from(copies))?,
                    Op::ArrayLoad { array, .. } | Op::ArrayStore { array, .. } => *array,
                    _ => return None,
                };
                match body.value(source(body, object)).def {
                    Def::Instr(made) => field_of(body.instr(made)),
                    _ => None,
                }
            })
        })
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

fn field_of(instr: &Instr) -> Option<FieldId> {
    match instr.op {
        Op::GetField { field, .. }
        | Op::PutField { field, .. }
        | Op::GetStatic { field }
        | Op::PutStatic { field, .. } => Some(field),
        _ => None,
    }
}
