//! Several JVMs, other launchers, and an agent without a reader.

#![allow(clippy::unwrap_used)]

mod support;

use std::process::Command;

use support::{jdks, programs, watched};
use untorn_channel::Config;
use untorn_live::watch;
use untorn_model::Op;
use untorn_trace::{OpenOptions, Source, open};

fn arguments(account: &str) -> [String; 6] {
    [account, "2", "500", "3", "50", "platform"].map(str::to_owned)
}

fn accesses(source: &mut dyn Source) -> usize {
    let (mut count, mut batch) = (0, Vec::new());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            return count;
        }
        count += batch.iter().filter(|e| e.op.access().is_some()).count();
        // Nothing is forked by a thread that is not known.
        for event in &batch {
            if let Op::Fork(child) = event.op {
                assert!(source.tables().threads.get(child).is_some());
            }
        }
    }
}

#[test]
fn jvms_that_the_program_starts_are_watched_too() {
    for jdk in jdks() {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("account");
        let mut words = vec!["Plain".to_owned()];
        words.extend(arguments(account.to_str().unwrap()));
        let mut options = watched(&jdk, &[], "Parent", &words);
        options.config = Config::default();
        options.children = true;
        let (status, all) = watch(&options, |_, source| accesses(source)).unwrap();
        assert!(status.success(), "{status}");
        assert_eq!(all.len(), 2);
        assert!(all[0].process.program.contains("Parent Plain"));
        // One static field, read and written.
        assert_eq!(all[0].result, 2);
        assert!(all[1].result > 1_000);
        options.children = false;
        let (_, all) = watch(&options, |_, source| accesses(source)).unwrap();
        assert_eq!(all.len(), 1);
    }
}

#[test]
fn a_script_gets_the_agent_through_the_environment() {
    let jdk = jdks().remove(0);
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let words = arguments(account.to_str().unwrap());
    let mut options = watched(&jdk, &[], "Plain", &words);
    options.config = Config::default();
    let mut script: Vec<std::ffi::OsString> = vec![
        "sh".into(),
        "-c".into(),
        "\"$@\"; exit 7".into(),
        "sh".into(),
    ];
    script.append(&mut options.command);
    options.command = script;
    let (status, all) = watch(&options, |_, source| accesses(source)).unwrap();
    assert_eq!(status.code(), Some(7));
    assert_eq!(all.len(), 1);
    assert!(all[0].result > 1_000);
}

#[test]
fn without_a_reader_the_agent_writes_the_trace_itself() {
    for jdk in jdks() {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("account");
        let trace = folder.path().join("run.utr");
        let agent = untorn_live::agent_library().unwrap();
        let run = Command::new(jdk.join("bin/java"))
            // Relative: the JVM's working directory is not always that of its command.
            .arg(format!("-agentpath:{}=out=run.utr", agent.display()))
            .current_dir(folder.path())
            .arg("-cp")
            .arg(programs().join("classes"))
            .arg("Plain")
            .args(arguments(account.to_str().unwrap()))
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        assert_eq!((run.stdout.len(), run.stderr.len()), (0, 0), "{run:?}");
        let mut source = open(&trace, OpenOptions::default()).unwrap();
        assert!(accesses(source.as_mut()) > 1_000);
        assert!(source.notes().is_empty(), "{:?}", source.notes());
    }
}

#[test]
fn an_agent_without_a_destination_says_so_and_lets_the_program_run() {
    let jdk = jdks().remove(0);
    let agent = untorn_live::agent_library().unwrap();
    for (options, complaint) in [
        ("", "neither socket=… nor out=…"),
        ("=socket=/nonexistent/socket", "/nonexistent/socket"),
        ("=depth=3", "option `depth` is unknown"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("account");
        let run = Command::new(jdk.join("bin/java"))
            .arg(format!("-agentpath:{}{options}", agent.display()))
            .arg("-cp")
            .arg(programs().join("classes"))
            .arg("Plain")
            .args(arguments(account.to_str().unwrap()))
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.contains(complaint), "{said}");
        assert!(account.exists());
    }
}

#[test]
fn a_second_agent_of_the_same_or_another_build_does_nothing_and_says_so() {
    let jdk = jdks().remove(0);
    let agent = untorn_live::agent_library().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libuntorn_agent.so");
    std::fs::copy(&agent, &other).unwrap();
    for second in [&agent, &other] {
        let trace = folder.path().join("run.utr");
        let run = Command::new(jdk.join("bin/java"))
            .arg(format!(
                "-agentpath:{}=out={}",
                agent.display(),
                trace.display()
            ))
            .arg(format!("-agentpath:{}=out=none.utr", second.display()))
            .arg("-cp")
            .arg(programs().join("classes"))
            .arg("Plain")
            .args(arguments(folder.path().join("account").to_str().unwrap()))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.contains("has an agent of untorn already"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let mut source = open(&trace, OpenOptions::default()).unwrap();
        assert!(accesses(source.as_mut()) > 1_000);
        assert!(!folder.path().join("none.utr").exists());
    }
}
