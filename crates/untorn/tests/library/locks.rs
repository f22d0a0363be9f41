//! Every way of locking, in every way of watching: nothing is left out or put in, and no region that is one critical section is reported.

use std::process::Output;

use crate::program::Program;
use crate::{text, verdicts};

const SOURCE: &str = include_str!("Locks.java");

/// How a run is watched, and by what: the exact checkers, alone and with others.
const WAYS: [&[&str]; 7] = [
    &["run"],
    &["run", "--fast"],
    &["run", "--tracking", "pessimistic"],
    &["run", "--with", "velodrome,aerodrome,doublechecker"],
    &["run", "--with", "velodrome", "--tracking", "pessimistic"],
    &["run", "--with", "aerodrome", "--sync-edges", "off"],
    &["run", "--mode", "precise"],
];

/// Whether a run says that no event was refused or put in: the counts it prints or writes.
fn is_complete(counts: &str, run: &Output) -> bool {
    let of_events: Vec<&str> = (counts.lines().map(str::trim))
        .filter(|line| line.contains("events refused") || line.contains("events put in"))
        .map(|line| line.trim_end_matches(','))
        .collect();
    of_events.len() == 2
        && of_events.iter().all(|line| line.ends_with(": 0"))
        && !text(&run.stderr).contains("were left out")
}

/// What a run of some ways of locking finds, by region; the run itself must be complete.
fn found(program: &Program, options: &[&str], which: &str) -> Vec<String> {
    let (out, spec) = (program.file("found.json"), program.file("spec.toml"));
    let classes = "heuristic = \"none\"\ninclude = [\"Locks$*.change\", \"Locks$*.look\"]\n";
    std::fs::write(&spec, classes).unwrap();
    let mut all = options.to_vec();
    all.extend(["--stats", "--exit-zero", "--spec", &spec, "-o", &out]);
    let run = program.watched_with(&all, &[which]);
    assert!(run.status.success(), "{options:?} {which}: {run:?}");
    let found = verdicts(&out, &run).into_keys().collect();
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(is_complete(&written, &run), "{options:?} {which}: {run:?}");
    found
}

#[test]
fn a_critical_section_is_one_step_whatever_its_lock() {
    let program = Program::compile("Locks", SOURCE);
    for options in WAYS {
        assert_eq!(found(&program, options, "whole"), [""; 0], "{options:?}");
        if options.contains(&"--with") {
            assert_eq!(found(&program, options, "permits"), [""; 0], "{options:?}");
        }
    }
}

#[test]
fn waits_for_conditions_lose_nothing() {
    let program = Program::compile("Locks", SOURCE);
    for options in WAYS {
        found(&program, options, "waiting");
    }
}

#[test]
fn a_stamp_that_another_thread_gives_up_loses_nothing() {
    let program = Program::compile("Locks", SOURCE);
    for options in WAYS {
        found(&program, options, "handed");
    }
}

#[test]
fn every_analysis_hears_of_every_lock() {
    let program = Program::compile("Locks", SOURCE);
    for analysis in ["atomizer", "views", "lockset", "doublechecker"] {
        found(&program, &["run", "--with", analysis], "all");
    }
}

#[test]
fn two_critical_sections_are_two_steps() {
    let program = Program::compile("Locks", SOURCE);
    for options in WAYS {
        let torn = found(&program, options, "torn");
        assert_eq!(torn, ["Torn.look", "TornStamped.look"], "{options:?}");
    }
}

#[test]
fn runs_in_two_parts_lose_nothing_either() {
    let program = Program::compile("Locks", SOURCE);
    let profile = program.file("profile.json");
    for (which, expected) in [
        ("whole", vec![]),
        ("waiting", vec![]),
        ("handed", vec![]),
        ("torn", vec!["Torn.look", "TornStamped.look"]),
    ] {
        for mode in ["first", "second"] {
            let options = ["run", "--mode", mode, "--profile", &profile];
            let torn = found(&program, &options, which);
            // Regions that wait for others are torn by that.
            if mode == "second" && !["waiting", "handed"].contains(&which) {
                assert_eq!(torn, expected, "{which}");
            }
        }
    }
}

#[test]
fn a_recorded_run_holds_the_same() {
    let program = Program::compile("Locks", SOURCE);
    let trace = program.file("locks.utr");
    for which in ["whole", "waiting", "handed", "torn"] {
        let run = program.watched_with(&["record", "--stats", "-o", &trace], &[which]);
        assert!(run.status.success(), "{which}: {run:?}");
        let said = text(&run.stdout) + &text(&run.stderr);
        assert!(is_complete(&said, &run), "{which}: {run:?}");
        let said = Program::untorn(&["trace", "info", &trace]);
        assert!(said.status.success(), "{said:?}");
        assert!(!text(&said.stderr).contains("were left out"), "{said:?}");
    }
}
