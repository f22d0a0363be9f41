//! Critical sections at every depth of the stack, by every lock of the platform: none stays held, and no event of a lock is lost or put in.
//!
//! The platform alone does not hold the first: where its locks overflow the stack, the error comes after they were taken.

#![allow(clippy::unwrap_used)]

mod support;

use support::{jdks, watched};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::run;
use untorn_channel::Config;
use untorn_channel::config::{Mode, Tracking};
use untorn_live::{Limits, watch};

/// How many depths of one frame to begin at: frames of two sizes, so that each remaining stack is tried.
const BEGINS: &str = "8";
/// Where frames are so large that fewer will do, and slow.
const FEWER: &str = "3";

fn ways() -> [(&'static str, Config); 4] {
    let config = Config {
        spec: Some(
            "heuristic = \"none\"\ninclude = [\"Depths$*.change\", \"Depths$*.look\"]\n".to_owned(),
        ),
        tracking: Tracking::Optimistic,
        ..Config::default()
    };
    [
        ("default", config.clone()),
        (
            "fast",
            Config {
                skip_lone_locks: true,
                ..config.clone()
            },
        ),
        (
            "pessimistic",
            Config {
                tracking: Tracking::Pessimistic,
                ..config.clone()
            },
        ),
        (
            "first",
            Config {
                mode: Mode::First,
                ..config
            },
        ),
    ]
}

fn check(jvm: &str, begins: &str) {
    for jdk in jdks() {
        for (way, config) in ways() {
            let named = format!("{way} {jvm} on {}", jdk.display());
            let mut options = watched(&jdk, &[jvm], "Depths", &[begins.to_owned()]);
            let first = config.mode == Mode::First;
            options.config = config;
            if first {
                options.limits = Limits::of_first_run();
            }
            let (status, all) = watch(&options, |_, source| {
                if first {
                    source.hear(|_| {});
                    return (Vec::new(), source.tally());
                }
                source.keep().unwrap();
                let exact = Aerodrome::new(aerodrome::Options {
                    sync_edges: false,
                    ..aerodrome::Options::default()
                });
                let outcome = run(source, &mut [Box::new(exact)], &mut |_| {}).unwrap();
                let found = outcome.findings.into_iter();
                let found = found.map(|it| (it.region.class, it.region.method));
                (found.collect(), source.tally())
            })
            .unwrap();
            // The program's guard ends it with 7 if a lock stays held.
            assert!(status.success(), "{named}: {status}");
            let (found, tally) = &all[0].result;
            assert_eq!(tally.refused + tally.put_in, 0, "{named}: {tally:?}");
            assert_eq!(tally.undeclared + tally.cut_off, 0, "{named}: {tally:?}");
            assert_eq!(*found, [], "{named}");
        }
    }
}

#[test]
fn no_lock_stays_held_in_the_interpreter() {
    check("-Xint", FEWER);
}

#[test]
fn no_lock_stays_held_in_the_first_tier() {
    check("-XX:TieredStopAtLevel=1", BEGINS);
}

#[test]
fn no_lock_stays_held_in_compiled_code() {
    check("-Xmixed", BEGINS);
}
