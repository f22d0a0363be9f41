//! Rewritten programs load, verify, and do what they did before.

use untorn_channel::Config;

use crate::support::{Jdk, Program, Runtime, java_source, text};

/// Every way of instrumenting that changes the code.
fn configurations() -> [Config; 3] {
    let all = |text: &str| Some(format!("heuristic = \"{text}\""));
    [
        Config::default(),
        Config {
            arrays: true,
            spec: all("all-methods"),
            ..Config::default()
        },
        Config {
            arrays: true,
            stacks: true,
            spec: all("export+synch"),
            ..Config::default()
        },
    ]
}

fn check_same(source: &str, runtime: Runtime) {
    let main = source.trim_end_matches(".java");
    for jdk in Jdk::all() {
        for config in configurations() {
            let program = Program::new(&jdk, &java_source(source), runtime, &config);
            let plain = program.run_plain(&[main]);
            assert!(plain.status.success(), "{}", text(&plain.stderr));
            for mode in ["-Xmixed", "-Xint", "-Xcomp"] {
                if mode == "-Xcomp" && runtime == Runtime::Recorder {
                    continue;
                }
                let rewritten = program.run_rewritten(&[mode, main]);
                assert_eq!(
                    text(&rewritten.stdout),
                    text(&plain.stdout),
                    "{jdk:?} {mode} {config:?}\n{}",
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
    check_same("Torture.java", Runtime::Real);
}
