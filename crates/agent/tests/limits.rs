//! Numbers that come to their end: none is used twice, recording ends, the reader hears why, and the program goes on.

#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use support::{jdks, watched};
use untorn_channel::Config;
use untorn_channel::config::{Mode, Tracking};
use untorn_live::{Limits, watch_all};
use untorn_trace::Source;

/// Runs the program with fewer numbers of a kind; what was refused of its records, and what kept it from being watched to its end.
fn run(jdk: &Path, limit: &str, config: &Config) -> (u64, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let arguments = [result.to_str().unwrap().to_owned()];
    let mut options = watched(jdk, &[], "Numbers", &arguments);
    options.config = config.clone();
    let first = config.mode == Mode::First;
    if first {
        options.limits = Limits::of_first_run();
    }
    let mut command: Vec<OsString> =
        vec!["env".into(), format!("UNTORN_TEST_LIMIT={limit}").into()];
    command.append(&mut options.command);
    options.command = command;
    let ran = watch_all(&options, |_, source| {
        if first {
            source.hear(|_| {});
            return 0;
        }
        let mut batch = Vec::new();
        loop {
            source.fill(&mut batch).unwrap();
            if batch.is_empty() {
                let tally = source.tally();
                return tally.refused + tally.undeclared;
            }
        }
    })
    .unwrap();
    assert!(ran.status.success(), "{limit}: {ran:?}");
    // 24 threads, 4000 objects of each class: 20,000 steps each, and what they added.
    let total = fs::read_to_string(&result).unwrap();
    let expected = 24 * 20_000 + 24 * 4_000 * (1 + 3 + 4);
    assert_eq!(total.trim(), expected.to_string(), "{limit}");
    (ran.processes[0].result, ran.unwatched)
}

#[test]
fn recording_ends_before_a_number_is_used_twice() {
    for jdk in jdks() {
        for tracking in [Tracking::Optimistic, Tracking::Pessimistic] {
            let config = Config {
                tracking,
                ..Config::default()
            };
            for kind in [
                "positions",
                "threads",
                "objects",
                "locks",
                "classes",
                "regions",
            ] {
                let few = if kind == "positions" { 9_000 } else { 3 };
                let (_, said) = run(&jdk, &format!("{kind} {few}"), &config);
                let told = format!("no more numbers for {kind}");
                assert!(
                    said.len() == 1 && said[0].contains(&told),
                    "{kind}: {said:?}"
                );
            }
        }
        let first = Config {
            mode: Mode::First,
            tracking: Tracking::Optimistic,
            ..Config::default()
        };
        let (_, said) = run(&jdk, "positions 9000", &first);
        assert!(said.len() == 1 && said[0].contains("positions"), "{said:?}");
        assert_eq!(run(&jdk, "nothing 1", &first), (0, Vec::new()));
    }
}

#[test]
fn threads_without_an_ownership_number_lose_nothing() {
    for jdk in jdks() {
        let config = Config {
            tracking: Tracking::Optimistic,
            ..Config::default()
        };
        for few in ["owners 2", "owners 9"] {
            assert_eq!(run(&jdk, few, &config), (0, Vec::new()), "{few}");
        }
    }
}
