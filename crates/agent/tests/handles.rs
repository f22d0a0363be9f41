//! An access by a field updater or a variable handle is one to the field, and conflicts with those that instructions make.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::{jdks, watched};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_findings::{Finding, Kind, Verdict};
use untorn_live::watch;

/// What is found of a program's regions.
fn found(
    jdk: &Path,
    jvm: &[&str],
    class: &str,
    arguments: &[String],
    tracking: Tracking,
) -> Vec<Finding> {
    let mut options = watched(jdk, jvm, class, arguments);
    options.config = Config {
        tracking,
        arrays: true,
        exclude: vec!["Stage".to_owned()],
        spec: Some("heuristic = \"none\"\ninclude = [\"*.region*\"]\n".to_owned()),
        ..Config::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        source.keep().unwrap();
        let every = aerodrome::Options {
            examined: u32::MAX,
            ..aerodrome::Options::default()
        };
        let analysis = Box::new(Aerodrome::new(every));
        untorn_analyses::run(source, &mut [analysis], &mut |_| {}).unwrap()
    })
    .unwrap();
    assert!(status.success(), "{status}");
    all.remove(0).result.findings
}

#[test]
fn updaters_and_handles_conflict_with_instructions() {
    for jdk in jdks() {
        for tracking in [Tracking::Pessimistic, Tracking::Optimistic] {
            let findings = found(&jdk, &[], "Handles", &[], tracking);
            let torn: BTreeSet<&str> = (findings.iter())
                .filter(|finding| finding.verdict == Verdict::Observed)
                .filter_map(|finding| finding.region.class.as_deref()?.strip_prefix("Handles$"))
                .collect();
            let expected = BTreeSet::from([
                "TornReadThenUpdater",
                "TornMaximum",
                "TornUpdaterThenWrite",
                "TornUpdated",
                "TornByUpdated",
                "TornHandle",
                "TornByHandle",
                "TornUpdaterByHandle",
                "TornInherited",
                "TornLong",
                "TornReference",
                "TornStatic",
                "TornByStatic",
                "TornElement",
            ]);
            assert_eq!(torn, expected, "{} {tracking:?}", jdk.display());
            let names = format!("{findings:?}");
            assert!(!names.contains("field at"), "{names}");
        }
    }
}

#[test]
fn what_locks_protect_is_whole_whoever_accesses_it() {
    for jdk in jdks() {
        for tracking in [Tracking::Pessimistic, Tracking::Optimistic] {
            for jvm in [&["-Xint"][..], &["-XX:TieredStopAtLevel=1"], &[]] {
                let rounds = if jvm == ["-Xint"] { "3000" } else { "20000" };
                let rounds = [rounds.to_owned()];
                let findings = found(&jdk, jvm, "HandlesUnderLock", &rounds, tracking);
                let torn: Vec<&Finding> = (findings.iter())
                    .filter(|finding| finding.kind == Kind::Torn)
                    .collect();
                assert!(torn.is_empty(), "{} {tracking:?} {torn:?}", jdk.display());
            }
        }
    }
}
