//! One run of the program, in a process of its own, with what it printed kept apart.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use std::collections::BTreeMap;

use untorn_findings::{Document, Finding};
use untorn_live::signals::{self, Signal};
use untorn_plan::PlanFile;
use untorn_reproduce::Outcomes;

use super::progress::Progress;
use crate::cli::{RunArgs, TrackingArg, WatchArgs};
use crate::failure::Failure;

/// A run may take so many times as long as the longest before, and so long at least, before somebody looks what it does.
const SLOWER: u32 = 5;
const AT_LEAST: Duration = Duration::from_secs(20);
/// How long a program that is asked to end may take.
const ENDING: Duration = Duration::from_secs(5);
/// From one look to the next.
const NAP: Duration = Duration::from_millis(20);

/// How runs are started.
#[derive(Debug)]
pub struct Trials {
    options: Vec<OsString>,
    command: Vec<OsString>,
    /// The longest run so far that ended by itself.
    longest: std::cell::Cell<Duration>,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub findings: Vec<Finding>,
    pub(super) counts: Vec<(String, u64)>,
    /// The program's own status, as a shell would see it; unknown if it was ended by us.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// What the JVM says of a deadlock of the program.
    pub deadlock: Option<String>,
    /// It was ended since time was up.
    pub cut_short: bool,
}

impl Trial {
    /// What became of its plans.
    pub fn outcomes(&self) -> BTreeMap<usize, Outcomes> {
        Outcomes::of_run(
            self.counts
                .iter()
                .map(|(name, count)| (name.as_str(), *count)),
        )
    }
}

impl Trials {
    pub fn new(watch: &WatchArgs, spec: Option<&Path>, command: &[OsString]) -> Self {
        let mut options: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| options.extend(words.iter().map(OsString::from));
        for pattern in &watch.include {
            add(&["--include", pattern]);
        }
        for pattern in &watch.exclude {
            add(&["--exclude", pattern]);
        }
        if watch.arrays {
            add(&["--arrays"]);
        }
        if watch.no_children {
            add(&["--no-children"]);
        }
        if watch.tracking == TrackingArg::Pessimistic {
            add(&["--tracking", "pessimistic"]);
        }
        if let Some(spec) = spec {
            options.push("--spec".into());
            options.push(spec.into());
        }
        Self {
            options,
            command: command.to_vec(),
            longest: std::cell::Cell::new(Duration::ZERO),
        }
    }

    /// The runs that follow one of `untorn run --reproduce`.
    pub fn of_run(args: &RunArgs) -> Self {
        Self::new(&args.watch, args.selection.spec.as_deref(), &args.command)
    }

    /// A run that makes findings.
    pub fn first(&self, budget: Duration) -> Result<Document, Failure> {
        let end = Instant::now() + budget;
        let mut progress = Progress::begin("reproduced", 0, end);
        let watched = self.watched(&[], Some(end), &mut progress);
        progress.end();
        let (document, trial) = watched?;
        document.ok_or_else(|| {
            let last = trial.stderr.lines().last().unwrap_or("it said nothing");
            Failure::Usage(format!("the first run failed: {last}"))
        })
    }

