//! The JIT compiles what was rewritten.

use untorn_channel::Config;
use untorn_channel::config::Tracking;

use crate::support::{Jdk, Program, Runtime, java_source, text};

#[test]
fn methods_with_monitors_are_still_compiled() {
    for jdk in Jdk::all() {
        for tracking in [Tracking::Pessimistic, Tracking::Optimistic] {
            let config = Config {
                arrays: true,
                stacks: true,
                tracking,
                ..Config::default()
            };
            let program = Program::new(&jdk, &java_source("Hot.java"), Runtime::Real, &config);
            assert!(program.counts["sites: blocks"] >= 4, "{:?}", program.counts);
            let run = program.run_rewritten(&["-Xbatch", "-XX:+PrintCompilation", "Hot"]);
            let log = text(&run.stdout);
            assert!(run.status.success(), "{log}{}", text(&run.stderr));
            for method in ["block", "nested", "whole", "caught", "waits"] {
                let name = format!("Hot::{method} ");
                let compiled = log
                    .lines()
                    .filter(|line| line.contains(&name))
                    .any(|line| line.split_whitespace().any(|word| word == "4"));
                assert!(compiled, "{method} on {jdk:?}\n{log}");
            }
            assert!(
                !log.contains("COMPILE SKIPPED") && !log.contains("not compilable"),
                "{jdk:?}\n{log}"
            );
        }
    }
}
