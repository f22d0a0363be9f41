//! Damaged, missing, colliding and cyclic classes: an error or a counted assumption, never a panic or a hang.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::support::{compile, compile_text, fixtures, jar};
use proptest::prelude::*;
use tempfile::TempDir;
use untorn_program::load::{JdkChoice, Limits};
use untorn_program::{Assumption, LoadError, LoadPlan, Program};

fn library(inputs: Vec<PathBuf>) -> LoadPlan {
    LoadPlan {
        inputs,
        jdk: JdkChoice::None,
        ..LoadPlan::default()
    }
}

/// The class files of the fixtures, with the names of their entries.
fn classes() -> &'static [(String, Vec<u8>)] {
    static CLASSES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let folder = fixtures().join("fixtures");
        let mut classes: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = format!("fixtures/{}", path.file_name().unwrap().to_str().unwrap());
                (name, fs::read(path).unwrap())
            })
            .collect();
        classes.sort();
        classes
    })
}

#[derive(Debug, Clone)]
enum Damage {
    Overwrite { at: usize, bytes: Vec<u8> },
    Cut { at: usize },
    Insert { at: usize, byte: u8 },
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        6 => (any::<usize>(), prop::collection::vec(any::<u8>(), 1..4))
            .prop_map(|(at, bytes)| Damage::Overwrite { at, bytes }),
        1 => any::<usize>().prop_map(|at| Damage::Cut { at }),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert { at, byte }),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len().max(1);
    match damage {
        Damage::Overwrite { at, bytes: new } => {
            for (offset, byte) in new.iter().enumerate() {
                if let Some(slot) = bytes.get_mut(at % length + offset) {
                    *slot = *byte;
                }
            }
        }
        Damage::Cut { at } => bytes.truncate(at % length),
        Damage::Insert { at, byte } => bytes.insert((at % length).min(bytes.len()), *byte),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_classes_load_or_are_counted(
        picks in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(damage(), 1..4)), 1..4),
    ) {
        let mut damaged: Vec<(String, Vec<u8>)> = classes().to_vec();
        for (pick, list) in &picks {
            let (_, bytes) = &mut damaged[pick.index(classes().len())];
            for damage in list {
                apply(bytes, damage);
            }
        }
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("damaged.jar");
        let entries: Vec<(&str, &[u8])> =
            damaged.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        jar(&path, &entries);
        let program = Program::load(&library(vec![path])).unwrap();
        // Every class was taken in, or its refusal counted; every body likewise.
        let refused = program.assumptions().count(Assumption::UnreadableClass)
            + program.assumptions().count(Assumption::DuplicateClass);
        prop_assert_eq!(program.inputs().len() as u64 + refused, damaged.len() as u64);
    }
}

#[test]
fn a_damaged_class_the_user_named_is_an_error_with_its_offset() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("A.class");
    fs::write(&path, &classes()[0].1[..100]).unwrap();
    let error = Program::load(&library(vec![path])).unwrap_err();
    assert!(matches!(error, LoadError::BadClass { .. }), "{error}");
}

#[test]
fn missing_classes_are_assumptions() {
    let out = compile_text(
        "Uses.java",
        "class Gone { int field; Gone next() { return null; } }
         class Parent { }
         public class Uses extends Parent {
             int use(Gone gone) { return gone.next().field; }
             public synchronized int twice(Gone gone) { return use(gone) + use(gone); } }",
    );
    fs::remove_file(out.path().join("Gone.class")).unwrap();
    fs::remove_file(out.path().join("Parent.class")).unwrap();
    let plan = LoadPlan {
        inputs: vec![out.path().to_owned()],
        ..LoadPlan::default()
    };
    let program = Program::load(&plan).unwrap();
    let missing: Vec<&str> = program
        .assumptions()
        .iter()
        .filter(|(kind, _, _)| *kind == Assumption::MissingClass)
        .map(|(_, subject, _)| subject)
        .collect();
    assert_eq!(missing, ["Gone", "Parent"]);
    assert_eq!(
        program.assumptions().count(Assumption::MissingMember),
        3,
        "next, field, and the constructor of Parent"
    );
    let class = program.classes().find("Uses").unwrap();
    for method in &program.classes().class(class).methods {
        assert!(
            program.body(*method).is_some(),
            "{}",
            program.classes().describe_method(*method)
        );
    }
}

/// Compiles two versions of related classes and mixes them, so that each extends the other.
#[test]
fn cyclic_hierarchies_are_cut_and_counted() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let write = |folder: &Path, text: &str| {
        let source = folder.join("X.java");
        fs::write(&source, text).unwrap();
        compile(&[source], folder);
    };
    write(
        first.path(),
        "class A extends B { int a() { return b(); } } class B { int b() { return 1; } }",
    );
    write(
        second.path(),
        "class A { int a() { return 1; } } class B extends A { int b() { return a(); } }",
    );
    let folder = TempDir::new().unwrap();
    fs::copy(first.path().join("A.class"), folder.path().join("A.class")).unwrap();
    fs::copy(second.path().join("B.class"), folder.path().join("B.class")).unwrap();
    let program = Program::load(&library(vec![folder.path().to_owned()])).unwrap();
    assert_eq!(program.assumptions().count(Assumption::CyclicHierarchy), 1);
    assert_eq!(program.inputs().len(), 2);
}

