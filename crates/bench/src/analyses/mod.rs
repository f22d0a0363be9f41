//! How fast the trace analyses are, on one core with a `.utr` file as input, and how much memory they take.
//!
//! `UNTORN_BENCH_MILLIONS=1,5` chooses how long the traces are, `UNTORN_BENCH_KINDS=short,long` which kinds, `UNTORN_BENCH_ANALYSES=velodrome` which analyses.

mod kinds;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::atomizer::{self, Atomizer};
use untorn_analyses::count::Count;
use untorn_analyses::doublechecker::{self, DoubleChecker};
use untorn_analyses::lockset::{self, Lockset};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::views::{self, Views};
use untorn_analyses::{Analysis, run as feed};
use untorn_trace::{OpenOptions, OrderedWriter, UtrOptions, open};

use self::kinds::{Generator, Kind};
use crate::Outcome;
use crate::clock::{best_of, rate};

/// An analysis, and how many million events a second it ought to take.
struct Subject {
    name: &'static str,
    target: f64,
    make: fn() -> Box<dyn Analysis>,
}

const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "count",
        target: 0.0,
        make: || Box::new(Count::default()),
    },
    Subject {
        name: "lockset",
        target: 20.0,
        make: || Box::new(Lockset::new(lockset::Options::default())),
    },
    Subject {
        name: "atomizer",
        target: 20.0,
        make: || Box::new(Atomizer::new(atomizer::Options::default())),
    },
    Subject {
        name: "views",
        target: 15.0,
        make: || Box::new(Views::new(views::Options::default())),
    },
    Subject {
        name: "velodrome",
        target: 10.0,
        make: || Box::new(Velodrome::new(velodrome::Options::default())),
    },
    Subject {
        name: "doublechecker",
        target: 10.0,
        make: || Box::new(DoubleChecker::new(doublechecker::Options::default())),
    },
    Subject {
        name: "aerodrome",
        target: 15.0,
        make: || Box::new(Aerodrome::new(aerodrome::Options::default())),
    },
];

/// What is asked for in the environment, or everything.
pub fn chosen(variable: &str) -> impl Fn(&str) -> bool {
    let asked = std::env::var(variable).ok();
    move |name| {
        (asked.as_deref()).is_none_or(|asked| asked.split(',').any(|one| one.trim() == name))
    }
}

fn write(path: &Path, kind: Kind, events: u64) -> Outcome {
    let tables = kinds::tables().ok_or("too many names")?;
    let mut writer = OrderedWriter::new("bench.utr", File::create(path)?, UtrOptions::default())?;
    let mut generator = Generator::new(kind);
    let (mut batch, mut left) = (Vec::new(), events);
    while left > 0 {
        generator.fill(&mut batch, left.min(1 << 16) as usize);
        batch.truncate(left as usize);
        writer.write(&tables, &batch)?;
        left -= batch.len() as u64;
    }
    writer.finish(&tables)?;
    Ok(())
}

/// Memory of this process that no file backs, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok());
    kilobytes.unwrap_or(0) * 1024
}

struct Measured {
    time: Duration,
    findings: usize,
    peak: u64,
}

impl Measured {
    fn parse(line: &str) -> Option<Self> {
        let mut numbers = (line.split_ascii_whitespace()).map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some(Self {
            time: Duration::from_nanos(next()?),
            findings: next()? as usize,
            peak: next()?,
        })
    }
}

/// Asks [`MEASURE`] for one measurement: `analysis runs trace`.
const MEASURE: &str = "UNTORN_BENCH_MEASURE";

/// Measures in a process of its own, so that no memory of another measurement counts.
fn measure(path: &Path, subject: &Subject, runs: usize) -> Result<Measured, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .arg("analyses")
        .env(
            MEASURE,
            format!("{} {runs} {}", subject.name, path.display()),
        )
        .stderr(Stdio::inherit())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    (said.lines().last())
        .and_then(Measured::parse)
        .ok_or_else(|| format!("{} was not measured", subject.name).into())
}

/// The other side of [`measure`].
fn measure_here(asked: &str) -> Outcome {
    let mut words = asked.splitn(3, ' ');
    let (name, runs, path) = (words.next(), words.next(), words.next());
    let subject = (SUBJECTS.iter().find(|subject| Some(subject.name) == name))
        .ok_or("there is no such analysis")?;
    let runs = runs.and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let measured = take(Path::new(path.ok_or("no trace")?), subject, runs)?;
    println!(
        "{} {} {}",
        measured.time.as_nanos(),
        measured.findings,
        measured.peak
    );
    Ok(())
}

fn take(path: &Path, subject: &Subject, runs: usize) -> Result<Measured, untorn_trace::Error> {
    let mut peak = 0;
    let mut batches = 0u32;
    let before = memory();
    let (times, findings) = best_of(runs, || {
        let mut source = open(path, OpenOptions::default())?;
        let mut analyses = [(subject.make)()];
        let outcome = feed(source.as_mut(), &mut analyses, &mut |_| {
            batches += 1;
            if batches.is_multiple_of(256) {
                peak = peak.max(memory());
            }
        })?;
        peak = peak.max(memory());
        Ok(outcome.findings.len())
    })?;
    Ok(Measured {
        time: times.cpu,
        findings,
        peak: peak.saturating_sub(before),
    })
}

pub fn run() -> Outcome {
    if let Ok(asked) = std::env::var(MEASURE) {
        return measure_here(&asked);
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.utr");
    let wanted_kind = chosen("UNTORN_BENCH_KINDS");
    let wanted_analysis = chosen("UNTORN_BENCH_ANALYSES");
    let wanted_length = chosen("UNTORN_BENCH_MILLIONS");
    println!(
        "  {:<16} {:<14} {:>6} {:>14} {:>9} {:>9} {:>9}",
        "trace", "analysis", "events", "per second", "growth", "memory", "findings"
    );
    for kind in Kind::ALL
        .into_iter()
        .filter(|kind| wanted_kind(kind.name()))
    {
        let mut at_five = vec![None; SUBJECTS.len()];
        for millions in [1, 5, 50] {
            if !wanted_length(&millions.to_string()) {
                continue;
            }
            let events = millions * 1_000_000;
            write(&path, kind, events)?;
            for (i, subject) in SUBJECTS.iter().enumerate() {
                let bound = subject.name != "views" || kind.has_few_views();
                if !wanted_analysis(subject.name) || !bound && millions > 5 {
                    continue;
                }
                let runs = if millions > 5 { 2 } else { 3 };
                let measured = measure(&path, subject, runs)?;
                if millions == 5 {
                    at_five[i] = Some(measured.time);
                }
                let growth = at_five[i].filter(|_| millions == 50).map_or_else(
                    String::new,
                    |five: Duration| {
                        format!("{:.1}×", measured.time.as_secs_f64() / five.as_secs_f64())
                    },
                );
                let rate = rate(events, measured.time);
                let missed = match rate < subject.target {
                    true if bound => " below",
                    true => " (D²)",
                    false => "",
                };
                println!(
                    "  {:<16} {:<14} {millions:>4} M {rate:>8.1} M{:<6} {growth:>8} {:>6} MB {:>9}",
                    kind.name(),
                    subject.name,
                    missed,
                    measured.peak >> 20,
                    measured.findings
                );
            }
        }
    }
    Ok(())
}
