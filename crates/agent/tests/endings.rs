//! However a run ends, what was logged is read, and the program does not suffer.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::{jdks, watched};
use untorn_channel::Config;
use untorn_live::{Limits, LiveSource, Options, Tally, watch};
use untorn_model::Event;
use untorn_trace::Source;

fn stress(jdk: &Path, account: &str, threads: usize, operations: usize, end: &str) -> Options {
    let arguments = [
        account.to_owned(),
        threads.to_string(),
        operations.to_string(),
        "5".to_owned(),
        "30".to_owned(),
        "platform".to_owned(),
        end.to_owned(),
    ];
    watched(jdk, &[], "Stress", &arguments)
}

/// Reads to the end; `look` sees each batch.
fn read(source: &mut LiveSource, mut look: impl FnMut(&[Event])) -> Tally {
    let mut batch = Vec::new();
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            return source.tally();
        }
        look(&batch);
    }
}

fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// The bytes that the program writes for its own account: accesses and lock operations, 13 each.
fn steps(account: &Path, threads: u64) -> u64 {
    (fs::metadata(account).unwrap().len() - 4 * threads) / 13
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_program_loses_nothing_it_logged() {
    for jdk in jdks() {
        let options = stress(&jdk, "-", 3, 20_000_000, "return");
        let (status, all) = watch(&options, |process, source| {
            let mut killed = false;
            let mut seen = 0;
            let tally = read(source, |events| {
                seen += events.len();
                if seen > 50_000 && !killed {
                    kill(process.pid, "-9");
                    killed = true;
                }
            });
            (tally, seen as u64)
        })
        .unwrap();
        assert_eq!(status.signal(), Some(9));
        let (tally, seen) = all[0].result;
        assert!(seen > 50_000);
        assert_eq!(tally.events, seen);
        assert_eq!((tally.refused, tally.undeclared, tally.cut_off), (0, 0, 0));
    }
}

#[test]
fn a_halted_program_is_read_to_its_end() {
    for jdk in jdks() {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("account");
        let options = stress(&jdk, account.to_str().unwrap(), 2, 5_000, "halt");
        let (status, all) = watch(&options, |_, source| {
            let mut steps = 0;
            read(source, |events| {
                steps += events
                    .iter()
                    .filter(|e| {
                        e.op.access().is_some()
                            || !e.op.acquires().iter().all(Option::is_none)
                            || e.op.releases().is_some()
                    })
                    .filter(|e| {
                        !matches!(e.op, untorn_model::Op::Fork(_) | untorn_model::Op::Join(_))
                    })
                    .count() as u64;
            });
            steps
        })
        .unwrap();
        assert_eq!(status.code(), Some(3));
        assert_eq!(all[0].result, steps(&account, 2));
    }
}

#[test]
fn a_reader_that_gives_up_lets_the_program_go_on() {
    for jdk in jdks() {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("account");
        let options = stress(&jdk, account.to_str().unwrap(), 3, 200_000, "return");
        let (status, _) = watch(&options, |_, source| {
            let mut batch = Vec::new();
            source.fill(&mut batch).unwrap();
        })
        .unwrap();
        assert!(status.success());
        assert!(steps(&account, 3) >= 600_000);
    }
}

#[test]
fn few_segments_slow_the_program_down_but_lose_nothing() {
    let jdk = jdks().remove(0);
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let mut options = stress(&jdk, account.to_str().unwrap(), 4, 30_000, "return");
    options.limits = Limits {
        initial: 8,
        busy: 8,
        most: 8,
    };
    let (status, all) = watch(&options, |_, source| {
        let mut accesses = 0;
        let tally = read(source, |events| {
            accesses += events.iter().filter(|e| e.op.access().is_some()).count() as u64;
        });
        (tally, accesses)
    })
    .unwrap();
    assert!(status.success());
    let (tally, accesses) = all[0].result;
    assert_eq!((tally.refused, tally.cut_off), (0, 0));
    assert!(all[0].drained.waits > 0, "there was no pressure");
    assert!(!all[0].drained.exhausted);
    // Of the program's steps, those that are no lock operations.
    assert!(accesses >= 120_000 && accesses < steps(&account, 4));
}

#[test]
fn threads_that_pin_all_memory_stop_the_recording_and_not_the_program() {
    let jdk = jdks().remove(0);
    let mut options = watched(&jdk, &[], "Pins", &["40".to_owned()]);
    options.limits = Limits {
        initial: 4,
        busy: 4,
        most: 16,
    };
    let (status, all) = watch(&options, |_, source| read(source, |_| {})).unwrap();
    assert!(status.success());
    assert!(all[0].drained.exhausted);
    // With memory for all of them, nothing is missing.
    options.limits.most = 256;
    let (_, all) = watch(&options, |_, source| read(source, |_| {})).unwrap();
    assert!(!all[0].drained.exhausted);
    // Begin and end of each and a lock within, forks and joins; the platform forks one or two threads of its own.
    assert!((240..245).contains(&all[0].result.events));
}

#[test]
fn a_program_that_runs_out_of_stack_sees_only_its_own_errors() {
    for jdk in jdks() {
        for jvm in ["-Xint", "-XX:TieredStopAtLevel=1", "-Xmixed"] {
            let mut options = watched(&jdk, &[jvm], "Deep", &[]);
            options.config = Config::default();
            let (status, all) = watch(&options, |_, source| read(source, |_| {})).unwrap();
            assert!(status.success(), "{status} with {jvm}");
            assert_eq!(all[0].result.cut_off, 0);
        }
    }
}

/// When set, this process is a reader of its own, which the test kills; the value is the folder they share.
const AS_READER: &str = "UNTORN_TEST_AS_READER";

/// Runs the named test of this file again, in a process that is only a reader.
fn reader(test: &str, folder: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(AS_READER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What that process does: watches a long run, and says when events come and how it ended.
fn be_reader(folder: &Path, operations: usize) {
    let account = folder.join("account");
    let options = stress(
        &jdks().remove(0),
        account.to_str().unwrap(),
        2,
        operations,
        "return",
    );
    let (status, _) = watch(&options, |_, source| {
        let mut told = false;
        read(source, |_| {
            if !told {
                fs::write(folder.join("started"), "").unwrap();
                told = true;
            }
        })
    })
    .unwrap();
    fs::write(folder.join("status"), format!("{:?}", status.signal())).unwrap();
}

#[test]
fn a_program_outlives_its_reader() {
    if let Some(folder) = std::env::var_os(AS_READER) {
        return be_reader(Path::new(&folder), 1_500_000);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut reader = reader("a_program_outlives_its_reader", folder.path());
    wait_until("the program starts", || {
        folder.path().join("started").exists()
    });
    reader.kill().unwrap();
    reader.wait().unwrap();
    let account = folder.path().join("account");
    assert!(!account.exists(), "the program was done before the kill");
    // 16 bytes of count and 13 for each step at least.
    wait_until("the program ends", || {
        fs::metadata(&account).is_ok_and(|m| m.len() > 2 * 1_500_000 * 13)
    });
}

#[test]
fn a_signal_for_the_reader_reaches_the_program() {
    if let Some(folder) = std::env::var_os(AS_READER) {
        return be_reader(Path::new(&folder), 20_000_000);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut reader = reader("a_signal_for_the_reader_reaches_the_program", folder.path());
    wait_until("the program starts", || {
        folder.path().join("started").exists()
    });
    kill(reader.id(), "-TERM");
    let status = reader.wait().unwrap();
    assert!(status.success(), "the reader itself goes on to report");
    let program = fs::read_to_string(folder.path().join("status")).unwrap();
    // A JVM answers SIGTERM with its shutdown hooks and status 143.
    assert_eq!(program, "None");
    assert!(!folder.path().join("account").exists());
}

#[test]
fn a_reader_that_stands_still_for_a_while_only_holds_the_program_up() {
    const OPERATIONS: usize = 300_000;
    if let Some(folder) = std::env::var_os(AS_READER) {
        return be_reader(Path::new(&folder), OPERATIONS);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut reader = reader(
        "a_reader_that_stands_still_for_a_while_only_holds_the_program_up",
        folder.path(),
    );
    wait_until("the program starts", || {
        folder.path().join("started").exists()
    });
    kill(reader.id(), "-STOP");
    thread::sleep(Duration::from_secs(1));
    kill(reader.id(), "-CONT");
    assert!(reader.wait().unwrap().success());
    let program = fs::read_to_string(folder.path().join("status")).unwrap();
    assert_eq!(program, "None");
    assert!(steps(&folder.path().join("account"), 2) >= 2 * OPERATIONS as u64);
}
