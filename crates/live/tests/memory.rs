//! How much memory the reader takes of long runs, limited and measured from outside: a process that speaks as an agent does writes as fast as it can, and the reader is a process of its own.
//!
//! The limit is on memory that the process does not share; what it shares with the program is counted by the measurement alone.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod support;

use std::env;
use std::process::Command;

use untorn_analyses::doublechecker::{self, Dependences, DoubleChecker, FirstRun, Mode};
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};
use untorn_channel::record::{Record, Transaction};
use untorn_live::{Limits, LiveSource, Options, Room, Told, watch};

use support::{Agent, SCENARIO, connect, part};

/// What the documentation promises.
const PROMISED: u64 = 300 << 20;

/// What a reader may ask the kernel for: some of that it gives back to its allocator, which keeps it, and some it never touches.
const ASKED: u64 = 2 * PROMISED;

/// The reader of a scenario, which gets no more memory of its own from the kernel.
fn limited(scenario: &str) -> Command {
    let limit = format!("ulimit -d {} && exec \"$0\" \"$@\"", ASKED >> 10);
    let mut command = Command::new("sh");
    command
        .args(["-c", &limit])
        .args(part("reader"))
        .env(SCENARIO, scenario);
    command
}

/// The most memory that the reader of a scenario had, in bytes, and what it says of itself.
fn most(scenario: &str) -> (u64, String) {
    let output = limited(scenario).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let most = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = most.and_then(|most| most.trim().strip_suffix(" kB"));
    (
        kilobytes.unwrap().trim().parse::<u64>().unwrap() << 10,
        said,
    )
}

