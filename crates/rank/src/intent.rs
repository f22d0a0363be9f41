//! What names and locks say of what the author meant.

use untorn_findings::Region;
use untorn_program::ir::Op;

use crate::Scale;
use crate::code::RegionBody;

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

pub fn of_name(region: &Region, scale: &mut Scale) {
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
    } else if body.is_synchronized() || takes_locks(body) {
        scale.put(1, "it takes a lock, so it was meant to be safe");
    }
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
