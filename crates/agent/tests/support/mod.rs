//! JDKs, and programs compiled against the runtime.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use untorn_channel::Config;
use untorn_channel::config::{HandAccess, HandSite};
use untorn_jdk::Jdk;
use untorn_live::Options;

/// Every JDK to test on, the oldest first.
pub fn jdks() -> Vec<PathBuf> {
    let all: Vec<PathBuf> = (Jdk::for_tests().iter())
        .map(|jdk| jdk.home().to_owned())
        .collect();
    assert!(!all.is_empty(), "no JDK found");
    all
}

/// The major version of a JDK.
pub fn version(jdk: &Path) -> u32 {
    Jdk::at(jdk).map_or(0, |jdk| jdk.major())
}

/// A folder with the test programs, compiled once per test binary by the oldest JDK.
pub fn programs() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let jdk = jdks().into_iter().min_by_key(|jdk| version(jdk)).unwrap();
            let java = |path: PathBuf| -> Vec<PathBuf> {
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path())
                    .collect()
            };
            let runtime = folder.path().join("runtime");
            compile(
                Command::new(jdk.join("bin/javac"))
                    .args(["-source", "17", "-target", "17", "-Xlint:-options"])
                    .arg("--patch-module")
                    .arg(format!("java.base={}", root.join("java").display()))
                    .arg("-d")
                    .arg(&runtime)
                    .args(java(root.join("java/java/lang"))),
            );
            let mut patch = OsString::from("java.base=");
            patch.push(&runtime);
            compile(
                Command::new(jdk.join("bin/javac"))
                    .args(["-source", "17", "-target", "17", "-Xlint:-options"])
                    .arg("--patch-module")
                    .arg(patch)
                    .arg("-d")
                    .arg(folder.path().join("classes"))
                    .args(java(root.join("tests/java"))),
            );
            folder
        })
        .path()
}

fn compile(command: &mut Command) {
    let run = command.output().unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

/// The sites of the stress program, by the numbers it uses.
pub fn stress_sites() -> Vec<HandSite> {
    let site = |class: &str, field: &str, access, writes| HandSite {
        class: class.to_owned(),
        field: field.to_owned(),
        access,
        writes,
    };
    vec![
        site("Stress$Cell", "value", HandAccess::Field, false),
        site("Stress$Cell", "value", HandAccess::Field, true),
        site("Stress", "shared", HandAccess::Static, false),
        site("Stress", "shared", HandAccess::Static, true),
        site("Stress", "array", HandAccess::Element, false),
        site("Stress", "array", HandAccess::Element, true),
        site("Stress", "lock", HandAccess::None, false),
        site("Stress", "content", HandAccess::Content, true),
    ]
}

/// How to run a class of [`programs`] under the agent.
pub fn watched(jdk: &Path, jvm: &[&str], class: &str, arguments: &[String]) -> Options {
    let mut command: Vec<OsString> = vec![jdk.join("bin/java").into()];
    command.extend(jvm.iter().map(OsString::from));
    command.push("-cp".into());
    command.push(programs().join("classes").into());
    command.push(class.into());
    command.extend(arguments.iter().map(OsString::from));
    Options {
        command,
        agent: untorn_live::agent_library().unwrap(),
        config: Config {
            sites: stress_sites(),
            // They call the runtime themselves.
            exclude: vec!["**".to_owned()],
            ..Config::default()
        },
        ..Options::default()
    }
}
