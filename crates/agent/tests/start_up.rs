//! Whatever fails while the agent starts, the program runs as without it, and the reader says that it went unwatched.

#![allow(clippy::unwrap_used)]

#[path = "support/runtimes.rs"]
mod runtimes;
mod support;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use runtimes::runtime;
use support::{jdks, watched};
use untorn_channel::Config;
use untorn_live::{Error, watch_all};
use untorn_trace::Source;

/// What the agent fails at, as `src/faults.rs` names it.
const STEPS: [&str; 13] = [
    "capabilities",
    "events",
    "thread",
    "boot",
    // The first of the runtime's classes, the one that the platform calls, and one of the last.
    "define java/lang/UntornArrays",
    "define java/lang/UntornRuntime",
    "define java/lang/UntornWord",
    // These are noticed by those that need them.
    "skip java/lang/UntornThread",
    "skip java/lang/UntornKeys",
    "edit java/lang/Class",
    "edit java/lang/Thread",
    "edit java/util/AbstractMap",
    "edit java/util/concurrent/locks/LockSupport",
];

/// Runs a program that starts threads, locks, parks and joins while a step fails; what kept it from being watched.
fn unwatched(jdk: &Path, step: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let arguments = [account.to_str().unwrap(), "2", "500", "3", "50", "platform"];
    let mut options = watched(jdk, &[], "Plain", &arguments.map(str::to_owned));
    options.config = Config::default();
    let mut command: Vec<OsString> = vec!["env".into(), format!("UNTORN_TEST_FAIL={step}").into()];
    command.append(&mut options.command);
    options.command = command;
    let ran = watch_all(&options, |_, source| {
        let mut batch = Vec::new();
        while source.fill(&mut batch).is_ok() && !batch.is_empty() {}
    });
    assert!(fs::metadata(&account).unwrap().len() > 1_000, "{step}");
    match ran {
        Ok(ran) => {
            assert!(ran.status.success(), "{step}: {ran:?}");
            ran.unwatched
        }
        // No JVM was watched at all, and this says why.
        Err(error @ Error::Channel(_)) => vec![error.to_string()],
        Err(error) => panic!("{step}: {error}"),
    }
}

#[test]
fn a_step_that_fails_leaves_the_program_alone_and_is_told() {
    // And the release between.
    for jdk in jdks().into_iter().chain([runtime(21)]) {
        for step in STEPS {
            let said = unwatched(&jdk, step);
            assert_eq!(said.len(), 1, "{step} on {}: {said:?}", jdk.display());
        }
        assert_eq!(unwatched(&jdk, "nothing"), [""; 0]);
    }
}
