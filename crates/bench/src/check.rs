//! What `untorn check` costs over jars of all sizes: processor time, memory, the size of what is saved, and how they grow.
//!
//! The jars are those of `UNTORN_CORPUS` that `UNTORN_MEASURED` names, each checked as a library by a process of its own, with what follows its name behind `+` on its class path.
//! Processor time is that of all threads, so that other work on the machine disturbs it little.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Outcome;

/// What one check cost.
struct Cost {
    jar_bytes: u64,
    seconds: f64,
    peak: String,
    findings: usize,
    /// What the findings themselves take of the saved document.
    findings_bytes: usize,
    saved_bytes: u64,
}

pub fn run() -> Outcome {
    let folder = PathBuf::from(env::var_os("UNTORN_CORPUS").ok_or("UNTORN_CORPUS is not set")?);
    let names = env::var("UNTORN_MEASURED").map_err(|_| "UNTORN_MEASURED is not set")?;
    let untorn = env::current_exe()?.with_file_name("untorn");
    println!("| jar | kB | CPU s | peak MB | findings | kB a finding | kB saved in all |");
    println!("|---|---|---|---|---|---|---|");
    let mut points = Vec::new();
    for with in names.split(',') {
        let (name, needs) = with.split_once('+').unwrap_or((with, ""));
        let cost = check(&untorn, &folder, name, needs)?;
        println!(
            "| {name} | {} | {:.1} | {} | {} | {:.1} | {} |",
            cost.jar_bytes / 1000,
            cost.seconds,
            cost.peak,
            cost.findings,
            cost.findings_bytes as f64 / 1000.0 / cost.findings.max(1) as f64,
            cost.saved_bytes / 1000,
        );
        points.push((cost.jar_bytes as f64, cost.seconds));
    }
    let half = points.len() / 2;
    println!(
        "time grows with size to the power of {:.2}; {:.2} over the first half of the jars, {:.2} over the second",
        exponent(&points),
        exponent(&points[..half]),
        exponent(&points[half..]),
    );
    Ok(())
}

fn check(untorn: &Path, folder: &Path, name: &str, needs: &str) -> Result<Cost, Box<dyn Error>> {
    let jar = folder.join(format!("{name}.jar"));
    let saved = tempfile::tempdir()?;
    let document = saved.path().join("found.json");
    let needs = (needs.split('+').filter(|name| !name.is_empty()))
        .map(|name| folder.join(format!("{name}.jar")));
    let before = seconds_of_children()?;
    let status = Command::new(untorn)
        .arg("check")
        .arg(&jar)
        .arg("--classpath")
        .arg(env::join_paths(needs)?)
        .args(["--no-cache", "--exit-zero", "--stats", "--output"])
        .arg(&document)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("the check of {name} failed: {status}").into());
    }
    let seconds = seconds_of_children()? - before;
    let found: Value = serde_json::from_str(&fs::read_to_string(&document)?)?;
    let peak = &found["stats"]["consistency"]["peak memory"];
    let kilobytes = peak.as_str().and_then(|peak| peak.split(' ').next());
    let megabytes = kilobytes.and_then(|number| number.parse::<u64>().ok());
    Ok(Cost {
        jar_bytes: jar.metadata()?.len(),
        seconds,
        peak: megabytes.map_or_else(|| "?".to_owned(), |of| (of / 1000).to_string()),
        findings: found["findings"].as_array().map_or(0, Vec::len),
        findings_bytes: found["findings"].to_string().len(),
        saved_bytes: document.metadata()?.len(),
    })
}

/// The processor time of all children that have ended.
fn seconds_of_children() -> Result<f64, Box<dyn Error>> {
    /// Ticks of the clock of `/proc`, the same on all Linux systems.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program is in brackets and may hold blanks.
    let (_, rest) = stat
        .rsplit_once(')')
        .ok_or("/proc/self/stat is malformed")?;
    let ticks: f64 = (rest.split_whitespace().skip(13).take(2))
        .filter_map(|number| number.parse::<f64>().ok())
        .sum();
    Ok(ticks / TICKS)
}

/// The slope of the line through the logarithms that fits best.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = (points.iter())
        .map(|(size, time)| (size.ln(), time.max(0.01).ln()))
        .collect();
    let count = logs.len().max(1) as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let both: f64 = (logs.iter())
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    both / spread
}
