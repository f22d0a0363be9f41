//! What the lockset analysis says of small traces.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod script;

use script::{analyze, analyze_events, regions, with_class};
use untorn_analyses::Outcome;
use untorn_analyses::assumptions::Assumptions;
use untorn_analyses::lockset::{Lockset, Options};

fn lockset(script: &str) -> Outcome {
    analyze(script, Lockset::new(Options::default()))
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_write_without_the_lock_is_a_race_with_its_accesses() {
    let outcome = lockset(
        "A: acq(m) w(x) rel(m)
         B: acq(m) w(x) rel(m)
         A: acq(m) w(x) rel(m)
         B: w(x)",
    );
    assert_eq!(regions(&outcome), ["x"]);
    let race = &outcome.findings[0].evidence.races[0];
    assert!(!race.benign_candidate);
    let accesses: Vec<_> = (race.accesses.iter())
        .map(|step| {
            (
                step.thread.as_str(),
                step.place.as_ref().unwrap().line.unwrap(),
            )
        })
        .collect();
    // The last one before x was shared, the one that made it so, the one without the lock.
    assert_eq!(accesses, [("B", 5), ("A", 8), ("B", 10)]);
}

#[test]
fn unlocked_reads_of_what_is_written_under_a_lock_are_a_benign_candidate() {
    let outcome = lockset(
        "A: acq(m) w(x) rel(m)
         B: acq(m) w(x) rel(m)
         A: acq(m) w(x) rel(m)
         B: r(x)",
    );
    assert_eq!(regions(&outcome), ["x"]);
    assert!(outcome.findings[0].evidence.races[0].benign_candidate);
    assert_eq!(outcome.stats["lockset"]["benign_candidates"][0], "x");
}

#[test]
fn the_states_of_section_4_1_need_no_lock() {
    let quiet = |script: &str| assert_eq!(regions(&lockset(script)), NOTHING, "{script}");
    // One thread alone; handed to a second thread; read by many once it is initialized.
    quiet("A: w(x) r(x) w(x)");
    quiet("A: w(x)\nB: w(x) r(x) w(x)");
    quiet("A: w(x)\nB: r(x)\nC: r(x)\nA: r(x)");
    // A third owner is one too many.
    assert_eq!(regions(&lockset("A: w(x)\nB: w(x)\nA: w(x)")), ["x"]);
}

#[test]
fn a_lock_held_shared_protects_reads() {
    let script = |op: &str| {
        format!(
            "A: acq(rw) w(x) rel(rw)\nB: acq(rw) w(x) rel(rw)
             A: acq(rw) w(x) rel(rw)\nB: acqs(rw) {op} rels(rw)"
        )
    };
    assert_eq!(regions(&lockset(&script("r(x)"))), NOTHING);
    assert_eq!(regions(&lockset(&script("w(x)"))), ["x"]);
}

#[test]
fn volatile_fields_do_not_race_unless_they_are_accessed_otherwise_too() {
    assert_eq!(regions(&lockset("A: vw(x)\nB: vw(x)\nA: vw(x)")), NOTHING);
    assert_eq!(regions(&lockset("A: vw(x)\nB: vw(x)\nA: w(x)")), ["x"]);
}

#[test]
fn a_lock_given_up_by_waiting_protects_nothing_meanwhile() {
    let outcome = lockset(
        "A: acq(m) w(x) rel(m)
         B: acq(m) w(x) rel(m)
         A: acq(m) w(x) wait(m)
         B: acq(m) w(x) rel(m)
         A: wake(m) w(x) rel(m)",
    );
    assert_eq!(regions(&outcome), NOTHING);
    assert_eq!(outcome.stats["lockset"]["most_locks_held"], 1);
}

#[test]
fn assumed_guarded_fields_and_silenced_lines_are_left_out() {
    let script = "A: w(x)\nB: w(x)\nA: w(x)";
    assert_eq!(regions(&lockset(script)), ["x"]);
    let with = |assumptions: Assumptions| {
        let options = Options { assumptions };
        regions(&analyze(script, Lockset::new(options)))
    };
    let guarded = Assumptions {
        guarded: vec!["x".into()],
        ..Assumptions::default()
    };
    assert_eq!(with(guarded), NOTHING);
    let no_warn = Assumptions {
        no_warn: vec!["S.java:3".into()],
        ..Assumptions::default()
    };
    assert_eq!(with(no_warn), NOTHING);
}

#[test]
fn a_field_is_one_race_however_many_objects_have_it() {
    let script = "A: w(p.x) w(q.x) w(q.y)\nB: w(p.x) w(q.x) w(q.y)\nA: w(p.x) w(q.x) w(q.y)";
    let lockset = Lockset::new(Options::default());
    let outcome = analyze_events(with_class(script, "geo.Point"), lockset);
    assert_eq!(regions(&outcome), ["Point.x", "Point.y"]);
    let times: Vec<u64> = outcome.findings.iter().map(|f| f.occurrences).collect();
    assert_eq!(times, [2, 1]);
}
