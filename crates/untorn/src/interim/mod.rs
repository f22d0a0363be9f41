//! What was found so far, while the program goes on: by the signal `USR1`, every so often (`--report-every`), or for `untorn status`.
//!
//! Each process of the run answers a question between two batches of its events (`untorn_live::interim`); the answers together make a document as at the end of a run.
//! A process that has ended keeps its last answer.

pub mod door;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use untorn_analyses::Outcome;
use untorn_findings::{Document, Finding};
use untorn_live::interim::{self as asked, Questions};
use untorn_live::{LiveSource, Process};
use untorn_trace::Error;

use crate::cli::{OutputArgs, RunArgs};
use crate::code::{self, named};
use crate::duration::words;
use crate::failure::Failure;
use crate::output::{deliver, format, note};
use crate::progress::Stage;
use crate::whose::Whose;

/// How long processes are waited for; one that needs longer is left out, and that is said.
const PATIENCE: Duration = Duration::from_mins(2);
/// Work that takes no longer needs no word.
const SILENT: Duration = Duration::from_secs(2);
/// How often somebody looks whether a report is due.
const LOOK: Duration = Duration::from_millis(100);

/// What one process has answered.
#[derive(Debug, Default)]
struct Part {
    program: String,
    /// The last question that it has answered; once it has ended, all of them.
    answered: u64,
    findings: Vec<Finding>,
    code: BTreeMap<String, Vec<u8>>,
    /// Why it cannot answer.
    silent: Option<String>,
}

/// What is known of a run while it goes on.
#[derive(Debug)]
struct Known {
    questions: Questions,
    parts: Mutex<BTreeMap<u32, Part>>,
    answered: Condvar,
    over: AtomicBool,
    begun: Instant,
    command: Vec<OsString>,
    /// Leave out what is not the user's own code.
    own: bool,
}

/// The findings so far, with what the user should know of them.
#[derive(Debug)]
pub struct SoFar {
    pub document: Document,
    pub notes: Vec<String>,
}

/// Answers questions as long as a run goes on.
#[derive(Debug)]
pub struct Interim {
    known: Arc<Known>,
    door: Option<door::Door>,
    reports: Option<thread::JoinHandle<()>>,
}

impl Interim {
    /// Listens from now on.
    pub fn begin(args: &RunArgs) -> Self {
        let known = Arc::new(Known {
            questions: Questions::default(),
            parts: Mutex::default(),
            answered: Condvar::new(),
            over: AtomicBool::new(false),
            begun: Instant::now(),
            command: args.command.clone(),
            own: !args.all_code && args.watch.include.is_empty(),
        });
        // Without them a run is as good as ever; whoever asks is told by the command that fails.
        let signals = asked::count_signals();
        let door = door::Door::open(&known).ok();
        let (mine, output, every) = (Arc::clone(&known), args.output.clone(), args.report_every);
        let reports = thread::Builder::new()
            .name("reports".to_owned())
            .spawn(move || report_when_asked(&mine, &output, every))
            .ok();
        if let Err(error) = signals {
            note(&format!("no reports by signal: {error}"));
        }
        Self {
            known,
            door,
            reports,
        }
    }

    /// What answers for one process.
    pub fn of(&self, process: &Process) -> Answers {
        let part = Part {
            program: process.program.clone(),
            ..Part::default()
        };
        self.known.parts().insert(process.pid, part);
        Answers {
            known: Arc::clone(&self.known),
            pid: process.pid,
        }
    }

    /// No more reports: the last one follows.
    pub fn end(self) {
        self.known.over.store(true, Ordering::Release);
        drop(self.door);
        if let Some(reports) = self.reports {
            reports.join().ok();
        }
    }
}

/// Answers for one process.
#[derive(Debug)]
pub struct Answers {
    known: Arc<Known>,
    pid: u32,
}

impl Answers {
    /// The process answers from now on between its batches.
    pub fn listen(&self, source: &mut LiveSource) {
        source.hear_questions(&self.known.questions);
    }

    /// The process cannot answer before its end.
    pub fn cannot(&self, why: &str) {
        if let Some(part) = self.known.parts().get_mut(&self.pid) {
            part.silent = Some(why.to_owned());
        }
    }

    fn answer(&self, number: u64, findings: Vec<Finding>, code: BTreeMap<String, Vec<u8>>) {
        if let Some(part) = self.known.parts().get_mut(&self.pid) {
            part.answered = number;
            part.findings = findings;
            part.code = code;
            part.silent = None;
        }
        self.known.answered.notify_all();
    }

    /// The process has ended, with these findings.
    pub fn ended(&self, findings: &[Finding], code: &BTreeMap<String, Vec<u8>>) {
        self.answer(u64::MAX, findings.to_vec(), code.clone());
    }
}

