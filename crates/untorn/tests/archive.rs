//! What commands find goes into an archive of many runs, if that is asked for.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TRACE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/traces/bank.std"
);

/// The program, with the one that keeps archives beside it.
fn untorn(words: &[&str]) -> Output {
    let own = Path::new(env!("CARGO_BIN_EXE_untorn"));
    if !own.with_file_name("untorn-archive").is_file() {
        // A test of this package alone does not build it.
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--release",
                "--package",
                "untorn-archive",
                "--bins",
            ])
            .status();
        assert!(built.unwrap().success());
    }
    Command::new(own).args(words).output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn results_are_kept_after_they_were_shown() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let archive = archive.to_str().unwrap();
    for version in ["1.0", "1.1"] {
        let output = untorn(&[
            "analyze",
            TRACE,
            "--with",
            "velodrome",
            "--archive",
            archive,
            "--project",
            "bank",
            "--program-version",
            version,
        ]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said(&output.stdout).contains("torn"), "{output:?}");
    }
    let question = "SELECT project, command, version, options, findings > 0 AS found FROM runs ORDER BY version";
    let output = untorn(&[
        "archive",
        "query",
        question,
        "--archive",
        archive,
        "--format",
        "csv",
    ]);
    let answer = said(&output.stdout);
    let rows: Vec<&str> = answer.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{output:?}");
    assert!(rows[0].starts_with("bank,analyze,1.0,"), "{answer}");
    assert!(rows[0].contains("--with velodrome"), "{answer}");
    assert!(rows[0].ends_with(",true"), "{answer}");
    assert!(!answer.contains(archive), "{answer}");

    let page = folder.path().join("trends.html");
    let output = untorn(&["report", "--archive", archive, "-o", page.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read_to_string(page).unwrap().contains("By version"));
}

#[test]
fn events_of_a_trace_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let import = ["archive", "import", "--events", TRACE, "--archive", archive];
    let output = untorn(&import);
    assert!(output.status.success(), "{output:?}");
    let question =
        "SELECT operation, count(*) AS events FROM events GROUP BY operation ORDER BY operation";
    let output = untorn(&[
        "archive",
        "query",
        question,
        "--archive",
        archive,
        "--format",
        "csv",
    ]);
    let mut counted = std::collections::BTreeMap::new();
    for line in fs::read_to_string(TRACE).unwrap().lines() {
        let operation = line.split('|').nth(1).unwrap().split('(').next().unwrap();
        *counted.entry(operation.to_owned()).or_insert(0) += 1;
    }
    let expected: String = (counted.iter())
        .map(|(operation, count)| format!("{operation},{count}\n"))
        .collect();
    assert_eq!(
        said(&output.stdout),
        format!("operation,events\n{expected}"),
        "{output:?}"
    );
    // The same trace is not kept twice.
    let output = untorn(&import);
    assert!(said(&output.stderr).contains("in the archive already"));
}

#[test]
fn a_store_that_fails_costs_no_result() {
    let output = untorn(&["analyze", TRACE, "--archive", "/proc/nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(&output.stdout).contains("torn"), "{output:?}");
    let said = said(&output.stderr);
    assert!(said.contains("/proc/nowhere"), "{said}");
    assert!(said.contains("not in the archive"), "{said}");
}
