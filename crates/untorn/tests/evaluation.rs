//! A slice of `cargo xtask eval`: two documented bugs, one with its repair, and one scenario program.
//!
//! They are such that it does not matter how the threads of a run happen to meet: what is torn is predicted, if it was not observed.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use untorn_findings::{Document, Finding, Level};

const SUBJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../evaluation");

fn java(program: &str) -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").expect("JAVA_HOME names a JDK; see CONTRIBUTING.md");
    Path::new(&home).join("bin").join(program)
}

fn jar(name: &str) -> PathBuf {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let path = Path::new(&corpus).join(format!("{name}.jar"));
    assert!(path.exists(), "cargo xtask corpus fetch {name}");
    path
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Compiles and runs a program, and gives what was found in it.
fn run(sources: &[PathBuf], main: &str, jars: &[PathBuf], options: &[&str]) -> Document {
    let folder = tempfile::tempdir().unwrap();
    let classes = folder.path().join("classes");
    let path = |more: &[PathBuf]| std::env::join_paths(jars.iter().chain(more)).unwrap();
    let mut javac = Command::new(java("javac"));
    javac.args(["-g", "-nowarn", "-d"]).arg(&classes);
    javac.arg("-cp").arg(path(&[])).args(sources);
    let output = javac.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let findings = folder.path().join("findings.json");
    let mut untorn = Command::new(env!("CARGO_BIN_EXE_untorn"));
    untorn.args(["run", "--exit-zero", "--format", "json", "--output"]);
    untorn.arg(&findings).args(options).arg("--");
    untorn
        .arg(java("java"))
        .arg("-cp")
        .arg(path(&[classes]))
        .arg(main);
    let output = untorn.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    Document::from_json(&std::fs::read_to_string(findings).unwrap()).unwrap()
}

/// What a report shows of a method.
fn shown<'d>(document: &'d Document, method: &str) -> Vec<&'d Finding> {
    let names = |finding: &&Finding| {
        let region = &finding.region;
        let class = region.class.as_deref().unwrap_or_default();
        let class = class.rsplit('.').next().unwrap_or_default();
        finding.level() != Level::Low && format!("{class}.{}", region.method) == method
    };
    document.findings.iter().filter(names).collect()
}

/// An entry of the list of bugs.
fn bug(name: &str) -> toml::Table {
    let text = std::fs::read_to_string(Path::new(SUBJECTS).join("bugs.toml")).unwrap();
    let list: toml::Table = text.parse().unwrap();
    let mut bugs = list["bug"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bug| bug.as_table().unwrap());
    bugs.find(|bug| bug["name"].as_str() == Some(name))
        .unwrap()
        .clone()
}

/// What a run of a bug's driver finds in a version of the library, `torn` or `repaired`.
fn look(bug: &toml::Table, version: &str) -> Document {
    let text = |key: &str| bug[key].as_str().unwrap();
    let sources = ["Rounds", text("driver")].map(|class| {
        Path::new(SUBJECTS)
            .join("bugs")
            .join(class)
            .with_extension("java")
    });
    let options = ["--include", text("package")];
    run(&sources, text("driver"), &[jar(text(version))], &options)
}

fn at_fault(bug: &toml::Table) -> &str {
    bug["at-fault"].as_array().unwrap()[0].as_str().unwrap()
}

#[test]
fn a_check_and_an_act_under_one_lock_each_are_found() {
    let bug = bug("netty-constants");
    let torn = look(&bug, "torn");
    assert_eq!(
        shown(&torn, at_fault(&bug)).len(),
        1,
        "{:#?}",
        torn.findings
    );
}

#[test]
fn a_field_that_is_filled_without_a_lock_is_found_and_gone_in_the_repair() {
    let bug = bug("log4j-throwable");
    let torn = look(&bug, "torn");
    assert_eq!(
        shown(&torn, at_fault(&bug)).len(),
        1,
        "{:#?}",
        torn.findings
    );
    let repaired = look(&bug, "repaired");
    assert!(
        shown(&repaired, at_fault(&bug)).is_empty(),
        "{:#?}",
        repaired.findings
    );
}

#[test]
fn of_two_lifts_only_claiming_a_call_is_torn() {
    let source = Path::new(SUBJECTS).join("scenarios/Elevator.java");
    let document = run(&[source], "Elevator", &[], &[]);
    assert_eq!(
        shown(&document, "Controls.claim").len(),
        1,
        "{:#?}",
        document.findings
    );
    let level = |finding: &&Finding| finding.level() != Level::Low;
    assert_eq!(
        document.findings.iter().filter(level).count(),
        1,
        "{:#?}",
        document.findings
    );
}
