//! Classes of jars that nobody here wrote load and verify, rewritten.
//!
//! The jars are in the folder that `UNTORN_CORPUS` names (`cargo xtask test` sees to it).

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_classfile::ClassFile;
use untorn_classfile::read::Entry;

use crate::support::{Jdk, Program, Runtime, classes, text, write};

const JARS: [&str; 2] = ["caffeine.jar", "h2.jar"];

fn unpack(jar: &Path, into: &Path) {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(jar).unwrap()).unwrap();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let class = Path::new(&name).extension().is_some_and(|e| e == "class");
        if class && !name.starts_with("META-INF/") {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            write(&into.join(name), &bytes);
        }
    }
}

/// What rewritten classes and the platform's own call.
const CALLED: [&str; 2] = ["java/lang/UntornRuntime", "java/lang/UntornHooks"];

/// The methods of the runtime that classes below a directory call, as class, name and descriptor.
fn called(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in classes(dir) {
        let bytes = std::fs::read(path).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        for (index, entry) in class.pool.entries() {
            if matches!(entry, Entry::Method { .. }) {
                let method = class.pool.method_ref(index).unwrap();
                if CALLED.contains(&&*method.class) {
                    found.insert(format!(
                        "{}.{}{}",
                        method.class, method.name, method.descriptor
                    ));
                }
            }
        }
    }
    found
}

/// The methods of the product's runtime there.
fn offered() -> BTreeSet<String> {
    let mut offered = BTreeSet::new();
    for name in CALLED {
        let file = Path::new(env!("OUT_DIR")).join(format!("java/{name}.class"));
        let bytes = std::fs::read(file).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        for method in &class.methods {
            offered.insert(format!("{name}.{}{}", method.name, method.descriptor));
        }
    }
    offered
}

#[test]
fn rewritten_jars_verify() {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let corpus = PathBuf::from(corpus);
    let everything = Config {
        arrays: true,
        stacks: true,
        spec: Some("include = [\"**\"]".to_owned()),
        ..Config::default()
    };
    let optimistic = Config {
        tracking: Tracking::Optimistic,
        ..everything.clone()
    };
    let loader =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../classfile/tests/it/java/LoadAll.java");
    for jdk in Jdk::all() {
        for jar in JARS {
            for config in [&Config::default(), &everything, &optimistic] {
                let dir = tempfile::tempdir().unwrap();
                let load = dir.path().join("load");
                jdk.compile(&load, &[], &[&loader]);
                unpack(&corpus.join(jar), &dir.path().join("plain"));
                let program = Program::of_classes(&jdk, dir, Runtime::Real, config);
                assert!(
                    program.counts["sites: fields"] > 1000,
                    "{:?}",
                    program.counts
                );
                let load = load.to_string_lossy().into_owned();
                let [plain, rewritten] = ["plain", "rewritten"].map(|part| {
                    let classes = program.path(part).to_string_lossy().into_owned();
                    let run = program.run_rewritten(&["-cp", &load, "LoadAll", &classes]);
                    text(&run.stdout)
                });
                assert!(rewritten.contains("refused=0"), "{jar}\n{rewritten}");
                assert_eq!(rewritten, plain, "{jar} on {jdk:?}");
                let unknown: Vec<String> = called(&program.path("rewritten"))
                    .difference(&offered())
                    .cloned()
                    .collect();
                assert!(unknown.is_empty(), "the runtime lacks {unknown:?}");
            }
        }
    }
}
