//! The workflow for GitHub as it stands: its commands install the program and run on the example project.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{ROOT, copy};
use super::{Dist, said};

/// The steps of the workflow.
fn steps() -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("examples/ci/github.yml")).unwrap();
    let workflow: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(workflow["permissions"]["security-events"], "write");
    (workflow["jobs"]["untorn"]["steps"].as_array())
        .unwrap()
        .clone()
}

#[test]
fn the_commands_of_the_workflow_install_the_program_and_run_on_the_example_project() {
    let dist = Dist::get();
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(ROOT).join("examples/ci/maven"), folder.path());
    let python = folder.path().join("python");
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(python.join("bin")).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders.collect::<Vec<PathBuf>>()).unwrap();
    let summary = folder.path().join("summary.md");
    let mut statuses = Vec::new();
    for step in steps() {
        let Some(command) = step["run"].as_str() else {
            assert!(step["uses"].as_str().unwrap().contains('@'), "{step}");
            continue;
        };
        // GitHub runs a step so.
        let mut shell = Command::new("bash");
        let options = ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c"];
        shell.args(options).arg(command);
        dist.at_home(&mut shell);
        let output = shell
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", &summary)
            // The registry is the folder of the distribution.
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", dist.path(""))
            .env("PIP_TARGET", &python)
            .output()
            .unwrap();
        statuses.push((output.status.code(), said(&output)));
    }
    let [installed, watched] = &statuses[..] else {
        panic!("{statuses:?}");
    };
    assert_eq!(installed.0, Some(0), "{}", installed.1);
    // The project has findings, and no baseline that knows them.
    assert_eq!(watched.0, Some(1), "{}", watched.1);
    let page = std::fs::read_to_string(summary).unwrap();
    assert!(page.contains("`Stock.sell`"), "{page}");
    let sarif = std::fs::read_to_string(folder.path().join("untorn.sarif")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
}
