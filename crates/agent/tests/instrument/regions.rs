//! What the specification lists is what the rewriter marks: the same regions, no more and no less.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use untorn_agent::Registry;
use untorn_agent::instrument::{self, Outcome, Plan};
use untorn_agent::loaders::Loader;
use untorn_channel::Config;
use untorn_channel::declare::Declaration;
use untorn_classfile::read::Entry;
use untorn_classfile::{ClassFile, Insn, facts_of};
use untorn_spec::{Specification, Stage};

use crate::support::{Jdk, classes, java_source};

/// `UntornMode.NUMBER`.
const NUMBER: i32 = (1 << 28) - 1;

/// A method with its descriptor, and the number of a block in it.
type Region = (String, Option<u32>);

/// The regions that the specification lists.
fn listed(bytes: &[u8], spec: &Specification) -> BTreeSet<Region> {
    let facts = facts_of(&ClassFile::parse(bytes).unwrap()).unwrap();
    let mut found = BTreeSet::new();
    for method in &facts.methods {
        for block in std::iter::once(None).chain((1..=method.blocks).map(Some)) {
            if spec.decide(Stage::Run, &facts, method, block).atomic {
                found.insert((format!("{}{}", method.name, method.descriptor), block));
            }
        }
    }
    found
}

/// The regions whose begin and end are called for in the rewritten class, each in its own method; and how many methods could not be edited.
fn marked(bytes: &[u8], plan: &Plan) -> (BTreeSet<Region>, u64) {
    let registry = Registry::new(None);
    let (rewritten, counts) = match instrument::rewrite(bytes, plan, &registry, Loader::BOOT) {
        Outcome::Rewritten(bytes, counts) => (bytes, counts.0),
        Outcome::Untouched(_) => return (BTreeSet::new(), 0),
    };
    let untouched = counts
        .iter()
        .filter(|(name, _)| name.starts_with("methods untouched"))
        .map(|(_, amount)| amount)
        .sum();
    let declared = registry.pending();
    let block_of = |wanted: i32| {
        declared.iter().find_map(|declaration| match *declaration {
            Declaration::Region { id, block, .. } if id as i32 == wanted => Some(block),
            _ => None,
        })
    };
    let class = ClassFile::parse(&rewritten).unwrap();
    let mut found = BTreeSet::new();
    for method in &class.methods {
        let Some(code) = method.code(&class.pool).unwrap() else {
            continue;
        };
        let name = format!("{}{}", method.name, method.descriptor);
        let insns = code.decode().unwrap();
        let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for (at, (_, insn)) in insns.iter().enumerate() {
            let Insn::Invoke { method, .. } = insn else {
                continue;
            };
            let called = class.pool.method_ref(*method).unwrap();
            if called.class != "java/lang/UntornRuntime" {
                continue;
            }
            // What was open before comes between the number of a region that ends and the context.
            let region = |before: usize| {
                NUMBER
                    & match &insns[at - before].1 {
                        Insn::Ldc { constant, .. } => match class.pool.entry(*constant).unwrap() {
                            Entry::Integer(value) => value,
                            other => panic!("{other:?}"),
                        },
                        insn => insn.int_constant().unwrap(),
                    }
            };
            match &*called.name {
                "begin" => begun.insert(region(2)),
                "end" => ended.insert(region(3)),
                _ => continue,
            };
        }
        assert_eq!(begun, ended, "{}.{name}", class.name);
        found.extend(
            begun
                .iter()
                .map(|&id| (name.clone(), block_of(id).unwrap())),
        );
    }
    (found, untouched)
}

fn plan() -> Plan {
    Plan::new(&Config::default()).unwrap()
}

#[test]
fn blocks_are_regions_however_they_nest() {
    for jdk in Jdk::all() {
        let dir = tempfile::tempdir().unwrap();
        jdk.compile(dir.path(), &[], &[&java_source("Blocks.java")]);
        let mut count = 0;
        for path in classes(dir.path()) {
            let bytes = std::fs::read(&path).unwrap();
            let facts = facts_of(&ClassFile::parse(&bytes).unwrap()).unwrap();
            for method in &facts.methods {
                assert!(!method.unstructured, "{}", method.name);
            }
            let (marked, untouched) = marked(&bytes, &plan());
            assert_eq!(marked, listed(&bytes, &Specification::default()));
            assert_eq!(untouched, 0);
            count += marked.iter().filter(|(_, block)| block.is_some()).count();
        }
        assert_eq!(count, 26, "on {jdk:?}");
    }
}

#[test]
fn the_specification_lists_what_is_marked_in_every_jar() {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let corpus = PathBuf::from(corpus);
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ext| ext == "jar") {
            compare(&path);
            seen += 1;
        }
    }
    assert!(seen > 0);
}

fn compare(jar: &Path) {
    let (plan, spec) = (plan(), Specification::default());
    let mut archive = zip::ZipArchive::new(std::fs::File::open(jar).unwrap()).unwrap();
    let (mut blocks, mut unstructured, mut total, mut too_large) = (0, 0, 0, 0);
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let is_class = Path::new(&name).extension().is_some_and(|e| e == "class");
        if !is_class || name.starts_with("META-INF/") || name.ends_with("module-info.class") {
            continue;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let facts = facts_of(&ClassFile::parse(&bytes).unwrap()).unwrap();
        if !plan.watches(&facts.name) {
            continue;
        }
        for method in &facts.methods {
            total += method.blocks;
            unstructured += if method.unstructured {
                method.blocks
            } else {
                0
            };
        }
        let (marked, untouched) = marked(&bytes, &plan);
        let mut listed = listed(&bytes, &spec);
        blocks += marked.iter().filter(|(_, block)| block.is_some()).count();
        if untouched > 0 {
            // What the class file format has no room for is counted and told.
            too_large += untouched;
            listed.retain(|region| marked.contains(region));
        }
        assert_eq!(marked, listed, "{name}");
    }
    println!(
        "{}: {blocks} blocks are regions of {total}, {unstructured} unstructured, {too_large} methods too large",
        jar.display()
    );
}

#[test]
fn loops_that_wait_are_told_from_those_that_work() {
    for jdk in Jdk::all() {
        let dir = tempfile::tempdir().unwrap();
        jdk.compile(dir.path(), &[], &[&java_source("Spinning.java")]);
        let bytes = std::fs::read(dir.path().join("Spinning.class")).unwrap();
        let facts = facts_of(&ClassFile::parse(&bytes).unwrap()).unwrap();
        for method in &facts.methods {
            let waits = method.name.ends_with("Waits");
            assert_eq!(method.interrupts, waits, "{} on {jdk:?}", method.name);
        }
    }
}
