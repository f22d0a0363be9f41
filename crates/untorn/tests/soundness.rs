//! Soundness in practice: what types prove is never seen torn.
//!
//! One set of small programs, right and wrong, is typed as a library and as an application, and run again and again under the exact checkers, with other schedules each time.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/soundness/Programs.java"
);
const RUNS: u32 = 16;
const ROUNDS: u32 = 500;
/// How many of the wrong methods must be seen torn, or the runs show nothing.
const SEEN: usize = 15;

/// A method as `Class.method(descriptor)`.
type Method = String;

/// A tool of the JDK: from JAVA_HOME, else what PATH finds.
fn tool(name: &str) -> PathBuf {
    match std::env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(name),
        None => name.into(),
    }
}

fn compiled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let javac = Command::new(tool("javac"))
        .args(["-g", "-d"])
        .arg(folder.path())
        .arg(SOURCE)
        .output()
        .unwrap();
    assert!(javac.status.success(), "{javac:?}");
    folder
}

fn untorn(arguments: &[&str], program: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("findings.json");
    let beside_this_test = std::env::current_exe().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_untorn"));
    command
        .args(arguments)
        .args(["--exit-zero", "--format", "json", "-o"])
        .arg(&report)
        .env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        );
    if !program.is_empty() {
        command.arg("--").arg(tool("java")).args(program);
    }
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap()
}

fn name(region: &serde_json::Value) -> Method {
    let part = |key: &str| region[key].as_str().unwrap_or_default().to_owned();
    format!("{}.{}{}", part("class"), part("method"), part("descriptor"))
}

fn is_block(region: &serde_json::Value) -> bool {
    !region["block"].is_null()
}

/// Everything that is proved, proofs that need sequential consistency included.
fn proved(classes: &str, main: &[&str]) -> BTreeSet<Method> {
    let mut arguments = vec!["check", classes, "--with", "types"];
    arguments.extend(main);
    let document = untorn(&arguments, &[]);
    ["proved", "proved_if_sequential"]
        .iter()
        .flat_map(|list| document[list].as_array().cloned().unwrap_or_default())
        .filter(|region| !is_block(region))
        .map(|region| name(&region))
        .collect()
}

fn observed(classes: &str, seed: u32) -> BTreeSet<Method> {
    let (seed, rounds) = (seed.to_string(), ROUNDS.to_string());
    let document = untorn(
        &["run", "--with", "velodrome,aerodrome", "--arrays"],
        &["-cp", classes, "Programs", &seed, &rounds],
    );
    let findings = document["findings"].as_array().unwrap();
    findings
        .iter()
        .filter(|finding| finding["verdict"] == "observed")
        .map(|finding| name(&finding["region"]))
        .collect()
}

fn ends(method: &str, word: &str) -> bool {
    method.split('(').next().unwrap().ends_with(word)
}

#[test]
fn what_is_proved_is_never_seen_torn() {
    let folder = compiled();
    let classes = folder.path().to_str().unwrap();
    let library = proved(classes, &[]);
    let application = proved(classes, &["--main", "Programs"]);
    for (mode, proved) in [("library", &library), ("application", &application)] {
        let wrong: Vec<_> = proved.iter().filter(|m| ends(m, "Bad")).collect();
        assert!(wrong.is_empty(), "{mode}: wrongly proved: {wrong:?}");
        let right = proved.iter().filter(|m| ends(m, "Ok")).count();
        assert!(right >= 38, "{mode}: only {right} proved: {proved:?}");
    }
    let mut torn = BTreeSet::new();
    for seed in 0..RUNS {
        let seen = observed(classes, seed);
        for proved in [&library, &application] {
            let refuted: Vec<_> = seen.intersection(proved).collect();
            assert!(
                refuted.is_empty(),
                "seed {seed}: proved, but torn: {refuted:?}"
            );
        }
        torn.extend(seen);
    }
    let bad = torn.iter().filter(|m| ends(m, "Bad")).count();
    assert!(bad >= SEEN, "only {bad} methods seen torn: {torn:?}");
    let good: Vec<_> = torn.iter().filter(|m| ends(m, "Ok")).collect();
    assert!(good.is_empty(), "seen torn: {good:?}");
}
