//! Memory of a long run, sampled in both processes.
//!
//! Whatever the program drops is dropped in both: the reader uses ids of dropped objects and locks again, with all that is kept by them.
//! `UNTORN_SOAK_SECONDS=600` makes it long; the samples are printed with `--nocapture`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use untorn_bench::programs::compile;
use untorn_jdk::Jdk;

use crate::watching::{scratch, untorn};

/// The compiled soak program, as a class path.
pub fn classes() -> String {
    static CLASSES: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    CLASSES
        .get_or_init(|| {
            let source =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harmless/java/Soak.java");
            let classes = scratch().join("soak");
            compile(&Jdk::for_tests()[0], &[source], "", &classes).unwrap();
            classes.to_string_lossy().into_owned()
        })
        .clone()
}

/// Megabytes of a process that is not shared with others by a file; `None` when it is gone.
fn memory(pid: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kilobytes: f64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn child_of(pid: u32) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    Some(children.split_ascii_whitespace().next()?.to_owned())
}

/// Megabytes.
struct Sample {
    reader: f64,
    program: f64,
}

struct Soaked {
    samples: Vec<Sample>,
    /// How many objects, each with a lock, the program made and dropped.
    made: f64,
    stats: Value,
}

/// Watches the soak with these options, and samples it.
fn soak(options: &[&str], kind: &str) -> Soaked {
    let seconds = std::env::var("UNTORN_SOAK_SECONDS").map_or(20, |text| text.parse().unwrap());
    let findings = scratch().join(format!("{kind}.json"));
    let mut running = Command::new(untorn())
        .args(options)
        .args(["--stats", "--exit-zero", "-o"])
        .arg(&findings)
        .arg("--")
        .arg(Jdk::for_tests()[0].tool("java"))
        // A heap that is soon full, so that only what the agent adds can grow.
        .args(["-Xmx48m", "-Xms48m", "-cp", &classes(), "Soak"])
        .args([&seconds.to_string(), kind])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pause = Duration::from_secs_f64(f64::from(seconds) / 40.0);
    let start = Instant::now();
    let mut samples = Vec::new();
    while running.try_wait().unwrap().is_none() {
        thread::sleep(pause);
        let program = child_of(running.id()).as_deref().and_then(memory);
        let reader = memory(&running.id().to_string());
        if let (Some(program), Some(reader)) = (program, reader) {
            let at = start.elapsed().as_secs_f64();
            eprintln!("{kind} {at:>5.0} s  program {program:>5.0} MB  reader {reader:>5.0} MB");
            samples.push(Sample { reader, program });
        }
    }
    let run = running.wait_with_output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "lost 0\n");
    assert!(samples.len() > 12, "{} samples", samples.len());
    let said = String::from_utf8_lossy(&run.stderr);
    let document = std::fs::read_to_string(findings).unwrap();
    let mut document: Value = serde_json::from_str(&document).unwrap();
    let made = said.lines().find_map(|line| line.strip_prefix("made "));
    Soaked {
        samples,
        made: made.unwrap().parse().unwrap(),
        stats: document["stats"].take(),
    }
}

/// The middle of what a quarter of the samples say of the program.
fn quarter(samples: &[Sample], number: usize) -> f64 {
    let length = samples.len() / 4;
    let part = &samples[number * length..(number + 1) * length];
    let mut values: Vec<f64> = part.iter().map(|sample| sample.program).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The program's memory stays what it was, and the reader's is that of what a small heap can hold, however much came and went.
fn check(soaked: &Soaked) {
    let (second, last) = (quarter(&soaked.samples, 1), quarter(&soaked.samples, 3));
    assert!(last < second * 1.25 + 40.0, "from {second} to {last} MB");
    let reader = soaked.samples.iter().map(|sample| sample.reader);
    let (most, made) = (reader.fold(0.0, f64::max), soaked.made);
    let count = |name: &str| soaked.stats[name].as_f64().unwrap();
    let ids = count("object ids") + count("location ids") + count("lock ids");
    let again = count("ids used again");
    eprintln!("{made} objects, {ids} ids, used again {again} times, at most {most:.0} MB");
    assert!(most < 400.0, "{most} MB after {made} objects");
    assert!(ids < 1e6, "{ids} ids after {made} objects");
}

#[test]
fn objects_of_one_thread_come_and_go() {
    check(&soak(
        &["run", "--fast", "--tracking", "optimistic"],
        "private",
    ));
}

#[test]
fn objects_of_several_threads_come_and_go() {
    check(&soak(&["run", "--fast"], "shared"));
}

#[test]
fn objects_come_and_go_under_all_analyses_of_a_run() {
    check(&soak(&["run"], "analyzed"));
}
