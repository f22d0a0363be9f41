//! Regions end where the program leaves them, however it does: by errors for which the runtime itself has no stack, in class initializers, in threads that are stopped.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{jdks, programs, version, watched};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::{Analysis, run};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_findings::Verdict;
use untorn_live::{Options, Tally, watch};

/// Synchronized methods and blocks are regions, and nothing else is.
const SYNCHRONIZED: &str = "heuristic = \"synch\"";

/// Every way to record a single run.
fn ways() -> [(&'static str, Config); 4] {
    let config = Config {
        spec: Some(SYNCHRONIZED.to_owned()),
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
            "stacks and arrays",
            Config {
                stacks: true,
                arrays: true,
                ..config
            },
        ),
    ]
}

/// What the exact analyses find: regions by the names of their methods, and whether they were observed.
struct Judged {
    found: Vec<(String, bool)>,
    tally: Tally,
}

fn judge(options: &Options, sync_edges: bool) -> Judged {
    let (status, mut all) = watch(options, |_, source| {
        source.keep().unwrap();
        let mut analyses: [Box<dyn Analysis>; 2] = [
            Box::new(Velodrome::new(velodrome::Options {
                sync_edges,
                ..velodrome::Options::default()
            })),
            Box::new(Aerodrome::new(aerodrome::Options {
                sync_edges,
                ..aerodrome::Options::default()
            })),
        ];
        let outcome = run(source, &mut analyses, &mut |_| {}).unwrap();
        let found = outcome.findings.iter();
        Judged {
            found: found
                .map(|finding| {
                    let observed = finding.verdict == Verdict::Observed;
                    (finding.region.method.clone(), observed)
                })
                .collect(),
            tally: source.tally(),
        }
    })
    .unwrap();
    assert!(status.success(), "{status} {options:?}");
    all.remove(0).result
}

fn options(jdk: &Path, jvm: &[&str], class: &str, arguments: &[&str], config: &Config) -> Options {
    let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    let mut options = watched(jdk, jvm, class, &arguments);
    options.config = config.clone();
    options
}

#[test]
fn what_one_monitor_guards_is_whole_after_the_stack_was_full() {
    let jvms = ["-Xint", "-XX:TieredStopAtLevel=1", "-Xmixed"];
    let mut seed = 0;
    for jdk in jdks() {
        for (way, config) in ways() {
            let jvm = jvms[seed % jvms.len()];
            seed += 1;
            let named = format!("{way} {jvm} seed {seed} on {}", jdk.display());
            let seed = seed.to_string();
            let options = options(&jdk, &[jvm], "Overflows", &[&seed, "6"], &config);
            let judged = judge(&options, true);
            assert_eq!(judged.found, [], "{named}");
            // The ends of calls are not counted in frames, only matched by name.
            let refused = if config.stacks {
                0
            } else {
                judged.tally.refused
            };
            assert_eq!(refused, 0, "{named}");
            assert_eq!(judged.tally.undeclared + judged.tally.cut_off, 0, "{named}");
        }
    }
}

#[test]
fn a_tear_after_the_stack_was_full_is_seen() {
    for jdk in jdks() {
        for (way, config) in ways() {
            let options = options(&jdk, &[], "Overflows", &["3", "3", "torn"], &config);
            let judged = judge(&options, true);
            let torn = ("tornOne".to_owned(), true);
            assert!(judged.found.contains(&torn), "{way}: {:?}", judged.found);
            let others = judged.found.iter().filter(|(name, _)| *name != torn.0);
            // It waits for the other one, which signals: by synchronization both are torn.
            let others: Vec<_> = others.filter(|(name, _)| name != "other").collect();
            assert!(others.is_empty(), "{way}: {others:?}");
        }
    }
}

#[test]
fn what_one_monitor_guards_is_whole_without_memory() {
    for jdk in jdks() {
        for (way, config) in ways() {
            let jvm = ["-Xmx12m", "-XX:+UseSerialGC"];
            let options = options(&jdk, &jvm, "OutOfMemory", &["50"], &config);
            let judged = judge(&options, false);
            let observed: Vec<_> = judged.found.iter().filter(|(_, it)| *it).collect();
            assert!(observed.is_empty(), "{way}: {observed:?}");
            assert_eq!(judged.tally.undeclared + judged.tally.cut_off, 0, "{way}");
        }
    }
}

#[test]
fn initializers_are_no_part_of_the_region_that_triggers_them() {
    for jdk in jdks() {
        for (way, config) in ways() {
            let options = options(&jdk, &["-ea"], "Initializers", &[], &config);
            let judged = judge(&options, false);
            assert_eq!(judged.found, [], "{way}");
            assert_eq!(judged.tally.refused + judged.tally.put_in, 0, "{way}");
        }
    }
}

#[test]
fn a_tear_around_an_initializer_is_seen() {
    for jdk in jdks() {
        for (way, config) in ways() {
            let options = options(&jdk, &[], "Initializers", &["torn"], &config);
            let found = judge(&options, false).found;
            let torn = ("around".to_owned(), true);
            assert!(found.contains(&torn), "{way}: {found:?}");
            assert!(found.iter().all(|found| *found == torn), "{way}: {found:?}");
        }
    }
}

#[test]
fn a_thread_that_is_stopped_ends_and_spoils_nothing() {
    // Later JDKs refuse to stop a thread.
    for jdk in jdks().iter().filter(|jdk| version(jdk) < 20) {
        for (kind, (way, config)) in ways().into_iter().enumerate() {
            let kind = kind.to_string();
            let options = options(jdk, &[], "Stopped", &[&kind], &config);
            // By data alone: a region that waits gives its monitor up.
            let judged = judge(&options, false);
            let tally = judged.tally;
            assert_eq!(judged.found, [], "{way} {kind}");
            assert_eq!(tally.undeclared + tally.cut_off, 0, "{way} {kind}");
        }
    }
}

#[test]
fn a_stopped_thread_dies_of_the_same_as_without_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    for jdk in jdks().iter().filter(|jdk| version(jdk) < 20) {
        let said = folder.path().join("said");
        let path = said.to_str().unwrap();
        let status = Command::new(jdk.join("bin/java"))
            .arg("-cp")
            .arg(programs().join("classes"))
            .args(["StoppedElsewhere", path])
            .status()
            .unwrap();
        assert!(status.success());
        let alone = fs::read_to_string(&said).unwrap();
        assert_eq!(alone.lines().count(), 10, "{alone}");
        assert!(!alone.contains("alive"), "{alone}");
        for (way, config) in ways() {
            let options = options(jdk, &[], "StoppedElsewhere", &[path], &config);
            judge(&options, false);
            assert_eq!(fs::read_to_string(&said).unwrap(), alone, "{way}");
        }
    }
}
