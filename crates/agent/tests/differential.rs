//! Optimistic tracking reports every tear that pessimistic tracking reports, and no other.
//!
//! Generated programs take their steps in the same forced order under both; the regions that are torn must be the same.
//! UNTORN_PROGRAMS says how many programs of each shape there are.

#![allow(clippy::unwrap_used)]

#[path = "differential/generate.rs"]
mod generate;
#[allow(dead_code)]
mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use generate::{Kind, Shape, program};
use support::{jdks, programs};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_findings::{Kind as Found, Verdict};
use untorn_live::{Options, watch};

/// The torn regions with their classes, and how that is known.
type Torn = BTreeSet<(String, String, Verdict)>;

fn torn(jdk: &Path, classes: &Path, tracking: Tracking) -> Torn {
    let mut path = OsString::from(classes);
    path.push(":");
    path.push(programs().join("classes"));
    let options = Options {
        command: vec![
            jdk.join("bin/java").into(),
            "-XX:TieredStopAtLevel=1".into(),
            "-cp".into(),
            path,
            "All".into(),
        ],
        agent: untorn_live::agent_library().unwrap(),
        config: Config {
            tracking,
            arrays: true,
            exclude: vec!["Stage".to_owned()],
            spec: Some("heuristic = \"none\"\ninclude = [\"*.region*\"]\n".to_owned()),
            ..Config::default()
        },
        ..Options::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        source.keep().unwrap();
        let every = aerodrome::Options {
            examined: u32::MAX,
            ..aerodrome::Options::default()
        };
        let analysis = Box::new(Aerodrome::new(every));
        untorn_analyses::run(source, &mut [analysis], &mut |_| {}).unwrap()
    })
    .unwrap();
    assert!(status.success(), "{status}");
    let outcome = all.remove(0).result;
    (outcome.findings.iter())
        .filter(|finding| finding.kind == Found::Torn)
        .map(|finding| {
            let region = &finding.region;
            let class = region.class.clone().unwrap_or_default();
            (class, region.method.clone(), finding.verdict)
        })
        .collect()
}

/// How many programs of a shape to run.
fn count() -> usize {
    std::env::var("UNTORN_PROGRAMS").map_or(60, |text| text.parse().unwrap())
}

fn compare(shape: Shape, seed: u64) {
    let jdks = jdks();
    let folder = tempfile::tempdir().unwrap();
    let mut all =
        "public final class All {\n    public static void main(String[] a) throws Exception {\n"
            .to_owned();
    let mut files = Vec::new();
    for i in 0..count() {
        let name = format!("P{i}");
        let source = program(&name, seed + i as u64, shape);
        let file = folder.path().join(format!("{name}.java"));
        fs::write(&file, source).unwrap();
        files.push(file);
        writeln!(all, "        {name}.play();").unwrap();
    }
    all.push_str("    }\n}\n");
    let file = folder.path().join("All.java");
    fs::write(&file, all).unwrap();
    files.push(file);
    let classes = folder.path().join("classes");
    let list = folder.path().join("sources");
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    fs::write(&list, names.join("\n")).unwrap();
    let compiled = Command::new(jdks[0].join("bin/javac"))
        .args(["--release", "17", "-nowarn", "-Xlint:none", "-d"])
        .arg(&classes)
        .arg("-cp")
        .arg(programs().join("classes"))
        .arg(format!("@{}", list.display()))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    let jdk = &jdks[seed as usize % jdks.len()];
    let expected = torn(jdk, &classes, Tracking::Pessimistic);
    let found = torn(jdk, &classes, Tracking::Optimistic);
    assert!(
        expected.len() * 10 > count(),
        "only {} torn",
        expected.len()
    );
    let missing: Vec<_> = expected.difference(&found).collect();
    let more: Vec<_> = found.difference(&expected).collect();
    if let Some((class, ..)) = missing.iter().chain(&more).next() {
        let source = fs::read_to_string(folder.path().join(format!("{class}.java"))).unwrap();
        let (missed, added) = (missing.len(), more.len());
        panic!(
            "of {}: {missed} missing, {added} more: {missing:?} {more:?}\n{source}",
            expected.len()
        );
    }
}

const OBJECTS: &[Kind] = &[
    Kind::Plain,
    Kind::Written,
    Kind::Inheriting,
    Kind::OfPlatform,
    Kind::Volatile,
];

const LIBRARY: &[Kind] = &[
    Kind::Atomic,
    Kind::Map,
    Kind::ConcurrentMap,
    Kind::List,
    Kind::Plain,
];

#[test]
fn objects_that_another_thread_made_tear_alike() {
    let shape = Shape {
        kinds: OBJECTS,
        racing: false,
    };
    compare(shape, 1);
}

#[test]
fn objects_that_a_racing_thread_made_tear_alike() {
    let shape = Shape {
        kinds: OBJECTS,
        racing: true,
    };
    compare(shape, 1_000_000);
}

#[test]
fn statics_and_arrays_tear_alike() {
    let shape = Shape {
        kinds: &[Kind::Static, Kind::Array, Kind::Plain],
        racing: true,
    };
    compare(shape, 2_000_001);
}

#[test]
fn fields_that_updaters_and_handles_access_tear_alike() {
    let shape = Shape {
        kinds: &[Kind::Handled, Kind::Handled, Kind::Plain],
        racing: true,
    };
    compare(shape, 5_000_000);
}

#[test]
fn library_objects_tear_alike() {
    let shape = Shape {
        kinds: LIBRARY,
        racing: false,
    };
    compare(shape, 3_000_000);
}

#[test]
fn library_objects_that_a_racing_thread_made_tear_alike() {
    let shape = Shape {
        kinds: LIBRARY,
        racing: true,
    };
    compare(shape, 4_000_001);
}