#[test]
fn colliding_and_misnamed_classes_are_counted_and_the_first_wins() {
    let (name, bytes) = &classes()[0];
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("a.jar"), folder.path().join("b.jar"));
    jar(
        &first,
        &[(name, bytes), ("wrong/Place.class", &classes()[1].1)],
    );
    jar(&second, &[(name, bytes)]);
    let program = Program::load(&library(vec![first, second])).unwrap();
    assert_eq!(program.inputs().len(), 2);
    assert_eq!(program.assumptions().count(Assumption::DuplicateClass), 1);
    assert_eq!(program.assumptions().count(Assumption::MisnamedClass), 1);
    let class = program.classes().class(program.inputs()[0]);
    assert!(
        class.place.starts_with(folder.path().join("a.jar!")),
        "{}",
        class.place.display()
    );
}

#[test]
fn classes_without_debug_information_have_bodies_without_lines() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("Bare.java");
    fs::write(
        &source,
        "public class Bare { int a; synchronized int get() { return a; } }",
    )
    .unwrap();
    let result = std::process::Command::new(untorn_jdk::tool("javac"))
        .arg("-g:none")
        .arg("-d")
        .arg(folder.path())
        .arg(&source)
        .output();
    assert!(result.unwrap().status.success());
    let program = Program::load(&library(vec![folder.path().to_owned()])).unwrap();
    let class = program.inputs()[0];
    let method = program
        .classes()
        .methods_named(class, "get")
        .next()
        .unwrap();
    assert!(
        program
            .body(method)
            .unwrap()
            .instrs
            .iter()
            .all(|instr| instr.line == 0)
    );
    assert_eq!(program.classes().class(class).source_file, None);
}

/// Replaces every occurrence of some bytes by others of the same length.
fn patch(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    for at in 0..bytes.len().saturating_sub(from.len() - 1) {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
}

#[test]
fn an_archive_with_two_entries_of_one_name_gives_one_class() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("twice.jar");
    let (name, bytes) = &classes()[0];
    let other = name.replacen("fixtures/", "fixtureZ/", 1);
    jar(&path, &[(name, bytes), (&other, bytes)]);
    let mut archive = fs::read(&path).unwrap();
    patch(&mut archive, &other, name);
    fs::write(&path, archive).unwrap();
    let program = Program::load(&library(vec![path])).unwrap();
    assert_eq!(program.inputs().len(), 1);
}

#[test]
fn names_that_no_source_could_have_are_names_like_others() {
    let out = compile_text(
        "Hidden.java",
        "public class Hidden { int balance; int balancf;
            synchronized int getValue() { return balance + balancf; }
            synchronized void setValue(int to) { balance = to; balancf = to; } }",
    );
    let path = out.path().join("Hidden.class");
    let mut bytes = fs::read(&path).unwrap();
    for (from, to) in [
        ("balance", "if else"),
        ("balancf", "\u{3bb}\u{3bb}\u{3bb}!"),
        ("getValue", "(a\n\t b) "),
        ("setValue", "switch\\u"),
        ("Hidden.java", "../../x.foo"),
    ] {
        patch(&mut bytes, from, to);
    }
    fs::write(&path, bytes).unwrap();
    let program = Program::load(&library(vec![out.path().to_owned()])).unwrap();
    let classes = program.classes();
    let class = classes.find("Hidden").unwrap();
    for name in ["(a\n\t b) ", "switch\\u"] {
        let method = classes.methods_named(class, name).next().unwrap();
        assert!(program.body(method).is_some(), "{name}");
    }
    assert!(
        (classes.class(class).fields.iter()).any(|field| classes.field_name(*field) == "if else")
    );
}

#[test]
fn archives_of_more_than_can_be_meant_are_bounded() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("many.jar");
    let names: Vec<String> = (0..50).map(|n| format!("p/A{n}.class")).collect();
    let entries: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &[0u8; 4096][..]))
        .collect();
    jar(&path, &entries);
    let refused = |limits: Limits| {
        let plan = LoadPlan {
            limits,
            ..library(vec![path.clone()])
        };
        Program::load(&plan).unwrap_err()
    };
    let entries = refused(Limits {
        entries: 10,
        ..Limits::default()
    });
    assert!(matches!(entries, LoadError::TooLarge { .. }), "{entries}");
    let total = refused(Limits {
        class_total_bytes: 10_000,
        ..Limits::default()
    });
    assert!(matches!(total, LoadError::TooLarge { .. }), "{total}");
}

#[test]
fn a_method_reference_that_wraps_itself_ends() {
    let text = "
import java.util.function.Function;
public class Wraps {
    static Object last;
    public static void again(Function<Object, Object> inner) {
        Function<Object, Object> outer = inner::apply;
        last = outer.apply(last);
        again(outer);
    }
    public static void begin() { again(x -> x); }
}
";
    let folder = compile_text("Wraps.java", text);
    let program = Program::load(&library(vec![folder.path().to_owned()])).unwrap();
    assert!(program.heap().node_ids().count() > 0);
}
