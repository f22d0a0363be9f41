//! Instrumented programs load, verify, and compute what they did before.

use crate::stress::{Options, stress};
use crate::support::{self, Jdk, succeed};
use std::path::Path;
use std::process::Command;

const ALL: Options<'_> = Options {
    hook: "untorn/test/Hook",
    members: true,
    small: false,
};

fn compile(jdk: &Jdk, out: &Path, release: Option<&str>, sources: &[&str]) {
    let mut javac = jdk.tool("javac");
    javac
        .args(["-g", "-nowarn", "-Xlint:-options", "-d"])
        .arg(out);
    javac.args(
        release
            .into_iter()
            .flat_map(|release| ["--release", release]),
    );
    javac.arg("-cp").arg(out);
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java");
    succeed(javac.args(sources.iter().map(|source| java.join(source))));
}

/// Rewrites every class below `from` into `to`.
fn stress_tree(from: &Path, to: &Path, options: Options<'_>) -> usize {
    let mut methods = 0;
    for path in support::classes(from) {
        let bytes = std::fs::read(&path).unwrap();
        let relative = path.strip_prefix(from).unwrap();
        let (edited, counts) = stress(&bytes, options)
            .unwrap_or_else(|error| panic!("{}: {error}", relative.display()));
        methods += counts.methods;
        let target = to.join(relative);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, edited).unwrap();
    }
    methods
}

fn java(jdk: &Jdk, classpath: &[&Path]) -> Command {
    let mut java = jdk.tool("java");
    let path = std::env::join_paths(classpath).unwrap();
    java.args(["-Xverify:all", "-XX:-PrintWarnings"])
        .arg("-cp")
        .arg(path);
    java
}

#[test]
fn a_program_instrumented_everywhere_verifies_and_prints_the_same() {
    for jdk in Jdk::all() {
        let dir = tempfile::tempdir().unwrap();
        let (hook, plain, edited) = (
            dir.path().join("h"),
            dir.path().join("p"),
            dir.path().join("e"),
        );
        compile(&jdk, &hook, None, &["Hook.java"]);
        compile(&jdk, &plain, None, &["Program.java"]);
        let methods = stress_tree(&plain, &edited, ALL);
        assert!(methods > 30, "{methods}");
        let expected = succeed(java(&jdk, &[&plain]).arg("Program"));
        let mut run = java(&jdk, &[&edited, &hook]);
        let output = run
            .args(["-Dhooks=untorn.test.Hook", "Program"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{jdk:?}\n{errors}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{jdk:?}");
        assert!(
            errors.contains("entered=true left=true caught=true seen=true events=true locked=true"),
            "{errors}"
        );
    }
}
