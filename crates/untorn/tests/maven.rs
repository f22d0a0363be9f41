//! The example project of Maven, built and watched for real.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !path.is_dir() {
            std::fs::copy(&path, &target).unwrap();
        } else if path.file_name().is_some_and(|name| name != "target") {
            copy(&path, &target);
        }
    }
}

/// The agent's library, beside the program; built if it is not there yet.
fn agent() -> PathBuf {
    let programs = Path::new(env!("CARGO_BIN_EXE_untorn")).parent().unwrap();
    let library = programs.join("libuntorn_agent.so");
    if !library.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--release", "--package", "untorn-agent"])
            .current_dir(ROOT)
            .status()
            .unwrap();
        assert!(built.success());
    }
    library.canonicalize().unwrap()
}

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
