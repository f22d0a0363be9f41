//! Whatever goes wrong between the reader and a process, the process goes on, and the run says that it is not complete.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod support;

use std::env;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use untorn_channel::record::Record;
use untorn_live::{LiveSource, Options, Ran, Tally, watch_all};
use untorn_trace::Source;

use support::{Agent, SCENARIO, connect, part};

/// Where the parts leave marks for each other.
const FOLDER: &str = "UNTORN_TEST_FOLDER";

fn mark_of(name: &str) -> PathBuf {
    Path::new(&env::var_os(FOLDER).unwrap()).join(name)
}

/// Without a descriptor, since there may be none.
fn mark(name: &str) {
    symlink("there", mark_of(name)).unwrap();
}

fn await_mark(name: &str) {
    while mark_of(name).symlink_metadata().is_err() {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs the reader of a scenario in a process of its own, as it changes what a process has.
fn said(scenario: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let command = part("reader");
    let output = Command::new(&command[0])
        .args(&command[1..])
        .env(SCENARIO, scenario)
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    said
}

#[test]
fn a_process_that_greets_with_nonsense_makes_the_run_incomplete() {
    let said = said("stranger");
    assert!(
        said.contains("watched 1, unwatched 1, ended well"),
        "{said}"
    );
}

#[test]
fn a_process_that_never_greets_takes_nothing_from_others_and_the_run_is_incomplete() {
    let said = said("silent");
    assert!(
        said.contains("watched 1, unwatched 1, ended well"),
        "{said}"
    );
}

#[test]
fn a_process_that_breaks_the_protocol_goes_on_and_the_run_is_incomplete() {
    let said = said("nonsense");
    assert!(
        said.contains("watched 1, unwatched 1, ended well"),
        "{said}"
    );
}

#[test]
fn an_analysis_that_fails_is_an_error_and_the_process_goes_on() {
    let said = said("failing");
    assert!(said.contains("a defect of untorn"), "{said}");
}

#[test]
fn without_free_descriptors_processes_wait_and_the_run_is_incomplete() {
    let said = said("descriptors");
    assert!(
        said.contains("watched 1, unwatched 2, ended well"),
        "{said}"
    );
    assert!(said.contains("could not be let in"), "{said}");
}

#[test]
fn who_asks_for_an_end_does_not_wait_for_what_is_left_and_hears_how_much_that_is() {
    let said = said("stopped");
    let left = said.lines().find_map(|line| line.strip_prefix("left "));
    let left: u64 = left.unwrap().parse().unwrap();
    assert!(left > 10_000, "{said}");
}

fn read(source: &mut LiveSource, pause: Duration) -> Tally {
    let mut events = Vec::new();
    loop {
        source.fill(&mut events).unwrap();
        if events.is_empty() {
            return source.tally();
        }
        thread::sleep(pause);
    }
}

/// The reader's part of the other tests.
#[test]
#[allow(unsafe_code, reason = "limits and signals of this process")]
fn reader() {
    let Ok(scenario) = env::var(SCENARIO) else {
        return;
    };
    let options = Options {
        command: part("writer"),
        ..Options::default()
    };
    let descriptors = |most: u64| {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: 1024,
        };
        // SAFETY: the structure is valid, and only this process is concerned.
        assert_eq!(
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) },
            0
        );
    };
    let helper = {
        let scenario = scenario.clone();
        thread::spawn(move || match scenario.as_str() {
            "descriptors" => {
                await_mark("ready");
                descriptors(5);
                mark("go");
                await_mark("connected");
                thread::sleep(Duration::from_secs(2));
                descriptors(1024);
            }
            "stopped" => {
                thread::sleep(Duration::from_millis(1500));
                // SAFETY: a plain call.
                unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
            }
            _ => {}
        })
    };
    let pause = Duration::from_millis(if scenario == "stopped" { 100 } else { 0 });
    let ran: Result<Ran<Tally>, _> = watch_all(&options, |_, source| {
        assert_ne!(env::var(SCENARIO).unwrap(), "failing");
        read(source, pause)
    });
    helper.join().unwrap();
    match ran {
        Ok(ran) => {
            let end = if ran.status.success() {
                "well"
            } else {
                "otherwise"
            };
            println!(
                "\nwatched {}, unwatched {}, ended {end}",
                ran.processes.len(),
                ran.unwatched.len()
            );
            println!("{}", ran.unwatched.join("\n"));
            println!("left {}", ran.processes[0].result.left_out);
        }
        Err(error) => println!("\n{error}"),
    }
}

/// The program's part of the other tests.
#[test]
fn writer() {
    let Ok(scenario) = env::var(SCENARIO) else {
        return;
    };
    if scenario == "stranger" {
        connect().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    }
    let _silent = (scenario == "silent").then(connect);
    if scenario == "descriptors" {
        mark("ready");
        await_mark("go");
        // Whoever waits for a connection has a descriptor for it already: only the next one finds none.
        drop(connect());
    }
    let stream = connect();
    mark("connected");
    let mut agent = Agent::greet(stream);
    agent.declare(&[
        untorn_channel::Declaration::Class {
            id: 0,
            name: "C".to_owned(),
            source_file: None,
            hash: None,
        },
        untorn_channel::Declaration::Method {
            id: 0,
            class: 0,
            name: "m".to_owned(),
            descriptor: "()V".to_owned(),
        },
        untorn_channel::Declaration::Region {
            id: 0,
            method: 0,
            block: None,
            line: 1,
        },
        untorn_channel::Declaration::Thread {
            id: 0,
            name: "T".to_owned(),
        },
    ]);
    if scenario == "nonsense" {
        agent.end.declare(&[0xff; 100]).ok();
    }
    let records = if scenario == "stopped" {
        u64::MAX
    } else {
        2_000_000
    };
    for i in 0..records {
        let region = 0;
        let record = if i % 2 == 0 {
            Record::Begin { region }
        } else {
            Record::End { region }
        };
        if !agent.try_write(0, record) {
            break;
        }
    }
    agent.finish();
}
