//! The example project of Maven, built and watched for real.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{ROOT, agent, copy};

#[test]
fn tests_of_a_maven_project_are_watched_around_maven_and_through_its_arg_line() {
    let agent = agent();
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(ROOT).join("examples/ci/maven"), folder.path());
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

    let maven = ["mvn", "--batch-mode", "--quiet", "test"];
    let (status, said) = run(
        untorn,
        &[&["run", "-o", "findings.txt", "--"], &maven[..]].concat(),
    );
    assert_eq!(status, Some(1), "{said}");
    let report = std::fs::read_to_string(folder.path().join("findings.txt")).unwrap();
    assert!(report.contains("Stock.sell "), "{report}");
    assert!(!report.contains("Stock.sellSafely  "), "{report}");
    // The project's file names the sources, so their lines are shown.
    assert!(report.contains("src/main/java/shop/Stock.java"), "{report}");

    let option = format!(
        "-Duntorn.agent=-agentpath:{}=out=run.utr,include=shop.*",
        agent.display()
    );
    let (status, said) = run("mvn", &["--batch-mode", "--quiet", "test", &option]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = run(untorn, &["analyze", "run.utr"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("Stock.sell "), "{said}");
}
