//! The example project of Gradle, built and watched for real.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{ROOT, agent, copy};

#[test]
fn tests_of_a_gradle_project_are_watched_around_gradle_and_through_its_jvm_arguments() {
    let agent = agent();
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(ROOT).join("examples/ci/gradle"), folder.path());
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.code(), said)
    };
    let untorn = env!("CARGO_BIN_EXE_untorn");

    let gradle = ["gradle", "--no-daemon", "--quiet", "test"];
    let (status, said) = run(
        untorn,
        &[&["run", "-o", "findings.txt", "--"], &gradle[..]].concat(),
    );
    assert_eq!(status, Some(1), "{said}");
    let report = std::fs::read_to_string(folder.path().join("findings.txt")).unwrap();
    assert!(report.contains("Stock.sell "), "{report}");
    assert!(!report.contains("Stock.sellSafely  "), "{report}");
    // The project's file names the sources, so their lines are shown.
    assert!(report.contains("src/main/java/shop/Stock.java"), "{report}");

    let trace = folder.path().join("run.utr");
    let option = format!(
        "-PuntornAgent=-agentpath:{}=out={},include=shop.*",
        agent.display(),
        trace.display()
    );
    let (status, said) = run("gradle", &["--no-daemon", "--quiet", "test", &option]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = run(untorn, &["analyze", "run.utr"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("Stock.sell "), "{said}");
}
