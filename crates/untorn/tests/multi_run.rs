//! The parts of doublechecker one by one, and what is compared with them, over a recorded trace.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::path::Path;
use std::process::{Command, Output};

use untorn_findings::{Document, Verdict};

fn untorn(at: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .current_dir(at)
        .args(args)
        .output()
        .unwrap()
}

/// What was observed by a run with these arguments.
fn observed(at: &Path, args: &[&str]) -> Vec<String> {
    let mut all = vec!["analyze", "bank.std", "--exit-zero", "-o", "found.json"];
    all.extend(args);
    let said = untorn(at, &all);
    assert!(said.status.success(), "{said:?}");
    let text = std::fs::read_to_string(at.join("found.json")).unwrap();
    let document: Document = serde_json::from_str(&text).unwrap();
    (document.findings.iter())
        .filter(|finding| finding.verdict == Verdict::Observed)
        .map(|finding| finding.region.short_name())
        .collect()
}

#[test]
fn two_runs_and_their_variants_find_what_one_run_finds() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces/bank.std");
    std::fs::copy(trace, at.join("bank.std")).unwrap();

    let single = observed(at, &["--with", "doublechecker"]);
    assert_eq!(single, ["Bank.transfer"]);
    assert_eq!(observed(at, &["--mode", "precise"]), single);

    let first = observed(at, &["--mode", "first", "--profile", "one.prof"]);
    assert!(first.is_empty(), "a first run observes nothing: {first:?}");
    let merged = untorn(at, &["profile", "merge", "one.prof", "-o", "all.prof"]);
    assert!(merged.status.success(), "{merged:?}");
    for variant in [
        &["--mode", "second", "--profile", "all.prof"][..],
        &[
            "--mode",
            "second",
            "--profile",
            "all.prof",
            "--always-unary",
        ],
        &[
            "--mode",
            "second",
            "--profile",
            "all.prof",
            "--with",
            "velodrome",
        ],
    ] {
        assert_eq!(observed(at, variant), single, "{variant:?}");
    }
}

#[test]
fn a_profile_that_nobody_reads_or_writes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["single", "precise"] {
        let args = ["analyze", "x.std", "--mode", mode, "--profile", "p"];
        let said = untorn(folder.path(), &args);
        assert_eq!(said.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&said.stderr).contains("--profile goes with"));
    }
}
