//! What a rewritten program tells the runtime, event by event.

use std::collections::BTreeMap;

use untorn_channel::Config;
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};

use crate::support::{Jdk, Program, Runtime, java_source, text};

/// What the ids of a rewritten program stand for.
#[derive(Default)]
struct Names {
    classes: BTreeMap<u32, String>,
    fields: BTreeMap<u32, String>,
    methods: BTreeMap<u32, String>,
    regions: BTreeMap<u32, String>,
    sites: BTreeMap<u32, String>,
}

impl Names {
    fn new(declarations: Vec<Declaration>) -> Self {
        let mut names = Self::default();
        for declaration in declarations {
            match declaration {
                Declaration::Class { id, name, .. } => {
                    names.classes.insert(id, name);
                }
                Declaration::Field {
                    id, class, name, ..
                } => {
                    let text = format!("{}.{name}", names.classes[&class]);
                    names.fields.insert(id, text);
                }
                Declaration::Method { id, name, .. } => {
                    names.methods.insert(id, name);
                }
                Declaration::Region {
                    id, method, block, ..
                } => {
                    let block = block.map_or(String::new(), |block| format!("@{block}"));
                    let text = format!("{}{block}", names.methods[&method]);
                    names.regions.insert(id, text);
                }
                Declaration::Site {
                    id,
                    access: Some(access),
                    ..
                } => {
                    let text = names.access(&access);
                    names.sites.insert(id, text);
                }
                _ => {}
            }
        }
        names
    }

    fn access(&self, access: &Access) -> String {
        let kind = match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Update => "update",
        };
        let target = match access.target {
            Target::Field(id) => self.fields[&id].clone(),
            Target::Static(id) => format!("static {}", self.fields[&id]),
            Target::Element => "element".to_owned(),
            Target::Content => "content".to_owned(),
        };
        let mut text = format!("{kind} {target}");
        for (flag, name) in [
            (access.volatile, "volatile"),
            (access.wide, "wide"),
            (access.approximate, "approximate"),
        ] {
            if flag {
                text += &format!(" {name}");
            }
        }
        text
    }

    /// An event of the recorder, with names for numbers.
    fn event(&self, line: &str) -> String {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = rest.split(' ').next().and_then(|n| n.parse().ok());
        let known = |names: &BTreeMap<u32, String>| number.and_then(|n| names.get(&n).cloned());
        match what {
            "access" => {
                let access = known(&self.sites).unwrap_or_else(|| rest.to_owned());
                let writes = rest.ends_with("writes");
                assert_eq!(writes, !access.starts_with("read"), "{line}: {access}");
                access
            }
            "begin" | "end" => format!("{what} {}", known(&self.regions).unwrap()),
            "enter" | "exit" => format!("{what} {}", known(&self.methods).unwrap()),
            _ => line.to_owned(),
        }
    }
}

fn check(case: &str, config: &Config, expected: &[&str]) {
    for jdk in Jdk::all() {
        let program = Program::new(&jdk, &java_source("Events.java"), Runtime::Recorder, config);
        let names = Names::new(program.registry.pending());
        let run = program.run_rewritten(&["Events", case]);
        let log = text(&run.stderr);
        assert!(run.status.success(), "{log}");
        let events: Vec<String> = log.lines().map(|line| names.event(line)).collect();
        let (made, rest) = events.split_at(CONSTRUCTED.len());
        assert_eq!(made, CONSTRUCTED, "the constructor after super()");
        assert_eq!(rest, expected, "{case} on {jdk:?}");
    }
}

const CONSTRUCTED: [&str; 3] = [
    "write Events.lock",
    "write Events.cells",
    "write Events.plain",
];

fn without_regions() -> Config {
    Config {
        spec: Some("heuristic = \"none\"".to_owned()),
        ..Config::default()
    }
}

#[test]
fn fields_tell_what_they_are() {
    check(
        "fields",
        &without_regions(),
        &[
            "read Events.plain",
            "write Events.plain",
            "read Events.plain",
            "write static Events$Other.count",
            "read Events.wide volatile",
            "write static Events.total wide",
        ],
    );
}

