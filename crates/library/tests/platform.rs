//! The model against the classes that it speaks of: those of the JDKs, and of pinned libraries.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use untorn_library::calls::calls;
use untorn_library::flow::effects;
use untorn_library::steps::steps;

const LIBRARIES: [&str; 3] = ["kotlin-stdlib", "kotlinx-coroutines", "guava"];

/// A class as some JDK has it.
#[derive(Debug, Default)]
struct Class {
    is_public: bool,
    above: BTreeSet<String>,
    /// All methods by name and descriptor, and whether anybody may call them.
    methods: BTreeMap<(String, String), bool>,
}

/// What a row says methods of: classes, names, descriptors, and whether it holds for those below too.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    bool,
);

fn rows() -> Vec<Row> {
    let calls = (calls().iter()).map(|row| (row.classes, row.names, row.descriptors, false));
    let flow = (effects().iter()).map(|row| (row.classes, row.names, row.descriptors, true));
    let steps = (steps().iter()).map(|row| (row.classes, row.names, row.descriptors, true));
    calls.chain(flow).chain(steps).collect()
}

/// The classes of the model on each JDK.
fn platforms() -> Vec<BTreeMap<String, Class>> {
    let jdks = std::env::var_os("UNTORN_TEST_JDKS").expect("UNTORN_TEST_JDKS; see CONTRIBUTING.md");
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let libraries = LIBRARIES.map(|name| PathBuf::from(&corpus).join(name).with_extension("jar"));
    for library in &libraries {
        assert!(library.is_file(), "{}", library.display());
    }
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("classes");
    let names: BTreeSet<&str> = rows().iter().flat_map(|row| row.0).copied().collect();
    std::fs::write(&list, names.into_iter().collect::<Vec<_>>().join("\n")).unwrap();
    std::env::split_paths(&jdks)
        .map(|jdk| {
            let run = Command::new(jdk.join("bin/java"))
                .arg("-cp")
                .arg(std::env::join_paths(&libraries).unwrap())
                .arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/java/Methods.java"))
                .arg(&list)
                .output()
                .unwrap();
            let (said, text) = (
                String::from_utf8_lossy(&run.stderr),
                String::from_utf8_lossy(&run.stdout),
            );
            assert!(run.status.success(), "{said}");
            classes(&text)
        })
        .collect()
}

fn classes(text: &str) -> BTreeMap<String, Class> {
    let mut all: BTreeMap<String, Class> = BTreeMap::new();
    let mut at = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["class", name, kind] => {
                name.clone_into(&mut at);
                all.entry(at.clone()).or_default().is_public = kind == "public";
            }
            ["is", name, above] => {
                let class = all.get_mut(name).unwrap();
                class.above.insert(above.to_owned());
            }
            [kind, name, descriptor] => {
                let methods = &mut all.get_mut(&at).unwrap().methods;
                let method = (name.to_owned(), descriptor.to_owned());
                *methods.entry(method).or_default() |= kind == "public";
            }
            _ => panic!("{line}"),
        }
    }
    all
}

fn fits(descriptors: &[&str], descriptor: &str) -> bool {
    descriptors.is_empty() || descriptors.iter().any(|own| descriptor.starts_with(own))
}

/// What differs between versions of the platform without any program noticing.
fn is_inside(class: &str) -> bool {
    ["StringLatin1", "StringUTF16", "StringCoding"]
        .iter()
        .any(|name| class.contains(name))
}

#[test]
fn every_class_and_method_that_the_model_names_exists() {
    let platforms = platforms();
    let has = |class: &str, name: &str, descriptor: &str| {
        platforms.iter().any(|platform| {
            platform.get(class).is_some_and(|class| {
                name == "*"
                    || (class.methods.keys())
                        .any(|(own, of)| own == name && of.starts_with(descriptor))
            })
        })
    };
    let mut missing = BTreeSet::new();
    for (classes, names, descriptors, below) in rows() {
        let all = if descriptors.is_empty() {
            &[""][..]
        } else {
            descriptors
        };
        for class in classes {
            if !platforms
                .iter()
                .any(|platform| platform.contains_key(*class))
            {
                missing.insert((*class).to_owned());
            }
        }
        for name in names {
            for descriptor in all {
                // Calls name many classes of a group, not all of which have each method.
                let mut without = (classes.iter())
                    .filter(|class| !is_inside(class) && !has(class, name, descriptor));
                let count = without.clone().count();
                if below && count > 0 || count == classes.len() {
                    missing.extend(
                        without
                            .next()
                            .map(|class| format!("{class}.{name}{descriptor}")),
                    );
                }
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

/// The methods that the model leaves out, by class and name, with a reason for each group of them.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    group: Vec<Group>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[expect(dead_code, reason = "for people")]
    reason: String,
    methods: BTreeMap<String, Vec<String>>,
}

#[test]
fn every_public_method_of_modelled_classes_is_modelled_or_said_to_be_left_out() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/left-out.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let known: LeftOut = toml::from_str(&text).unwrap();
    let known: BTreeSet<String> = (known.group.iter())
        .flat_map(|group| &group.methods)
        .flat_map(|(class, names)| names.iter().map(move |name| format!("{class}.{name}")))
        .collect();
    let rows = rows();
    let mut left_out = BTreeSet::new();
    for platform in platforms() {
        for (name, class) in platform.iter().filter(|(_, class)| class.is_public) {
            let about: Vec<&Row> = (rows.iter())
                .filter(|(classes, .., below)| {
                    let above = |each: &&str| class.above.contains(*each);
                    classes.contains(&name.as_str()) || *below && classes.iter().any(above)
                })
                .collect();
            let public = class.methods.iter().filter(|(_, public)| **public);
            for ((method, descriptor), _) in public {
                let modelled = about.iter().any(|(classes, names, descriptors, _)| {
                    // A constructor is never inherited.
                    (method != "<init>" || classes.contains(&name.as_str()))
                        && names.iter().any(|own| *own == "*" || own == method)
                        && fits(descriptors, descriptor)
                });
                if !modelled {
                    left_out.insert(format!("{name}.{method}"));
                }
            }
        }
    }
    let unsaid: Vec<_> = left_out.difference(&known).collect();
    assert!(unsaid.is_empty(), "not in {}: {unsaid:#?}", file.display());
    let modelled: Vec<_> = known.difference(&left_out).collect();
    assert!(modelled.is_empty(), "modelled by now: {modelled:#?}");
}
