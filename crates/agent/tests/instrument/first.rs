//! What a first run does not test twice, and which loops poll.

use std::collections::BTreeMap;

use untorn_channel::Config;
use untorn_channel::config::{Mode, Tracking};
use untorn_classfile::{ClassFile, Insn};

use crate::support::{Jdk, Program, Runtime, classes, java_source};

/// How many tests of fields stand in each method of the rewritten program.
fn tests(mode: Mode, arrays: bool) -> BTreeMap<String, usize> {
    calls(mode, arrays, "Twice.java", "touch")
}

/// How many calls of an entry point of the runtime do.
fn calls(mode: Mode, arrays: bool, source: &str, entry: &str) -> BTreeMap<String, usize> {
    let config = Config {
        tracking: Tracking::Optimistic,
        mode,
        arrays,
        ..Config::default()
    };
    let jdk = &Jdk::all()[0];
    let program = Program::new(jdk, &java_source(source), Runtime::Real, &config);
    let mut found = BTreeMap::new();
    for path in classes(&program.path("rewritten")) {
        let bytes = std::fs::read(path).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        for method in &class.methods {
            let Some(code) = method.code(&class.pool).unwrap() else {
                continue;
            };
            let tests = code
                .instructions()
                .filter(|insn| match insn.as_ref().unwrap() {
                    (_, Insn::Invoke { method, .. }) => {
                        class.pool.method_ref(*method).unwrap().name == entry
                    }
                    _ => false,
                });
            found.insert(method.name.to_string(), tests.count());
        }
    }
    found
}

#[test]
fn an_object_is_tested_again_after_a_safe_point_only() {
    for (method, tests) in tests(Mode::First, false) {
        if let Some((_, expected)) = method.split_once('_') {
            assert_eq!(tests.to_string(), expected, "{method}");
        }
    }
    assert_eq!(tests(Mode::First, true)["array_1"], 2);
    let single = tests(Mode::Single, false);
    assert_eq!((single["reads_1"], single["inherited_1"]), (2, 2));
    assert!(single.len() > 20, "{single:?}");
}

#[test]
fn the_innermost_loop_polls_only_if_it_does_more_than_compute() {
    for mode in [Mode::First, Mode::Single] {
        let polls = calls(mode.clone(), false, "Polls.java", "answer");
        for (method, polls) in &polls {
            if let Some((_, expected)) = method.split_once('_') {
                assert_eq!(polls.to_string(), expected, "{method}");
            }
        }
        let arrays = calls(mode, true, "Polls.java", "answer");
        assert_eq!((arrays["inner_1"], polls.len()), (2, 7));
    }
}
