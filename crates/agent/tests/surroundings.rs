//! The JVM's own options and other agents beside ours: each once, with a program that is watched all the same.

#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsString;
use std::fs;
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

/// What a JVM without us says by itself on standard output with some options, if it starts at all: some builds leave collectors out.
fn starts(jdk: &Path, options: &[&str]) -> Option<String> {
    let alone = Command::new(jdk.join("bin/java"))
        .args(options)
        .arg("-version")
        .output()
        .unwrap();
    (alone.status.success()).then(|| String::from_utf8(alone.stdout).unwrap())
}

/// Runs the program under these options, which prints nothing itself; what was recorded of it, and what the JVM says on standard output.
fn run(jdk: &Path, options: &[&str]) -> (usize, String) {
    run_within(jdk, options, "exec \"$@\"")
}

/// The same by a shell that runs its arguments somehow.
fn run_within(jdk: &Path, options: &[&str], script: &str) -> (usize, String) {
    let folder = tempfile::tempdir().unwrap();
    let account = folder.path().join("account");
    let said = folder.path().join("said");
    let arguments = [account.to_str().unwrap(), "2", "500", "3", "50", "platform"];
    let arguments = arguments.map(str::to_owned);
    let mut options = watched(jdk, options, "Plain", &arguments);
    options.config = Config::default();
    let script = format!("{script} > '{}'", said.display());
    let mut command: Vec<OsString> = vec!["sh".into(), "-c".into(), script.into(), "sh".into()];
    command.append(&mut options.command);
    options.command = command;
    let ran = watch_all(&options, |_, source| accesses(source)).unwrap();
    assert!(ran.status.success(), "{options:?}: {ran:?}");
    assert_eq!(ran.unwatched, [""; 0], "{options:?}");
    assert!(account.exists(), "{options:?}");
    (ran.processes[0].result, fs::read_to_string(said).unwrap())
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
            let Some(alone) = starts(&jdk, &options) else {
                left_out.push(format!("{} on {}", options.join(" "), version(&jdk)));
                continue;
            };
            let (seen, said) = run(&jdk, &options);
            assert!(seen > 1_000, "{options:?}: {seen}");
            // Of archives a JVM says that it does not use them (docs/limits.md).
            if !options.iter().any(|it| it.contains("SharedArchiveFile")) {
                assert_eq!(messages(&said), messages(&alone), "{options:?}");
            }
        }
    }
    // What a build of the JVM lacks cannot be tried on it.
    println!("not to be had: {left_out:?}");
    assert!(left_out.len() <= 3, "{left_out:?}");
}

/// Without the numbers of ports and processes in it, and without what is said of archives of classes.
fn messages(said: &str) -> String {
    let of_archives = |line: &&str| line.contains("[cds]") || line.contains("CDS");
    let lines = said.lines().filter(|line| !of_archives(line));
    lines
        .flat_map(|line| line.chars().filter(|it| !it.is_ascii_digit()).chain(['\n']))
        .collect()
}

#[test]
fn a_full_folder_for_shared_memory_keeps_nothing_from_being_watched() {
    // The log has no file there; the JVM itself may want one.
    let tiny = "mount -t tmpfs -o size=4k none /dev/shm && cat /dev/zero > /dev/shm/full 2>/dev/null; exec \"$@\"";
    let script = format!("exec unshare -rm sh -c '{tiny}' sh \"$@\"");
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        println!("not to be had: a mount namespace");
        return;
    }
    for jdk in jdks() {
        let (seen, _) = run_within(&jdk, &["-Xmx64m"], &script);
        assert!(seen > 1_000, "{seen}");
    }
}

/// A jar of the corpus, which holds an agent.
fn jar(name: &str) -> PathBuf {
    let corpus = std::env::var_os("UNTORN_CORPUS");
    let corpus = corpus.expect("UNTORN_CORPUS: run `cargo xtask setup --export`");
    Path::new(&corpus).join(format!("{name}.jar"))
}

/// Mocks of a final class: the class itself is redefined while the program runs.
const MOCKING: &str = "
import org.mockito.Mockito;

public class Mocking {
    static final class Service {
        private int served;
        synchronized int next() { return ++served; }
        int twice() { return next() + next(); }
    }

    public static void main(String[] arguments) throws Exception {
        Service real = new Service();
        if (real.next() != 1) throw new AssertionError();
        Service mock = Mockito.mock(Service.class);
        Mockito.when(mock.next()).thenReturn(7);
        Mockito.when(mock.twice()).thenCallRealMethod();
        Thread[] threads = new Thread[2];
        int[] wrong = new int[1];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 300; n++) {
                    if (mock.twice() != 14) wrong[0]++;
                    real.next();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        if (wrong[0] != 0 || real.next() != 602) throw new AssertionError(wrong[0] + \" \" + real.next());
        Mockito.verify(mock, Mockito.times(1200)).next();
    }
}
";

#[test]
fn classes_that_are_redefined_for_mocks_are_watched_on() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Mocking.java");
    fs::write(&source, MOCKING).unwrap();
    let jars = [
        "mockito-core",
        "byte-buddy",
        "byte-buddy-agent",
        "objenesis",
    ]
    .map(jar);
    let mut path = OsString::from(folder.path());
    for jar in &jars {
        path.push(":");
        path.push(jar);
    }
    let oldest = jdks().into_iter().min_by_key(|jdk| version(jdk)).unwrap();
    let compiled = Command::new(oldest.join("bin/javac"))
        .arg("-cp")
        .arg(&path)
        .arg("-d")
        .args([folder.path(), &source])
        .status()
        .unwrap();
    assert!(compiled.success());
    for jdk in jdks() {
        let agent = format!("-javaagent:{}", jars[0].display());
        let jvm = [agent.as_str(), "-Dnet.bytebuddy.experimental=true"];
        let mut options = watched(&jdk, &jvm, "Mocking", &[]);
        let classes = options.command.len() - 2;
        options.command[classes].clone_from(&path);
        options.config = Config {
            include: vec!["Mocking**".to_owned()],
            ..Config::default()
        };
        let ran = watch_all(&options, |_, source| accesses(source)).unwrap();
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(ran.unwatched, [""; 0]);
        // Each of 601 calls reads and writes the count.
        assert!(ran.processes[0].result > 600, "{ran:?}");
    }
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
            let (seen, _) = run(&jdk, &[&option]);
            assert!(seen > 1_000, "{option}: {seen}");
            assert!(fs::metadata(wrote).unwrap().len() > 100, "{option}");
            fs::remove_file(wrote).unwrap();
        }
        let telemetry = format!("-javaagent:{}", jar("opentelemetry-javaagent").display());
        let quiet = [
            "-Dotel.traces.exporter=none",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none",
        ];
        let (seen, _) = run(&jdk, &[&[telemetry.as_str()], &quiet[..]].concat());
        assert!(seen > 1_000, "{telemetry}: {seen}");
    }
}
