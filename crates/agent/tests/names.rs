//! Pages and the model name only what the runtime has, and no file of the runtime is long.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;

/// The Java files of the runtime by class, without their comments.
fn runtime() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/java/lang");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        found.insert(name, fs::read_to_string(path).unwrap());
    }
    found
}

/// What is written about the runtime elsewhere.
fn written() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![
        root.join("ARCHITECTURE.md"),
        root.join("docs/internals/tracking.md"),
    ];
    let mut folders = vec![
        root.join("crates/protocol/src"),
        root.join("crates/agent/src"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// `Class.member` or `Class` for each mention of a class of the runtime between backquotes.
fn mentions(text: &str) -> Vec<(String, Option<String>)> {
    let quoted = text.split('`').skip(1).step_by(2);
    let quoted = quoted.filter_map(|it| {
        let it = it.strip_suffix(".java").unwrap_or(it);
        let (class, member) = match it.split_once('.') {
            Some((class, member)) => (class, Some(member)),
            None => (it, None),
        };
        let is_name = |name: &str| !name.is_empty() && name.chars().all(char::is_alphanumeric);
        let is_ours = class.starts_with("Untorn") && is_name(class) && class != "Untorn";
        (is_ours && member.is_none_or(is_name))
            .then(|| (class.to_owned(), member.map(str::to_owned)))
    });
    quoted.collect()
}

/// Whether a class or one that it extends says a name.
fn says(runtime: &BTreeMap<String, String>, class: &str, name: &str) -> bool {
    let Some(text) = runtime.get(class) else {
        return false;
    };
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    if words.any(|word| word == name) {
        return true;
    }
    let above = text.split(" extends ").nth(1);
    above.is_some_and(|it| says(runtime, it.split_whitespace().next().unwrap(), name))
}

#[test]
fn what_is_named_exists() {
    let runtime = runtime();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in written() {
        let text = fs::read_to_string(&path).unwrap();
        for (class, member) in mentions(&text) {
            seen += 1;
            let exists = match &member {
                None => runtime.contains_key(&class),
                Some(member) => says(&runtime, &class, member),
            };
            if !exists {
                wrong.push(format!("{}: {class} {member:?}", path.display()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(seen > 60, "{seen}");
}

#[test]
fn what_does_not_exist_is_noticed() {
    let runtime = runtime();
    assert!(says(&runtime, "UntornThread", "room"), "inherited");
    assert!(!says(&runtime, "UntornThread", "meet"));
    assert_eq!(
        mentions("see `UntornLog.room`, `UntornEpoch` and `Thread.stop`"),
        [
            ("UntornLog".to_owned(), Some("room".to_owned())),
            ("UntornEpoch".to_owned(), None)
        ]
    );
}

#[test]
fn no_file_of_the_runtime_is_long() {
    for (class, text) in runtime() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{class} has {lines} lines");
    }
}
