//! `untorn-archive`: puts saved results into an archive, and answers questions about them.
//!
//! It is a program of its own so that neither the size of `untorn` nor the time to build it depends on columns, TLS and object stores.

mod answer;
mod args;
mod import;
mod info;
mod page;
mod refine;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use untorn_archive::{Archive, Error, Question, Table};

use args::{Arguments, Command, Merge};

fn main() -> ExitCode {
    let done = match &Arguments::parse().command {
        Command::Import(args) => import::run(args),
        Command::Query(args) => answer::asked(&args.sql, &args.asking),
        Command::Top(args) => answer::named(&Question::Top { limit: args.limit }, &args.asking),
        Command::Trend(args) => {
            let by_version = args.by_version;
            answer::named(&Question::Trend { by_version }, &args.asking)
        }
        Command::New(args) => {
            let version = args.program_version.clone();
            answer::named(&Question::New { version }, &args.asking)
        }
        Command::Flaky(args) => answer::named(&Question::Flaky { limit: args.limit }, &args.asking),
        Command::Steady(args) => {
            let (executions, limit) = (args.executions, args.limit);
            answer::named(&Question::Steady { executions, limit }, &args.asking)
        }
        Command::Refine(args) => refine::run(args),
        Command::Report(args) => page::run(args),
        Command::Info(args) => info::run(args),
        Command::MergeProfile(args) => merge_profile(args),
        Command::Compact(args) => open(&args.narrow.place)
            .and_then(|archive| {
                let grace = args.grace.saturating_mul(60_000);
                Ok(archive.compact(&args.narrow.narrow(), grace)?)
            })
            .map(|done| {
                eprintln!(
                    "untorn: {} batches united into {}, {} replaced files removed",
                    done.batches, done.into, done.removed
                );
                complain(&done.complaints)
            }),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("untorn: {failure}");
        ExitCode::from(2)
    })
}

/// Why a command could not do its work; each prints as one line.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Archive(#[from] Error),
    #[error("{0}")]
    Said(String),
}

impl Failure {
    fn file(path: &Path, error: &impl std::fmt::Display) -> Self {
        Self::Said(format!("{}: {error}", path.display()))
    }
}

/// Opens an archive to read it; one that was never written to is most likely misspelt.
fn open(place: &str) -> Result<Archive, Failure> {
    let archive = Archive::open(place)?;
    if !archive.exists()? {
        return Err(Failure::Said(format!(
            "{place}: there is no archive; untorn-archive import makes one"
        )));
    }
    Ok(archive)
}

/// Names what could not be read; the status says that the rest is not all.
fn complain(complaints: &[Error]) -> ExitCode {
    const SHOWN: usize = 20;
    for complaint in complaints.iter().take(SHOWN) {
        eprintln!("untorn: {complaint}");
    }
    if complaints.len() > SHOWN {
        eprintln!("untorn: and {} files more", complaints.len() - SHOWN);
    }
    if complaints.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("untorn: note: everything else was read");
    ExitCode::from(2)
}

/// The profiles of all first runs as one: a profile is a set of lines.
fn merge_profile(args: &Merge) -> Result<ExitCode, Failure> {
    let archive = open(&args.narrow.place)?;
    let mut entries = std::collections::BTreeSet::new();
    let narrow = args.narrow.narrow();
    let complaints = archive.read(Table::Profiles, &["entry"], &narrow, &mut |columns, row| {
        entries.extend(columns[0].text(row).map(str::to_owned));
    })?;
    let mut text = format!("{}\n", import::PROFILE);
    for entry in entries {
        text.push_str(&entry);
        text.push('\n');
    }
    match &args.output {
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::file(path, &error))?,
        None => print(&text)?,
    }
    Ok(complain(&complaints))
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Said(
            format!("cannot write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}
