//! Short scripts for traces: `T1: acq(m) r(x) rel(m)`, a line a stretch of one thread.
//!
//! The n-th operation of a script happens at `S.java:n`.

use untorn_analyses::{Analysis, Outcome, run};
use untorn_model::{Class, ClassId, Event, Field, Lock, Object, Part, Tables, Var};
use untorn_trace::{Source, TextOptions, TextSource, VecSource};

/// The script as a text trace.
pub fn std_text(script: &str) -> String {
    let mut text = String::new();
    let mut line = 0;
    for stretch in script.lines() {
        let Some((thread, ops)) = stretch.trim().split_once(": ") else {
            continue;
        };
        for op in ops.split_whitespace() {
            line += 1;
            text.push_str(&format!("{thread}|{op}|S.java:{line}\n"));
        }
    }
    text
}

/// The script's tables and events.
pub fn parse(script: &str) -> (Tables, Vec<Event>) {
    let text = std::io::Cursor::new(std_text(script).into_bytes());
    let mut source = TextSource::new("script", text, TextOptions::default());
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    while {
        source.fill(&mut batch).unwrap();
        !batch.is_empty()
    } {
        events.append(&mut batch);
    }
    (source.tables().clone(), events)
}

/// What an analysis makes of some events.
pub fn analyze_events(
    (tables, events): (Tables, Vec<Event>),
    analysis: impl Analysis + 'static,
) -> Outcome {
    let mut source = VecSource::new(tables, events).unwrap();
    run(&mut source, &mut [Box::new(analysis)], &mut |_| {}).unwrap()
}

/// What an analysis makes of a script.
pub fn analyze(script: &str, analysis: impl Analysis + 'static) -> Outcome {
    analyze_events(parse(script), analysis)
}

/// The script with `o.f` as field `f` of the object `o` of one class, and lock `o` as its monitor.
pub fn with_class(script: &str, class: &str) -> (Tables, Vec<Event>) {
    let (text, events) = parse(script);
    let mut tables = Tables::default();
    tables.strings = text.strings.clone();
    tables.threads = text.threads.clone();
    tables.regions = text.regions.clone();
    tables.sites = text.sites.clone();
    for (_, lock) in text.locks.iter() {
        let owner = (text.objects.iter()).find(|(_, object)| object.name == Some(lock.name));
        let object = owner.map(|(id, _)| id);
        tables.locks.push(Lock { object, ..*lock }).unwrap();
    }
    let name = tables.strings.intern(class).unwrap();
    let source_file = None;
    tables.classes.push(Class { name, source_file }).unwrap();
    let mut fields = Vec::new();
    for _ in 0..text.objects.len() {
        let (class, name) = (Some(ClassId(0)), None);
        tables.objects.push(Object { class, name }).unwrap();
    }
    for (_, var) in text.vars().iter() {
        let Part::Text(name) = var.part else {
            panic!("a script has text locations");
        };
        let name = text.text(name).trim_start_matches('.').to_owned();
        let known = fields.iter().find(|(known, _)| *known == name);
        let field = match known {
            Some((_, field)) => *field,
            None => {
                let id = tables.strings.intern(&name).unwrap();
                let class = ClassId(0);
                let field = tables.fields.push(Field { class, name: id }).unwrap();
                fields.push((name, field));
                field
            }
        };
        let part = Part::Field(field);
        let object = var.object;
        tables.add_var(Var { object, part }).unwrap();
    }
    (tables, events)
}

/// What the findings are about, in their order.
pub fn regions(outcome: &Outcome) -> Vec<String> {
    (outcome.findings.iter())
        .map(|finding| finding.region.short_name())
        .collect()
}
