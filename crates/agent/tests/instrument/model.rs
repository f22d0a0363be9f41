//! The library model names what there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use untorn_agent::instrument::Plan;
use untorn_channel::Config;

use crate::support::{Jdk, java_source, succeed};

#[test]
fn every_class_and_method_of_the_model_exists_on_some_jdk_or_in_its_library() {
    let plan = Plan::new(&Config::default()).unwrap();
    let lines: Vec<String> = plan
        .models
        .rows()
        .map(|(classes, names)| format!("{} {}", classes.join(","), names.join(",")))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("rows");
    std::fs::write(&list, lines.join("\n")).unwrap();
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let corpus = Path::new(&corpus);
    let libraries =
        ["kotlin-stdlib", "kotlinx-coroutines"].map(|name| corpus.join(name).with_extension("jar"));
    for library in &libraries {
        assert!(library.is_file(), "{}", library.display());
    }
    let classpath = std::iter::once(dir.path()).chain(libraries.iter().map(PathBuf::as_path));
    let classpath = std::env::join_paths(classpath).unwrap();
    let missing = Jdk::all().into_iter().map(|jdk| {
        jdk.compile(dir.path(), &[], &[&java_source("Exists.java")]);
        let mut java = jdk.tool("java");
        let printed = succeed(java.arg("-cp").arg(&classpath).arg("Exists").arg(&list));
        printed.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    });
    let everywhere = missing.reduce(|one, other| &one & &other).unwrap();
    assert_eq!(everywhere, BTreeSet::new());
}
