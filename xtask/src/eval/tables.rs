//! What the tables of the papers count, measured on the scenario programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::eval::subjects::Scenario;
use crate::eval::untorn::{Program, Untorn};

/// A paper takes ten; this many let a run of all programs end within minutes.
const TRIALS: &str = "3";
const FIRST_RUNS: &str = "3";

/// One program in the tables of all papers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    pub lines: usize,
    pub classes: usize,
    /// In seconds, the JVM's start included.
    pub alone: f64,
    pub atomizer: Atomizer,
    pub views: Views,
    pub refined: Refined,
    pub single: Characteristics,
    pub second: Characteristics,
    pub consistency: Consistency,
    pub types: Types,
}

/// Figures 16 and 17 of the paper on the Atomizer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Atomizer {
    pub threads: u64,
    pub locks: u64,
    pub most_held: u64,
    pub pairs: u64,
    pub seconds: f64,
    /// By the regions that its two heuristics propose.
    pub export_synch: u64,
    pub synch: u64,
}

/// Table III of the paper on high-level data races.
#[derive(Debug, Serialize, Deserialize)]
pub struct Views {
    pub seconds: f64,
    /// Of the recorded trace.
    pub bytes: u64,
    pub warnings: u64,
}

/// Table 2 of the paper on DoubleChecker: regions that a refinement from all methods took out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Refined {
    pub velodrome: Option<u64>,
    pub single: Option<u64>,
    pub multi: Option<u64>,
}

/// Half a row of Table 3 of that paper.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Characteristics {
    pub transactions: u64,
    pub inside: u64,
    pub outside: u64,
    pub edges: u64,
    pub sccs: u64,
}

/// Table 1 of the paper on method consistency.
#[derive(Debug, Serialize, Deserialize)]
pub struct Consistency {
    pub execution: String,
    pub checking: String,
    pub memory: String,
    pub reports: [u64; 2],
    /// "REPORTED of ALL", of the application and of libraries.
    pub methods: [String; 2],
}

/// Table II of the paper on types.
#[derive(Debug, Serialize, Deserialize)]
pub struct Types {
    pub typing: String,
    pub guards: String,
    pub constraints: u64,
    pub annotations: u64,
    /// "PROVED of ALL".
    pub methods: String,
    pub blocks: String,
}