#[test]
fn a_reader_that_wants_more_dies_of_the_limit() {
    let output = limited("greedy").output().unwrap();
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn a_first_run_in_which_others_depend_on_one_thread_that_depends_on_none_takes_little() {
    let (bytes, said) = most("maker");
    assert!(bytes < PROMISED, "{} MB: {said}", bytes >> 20);
    assert!(said.contains("dependences 1500000"), "{said}");
}

#[test]
fn a_first_run_of_many_short_threads_takes_little() {
    let (bytes, said) = most("threads");
    assert!(bytes < PROMISED, "{} MB: {said}", bytes >> 20);
}

#[test]
fn a_run_that_lies_on_one_long_cycle_takes_little_and_drops_nothing() {
    let (bytes, said) = most("cycle");
    assert!(bytes < PROMISED, "{} MB: {said}", bytes >> 20);
    assert!(said.contains("dropped 0"), "{said}");
    let objects = said.split("objects ").nth(1).unwrap();
    let objects: u64 = objects.split(',').next().unwrap().parse().unwrap();
    assert!(objects < 300_000, "ids are used again: {said}");
    assert!(said.contains("torn watch"), "{said}");
}

#[test]
fn a_region_that_stays_open_for_most_of_a_run_takes_little_and_is_seen_whole() {
    let (bytes, said) = most("open");
    assert!(bytes < PROMISED, "{} MB: {said}", bytes >> 20);
    assert!(said.contains("dropped 0"), "{said}");
    assert!(said.contains("torn watch"), "{said}");
}

/// The reader's part of the other tests.
#[test]
fn reader() {
    let Ok(scenario) = env::var(SCENARIO) else {
        return;
    };
    if scenario == "greedy" {
        let taken = vec![1u8; ASKED as usize + 1];
        assert!(std::hint::black_box(taken)[1] == 1);
        return;
    }
    let first = !matches!(scenario.as_str(), "cycle" | "open");
    let options = Options {
        command: part("writer"),
        limits: if first {
            Limits::of_first_run()
        } else {
            Limits::default()
        },
        ..Options::default()
    };
    let (status, all) = watch(
        &options,
        |_, source| {
            if first { hear(source) } else { filter(source) }
        },
    )
    .unwrap();
    assert!(status.success());
    println!("\n{}", all[0].result);
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", own.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}

fn hear(source: &mut LiveSource) -> String {
    let mut graph = FirstRun::default();
    source.hear(|told| match told {
        Told::In {
            thread,
            transaction,
        } => graph.enter(thread, transaction.number, transaction.region),
        Told::Depends { thread, on, number } => graph.depend(thread, on, number),
        Told::Of {
            thread,
            transaction,
        } => graph.name(thread, transaction.number, transaction.region),
        Told::Ended { thread } => graph.ended(thread),
        Told::Round => graph.round(),
    });
    let found = graph.finish();
    format!(
        "dependences {}, at most {} nodes",
        found.dependences, found.most_nodes
    )
}

fn filter(source: &mut LiveSource) -> String {
    let mut dependences = Dependences::default();
    let filtered = source.filter(&mut dependences, Room::default());
    source.reuse_ids();
    source.keep().unwrap();
    let exact = DoubleChecker::new(doublechecker::Options {
        mode: Mode::PreciseOnly,
        ..doublechecker::Options::default()
    });
    let outcome = untorn_analyses::run(source, &mut [Box::new(exact)], &mut |_| {}).unwrap();
    let torn: Vec<String> = (outcome.findings.iter())
        .map(|finding| finding.region.method.clone())
        .collect();
    let tally = source.tally();
    assert_eq!((tally.refused, tally.put_in, tally.undeclared), (0, 0, 0));
    format!(
        "wanted {} of {}, dropped {}, spilled {}, objects {}, torn {}",
        filtered.wanted,
        filtered.scanned.records,
        filtered.dropped_records,
        filtered.spilled,
        tally.objects,
        torn.join(" ")
    )
}

/// The program's part of the other tests.
#[test]
fn writer() {
    let Ok(scenario) = env::var(SCENARIO) else {
        return;
    };
    let mut agent = Agent::greet(connect());
    match scenario.as_str() {
        "maker" => maker(&mut agent),
        "threads" => threads(&mut agent),
        "cycle" => cycle(&mut agent),
        "open" => open(&mut agent),
        other => panic!("{other}"),
    }
    agent.finish();
}

fn transaction(number: u64, region: u32) -> Transaction {
    Transaction {
        number,
        region: Some(region),
    }
}

/// Thread 0 makes objects that others look at, and uses nothing of theirs; there are ever new keys of maps, too.
fn maker(agent: &mut Agent) {
    for i in 1..=1_500_000u64 {
        let user = 1 + (i % 3) as u32;
        agent.write(user, Record::In(transaction(i, user)));
        agent.write(
            user,
            Record::Edge {
                thread: 0,
                position: i,
            },
        );
        agent.write(user, Record::From(transaction(i, 9)));
        if i % 2 == 0 {
            let text = format!("a key that is used once and never again: {i}");
            agent.declare(&[Declaration::Key { id: i, text }]);
        }
    }
}

/// Each thread depends on the one that started it and on one before it, and ends; the first one awaits each.
fn threads(agent: &mut Agent) {
    for i in 0..60_000u64 {
        let thread = 1 + i as u32;
        agent.write(thread, Record::In(transaction(1, 1)));
        let start = Record::Edge {
            thread: 0,
            position: i + 1,
        };
        agent.write(thread, start);
        agent.write(thread, Record::From(transaction(i + 1, 2)));
        agent.write(thread, Record::In(transaction(2, 3)));
        if thread > 1 {
            let exit = Record::Edge {
                thread: thread - 1,
                position: 2,
            };
            agent.write(thread, exit);
        }
        agent.end(thread);
        agent.write(0, Record::In(transaction(i + 2, 2)));
        let exit = Record::Edge {
            thread,
            position: 2,
        };
        agent.write(0, exit);
    }
}

/// The regions and the sites of the next two.
const WATCH: u32 = 0;
const MAKE: u32 = 1;
const READ: u32 = 0;
const WRITE: u32 = 1;

fn access(site: u32, object: u64) -> Record {
    Record::Access { site, object }
}

fn declare_watch_and_make(agent: &mut Agent) {
    let method = |id: u32, name: &str| Declaration::Method {
        id,
        class: 0,
        name: name.to_owned(),
        descriptor: "()V".to_owned(),
    };
    let region = |id| Declaration::Region {
        id,
        method: id,
        block: None,
        line: 1,
    };
    let site = |id, kind| Declaration::Site {
        id,
        method: 0,
        line: id + 1,
        access: Some(Access {
            kind,
            target: Target::Field(0),
            volatile: false,
            wide: false,
            approximate: false,
        }),
    };
    let mut all = vec![
        Declaration::Class {
            id: 0,
            name: "C".to_owned(),
            source_file: None,
            hash: None,
        },
        Declaration::Field {
            id: 0,
            class: 0,
            name: "f".to_owned(),
        },
        method(WATCH, "watch"),
        method(MAKE, "make"),
        region(WATCH),
        region(MAKE),
        site(READ, AccessKind::Read),
        site(WRITE, AccessKind::Write),
    ];
    all.extend((0..4).map(|id| Declaration::Thread {
        id,
        name: format!("T{id}"),
    }));
    agent.declare(&all);
}

/// Thread 0 is in one region all the time and looks at every object that the others, in short regions, have made.
fn cycle(agent: &mut Agent) {
    declare_watch_and_make(agent);
    let (read, write) = (READ, WRITE);
    agent.write(0, Record::Begin { region: WATCH });
    agent.write(0, access(write, 1));
    for i in 0..500_000u64 {
        let thread = 1 + (i % 3) as u32;
        let object = 2 + i;
        let position = agent.position(0);
        agent.write(thread, Record::Begin { region: MAKE });
        let edge = Record::Edge {
            thread: 0,
            position,
        };
        agent.write(thread, edge);
        agent.write(thread, access(read, 1));
        agent.write(thread, access(write, object));
        agent.write(thread, Record::End { region: MAKE });
        let position = agent.position(thread);
        agent.write(0, Record::Edge { thread, position });
        agent.write(0, access(read, object));
        agent.write(0, access(write, 1));
        if i >= 1000 {
            agent.write(
                0,
                Record::GoneObject {
                    object: object - 1000,
                },
            );
        }
    }
    agent.write(0, Record::End { region: WATCH });
}

/// The same with few others, and ever more of the same in the long region.
fn open(agent: &mut Agent) {
    declare_watch_and_make(agent);
    agent.write(0, Record::Begin { region: WATCH });
    for _ in 0..600 {
        for i in 0..60_000u64 {
            agent.write(0, access(if i % 3 == 0 { WRITE } else { READ }, 1 + i % 7));
        }
        for thread in 1..4 {
            let position = agent.position(0);
            agent.write(thread, Record::Begin { region: MAKE });
            agent.write(
                thread,
                Record::Edge {
                    thread: 0,
                    position,
                },
            );
            agent.write(thread, access(WRITE, 1));
            agent.write(thread, Record::End { region: MAKE });
            let position = agent.position(thread);
            agent.write(0, Record::Edge { thread, position });
        }
    }
    agent.write(0, Record::End { region: WATCH });
}
