//! Compiles the Java fixtures with the real javac, once per test binary, and checks them.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use untorn_consistency::{Options, Outcome, check};
use untorn_program::{LoadPlan, Program};
use untorn_spec::Specification;

/// The folder of class files compiled from a folder of `tests/fixtures`.
pub fn compiled(package: &str) -> PathBuf {
    static COMPILED: OnceLock<TempDir> = OnceLock::new();
    let all = COMPILED.get_or_init(|| {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let out = TempDir::new().unwrap();
        for folder in fs::read_dir(fixtures).unwrap() {
            let folder = folder.unwrap().path();
            let files = fs::read_dir(&folder).unwrap();
            let sources: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
            let result = Command::new(untorn_jdk::tool("javac"))
                .args(["-nowarn", "-g", "-d"])
                .arg(out.path().join(folder.file_name().unwrap()))
                .args(&sources)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&result.stderr);
            assert!(result.status.success(), "javac failed: {said}");
        }
        out
    });
    all.path().join(package)
}

/// The library fixtures, loaded once.
pub fn library() -> &'static Program {
    static LIBRARY: OnceLock<Program> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let plan = LoadPlan {
            inputs: vec![compiled("library")],
            ..LoadPlan::default()
        };
        Program::load(&plan).unwrap()
    })
}

/// An application fixture.
pub fn application(main: &str) -> Program {
    let plan = LoadPlan {
        inputs: vec![compiled("apps")],
        main: Some(format!("apps.{main}")),
        ..LoadPlan::default()
    };
    Program::load(&plan).unwrap()
}

/// Checks a program.
pub fn run(program: &Program, options: &Options) -> Outcome {
    check(program, options, &Specification::default())
}

/// `Class.method` of what is reported of the fixtures themselves.
pub fn reported(program: &Program, options: &Options) -> BTreeSet<String> {
    let findings = run(program, options).findings;
    findings
        .into_iter()
        .map(|finding| finding.region)
        .filter_map(|region| {
            let class = region.class?;
            let simple = ["library.", "apps."]
                .iter()
                .find_map(|p| class.strip_prefix(p))?;
            Some(format!("{simple}.{}", region.method))
        })
        .collect()
}

/// `Class.method` of every fixture method whose name, or for a constructor whose class, ends so.
pub fn named(program: &Program, ending: &str) -> BTreeSet<String> {
    let classes = program.classes();
    let mut names = BTreeSet::new();
    for class in program.inputs() {
        let full = classes.class_name(*class);
        let simple = full.rsplit('/').next().unwrap_or(full);
        for method in &classes.class(*class).methods {
            let name = classes.method_name(*method);
            let of_constructor = name == "<init>" && simple.ends_with(ending);
            if of_constructor || name.ends_with(ending) {
                names.insert(format!("{simple}.{name}"));
            }
        }
    }
    names
}
