//! The parts of the data as tables in Rust.

use std::fmt::{Debug, Write};

use crate::schema::{
    At, Callback, Hook, HookEffect, Method, Methods, Operand, Platform, Read, Returns, Scope,
};
use crate::words::{Access, Effect, Subject};

/// What calls do, as runs see it.
pub fn calls(library: &Methods) -> String {
    let mut rows = Vec::new();
    for method in &library.entries {
        if let Some(access) = method.access {
            rows.push(access_row(method, access));
        }
        if let Some((effect, on)) = method.order() {
            rows.push(order_row(method, effect, on));
        }
    }
    table("CALLS", "Call", &rows)
}

fn access_row(method: &Method, access: Access) -> String {
    let also = slice(&method.also, |also| {
        format!(
            "Also {{ field: {:?}, effect: Effect::{:?}, when: When::{:?}, approximate: {}, of: Of::{:?} }}",
            also.field,
            effect(also.access),
            also.when,
            also.approximate,
            also.of
        )
    });
    let details = [
        format!("if_result: false, key: {:?}", method.key),
        format!("field: {:?}, also: {also}", method.field),
        format!("thrown: {:?}, step: {}", method.thrown, method.step),
        format!(
            "written: When::{:?}, volatile: {}",
            method.written, method.volatile
        ),
        format!(
            "approximate: {}, values: {}",
            method.approximate, method.values
        ),
    ];
    call(method, effect(access), method.on, &details.join(", "))
}

fn order_row(method: &Method, effect: Effect, on: Subject) -> String {
    let details = format!(
        "if_result: {}, key: None, field: None, also: &[], thrown: None, step: false, written: When::Always, volatile: false, approximate: false, values: 0",
        method.if_result
    );
    call(method, effect, on, &details)
}

fn call(method: &Method, effect: Effect, on: Subject, details: &str) -> String {
    let methods = methods(method.named(), method);
    format!("{methods}, effect: Effect::{effect:?}, on: Subject::{on:?}, {details}")
}

fn effect(access: Access) -> Effect {
    match access {
        Access::Read => Effect::Read,
        Access::Write => Effect::Write,
        Access::Update => Effect::Update,
    }
}

/// Where references, locks and control go.
pub fn flow(library: &Methods) -> String {
    let methods = library.entries.iter().filter(|method| method.is_flow());
    let rows: Vec<String> = methods.map(flow_row).collect();
    table("EFFECTS", "Effect", &rows)
}

fn flow_row(method: &Method) -> String {
    let lock = method.lock.map(|action| {
        let mode = method.mode.unwrap_or(crate::words::LockMode::Exclusive);
        format!("(LockAction::{action:?}, LockMode::{mode:?})")
    });
    let done = |atomic| {
        let whole = method.whole().filter(|_| method.atomic == Some(atomic));
        word("Access", whole)
    };
    let returns = method.returns.as_ref().map(|returns| match returns {
        Returns::Operand(given) => format!("Returns::Operand({})", operand(*given)),
        Returns::New(class) => format!("Returns::New({class:?})"),
    });
    let copies = (method.copies).map(|(from, to)| format!("({}, {})", operand(from), operand(to)));
    [
        methods(&method.classes, method),
        format!("start: {}", slice(&method.starts, callback)),
        format!("call: {}", slice(&method.calls_back, callback)),
        format!(
            "repeats: {}, sequential: {}",
            method.repeats, method.sequential
        ),
        format!("lock: {}", some(lock)),
        format!("view: {}", word("LockMode", method.lock_view)),
        format!("stamped: {}", word("Stamped", method.stamped)),
        format!("waits: {}", word("Waits", method.waits)),
        format!("condition: {}", method.condition),
        format!("access: {}, touches: {}", done(true), done(false)),
        format!("checked: {}", method.checked),
        format!("returns: {}, copies: {}", some(returns), some(copies)),
    ]
    .join(", ")
}

fn callback(callback: &Callback) -> String {
    format!(
        "Callback {{ operand: {}, steps: {}, class: {:?}, method: {:?} }}",
        operand(callback.operand),
        strings(&callback.steps),
        callback.method.class,
        callback.method.name
    )
}

/// How calls commute.
pub fn steps(library: &Methods) -> String {
    let rows: Vec<String> = library.entries.iter().filter_map(step_row).collect();
    let frozen = slice(&library.frozen, |field| {
        format!("({:?}, {:?})", field.class, field.name)
    });
    let mut out = table("STEPS", "Steps", &rows);
    let _ = writeln!(out, "static FROZEN: &[(&str, &str)] = {frozen};");
    out
}

