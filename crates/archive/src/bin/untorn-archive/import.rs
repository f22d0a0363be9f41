//! Saved results of one or many runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use untorn_archive::{Archive, Batch, Events, Moment, Narrow, Rows, RunFacts, Table};
use untorn_findings::Document;

use crate::args::Import;
use crate::{Failure, complain};

/// The first line of a profile.
pub const PROFILE: &str = "untorn-profile 1";
/// So many rows are written as one file, so that memory stays bounded and files are few.
const ROWS: usize = 300_000;
/// So many files are read before their rows are taken up.
const AT_ONCE: usize = 64;

pub fn run(args: &Import) -> Result<ExitCode, Failure> {
    let mut importing = Importing::begin(args)?;
    let (files, mut failed) = named(&args.files);
    for files in files.chunks(AT_ONCE) {
        for result in read_all(files, args) {
            match result {
                Ok(rows) => importing.add(rows)?,
                Err(failure) => {
                    eprintln!("untorn: {failure}");
                    failed += 1;
                }
            }
        }
    }
    importing.flush()?;
    eprintln!("untorn: {} runs imported", importing.written);
    if importing.known > 0 {
        eprintln!(
            "untorn: note: {} were in the archive already",
            importing.known
        );
    }
    Ok(ExitCode::from(if failed == 0 { 0 } else { 2 }))
}

struct Importing {
    archive: Archive,
    project: String,
    there: BTreeSet<String>,
    pending: BTreeMap<String, Vec<Rows>>,
    rows: usize,
    written: usize,
    known: usize,
}

impl Importing {
    fn begin(args: &Import) -> Result<Self, Failure> {
        let archive = Archive::open(&args.place)?;
        let project = args.project.clone().unwrap_or_else(|| {
            let here = std::env::current_dir().unwrap_or_default();
            let name = here
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            name.unwrap_or_else(|| "project".to_owned())
        });
        let narrow = Narrow {
            project: Some(project.clone()),
            ..Narrow::default()
        };
        let mut there = BTreeSet::new();
        let complaints = archive.read(Table::Runs, &["run"], &narrow, &mut |columns, row| {
            there.extend(columns[0].text(row).map(str::to_owned));
        })?;
        complain(&complaints);
        Ok(Self {
            archive,
            project,
            there,
            pending: BTreeMap::new(),
            rows: 0,
            written: 0,
            known: 0,
        })
    }

    fn add(&mut self, rows: Rows) -> Result<(), Failure> {
        if !self.there.insert(rows.run.run.clone()) {
            self.known += 1;
            return Ok(());
        }
        // A finding with its evidence weighs as much as some regions.
        self.rows += 1 + rows.regions.len() + 10 * rows.findings.len() + rows.profile.len();
        let day = rows.run.at.day();
        if rows.events.is_some() {
            return self.append(day, vec![rows]);
        }
        self.pending.entry(day).or_default().push(rows);
        if self.rows >= ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.rows = 0;
        for (day, runs) in std::mem::take(&mut self.pending) {
            self.append(day, runs)?;
        }
        Ok(())
    }

    fn append(&mut self, day: String, runs: Vec<Rows>) -> Result<(), Failure> {
        let count = runs.len();
        let batch = Batch {
            project: self.project.clone(),
            day,
            runs,
        };
        if let Err(error) = self.archive.append(&batch) {
            // What was acknowledged before stays, and an import that is repeated goes on from there.
            eprintln!(
                "untorn: {} runs are in the archive; {count} of {} and those after are not",
                self.written, batch.day
            );
            return Err(error.into());
        }
        self.written += count;
        Ok(())
    }
}

/// The files that were named, with those in folders, and how many could not be looked at.
fn named(paths: &[PathBuf]) -> (Vec<PathBuf>, usize) {
    let (mut files, mut failed) = (Vec::new(), 0);
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match std::fs::read_dir(path) {
            Ok(entries) => {
                let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
                let mut own: Vec<PathBuf> = entries
                    .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
                    .collect();
                own.sort();
                files.extend(own);
            }
            Err(error) => {
                eprintln!("untorn: {}", Failure::file(path, &error));
                failed += 1;
            }
        }
    }
    (files, failed)
}

/// Reads files on all processors, and keeps their order.
fn read_all(files: &[PathBuf], args: &Import) -> Vec<Result<Rows, Failure>> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (files.chunks(share))
            .map(|part| {
                scope.spawn(move || part.iter().map(|path| read(path, args)).collect::<Vec<_>>())
            })
            .collect();
        (parts.into_iter())
            .flat_map(|part| part.join().unwrap_or_default())
            .collect()
    })
}

fn read(path: &Path, args: &Import) -> Result<Rows, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::file(path, &error);
    let direct = path == Path::new("-");
    let bytes = if direct {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| bad(&error))?;
    let changed = std::fs::metadata(path).and_then(|about| about.modified());
    // A saved file may come from another machine; what is handed over does not.
    let machine = if direct {
        RunFacts::of_this_machine(&args.by)
    } else {
        RunFacts {
            command: args.by.clone(),
            ..RunFacts::default()
        }
    };
    let facts = RunFacts {
        service: args.service.clone(),
        version: args.program_version.clone(),
        options: args.options.clone().filter(|options| !options.is_empty()),
        ..machine
    };
    let at = changed.map_or_else(|_| Moment::now(), Moment::from);
    // The same results of another version or service are another run, and so are those of a run that is just over.
    let version = args.program_version.as_deref().unwrap_or("");
    let service = args.service.as_deref().unwrap_or("");
    let now = direct.then(|| format!("{} {}", at.0, std::process::id()));
    let mut identity = vec![bytes.as_slice(), version.as_bytes(), service.as_bytes()];
    identity.extend(now.as_ref().map(String::as_bytes));
    let of = |document: &Document| {
        Rows::of_document(document, &facts, at, &identity).map_err(|error| bad(&error))
    };
    if args.events && !bytes.starts_with(b"{") && !bytes.starts_with(PROFILE.as_bytes()) {
        let document = Document::new(vec![path.display().to_string()]);
        let rows = of(&document)?;
        let mut source = untorn_trace::open(path, untorn_trace::OpenOptions::default())
            .map_err(|error| Failure::Said(error.to_string()))?;
        let name = path.display().to_string();
        let events = Events::of_trace(&mut *source, &name, &rows.run.run)?;
        return Ok(rows.with_events(events));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        bad(&"neither findings nor a profile; for a trace, --events keeps its events")
    })?;
    if text.lines().next() == Some(PROFILE) {
        let document = Document::new(vec![path.display().to_string()]);
        return Ok(of(&document)?.with_profile(text));
    }
    let document = Document::from_json(text).map_err(|error| bad(&error))?;
    of(&document)
}
