//! The bundled examples are what they say: the trace speaks of the sources, and the workflow's commands run.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{ROOT, agent, copy};
use untorn_findings::Document;

/// What the source line of an event must have in it.
fn expected(operation: &str) -> &'static [&'static str] {
    let (name, of) = operation.trim_end_matches(')').split_once('(').unwrap();
    match name {
        "r" | "w" => &["balance"],
        "acq" => &["synchronized", "balance += amount"],
        "rel" | "end" => &["}"],
        "fork" => &["start()"],
        "join" => &["join()"],
        "begin" if of == "Account.deposit" => &["balance += amount"],
        "begin" => &["synchronized (checking)"],
        other => panic!("what line has {other}?"),
    }
}

#[test]
fn the_lines_of_the_bundled_trace_are_those_of_the_bundled_sources() {
    let root = Path::new(ROOT);
    let sources: BTreeMap<String, Vec<String>> =
        std::fs::read_dir(root.join("examples/bank/src/bank"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, text.lines().map(str::to_owned).collect())
            })
            .collect();
    let trace = std::fs::read_to_string(root.join("examples/traces/bank.std")).unwrap();
    for event in trace.lines() {
        let [_, operation, place] = event.split('|').collect::<Vec<_>>()[..] else {
            panic!("{event}");
        };
        let (file, line) = place.split_once(':').unwrap();
        let line = &sources[file][line.parse::<usize>().unwrap() - 1];
        assert!(
            expected(operation).iter().any(|word| line.contains(word)),
            "{event} is at `{line}`"
        );
    }
}

/// The steps of the workflow.
fn steps() -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("examples/ci/github.yml")).unwrap();
    let workflow: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(workflow["permissions"]["security-events"], "write");
    workflow["jobs"]["untorn"]["steps"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn the_commands_of_the_workflow_run_on_the_example_project() {
    agent();
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(ROOT).join("examples/ci/maven"), folder.path());
    let programs = Path::new(env!("CARGO_BIN_EXE_untorn")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(PathBuf::from(programs)).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    let summary = folder.path().join("summary.md");
    // A baseline without findings, as a clean project has it.
    let empty = Document::new(Vec::new()).to_json().unwrap();
    std::fs::write(folder.path().join("untorn-baseline.json"), empty).unwrap();
    let mut ran = 0;
    for step in steps() {
        let Some(command) = step["run"].as_str() else {
            assert!(step["uses"].as_str().unwrap().contains('@'), "{step}");
            continue;
        };
        // GitHub runs a step so.
        let output = Command::new("bash")
            .args([
                "--noprofile",
                "--norc",
                "-e",
                "-o",
                "pipefail",
                "-c",
                command,
            ])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // The project has findings that no baseline knows.
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        ran += 1;
    }
    assert_eq!(ran, 1);
    let page = std::fs::read_to_string(summary).unwrap();
    assert!(page.contains("`Stock.sell`"), "{page}");
    let sarif: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("untorn.sarif")).unwrap())
            .unwrap();
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
}
