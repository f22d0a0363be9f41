//! The JVM's own options and other agents beside ours: each once, with a program that is watched all the same.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{jdks, version, watched};
use untorn_channel::Config;
use untorn_live::watch_all;
use untorn_trace::Source;

/// Options, and the first JDK that takes them.
const OPTIONS: [(&str, u32); 22] = [
    ("-Xint", 17),
    ("-Xcomp", 17),
    ("-XX:TieredStopAtLevel=1", 17),
    ("-XX:-TieredCompilation", 17),
    ("-XX:+UseSerialGC", 17),
    ("-XX:+UseParallelGC", 17),
    ("-XX:+UseG1GC -Xmx24m", 17),
    ("-XX:+UseZGC", 17),
    ("-XX:+UseShenandoahGC", 17),
    ("-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC", 17),
    ("-XX:-UseCompressedOops", 17),
    ("-XX:-UseCompressedClassPointers", 17),
    ("-XX:+UseCompactObjectHeaders", 25),
    ("-Xshare:off", 17),
    (
        "-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile=FOLDER/classes.jsa",
        21,
    ),
    ("-XX:StartFlightRecording:filename=FOLDER/run.jfr", 17),
    (
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0",
        17,
    ),
    ("-Xcheck:jni", 17),
    ("-Xverify:all", 17),
    ("-Xss256k", 17),
    ("-XX:+UseLargePages -XX:+AlwaysPreTouch -Xmx64m", 17),
    (
        "-Djava.security.egd=file:/dev/urandom -Dcom.sun.management.jmxremote",
        17,
    ),
];

fn accesses(source: &mut dyn Source) -> usize {
    let (mut count, mut batch) = (0, Vec::new());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            return count;
        }
        count += batch.iter().filter(|e| e.op.access().is_some()).count();
    }
}

/// Whether a JVM without us starts with some options at all: some builds leave collectors out.
fn starts(jdk: &Path, options: &[&str]) -> bool {
    let alone = Command::new(jdk.join("bin/java"))
        .args(options)
        .arg("-version")
        .output()
        .unwrap();
    alone.status.success()
}

/// Runs the program under these options; what was recorded of it.
fn run(jdk: &Path, options: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let arguments = [account.to_str().unwrap(), "2", "500", "3", "50", "platform"];
    let arguments = arguments.map(str::to_owned);
    let mut options = watched(jdk, options, "Plain", &arguments);
    options.config = Config::default();
    let ran = watch_all(&options, |_, source| accesses(source)).unwrap();
    assert!(ran.status.success(), "{options:?}: {ran:?}");
    assert_eq!(ran.unwatched, [""; 0], "{options:?}");
    assert!(account.exists(), "{options:?}");
    ran.processes[0].result
}

#[test]
fn every_way_to_run_a_jvm_is_watched() {
    let mut left_out = Vec::new();
    for jdk in jdks() {
        for (options, since) in OPTIONS {
            let folder = tempfile::tempdir().unwrap();
            let options = options.replace("FOLDER", folder.path().to_str().unwrap());
            let options: Vec<&str> = options.split(' ').collect();
            if version(&jdk) < since {
                continue;
            }
            if !starts(&jdk, &options) {
                left_out.push(format!("{} on {}", options.join(" "), version(&jdk)));
                continue;
            }
            let seen = run(&jdk, &options);
            assert!(seen > 1_000, "{options:?}: {seen}");
        }
    }
    // What a build of the JVM lacks cannot be tried on it.
    println!("not to be had: {left_out:?}");
    assert!(left_out.len() <= 3, "{left_out:?}");
}

/// A jar of the corpus, which holds an agent.
fn jar(name: &str) -> PathBuf {
    let corpus = std::env::var_os("UNTORN_CORPUS");
    let corpus = corpus.expect("UNTORN_CORPUS: run `cargo xtask setup --export`");
    Path::new(&corpus).join(format!("{name}.jar"))
}

/// Takes a file out of a jar.
fn unpacked(jdk: &Path, jar: &Path, name: &str, into: &Path) -> PathBuf {
    let status = Command::new(jdk.join("bin/jar"))
        .current_dir(into)
        .arg("xf")
        .args([jar.as_os_str(), name.as_ref()])
        .status()
        .unwrap();
    assert!(status.success());
    into.join(name)
}

#[test]
fn other_agents_work_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    for jdk in jdks() {
        let coverage = unpacked(&jdk, &jar("jacoco-agent"), "jacocoagent.jar", folder.path());
        let measured = folder.path().join("jacoco.exec");
        let profiler = unpacked(
            &jdk,
            &jar("async-profiler"),
            "linux-x64/libasyncProfiler.so",
            folder.path(),
        );
        let profile = folder.path().join("profile.txt");
        for (option, wrote) in [
            (
                format!(
                    "-javaagent:{}=destfile={}",
                    coverage.display(),
                    measured.display()
                ),
                &measured,
            ),
            (
                format!(
                    "-agentpath:{}=start,event=itimer,collapsed,file={}",
                    profiler.display(),
                    profile.display()
                ),
                &profile,
            ),
        ] {
            let seen = run(&jdk, &[&option]);
            assert!(seen > 1_000, "{option}: {seen}");
            assert!(std::fs::metadata(wrote).unwrap().len() > 100, "{option}");
            std::fs::remove_file(wrote).unwrap();
        }
        let telemetry = format!("-javaagent:{}", jar("opentelemetry-javaagent").display());
        let quiet = [
            "-Dotel.traces.exporter=none",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none",
        ];
        let seen = run(&jdk, &[&[telemetry.as_str()], &quiet[..]].concat());
        assert!(seen > 1_000, "{telemetry}: {seen}");
    }
}
