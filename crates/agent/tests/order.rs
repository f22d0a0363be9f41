//! The order in the log is the order in which it happened: every read returns the value of the write that the log says precedes it.

#![allow(clippy::unwrap_used)]

#[path = "support/account.rs"]
mod account;
mod support;

use std::collections::HashMap;
use std::path::Path;

use account::{Step, accounts};
use support::{jdks, version, watched};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::{Options, Tally, watch};
use untorn_model::{Event, Op, Tables};
use untorn_trace::Error;
use untorn_trace::Source;

const READ: u8 = 0;
const WRITE: u8 = 1;
const ACQUIRE: u8 = 2;
const RELEASE: u8 = 3;

/// Everything a run yielded.
struct Log {
    tables: Tables,
    events: Vec<Event>,
    tally: Tally,
}

fn read_all(source: &mut dyn Source) -> Result<(Tables, Vec<Event>), Error> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok((source.tables().clone(), all));
        }
        all.append(&mut batch);
    }
}

/// Replays the log against the accounts.
fn check(log: &Log, accounts: &[Vec<Step>]) {
    let workers: HashMap<String, usize> = (0..accounts.len())
        .map(|i| (format!("worker-{i}"), i))
        .collect();
    let mut next = vec![0; accounts.len()];
    let mut memory: HashMap<u32, u64> = HashMap::new();
    let mut place_of: HashMap<_, u32> = HashMap::new();
    let mut lock_of: HashMap<_, u32> = HashMap::new();
    for (i, event) in log.events.iter().enumerate() {
        let Some(&worker) = workers.get(&log.tables.thread_name(event.thread)) else {
            continue;
        };
        let kind = match event.op {
            Op::Read(..) => READ,
            Op::Write(..) => WRITE,
            Op::Acquire(..) => ACQUIRE,
            Op::Release(..) => RELEASE,
            _ => continue,
        };
        let step = accounts[worker][next[worker]];
        assert_eq!(kind, step.kind, "event {i}: {event:?} against {step:?}");
        next[worker] += 1;
        match event.op {
            Op::Read(_, var) | Op::Write(_, var) => {
                let place = *place_of.entry(var).or_insert(step.place);
                assert_eq!(place, step.place, "event {i}: one location, two places");
                if kind == WRITE {
                    memory.insert(place, step.value);
                } else {
                    let expected = memory.get(&place).copied().unwrap_or(0);
                    assert_eq!(step.value, expected, "event {i} of {worker} at {place}");
                }
            }
            Op::Acquire(_, lock) => {
                assert_eq!(*lock_of.entry(lock).or_insert(step.place), step.place);
            }
            _ => {}
        }
    }
    for (worker, account) in accounts.iter().enumerate() {
        assert_eq!(next[worker], account.len(), "events of worker {worker}");
    }
    assert_eq!((log.tally.refused, log.tally.put_in), (0, 0));
    assert_eq!(log.tally.undeclared, 0);
    assert_eq!(log.tally.cut_off, 0);
}

/// Runs a program that keeps account, and checks its log.
fn run(options: &Options, account: &Path, threads: usize) {
    // Shown where the test fails.
    println!("{:?} {:?}", options.config.tracking, options.command);
    let (status, mut all) = watch(options, |_, source| {
        let (tables, events) = read_all(source).unwrap();
        Log {
            tables,
            events,
            tally: source.tally(),
        }
    })
    .unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(all.len(), 1);
    let log = all.remove(0).result;
    check(&log, &accounts(account, threads));
}

/// Both ways of tracking; of private objects everything is recorded, so that the accounts can be compared.
fn trackings() -> [Config; 2] {
    [Tracking::Pessimistic, Tracking::Optimistic].map(|tracking| Config {
        tracking,
        keep_private: true,
        ..Config::default()
    })
}

/// The program that calls the runtime itself.
fn stress(
    jdk: &Path,
    jvm: &[&str],
    threads: usize,
    operations: usize,
    cells: usize,
    writes: usize,
    kind: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let arguments = [
        account.display().to_string(),
        threads.to_string(),
        operations.to_string(),
        cells.to_string(),
        writes.to_string(),
        kind.to_owned(),
        "return".to_owned(),
    ];
    let mut options = watched(jdk, jvm, "Stress", &arguments);
    // Elements and contents are locked either way, beside words that are owned or not.
    for config in trackings() {
        options.config = Config {
            tracking: config.tracking,
            keep_private: true,
            ..options.config
        };
        run(&options, &account, threads);
    }
}

/// The program that the agent rewrites.
fn plain(
    jdk: &Path,
    jvm: &[&str],
    threads: usize,
    operations: usize,
    cells: usize,
    writes: usize,
    kind: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let arguments = [
        account.display().to_string(),
        threads.to_string(),
        operations.to_string(),
        cells.to_string(),
        writes.to_string(),
        kind.to_owned(),
    ];
    let mut options = watched(jdk, jvm, "Plain", &arguments);
    for config in trackings() {
        options.config = Config {
            exclude: vec!["Plain$Account".to_owned()],
            ..config
        };
        run(&options, &account, threads);
    }
}

#[test]
fn a_rewritten_program_is_logged_in_its_order() {
    for jdk in jdks() {
        for jvm in [&["-Xint"][..], &["-XX:TieredStopAtLevel=1"], &[]] {
            // Few cells and many writes: every access conflicts. Many reads: objects become read-shared.
            plain(&jdk, jvm, 4, 5_000, 3, 50, "platform");
            plain(&jdk, jvm, 3, 5_000, 20, 3, "platform");
        }
        // So long that words which were fought over are owned again, and fought over again.
        plain(&jdk, &[], 2, 60_000, 5, 5, "platform");
    }
}

#[test]
fn reads_see_the_writes_that_the_log_puts_before_them() {
    for jdk in jdks() {
        for jvm in [&["-Xint"][..], &["-XX:TieredStopAtLevel=1"], &[]] {
            stress(&jdk, jvm, 4, 5_000, 3, 50, "platform");
            stress(&jdk, jvm, 3, 5_000, 20, 3, "platform");
        }
    }
}

#[test]
fn more_threads_than_processors() {
    for jdk in jdks() {
        stress(&jdk, &[], 32, 2_000, 10, 20, "platform");
        plain(&jdk, &[], 32, 2_000, 10, 20, "platform");
    }
}

#[test]
fn virtual_threads_keep_their_own_state() {
    for jdk in jdks().iter().filter(|jdk| version(jdk) >= 21) {
        stress(jdk, &[], 50, 500, 5, 20, "virtual");
        plain(jdk, &[], 50, 500, 5, 20, "virtual");
    }
}

/// UNTORN_STARTS says how often; 200 are worth a coffee.
#[test]
fn short_runs_start_and_end_without_losing_an_event() {
    let starts = std::env::var("UNTORN_STARTS").map_or(6, |text| text.parse().unwrap());
    let jdks = jdks();
    for i in 0..starts {
        plain(
            &jdks[i % jdks.len()],
            &[],
            2 + i % 3,
            100,
            4,
            30,
            "platform",
        );
    }
}
