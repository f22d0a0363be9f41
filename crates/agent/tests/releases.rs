//! JVMs of other releases than those that all tests run on: one that is too old, and one between them.

#![allow(clippy::unwrap_used)]

#[path = "support/runtimes.rs"]
mod runtimes;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use runtimes::runtime;
use support::{jdks, version};
use untorn_channel::Config;
use untorn_live::{Error, Options, watch_all};
use untorn_trace::Source;

/// Two threads and a field; class files that Java 11 can read.
const PROGRAM: &str = "public class Main {
    private int count;
    private synchronized void add() { count++; }
    public static void main(String[] arguments) throws Exception {
        Main main = new Main();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> { for (int n = 0; n < 1000; n++) main.add(); });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        if (main.count != 2000) System.exit(1);
        java.nio.file.Files.write(java.nio.file.Path.of(arguments[0]), new byte[7]);
    }
}
";

fn compiled(folder: &Path) {
    fs::write(folder.join("Main.java"), PROGRAM).unwrap();
    let jdk = jdks().into_iter().min_by_key(|jdk| version(jdk)).unwrap();
    let run = Command::new(jdk.join("bin/javac"))
        .args(["--release", "11", "-d"])
        .arg(folder)
        .arg(folder.join("Main.java"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
}

fn options(home: &Path, folder: &Path) -> Options {
    let command = [home.join("bin/java"), "-cp".into(), folder.into()];
    let mut command: Vec<_> = command.into_iter().map(PathBuf::into_os_string).collect();
    command.extend(["Main".into(), folder.join("done").into_os_string()]);
    Options {
        command,
        config: Config::default(),
        ..support::watched(home, &[], "Main", &[])
    }
}

fn events(source: &mut dyn Source) -> usize {
    let (mut count, mut batch) = (0, Vec::new());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            return count;
        }
        count += batch.len();
    }
}

#[test]
fn a_jvm_that_is_too_old_runs_as_without_us_and_is_said_to_be_unwatched() {
    let folder = tempfile::tempdir().unwrap();
    compiled(folder.path());
    let options = options(&runtime(11), folder.path());
    let refused = watch_all(&options, |_, source| events(source)).unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused, Error::Channel(_)), "{said}");
    assert!(
        said.contains("ran unwatched: this JVM is of version 11"),
        "{said}"
    );
    assert_eq!(fs::read(folder.path().join("done")).unwrap().len(), 7);
}

#[test]
fn the_release_between_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    compiled(folder.path());
    let options = options(&runtime(21), folder.path());
    let ran = watch_all(&options, |_, source| events(source)).unwrap();
    assert!(ran.status.success() && ran.unwatched.is_empty(), "{ran:?}");
    assert!(ran.processes[0].result > 4_000, "{ran:?}");
    assert_eq!(fs::read(folder.path().join("done")).unwrap().len(), 7);
}
