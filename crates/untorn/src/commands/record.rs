//! `untorn record`: keeps what a program does as a trace.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use untorn_live::{LiveSource, Process, Tally, record, watch_all};
use untorn_trace::{Source, UtrOptions};

use crate::cli::RecordArgs;
use crate::commands::facts::Used;
use crate::commands::watching::{options, say_left_out, say_unwatched, stats, status_of, warn};
use crate::failure::Failure;
use crate::output::tell;

pub fn run(args: &RecordArgs) -> Result<ExitCode, Failure> {
    let options = options(&args.watch, args.spec.as_deref(), &args.command)?;
    // A folder that does not exist is said before the program starts.
    File::create(&args.output).map_err(|error| Failure::file(&args.output, error))?;
    let first = AtomicBool::new(true);
    let ran = watch_all(&options, |process, source| {
        let path = if first.swap(false, Ordering::Relaxed) {
            args.output.clone()
        } else {
            beside(&args.output, process)
        };
        let tally = keep(args, &path, source)?;
        Ok::<_, Failure>((tally, path))
    })?;
    if ran.processes.is_empty() {
        return Err(Failure::NothingWatched);
    }
    let mut used = Used::default();
    let mut traces = Vec::new();
    for mut process in ran.processes {
        warn(&process);
        let kept = std::mem::replace(&mut process.result, Err(Failure::NothingWatched));
        let (tally, path) = kept?;
        traces.push(path);
        used.add(&process.counts);
        say_left_out(&process.process, tally);
        if args.stats {
            for (name, value) in stats(&process, tally) {
                eprintln!("{name}: {value}");
            }
        }
    }
    if args.watch.facts.is_some() {
        used.say();
    }
    args.archive.keep_traces(&traces)?;
    Ok(say_unwatched(&ran.unwatched).unwrap_or_else(|| status_of(ran.status)))
}

/// Where a further process is kept: `run.utr` becomes `run.4711.utr`.
fn beside(path: &Path, process: &Process) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", process.pid));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Writes one process's events, to its end.
fn keep(args: &RecordArgs, path: &Path, source: &mut LiveSource) -> Result<Tally, Failure> {
    let compress = !args.no_compress;
    record(source, path, UtrOptions { compress })?;
    tell(&source.notes());
    Ok(source.tally())
}