impl untorn_analyses::Interim<LiveSource> for &Answers {
    fn is_asked(&mut self) -> bool {
        let last = self.known.questions.last();
        let parts = self.known.parts();
        parts
            .get(&self.pid)
            .is_some_and(|part| part.answered < last)
    }

    fn take(&mut self, so_far: Result<Outcome, Error>, source: &LiveSource) {
        let number = self.known.questions.last();
        match so_far {
            Ok(outcome) => {
                let code = named(source.code(), &outcome.findings);
                self.answer(number, outcome.findings, code);
            }
            Err(error) => {
                self.answer(number, Vec::new(), BTreeMap::new());
                self.cannot(&error.to_string());
            }
        }
    }
}

impl Known {
    fn parts(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks every process, and unites what they say.
    fn so_far(&self) -> Result<SoFar, Failure> {
        let number = self.questions.ask();
        let waiting = |parts: &mut BTreeMap<u32, Part>| {
            let mut open = parts
                .values()
                .filter(|part| part.silent.is_none() && part.answered < number);
            open.next().is_some() && !self.over.load(Ordering::Acquire)
        };
        let parts = self.parts();
        let waited = self.answered.wait_timeout_while(parts, PATIENCE, waiting);
        let (parts, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let mut document = Document::new(Vec::new());
        let (mut findings, mut code) = (Vec::new(), BTreeMap::new());
        let mut notes = Vec::new();
        if parts.is_empty() {
            notes.push("no JVM of the command has begun yet".to_owned());
        }
        for (pid, part) in &*parts {
            document.inputs.push(part.program.clone());
            findings.extend(part.findings.iter().cloned());
            code.extend(part.code.iter().map(|(n, c)| (n.clone(), c.clone())));
            if let Some(why) = &part.silent {
                notes.push(format!(
                    "process {pid}: nothing can be said of it yet: {why}"
                ));
            } else if part.answered < number {
                notes.push(format!(
                    "process {pid} did not answer in time: of it, these are findings of an earlier report, if any"
                ));
            }
        }
        drop(parts);
        document.take(findings);
        if self.own {
            let folder = std::env::current_dir().unwrap_or_default();
            Whose::of(&self.command, &folder).leave_out_others(&mut document);
        }
        let code = code::of_files(&document, &code)?;
        untorn_rank::rank(&mut document, &code);
        Ok(SoFar { document, notes })
    }

    /// Whether all processes have ended that are still looked at, and there are some.
    fn have_ended(&self) -> bool {
        let parts = self.parts();
        let mut open = (parts.iter())
            .filter(|(_, part)| part.answered < u64::MAX)
            .peekable();
        open.peek().is_some() && open.all(|(pid, _)| !Path::new(&format!("/proc/{pid}")).exists())
    }

    fn command(&self) -> String {
        let words: Vec<_> = (self.command.iter())
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }
}

/// Writes a report whenever the signal came or the time has passed.
fn report_when_asked(known: &Known, output: &OutputArgs, every: Option<Duration>) {
    let mut told = asked::signals();
    let mut due = every.map(|every| known.begun + every);
    let (mut ended, mut after) = (None, None);
    while !known.over.load(Ordering::Acquire) {
        thread::sleep(LOOK);
        // Nobody is to wonder why the command goes on.
        if after.is_none()
            && known.have_ended()
            && Instant::now() > *ended.get_or_insert_with(|| Instant::now() + SILENT)
        {
            after = Some(Stage::begin(
                "the program has ended; what it did is still looked at",
            ));
        }
        let signals = asked::signals();
        let is_due = due.is_some_and(|due| Instant::now() >= due);
        if signals == told && !is_due {
            continue;
        }
        told = signals;
        let written = known.so_far().and_then(|so_far| {
            // The last report must not be overwritten by one that came late.
            if known.over.load(Ordering::Acquire) {
                return Ok(());
            }
            note(&format!(
                "findings so far, after {}; the program goes on",
                words(known.begun.elapsed())
            ));
            so_far.notes.iter().for_each(|text| note(text));
            write(&so_far.document, output)
        });
        if let Err(failure) = written {
            eprintln!("untorn: no report of what was found so far: {failure}");
        }
        due = every.map(|every| Instant::now() + every);
    }
    after.into_iter().for_each(Stage::end);
}

/// Hands a report over where the last one will be; a file is there whole or not at all.
fn write(document: &Document, output: &OutputArgs) -> Result<(), Failure> {
    let mut args = output.clone();
    args.format = Some(format(output));
    // That is of the whole run.
    args.summary = None;
    let Some(path) = &output.output else {
        return deliver(document, &args).map(|_| ());
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .map_err(|source| Failure::file(path, source))?;
    args.output = Some(file.path().to_owned());
    deliver(document, &args)?;
    file.persist(path)
        .map_err(|error| Failure::file(path, error.error))?;
    Ok(())
}
