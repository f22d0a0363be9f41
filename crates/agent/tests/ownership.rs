//! Objects change hands: from a private one to a shared one, and away from threads that stand still.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use support::{Step, accounts, jdks, watched};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::{Options, Tally, watch};
use untorn_model::{Event, Op, Tables};
use untorn_trace::Source;

const LOST: &str = "objects no longer tracked: their owner did not answer";

struct Log {
    tables: Tables,
    events: Vec<Event>,
    tally: Tally,
    lost: u64,
}

/// A run with optimistic tracking, in which private objects go unrecorded.
fn run(mut options: Options, exclude: &str) -> Log {
    options.config = Config {
        tracking: Tracking::Optimistic,
        exclude: vec![exclude.to_owned()],
        ..Config::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        let (mut events, mut batch) = (Vec::new(), Vec::new());
        loop {
            source.fill(&mut batch).unwrap();
            if batch.is_empty() {
                return (source.tables().clone(), events, source.tally());
            }
            events.append(&mut batch);
        }
    })
    .unwrap();
    assert!(status.success(), "{status} {options:?}");
    let one = all.remove(0);
    let (tables, events, tally) = one.result;
    assert_eq!((tally.undeclared, tally.cut_off), (0, 0));
    Log {
        tables,
        events,
        tally,
        lost: one.counts.get(LOST).copied().unwrap_or(0),
    }
}

const READ: u8 = 0;
const WRITE: u8 = 1;
/// Added to what the first owner does, which may go unrecorded before the hand-over and never after.
const PRIVATE: u8 = 2;

/// One account, and how far the log has come in it.
struct Account {
    steps: Vec<Step>,
    next: usize,
}

#[derive(Default)]
struct Place {
    /// What the object holds; `None` until the log says.
    value: Option<u64>,
    /// What the second thread found when it took it over.
    found: Option<u64>,
    /// The last write that was left out.
    left_out: Option<u64>,
    /// The first owner's accesses are in the log from here on.
    recorded: bool,
}

impl Place {
    fn check_handover(&self, place: u32) {
        if let Some(found) = self.found {
            assert_eq!(self.left_out, Some(found), "what was found at {place}");
        }
    }
}

/// Every access after the hand-over is in the log and saw what the log says; the first one saw the last one before.
fn check(log: &Log, accounts: Vec<Vec<Step>>) -> usize {
    let mut accounts: Vec<Account> = accounts
        .into_iter()
        .map(|steps| Account { steps, next: 0 })
        .collect();
    let mut places: HashMap<u32, Place> = HashMap::new();
    let mut place_of = HashMap::new();
    let mut seen = 0;
    for (i, event) in log.events.iter().enumerate() {
        let worker = match log.tables.thread_name(event.thread).as_str() {
            "worker-0" => 0,
            "worker-1" => 1,
            _ => continue,
        };
        let (kind, var) = match event.op {
            Op::Read(_, var) => (READ, var),
            Op::Write(_, var) => (WRITE, var),
            _ => continue,
        };
        if !log.tables.var_name(var).ends_with("Item.value")
            && !log.tables.var_name(var).contains("value")
        {
            continue;
        }
        seen += 1;
        let account = &mut accounts[worker];
        let step = loop {
            let step = account.steps[account.next];
            account.next += 1;
            let known = place_of.get(&var);
            let same = known.is_none_or(|&place: &u32| place == step.place);
            let place = places.entry(step.place).or_default();
            if same && step.kind % PRIVATE == kind && (step.kind < PRIVATE || known.is_some()) {
                break step;
            }
            assert!(
                step.kind >= PRIVATE && !place.recorded,
                "event {i}: {event:?} of {worker} leaves out {step:?}"
            );
            if step.kind == PRIVATE | WRITE {
                place.left_out = Some(step.value);
            }
        };
        place_of.insert(var, step.place);
        let place = places.entry(step.place).or_default();
        if worker == 0 && !place.recorded {
            place.recorded = true;
            place.check_handover(step.place);
            place.found = None;
        }
        match (kind, place.value) {
            (READ, None) => {
                place.found = Some(step.value);
                place.value = Some(step.value);
            }
            (READ, Some(value)) => assert_eq!(step.value, value, "event {i} {event:?}"),
            _ => place.value = Some(step.value),
        }
    }
    for step in &accounts[0].steps[accounts[0].next..] {
        let place = places.entry(step.place).or_default();
        assert!(
            step.kind >= PRIVATE && !place.recorded,
            "{step:?} is missing"
        );
        if step.kind == PRIVATE | WRITE {
            place.left_out = Some(step.value);
        }
    }
    assert_eq!(
        accounts[1].next,
        accounts[1].steps.len(),
        "events are missing"
    );
    for (&number, place) in &places {
        place.check_handover(number);
    }
    seen
}

fn hand_over(jdk: &Path, jvm: &[&str], items: usize, how: &str) {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let arguments = [
        account.display().to_string(),
        items.to_string(),
        how.to_owned(),
    ];
    let log = run(
        watched(jdk, jvm, "Handover", &arguments),
        "Handover$Account",
    );
    assert_eq!((log.tally.refused, log.tally.put_in, log.lost), (0, 0, 0));
    let seen = check(&log, accounts(&account, 2));
    assert!(
        (items * 6..items * 15).contains(&seen),
        "{how}: {seen} events"
    );
}

#[test]
fn a_private_object_is_recorded_from_its_hand_over_on() {
    for jdk in jdks() {
        for jvm in [&["-Xint"][..], &["-XX:TieredStopAtLevel=1"], &[]] {
            for how in ["volatile", "racy", "lock", "array", "queue"] {
                hand_over(&jdk, jvm, 2_000, how);
            }
        }
    }
}

/// The accesses of a thread to the cells.
fn cells_of(log: &Log, thread: &str) -> usize {
    let of_cell = |var| log.tables.var_name(var).contains("value");
    log.events
        .iter()
        .filter(|e| log.tables.thread_name(e.thread) == thread)
        .filter(|e| matches!(e.op, Op::Read(_, var) | Op::Write(_, var) if of_cell(var)))
        .count()
}

#[test]
fn objects_of_a_thread_that_stands_still_are_had_without_it() {
    for jdk in jdks() {
        for how in [
            "monitor", "method", "wait", "park", "sleep", "pipe", "socket", "loop", "dead",
        ] {
            for jvm in [&["-Xint"][..], &[]] {
                let options = watched(&jdk, jvm, "Blocked", &[how.to_owned()]);
                let log = run(options, "Blocked$Outside");
                assert_eq!(log.lost, 0, "{how} on {jdk:?}");
                assert_eq!(cells_of(&log, "wanting"), 200, "{how} on {jdk:?}");
            }
        }
    }
}

/// A wait for the initialization of a class, or a loop in code that is not watched, cannot be told from an access.
#[test]
fn objects_of_a_thread_that_does_not_answer_are_given_up() {
    for jdk in jdks() {
        for how in ["class", "spin"] {
            let began = Instant::now();
            let options = watched(&jdk, &[], "Blocked", &[how.to_owned()]);
            let log = run(options, "Blocked$Outside");
            assert_eq!(log.lost, 100, "{how} on {jdk:?}");
            assert_eq!(cells_of(&log, "wanting"), 0, "{how} on {jdk:?}");
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }
}
