//! Errors in the runtime itself, at each of its allocations and wherever it finds the stack to be full: nobody waits for ever for what it holds, nothing is torn by it, and without memory the program notices nothing.

#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsString;

use support::{jdks, watched};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::run;
use untorn_channel::Config;
use untorn_channel::config::{Mode, Tracking};
use untorn_findings::Verdict;
use untorn_live::{Limits, Options, watch_all};

/// The exact regions that were observed torn by data, in a program whose runtime fails so often.
fn observed(options: &Options, what: &str, every: u32) -> Vec<String> {
    let mut options = options.clone();
    let mut command: Vec<OsString> = vec![
        "env".into(),
        format!("UNTORN_TEST_FAIL={what}").into(),
        format!("UNTORN_TEST_LIMIT=failures {every}").into(),
    ];
    command.append(&mut options.command);
    options.command = command;
    let first = options.config.mode == Mode::First;
    if first {
        options.limits = Limits::of_first_run();
    }
    let ran = watch_all(&options, |_, source| {
        if first {
            source.hear(|_| {});
            return Vec::new();
        }
        source.keep().unwrap();
        let exact = Aerodrome::new(aerodrome::Options {
            sync_edges: false,
            ..aerodrome::Options::default()
        });
        let outcome = run(source, &mut [Box::new(exact)], &mut |_| {}).unwrap();
        let observed = outcome.findings.into_iter();
        observed
            .filter(|finding| finding.verdict == Verdict::Observed)
            .map(|finding| finding.region.method)
            .collect()
    })
    .unwrap();
    assert!(ran.status.success(), "{what} {every}: {ran:?}");
    assert_eq!(ran.unwatched, [""; 0], "{what} {every}");
    ran.processes.into_iter().next().unwrap().result
}

fn ways() -> [(&'static str, Config); 4] {
    let config = Config {
        spec: Some("heuristic = \"synch\"".to_owned()),
        tracking: Tracking::Optimistic,
        arrays: true,
        ..Config::default()
    };
    [
        ("default", config.clone()),
        (
            "fast",
            Config {
                skip_lone_locks: true,
                ..config.clone()
            },
        ),
        (
            "pessimistic",
            Config {
                tracking: Tracking::Pessimistic,
                ..config.clone()
            },
        ),
        (
            "first",
            Config {
                mode: Mode::First,
                ..config
            },
        ),
    ]
}

fn check(what: &str, often: [u32; 2]) {
    for (number, jdk) in jdks().iter().enumerate() {
        for (way, config) in ways() {
            let every = often[number % often.len()];
            let arguments = [what.to_owned(), "400".to_owned()];
            let mut options = watched(jdk, &[], "Failures", &arguments);
            options.config = config;
            let torn = observed(&options, what, every);
            assert_eq!(torn, [""; 0], "{what} {every} {way} on {}", jdk.display());
        }
    }
}

#[test]
fn allocations_of_the_runtime_that_fail_are_nobodys_business() {
    check("allocations", [5, 17]);
}

#[test]
fn a_full_stack_in_the_runtime_leaves_nothing_locked() {
    check("stack", [29, 101]);
}
