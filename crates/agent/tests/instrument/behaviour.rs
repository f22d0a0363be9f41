//! Rewritten programs load, verify, and do what they did before.

use untorn_channel::Config;

use crate::support::{Jdk, Program, Runtime, java_source, text};

/// As by default, and with everything that can be asked for.
fn configurations() -> [Config; 2] {
    let everything = Config {
        arrays: true,
        stacks: true,
        spec: Some("heuristic = \"all-methods\"\ninclude = [\"**\"]".to_owned()),
        ..Config::default()
    };
    [Config::default(), everything]
}

/// Runs a program as it is and rewritten in every way, interpreted and compiled.
fn check_same(source: &str) {
    let main = source.trim_end_matches(".java");
    let only = format!("-XX:CompileCommand=compileonly,{main}*::*");
    let modes: [&[&str]; 2] = [&["-Xint"], &["-Xcomp", "-XX:CompileCommand=quiet", &only]];
    for jdk in Jdk::all() {
        for config in configurations() {
            let program = Program::new(&jdk, &java_source(source), Runtime::Real, &config);
            let plain = program.run_plain(&[main]);
            assert!(plain.status.success(), "{}", text(&plain.stderr));
            for mode in modes {
                let rewritten = program.run_rewritten(&[mode, &[main]].concat());
                assert_eq!(
                    text(&rewritten.stdout),
                    text(&plain.stdout),
                    "{jdk:?} {mode:?} {config:?}\n{}",
                    text(&rewritten.stderr)
                );
                assert_eq!(rewritten.status.code(), plain.status.code());
                assert_eq!(text(&rewritten.stderr), text(&plain.stderr));
            }
        }
    }
}

#[test]
fn a_program_of_every_access_and_monitor_prints_the_same() {
    check_same("Torture.java");
}

#[test]
fn a_program_of_every_library_call_prints_the_same() {
    check_same("Library.java");
}