impl Row {
    pub fn of(scenario: &Scenario, program: &Program, untorn: &Untorn<'_>) -> Result<Self, Error> {
        let source = fs::read_to_string(&scenario.source)
            .map_err(Error::in_file("read", &scenario.source))?;
        let classes = Path::new(&program.class_path);
        let files = fs::read_dir(classes).map_err(Error::in_file("read", classes))?;
        let alone = (0..3)
            .map(|_| untorn.alone(program))
            .collect::<Result<Vec<f64>, _>>()?;
        let profile = untorn.file("profile");
        let profile = profile.to_string_lossy();
        let first = ["--mode", "first", "--profile", &profile];
        untorn.counted("run", &first, program)?;
        let second = ["--mode", "second", "--profile", &profile];
        Ok(Self {
            lines: source
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count(),
            classes: files.count(),
            alone: median(alone),
            atomizer: Atomizer::of(program, untorn)?,
            views: Views::of(program, untorn)?,
            refined: Refined {
                velodrome: refined(program, untorn, &["--with", "velodrome"])?,
                single: refined(program, untorn, &[])?,
                multi: refined(program, untorn, &["--first-runs", FIRST_RUNS])?,
            },
            single: Characteristics::of(&untorn.counted("run", &["--fast"], program)?.stats),
            second: Characteristics::of(&untorn.counted("run", &second, program)?.stats),
            consistency: Consistency::of(program, untorn)?,
            types: Types::of(program, untorn)?,
        })
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or("–").to_owned()
}

impl Atomizer {
    fn of(program: &Program, untorn: &Untorn<'_>) -> Result<Self, Error> {
        let with = |heuristic: &str| {
            let spec = untorn.file("spec.toml");
            let text = format!("heuristic = \"{heuristic}\"\n");
            fs::write(&spec, text).map_err(Error::in_file("write", &spec))?;
            let spec = spec.to_string_lossy().into_owned();
            untorn.counted("run", &["--with", "atomizer", "--spec", &spec], program)
        };
        let (export_synch, synch) = (with("export+synch")?, with("synch")?);
        let of = |name: &str| number(&export_synch.stats["atomizer"][name]);
        Ok(Self {
            threads: number(&export_synch.stats["looked at"]["threads"]),
            locks: of("locks"),
            most_held: of("most_locks_held"),
            pairs: of("lockset_pairs"),
            seconds: export_synch.seconds,
            export_synch: of("regions_reported"),
            synch: number(&synch.stats["atomizer"]["regions_reported"]),
        })
    }
}

impl Views {
    fn of(program: &Program, untorn: &Untorn<'_>) -> Result<Self, Error> {
        let trace = untorn.file("trace.utr");
        let _ = fs::remove_file(&trace);
        untorn.record(program, &trace)?;
        let counted = untorn.counted("run", &["--with", "views"], program)?;
        Ok(Self {
            seconds: counted.seconds,
            bytes: fs::metadata(&trace).map_or(0, |trace| trace.len()),
            warnings: counted.findings as u64,
        })
    }
}

/// How many regions a refinement takes out; nothing if it does not end in time.
fn refined(program: &Program, untorn: &Untorn<'_>, options: &[&str]) -> Result<Option<u64>, Error> {
    let spec = untorn.file("refined.toml");
    let findings = untorn.file("refined.toml.findings.json");
    // What an earlier refinement left is not overwritten.
    for file in [&spec, &findings] {
        let _ = fs::remove_file(file);
    }
    let mut command = Command::new(untorn.program());
    command.args(["refine", "--from-all-methods", "--trials", TRIALS]);
    command.args(options).arg("-o").arg(&spec).arg("--");
    command.args(untorn.java(program));
    if !untorn.bounded(&mut command)?.ends_with(": 0") {
        return Ok(None);
    }
    let document = fs::read(&findings).ok();
    let document: Option<Value> = document.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(Some(document.map_or(0, |document| {
        document["findings"].as_array().map_or(0, Vec::len) as u64
    })))
}

impl Characteristics {
    fn of(stats: &Value) -> Self {
        let of = |name: &str| number(&stats["doublechecker"][name]);
        Self {
            transactions: of("regular_transactions"),
            inside: of("accesses_inside"),
            outside: of("accesses_outside"),
            edges: of("graph_edges"),
            sccs: of("sccs"),
        }
    }
}

impl Consistency {
    fn of(program: &Program, untorn: &Untorn<'_>) -> Result<Self, Error> {
        let counted = untorn.checked(&["--with", "consistency"], program)?;
        let stats = &counted.stats["consistency"];
        Ok(Self {
            execution: words(&stats["symbolic execution"]),
            checking: words(&stats["checking"]),
            memory: words(&stats["peak memory"]),
            reports: ["app", "lib"]
                .map(|part| number(&stats[format!("inconsistent views ({part})")])),
            methods: ["app", "lib"].map(|part| {
                words(&stats[format!("methods reported of those with views ({part})")])
            }),
        })
    }
}

impl Types {
    fn of(program: &Program, untorn: &Untorn<'_>) -> Result<Self, Error> {
        let counted = untorn.checked(&["--with", "types"], program)?;
        let stats = &counted.stats["types"];
        Ok(Self {
            typing: words(&stats["typing"]),
            guards: words(&stats["solving guards"]),
            constraints: number(&stats["constraints"]),
            annotations: number(&stats["annotations"]),
            methods: words(&stats["methods proved"]),
            blocks: words(&stats["blocks proved"]),
        })
    }
}

/// What one command counted.
#[derive(Debug, Default)]
pub struct Counted {
    pub stats: Value,
    pub findings: usize,
    pub seconds: f64,
}

impl Untorn<'_> {
    /// How long the program takes by itself, in seconds.
    fn alone(&self, program: &Program) -> Result<f64, Error> {
        let words = self.java(program);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let begin = Instant::now();
        self.bounded(&mut command)?;
        Ok(begin.elapsed().as_secs_f64())
    }

    fn record(&self, program: &Program, trace: &Path) -> Result<(), Error> {
        let mut command = Command::new(self.program());
        command.args(["record", "-o"]).arg(trace).arg("--");
        self.bounded(command.args(self.java(program)))?;
        Ok(())
    }

    /// A command that runs the program.
    fn counted(
        &self,
        command: &str,
        options: &[&str],
        program: &Program,
    ) -> Result<Counted, Error> {
        let mut call = Command::new(self.program());
        call.arg(command).args(options);
        self.counted_of(&mut call, &self.java(program))
    }

    /// `untorn check` of the program as an application.
    fn checked(&self, options: &[&str], program: &Program) -> Result<Counted, Error> {
        let mut call = Command::new(self.program());
        call.args(["check", "--main", &program.main]).args(options);
        call.arg(&program.class_path);
        self.counted_of(&mut call, &[])
    }

    fn counted_of(&self, command: &mut Command, of: &[String]) -> Result<Counted, Error> {
        let file = self.file("counted.json");
        let _ = fs::remove_file(&file);
        command.args(["--exit-zero", "--show", "all", "--format", "json", "-o"]);
        command.arg(&file);
        if !of.is_empty() {
            command.arg("--").args(of);
        }
        let begin = Instant::now();
        self.bounded_into(command, Stdio::null(), Stdio::null())?;
        let seconds = begin.elapsed().as_secs_f64();
        let document: Option<Value> = fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut document = document.unwrap_or_default();
        Ok(Counted {
            findings: document["findings"].as_array().map_or(0, Vec::len),
            stats: document["stats"].take(),
            seconds,
        })
    }
}
