//! A program that looks at itself by reflection, serialization, method handles and stack traces does not see the agent.

use std::path::Path;

use untorn_bench::Class;
use untorn_jdk::Jdk;

use crate::watching::{WAYS, plain, scratch};

fn mirror(name: &str, debug: &str) -> Class {
    let classes = scratch().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harmless/java/Mirror.java");
    let javac = Jdk::for_tests()[0].tool("javac");
    let run = std::process::Command::new(javac)
        .args(["--release", "17", debug, "-d"])
        .args([&classes, &source])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    Class {
        class_path: classes.to_string_lossy().into_owned(),
        name: "Mirror".to_owned(),
    }
}

/// Compares runs in every way, on every JDK or taking turns.
fn check(class: &Class, arguments: &[&str], status: i32, everywhere: bool) {
    let jdks = Jdk::for_tests();
    for (turn, jdk) in jdks.iter().enumerate() {
        let expected = plain(jdk, class, arguments);
        assert_eq!(expected.status, Some(status), "{expected:?}");
        for (number, way) in WAYS.iter().enumerate() {
            if !everywhere && number % jdks.len() != turn {
                continue;
            }
            let seen = way.watched(jdk, class, arguments);
            let lines = expected.out.lines().zip(seen.out.lines());
            for (number, (expected, seen)) in lines.enumerate() {
                assert_eq!(seen, expected, "line {} {way:?} {jdk:?}", number + 1);
            }
            assert_eq!(seen, expected, "{way:?} {jdk:?}");
        }
    }
}

#[test]
fn a_program_that_looks_at_itself_does_not_see_the_agent() {
    check(&mirror("mirror", "-g"), &[], 0, true);
}

/// Without tables of local variables the JVM tells of them by number.
#[test]
fn nor_does_one_without_debug_information() {
    check(&mirror("mirror-none", "-g:none"), &[], 0, false);
}

#[test]
fn what_nobody_catches_and_how_a_program_ends_stays_the_same() {
    let class = mirror("mirror-ends", "-g");
    for (how, status) in [("main", 1), ("thread", 0), ("exit", 17), ("halt", 9)] {
        check(&class, &[how], status, false);
    }
}
