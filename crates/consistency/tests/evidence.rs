//! What a finding says.

#![allow(clippy::unwrap_used)]

mod support;

use support::{application, library, run};
use untorn_consistency::Options;
use untorn_findings::{Finding, Kind, Verdict};

fn finding(findings: Vec<Finding>, name: &str) -> Finding {
    findings
        .into_iter()
        .find(|finding| finding.region.short_name() == name)
        .unwrap()
}

#[test]
fn a_finding_names_view_locks_threads_and_allocation_sites() {
    let program = application("Updaters");
    let outcome = run(&program, &Options::default());
    let found = finding(outcome.findings, "Updaters$Account.updateBad");
    assert_eq!(found.kind, Kind::MethodInconsistency);
    assert_eq!(found.verdict, Verdict::Suspected);
    assert_eq!(found.region.file.as_deref(), Some("Updaters.java"));
    let [views] = found.evidence.method_views.as_slice() else {
        panic!("{:?}", found.evidence.method_views);
    };
    assert_eq!(views.class, "apps.Updaters$Account");
    assert!(!views.library);
    assert_eq!(views.view, ["balance: read", "balance: write"]);
    assert!(views.thread.contains("Updater"), "{}", views.thread);
    let reader = (views.interfering.iter())
        .find(|view| view.method.method == "read")
        .unwrap();
    assert_eq!(reader.accesses, ["balance: read"]);
    assert_eq!(reader.lock, "this");
    let lines: Vec<_> = reader
        .places
        .iter()
        .filter_map(|place| place.line)
        .collect();
    assert!(!lines.is_empty());
    assert!((views.interfering.iter()).any(|view| view.accesses == ["balance: write"]));
    let [made] = views.allocated_at.as_slice() else {
        panic!("{:?}", views.allocated_at);
    };
    assert_eq!((made.method.as_deref(), made.line), (Some("main"), Some(8)));
}

#[test]
fn fields_of_library_classes_are_told_from_those_of_the_application() {
    let program = application("Steps");
    let outcome = run(&program, &Options::default());
    let stats = &outcome.stats;
    let found = finding(outcome.findings, "Steps.firstBad");
    assert!(
        found
            .evidence
            .method_views
            .iter()
            .all(|views| views.library)
    );
    assert_eq!(stats.reports.0, 0);
    assert!(stats.reports.1 > 0);
    assert_eq!(stats.app_methods.0, 3);
    assert!(stats.app_methods.1 > stats.app_methods.0);
}

#[test]
fn shared_locks_are_told_from_exclusive_ones() {
    let outcome = run(library(), &Options::default());
    let found = finding(outcome.findings, "SharedAccount.upgradeBad");
    let locks: Vec<_> = (found.evidence.method_views.iter())
        .flat_map(|views| &views.interfering)
        .map(|view| view.lock.as_str())
        .collect();
    assert!(locks.contains(&"this.lock (shared)"), "{locks:?}");
    assert!(locks.contains(&"this.lock"), "{locks:?}");
}

#[test]
fn methods_nobody_asked_to_be_atomic_say_so() {
    let program = application("Contexts");
    let outcome = run(&program, &Options::default());
    let found = finding(outcome.findings, "Contexts$Worker.sharedBad");
    let note = |note: &String| note.contains("does not ask that it be atomic");
    assert!(
        found.evidence.notes.iter().any(note),
        "{:?}",
        found.evidence.notes
    );
    let outcome = run(library(), &Options::default());
    let found = finding(outcome.findings, "Account.updateBad");
    assert!(
        !found.evidence.notes.iter().any(note),
        "{:?}",
        found.evidence.notes
    );
}

#[test]
fn an_outer_lock_is_not_passed_over_in_silence() {
    let findings = run(library(), &Options::default()).findings;
    let found = finding(findings, "Outer.raiseBad");
    let said = &found.message;
    assert!(!said.contains("not in one critical section"), "{said}");
    assert!(said.contains("while it holds this"), "{said}");
}

#[test]
fn a_thread_that_exists_once_does_not_interfere_with_itself() {
    let program = application("Once");
    let findings = run(&program, &Options::default()).findings;
    let found = finding(findings, "Once$Account.updateBad");
    assert!(!found.message.contains("another call"), "{}", found.message);
}

/// The views of a method that reaches everything stay in proportion, whatever it reaches.
#[test]
fn evidence_is_no_larger_than_anybody_reads() {
    let options = Options {
        lowest: false,
        smallest: false,
        partition: false,
        ..Options::default()
    };
    for found in run(library(), &options).findings {
        let size = serde_json::to_string(&found).unwrap().len();
        assert!(size < 4_000, "{size} bytes: {}", found.message);
        let views = &found.evidence.method_views[0];
        assert!(!views.interfering.is_empty(), "{}", found.message);
    }
}