#[test]
fn elements_are_told_with_their_index_and_only_if_they_exist() {
    let config = Config {
        arrays: true,
        ..without_regions()
    };
    let made = ["element 0", "write element", "element 1", "write element"];
    for jdk in Jdk::all() {
        let program = Program::new(
            &jdk,
            &java_source("Events.java"),
            Runtime::Recorder,
            &config,
        );
        let names = Names::new(program.registry.pending());
        let run = program.run_rewritten(&["Events", "arrays"]);
        let log = text(&run.stderr);
        let events: Vec<String> = log.lines().map(|line| names.event(line)).collect();
        let expected = [
            // The argument of the program.
            "element 0",
            "read element",
            "read Events.cells",
            "read Events.cells",
            "element 0",
            "read element",
            "element 1",
            "write element",
            "read Events.cells",
            "nothing to abandon",
        ];
        let from = events
            .iter()
            .position(|event| event == "write Events.plain")
            .unwrap();
        assert_eq!(events[from + 1..], expected, "{log}");
        assert!(events[..from].windows(4).any(|all| all == made), "{log}");
    }
}

#[test]
fn synchronized_methods_are_regions_around_their_lock() {
    check(
        "methods",
        &Config {
            spec: Some("heuristic = \"synch\"".to_owned()),
            ..Config::default()
        },
        &[
            "begin method",
            "acquired Events",
            "read Events.plain",
            "releasing Events",
            "end method",
            "begin ofClass",
            "acquired Events",
            "read static Events.total wide",
            "write static Events.total wide",
            "releasing Events",
            "end ofClass",
        ],
    );
}

#[test]
fn blocks_end_on_both_ways_out() {
    let config = Config {
        spec: Some("heuristic = \"synch\"".to_owned()),
        stacks: true,
        ..Config::default()
    };
    let block = [
        "enter block",
        "begin block@1",
        "acquired lock",
        "write Events.wide volatile",
        "releasing lock",
        "end block@1",
        "exit block",
    ];
    let mut expected = vec![
        "write Events.lock",
        "write Events.cells",
        "write Events.plain",
    ];
    expected.push("exit <init>");
    expected.extend(block.iter().chain(&block));
    expected.extend(["exit start", "exit main"]);
    for jdk in Jdk::all() {
        let program = Program::new(
            &jdk,
            &java_source("Events.java"),
            Runtime::Recorder,
            &config,
        );
        let names = Names::new(program.registry.pending());
        let log = text(&program.run_rewritten(&["Events", "blocks"]).stderr);
        let events: Vec<String> = log.lines().map(|line| names.event(line)).collect();
        let from = events.iter().position(|e| e == "enter <init>").unwrap();
        assert_eq!(events[from + 1..], expected, "{log}");
    }
}

#[test]
fn waits_give_the_monitor_up() {
    check(
        "waits",
        &without_regions(),
        &[
            "acquired lock",
            "waiting lock",
            "sleeping",
            "woken lock",
            "notifying lock",
            "releasing lock",
        ],
    );
}

#[test]
fn an_access_that_throws_is_no_event() {
    check("missing", &without_regions(), &["nothing to abandon"]);
}

#[test]
fn library_calls_tell_what_the_model_says() {
    check(
        "library",
        &without_regions(),
        &[
            "lock ReentrantLock",
            "lock ConditionObject",
            "lock ConditionObject",
            "lock ReentrantLock",
            "lock ReadLock",
            "lock WriteLock",
            "lock ReadLock",
            "call HashMap",
            "also HashMap",
            "update Collection.size",
            "interval HashMap[k]",
            "write content",
            "call HashMap",
            "also HashMap",
            "update Collection.size",
            "interval HashMap[l]",
            "update content",
            "call HashMap",
            "reading interval HashMap[]",
            "read Collection.size",
            "call AtomicInteger",
            "step AtomicInteger[]",
            "update java.util.concurrent.atomic.AtomicInteger.value volatile",
            "call AtomicIntegerArray",
            "reading step AtomicIntegerArray[2]",
            "read content volatile",
            "call HashMap",
            "threw HashMap",
            "lock ReentrantLock",
        ],
    );
}