fn step_row(method: &Method) -> Option<String> {
    let is = method.is?;
    let read: Vec<Operand> = (method.reads.iter())
        .filter_map(|read| match read {
            Read::Operand(operand) => Some(*operand),
            Read::All => None,
        })
        .collect();
    let operands = |list: &[Operand]| slice(list, |each| operand(*each));
    let asks = slice(&method.asks, |asked| {
        format!(
            "Question {{ operand: {}, class: {:?}, name: {:?}, descriptor: {:?} }}",
            operand(asked.operand),
            asked.method.class,
            asked.method.name,
            asked.descriptor
        )
    });
    let runs = slice(&method.runs, |run| {
        format!("({:?}, {:?})", run.class, run.name)
    });
    let row = [
        methods(&method.classes, method),
        format!("is: Step::{is:?}, reads: {}", operands(&read)),
        format!("reads_all: {}", method.reads.contains(&Read::All)),
        format!("writes: {}", operands(&method.writes)),
        format!("fresh: {}, view: {}", method.fresh, method.gives_receiver()),
        format!(
            "calls: {}, keeps: {}",
            operands(&method.value_methods),
            method.keeps
        ),
        format!(
            "asks: {asks}, alone: {}, natural: {}",
            method.alone, method.natural
        ),
        format!(
            "plain: {}, applies: {}",
            operands(&method.plain),
            operands(&method.applies)
        ),
        format!("own: {}, runs: {runs}", method.own),
    ];
    Some(row.join(", "))
}

/// Where the platform's own code hands over.
pub fn platform(platform: &Platform) -> String {
    let rows: Vec<String> = platform.hook.iter().map(hook).collect();
    table("HOOKS", "Hook", &rows)
}

fn hook(hook: &Hook) -> String {
    let at = match &hook.at {
        At::Entry => "At::Entry".to_owned(),
        At::Return => "At::Return".to_owned(),
        At::Call(method) => {
            format!(
                "At::Call {{ class: {:?}, name: {:?} }}",
                method.class, method.name
            )
        }
    };
    let effect = match hook.effect {
        HookEffect::Signal => Effect::Signal,
        HookEffect::Await => Effect::Await,
    };
    format!(
        "class: {:?}, methods: {}, at: {at}, effect: Effect::{effect:?}, on: Subject::{:?}",
        hook.class,
        strings(&hook.methods),
        hook.on
    )
}

/// The lists of scope.
pub fn scope(scope: &Scope) -> String {
    let lists = [
        ("opaque", &scope.opaque),
        ("entered", &scope.entered),
        ("containers", &scope.containers),
        ("collections", &scope.collections),
        ("merged", &scope.merged),
        ("reflection", &scope.reflection),
        ("io", &scope.io),
        ("thread_local", &scope.thread_local),
        ("tasks", &scope.tasks),
        ("values", &scope.values),
        ("plain", &scope.plain),
        ("unlocked", &scope.unlocked),
        ("quiet_constructors", &scope.quiet_constructors),
    ];
    let lists = lists.map(|(name, list)| format!("{name}: {}", strings(list)));
    format!("static SCOPE: Scope = Scope {{ {} }};\n", lists.join(", "))
}

fn table(name: &str, row: &str, rows: &[String]) -> String {
    let mut out = format!("static {name}: &[{row}] = &[\n");
    for each in rows {
        let _ = writeln!(out, "    {row} {{ {each} }},");
    }
    out + "];\n"
}

fn methods(classes: &[String], method: &Method) -> String {
    format!(
        "classes: {}, names: {}, descriptors: {}",
        strings(classes),
        strings(&method.names),
        strings(&method.descriptors)
    )
}

fn operand(operand: Operand) -> String {
    format!("Operand::{operand:?}")
}

fn word<T: Debug>(of: &str, word: Option<T>) -> String {
    some(word.map(|word| format!("{of}::{word:?}")))
}

fn some(inner: Option<String>) -> String {
    inner.map_or_else(|| "None".to_owned(), |inner| format!("Some({inner})"))
}

fn strings(list: &[String]) -> String {
    format!("&{list:?}")
}

fn slice<T>(list: &[T], each: impl Fn(&T) -> String) -> String {
    let list: Vec<String> = list.iter().map(each).collect();
    format!("&[{}]", list.join(", "))
}
