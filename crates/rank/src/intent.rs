//! What names and locks say of what the author meant.

use untorn_findings::Region;
use untorn_program::InstrId;
use untorn_program::classes::Type;
use untorn_program::ir::{Instr, Op};

use crate::Scale;
use crate::code::RegionBody;
use crate::flow::Flow;
use crate::pattern::Pattern;

/// Beginnings of names under which a stale or torn answer does no harm.
const HARMLESS: [&str; 11] = [
    "toString", "hashCode", "log", "debug", "trace", "dump", "describe", "print", "stat", "metric",
    "report",
];
/// Parts of names that promise a check and an act as one, or a step that is counted.
const PROMISING: [&str; 14] = [
    "IfAbsent",
    "OrCreate",
    "AndGet",
    "AndSet",
    "getAnd",
    "increment",
    "decrement",
    "transfer",
    "swap",
    "withdraw",
    "reserve",
    "claim",
    "acquire",
    "register",
];
/// Methods that wait for other threads.
const WAITING: [&str; 9] = [
    "wait",
    "await",
    "awaitUninterruptibly",
    "awaitNanos",
    "arriveAndAwaitAdvance",
    "exchange",
    "join",
    "awaitTermination",
    "invokeAll",
];

/// Parts of the names of classes that keep statistics.
const STATISTICS: [&str; 3] = ["Statistic", "Stats", "Metric"];

pub fn of_name(region: &Region, pattern: Pattern, scale: &mut Scale) {
    let numbers = matches!(
        pattern,
        Pattern::TwoObjects | Pattern::TwoCalls | Pattern::TwoVariables
    );
    let class = region.class.as_deref().unwrap_or_default();
    let class = class.rsplit('.').next().unwrap_or(class);
    let word = STATISTICS.iter().find(|word| class.contains(**word));
    if let Some(word) = word.filter(|_| numbers) {
        scale.put(
            -3,
            format!("a class called …{word}… seldom needs its numbers to agree"),
        );
    }
    let name = region.method.as_str();
    let lower = name.to_ascii_lowercase();
    if let Some(word) = (HARMLESS.iter()).find(|word| lower.starts_with(&word.to_ascii_lowercase()))
    {
        scale.put(
            -3,
            format!("a method called {word}… seldom needs to be one step"),
        );
    } else if PROMISING
        .iter()
        .any(|word| lower.contains(&word.to_ascii_lowercase()))
    {
        scale.put(1, format!("its name, {name}, promises one step"));
    }
}

pub fn of_code(body: &RegionBody<'_>, scale: &mut Scale) {
    if waits(body) {
        scale.put(-3, "it waits for other threads on purpose");
    } else if locks(body) {
        scale.put(1, "it takes a lock, so it was meant to be safe");
    }
}

/// Whether the ends ask how many there are, and a loop of the region then asks for one of them by its number, which may be gone by then.
pub fn bounds_index(body: &RegionBody<'_>, flow: &Flow) -> bool {
    let is_list = |class: &str| class.starts_with("java/util/");
    let asks = |id: &InstrId| {
        (body.callee(body.body.instr(*id)))
            .is_some_and(|(class, method)| is_list(class) && method == "size")
    };
    let by_number = |instr: &Instr| {
        let by_name = (body.callee(instr)).is_some_and(|(class, method)| {
            is_list(class) && matches!(method, "get" | "elementAt" | "set" | "remove")
        });
        let numbered = matches!(&instr.op, Op::Invoke { args, .. }
            if args.get(1).is_some_and(|at| body.body.value(*at).ty == Type::Int));
        by_name && numbered && body.body.block(instr.block).in_loop
    };
    flow.first.iter().all(asks) && body.body.instrs.iter().any(by_number)
}

/// Whether the method, or one that it calls and whose code is at hand, waits for other threads.
fn waits(body: &RegionBody<'_>) -> bool {
    body.reaches(&mut |class, method| WAITING.contains(&method) && is_platform(class))
}

/// Whether it starts or awaits other threads.
pub fn meets_threads(body: &RegionBody<'_>) -> bool {
    const STARTING: [&str; 5] = ["start", "execute", "submit", "invokeAll", "fork"];
    body.reaches(&mut |class, method| {
        (WAITING.contains(&method) || STARTING.contains(&method)) && is_platform(class)
    })
}

/// Threads, monitors and the library of concurrency; a method of these names elsewhere may be anything.
fn is_platform(class: &str) -> bool {
    class == "java/lang/Thread"
        || class == "java/lang/Object"
        || class.starts_with("java/util/concurrent/")
}

/// Whether a method is synchronized or takes a lock itself.
pub fn locks(body: &RegionBody<'_>) -> bool {
    body.is_synchronized() || takes_locks(body)
}

fn takes_locks(body: &RegionBody<'_>) -> bool {
    body.body.instrs.iter().any(|instr| match &instr.op {
        Op::MonitorEnter { .. } => true,
        Op::Invoke { .. } => body.callee(instr).is_some_and(|(_, method)| {
            matches!(
                method,
                "lock" | "lockInterruptibly" | "tryLock" | "readLock" | "writeLock"
            )
        }),
        _ => false,
    })
}
