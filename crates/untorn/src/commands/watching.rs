//! What `run` and `record` have in common: how a program is started, and what is said of its processes afterwards.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use serde_json::{Map, Value, json};
use untorn_channel::Config;
use untorn_channel::config::{Tracking, is_platform};
use untorn_live::{Options, Process, Tally, Watched};

use crate::cli::{TrackingArg, WatchArgs};
use crate::commands::facts;
use crate::embedded::agent_library;
use crate::failure::Failure;
use crate::output::note;

/// What to start, and what to ask of the agent.
pub fn options(
    args: &WatchArgs,
    spec: Option<&Path>,
    command: &[OsString],
) -> Result<Options, Failure> {
    let spec = match spec {
        Some(path) => {
            Some(std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?)
        }
        None => None,
    };
    for pattern in args.include.iter().filter(|pattern| is_platform(pattern)) {
        eprintln!(
            "untorn: note: --include {pattern}: fields of the platform's own classes are never watched; its locks, collections and atomics are, where your classes use them"
        );
    }
    Ok(Options {
        command: command.to_vec(),
        agent: agent_library()?,
        config: Config {
            include: args.include.clone(),
            exclude: args.exclude.clone(),
            arrays: args.arrays,
            tracking: match args.tracking {
                TrackingArg::Pessimistic => Tracking::Pessimistic,
                TrackingArg::Optimistic => Tracking::Optimistic,
            },
            stacks: args.stacks,
            spec,
            facts: (args.facts.as_deref())
                .map(|path| facts::read(path).map(|facts| facts.of_classes()))
                .transpose()?,
            ..Config::default()
        },
        children: !args.no_children,
        ..Options::default()
    })
}

/// The program's own status as a shell would see it.
pub fn status_of(program: ExitStatus) -> ExitCode {
    let code = program
        .code()
        .unwrap_or_else(|| 128 + program.signal().unwrap_or(0));
    ExitCode::from(code as u8)
}

/// How the program ended, in words.
pub fn ending(program: ExitStatus) -> String {
    match (program.code(), program.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

/// Tells what kept a process from being recorded whole.
pub fn warn<T>(watched: &Watched<T>) {
    if watched.drained.exhausted {
        eprintln!(
            "untorn: process {}: more threads live than there is memory for their logs; recording stopped there, the program went on",
            watched.process.pid
        );
    }
}

/// Tells how much of a process nobody looked at, since the run was to end.
pub fn say_left_out(process: &Process, tally: Tally) {
    if tally.left_out > 0 {
        note(&format!(
            "process {}: stopped; its last {} records were not looked at, so what tears there is not reported",
            process.pid, tally.left_out
        ));
    }
}

/// Tells what kept processes from being watched, and the status of a run that is not complete for it.
pub fn say_unwatched(unwatched: &[String]) -> Option<ExitCode> {
    for why in unwatched {
        note(&format!("the run is incomplete: {why}"));
    }
    (!unwatched.is_empty()).then_some(ExitCode::from(2))
}

/// Counts of one process, for `--stats`.
pub fn stats<T>(watched: &Watched<T>, tally: Tally) -> Map<String, Value> {
    let mut stats = Map::new();
    stats.insert("program".to_owned(), json!(watched.process.program));
    for (name, count) in [
        ("records", watched.drained.records),
        ("segments", watched.drained.segments),
        ("waits for a segment", watched.drained.waits),
        ("events", tally.events),
        ("edges", tally.edges),
        ("events refused", tally.refused),
        ("events put in", tally.put_in),
        ("records undeclared", tally.undeclared),
        ("records cut off", tally.cut_off),
        ("records left out", tally.left_out),
        ("object ids", tally.objects),
        ("location ids", tally.locations),
        ("lock ids", tally.locks),
        ("ids used again", tally.reused),
    ] {
        stats.insert(name.to_owned(), json!(count));
    }
    for (name, count) in &watched.counts {
        stats.insert(name.clone(), json!(count));
    }
    stats
}