    /// A run that follows plans.
    pub fn steered(
        &self,
        plans: &PlanFile,
        end: Instant,
        progress: &mut Progress,
    ) -> Result<Trial, Failure> {
        let folder = tempfile::tempdir().map_err(no_folder)?;
        let file = folder.path().join("plan.json");
        std::fs::write(&file, plans.to_json()?).map_err(|error| Failure::file(&file, error))?;
        let options = ["--all-code".into(), "--plan".into(), file.into_os_string()];
        let (document, mut trial) = self.watched(&options, Some(end), progress)?;
        if let Some(document) = document {
            let own = document.stats.iter();
            let of_processes = document.stats.values().filter_map(|it| it.as_object());
            let all = own.chain(of_processes.flatten());
            trial.counts = all
                .filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)))
                .collect();
            trial.findings = document.findings;
        } else if !trial.cut_short && trial.deadlock.is_none() && !signals::is_end_asked_for() {
            let last = trial.stderr.lines().last().unwrap_or("it said nothing");
            return Err(Failure::Usage(format!("a steered run failed: {last}")));
        }
        Ok(trial)
    }

    /// A run that nobody watches.
    pub fn alone(&self, progress: &mut Progress) -> Result<Trial, Failure> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        let folder = tempfile::tempdir().map_err(no_folder)?;
        self.await_end(command, folder.path(), None, progress)
    }

    /// A run of `untorn run`.
    fn watched(
        &self,
        options: &[OsString],
        end: Option<Instant>,
        progress: &mut Progress,
    ) -> Result<(Option<Document>, Trial), Failure> {
        let own =
            std::env::current_exe().map_err(|error| Failure::file("untorn".as_ref(), error))?;
        let folder = tempfile::tempdir().map_err(no_folder)?;
        let findings = folder.path().join("findings.json");
        let mut command = Command::new(own);
        command
            .args(["run", "--format", "json", "--fail-on", "none"])
            .args(["--exit-code", "program", "--output"])
            .arg(&findings)
            .args(&self.options)
            .args(options)
            .arg("--")
            .args(&self.command);
        let trial = self.await_end(command, folder.path(), end, progress)?;
        let text = std::fs::read_to_string(&findings).ok();
        Ok((text.and_then(|text| Document::from_json(&text).ok()), trial))
    }

    /// Starts a command and waits for it; asks it to end when its time is up.
    fn await_end(
        &self,
        mut command: Command,
        folder: &Path,
        end: Option<Instant>,
        progress: &mut Progress,
    ) -> Result<Trial, Failure> {
        let (out, err) = (folder.join("stdout"), folder.join("stderr"));
        command
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?);
        let program = command.get_program().to_owned();
        let spawned = command.spawn();
        let mut child = spawned.map_err(|error| Failure::file(program.as_ref(), error))?;
        let begun = Instant::now();
        let patience = (self.longest.get() * SLOWER).max(AT_LEAST);
        let mut trial = Trial::default();
        let status = loop {
            let waited = child.try_wait();
            if let Some(status) = waited.map_err(|error| Failure::file(program.as_ref(), error))? {
                self.longest.set(self.longest.get().max(begun.elapsed()));
                break Some(status);
            }
            let slow = begun.elapsed() > patience;
            let late = end.is_some_and(|end| Instant::now() > end);
            if slow || late || signals::is_end_asked_for() {
                trial.cut_short = true;
                end_it(&mut child, !signals::is_end_asked_for());
                break None;
            }
            progress.tick();
            std::thread::sleep(NAP);
        };
        trial.status = status.and_then(|status| {
            use std::os::unix::process::ExitStatusExt;
            status
                .code()
                .or_else(|| status.signal().map(|signal| 128 + signal))
        });
        trial.stdout = read_lossy(&out);
        trial.stderr = read_lossy(&err);
        trial.deadlock = deadlock_in(&trial.stdout);
        Ok(trial)
    }
}

/// Ends a program; one that may hang says first what its threads do.
fn end_it(child: &mut Child, may_hang: bool) {
    if may_hang {
        signals::send(child, Signal::Dump);
        std::thread::sleep(Duration::from_secs(1));
    }
    signals::send(child, Signal::End);
    let asked = Instant::now();
    while asked.elapsed() < ENDING {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(NAP);
    }
    child.kill().ok();
    child.wait().ok();
}

/// The first lines of what a JVM prints of a deadlock when it is asked for its threads.
fn deadlock_in(text: &str) -> Option<String> {
    let at = text.find("Found one Java-level deadlock")?;
    let lines = text[at..]
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty());
    let shown: Vec<&str> = lines.map(str::trim).take(6).collect();
    Some(shown.join(" "))
}

fn create(path: &PathBuf) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::file(path, error))
}

fn read_lossy(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn no_folder(error: std::io::Error) -> Failure {
    Failure::file("a temporary folder".as_ref(), error)
}
