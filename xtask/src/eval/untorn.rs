//! Calls of the program, each bounded in time, and what they said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::eval::fresh;
use crate::eval::subjects::is_meant;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;

/// How long a command may take that has no bound of its own.
const LIMIT: Duration = Duration::from_mins(2);
/// In seconds.
const CHECK_BUDGET: u64 = 60;
const STEERING_BUDGET: &str = "25s";

pub struct Untorn<'u> {
    program: PathBuf,
    setup: &'u Setup,
    jdk: PathBuf,
    folder: PathBuf,
    /// How often a program is run to see what is torn.
    pub runs: usize,
    pub steers: bool,
}

/// What one command said.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Said {
    pub findings: Vec<Found>,
    pub seconds: f64,
    /// Why there is nothing, if the command did not do its work.
    pub failed: Option<String>,
}

/// A finding, as far as tables need it; in the order of the report.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    pub class: String,
    pub method: String,
    pub verdict: String,
    pub level: String,
    pub fingerprint: String,
}

impl Found {
    pub fn is_shown(&self) -> bool {
        self.level != "low"
    }

    pub fn name(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or(&self.class);
        format!("{class}.{}", self.method)
    }
}

impl Said {
    pub fn shown(&self) -> impl Iterator<Item = &Found> {
        self.findings.iter().filter(|found| found.is_shown())
    }

    /// Without what is ranked low.
    pub fn of_shown(mut self) -> Self {
        self.findings.retain(Found::is_shown);
        self
    }

    /// What tables say of these methods.
    pub fn about(&self, methods: &[String]) -> Told {
        let numbered = self.findings.iter().enumerate();
        let hits = numbered.filter(|(_, found)| found.is_of(methods));
        Told {
            shown: self.shown().count(),
            hits: hits
                .map(|(index, found)| Hit {
                    position: found.is_shown().then_some(index + 1),
                    verdict: found.verdict.clone(),
                    level: found.level.clone(),
                })
                .collect(),
            seconds: self.seconds,
            failed: self.failed.clone(),
        }
    }
}

/// What one command said of some methods.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Told {
    /// How many findings the report shows, whatever they are about.
    pub shown: usize,
    /// The findings about the methods, in the order of the report.
    pub hits: Vec<Hit>,
    pub seconds: f64,
    /// Why there is nothing, if the command did not do its work.
    pub failed: Option<String>,
}

/// A finding about a method that is looked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hit {
    /// In the report, from 1; none if it is ranked low and so not shown.
    pub position: Option<usize>,
    pub verdict: String,
    pub level: String,
}

impl Found {
    pub fn is_of(&self, methods: &[String]) -> bool {
        let mut methods = methods.iter();
        methods.any(|meant| is_meant(&self.class, &self.method, meant))
    }
}

/// A Java program, compiled.
pub struct Program {
    pub class_path: String,
    pub main: String,
}

impl<'u> Untorn<'u> {
    pub fn new(workspace: &Workspace, setup: &'u Setup, quick: bool) -> Result<Self, Error> {
        Ok(Self {
            program: workspace.untorn()?,
            setup,
            jdk: setup
                .jdk_homes()
                .next()
                .map(Path::to_owned)
                .unwrap_or_default(),
            folder: workspace.cache("evaluation-work"),
            runs: if quick { 1 } else { 3 },
            steers: !quick,
        })
    }

    pub fn compile(
        &self,
        name: &str,
        sources: &[PathBuf],
        jars: &[PathBuf],
        main: &str,
    ) -> Result<Program, Error> {
        let classes = self.folder.join(name);
        fresh(&classes)?;
        let mut path: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
        let mut javac = Command::new(self.jdk.join("bin/javac"));
        javac
            .args(["-g", "-nowarn", "-proc:none", "-d"])
            .arg(&classes);
        if !path.is_empty() {
            javac.args(["-classpath", &path.join(SEPARATOR)]);
        }
        process::run_quietly(self.setup.tell(javac.args(sources)))?;
        path.push(classes.display().to_string());
        Ok(Program {
            class_path: path.join(SEPARATOR),
            main: main.to_owned(),
        })
    }

    /// `untorn check` of the first jar as a library; the others are its class path.
    pub fn check(&self, jars: &[PathBuf]) -> Result<Said, Error> {
        let mut command = Command::new(&self.program);
        command.args(["check", "--budget", &CHECK_BUDGET.to_string()]);
        if let Some((library, others)) = jars.split_first() {
            command.arg(library);
            if !others.is_empty() {
                let others: Vec<String> =
                    others.iter().map(|jar| jar.display().to_string()).collect();
                command.args(["--classpath", &others.join(SEPARATOR)]);
            }
        }
        let mut said = self.said(command, "check.json", &[])?;
        if said.seconds >= CHECK_BUDGET as f64 {
            said.failed = Some("its minute was over".to_owned());
        }
        Ok(said)
    }

    /// `untorn run` with its defaults, but for the classes to watch.
    pub fn run(&self, program: &Program, package: Option<&str>) -> Result<Said, Error> {
        let mut command = Command::new(&self.program);
        command.arg("run");
        if let Some(package) = package {
            command.args(["--include", package]);
        }
        self.said(command, "run.json", &self.java(program))
    }

    /// How many regions the atomizer reports with each set of its refinements, from none to all.
    pub fn ablation(&self, program: &Program) -> Result<Vec<(String, u64)>, Error> {
        let out = self.file("ablation.txt");
        let file = fs::File::create(&out).map_err(Error::in_file("create", &out))?;
        let mut command = Command::new(&self.program);
        command.args([
            "run",
            "--exit-zero",
            "--with",
            "atomizer",
            "--atomizer",
            "ablation",
            "--",
        ]);
        command.args(self.java(program));
        self.bounded_into(&mut command, file.into(), Stdio::null())?;
        let text = fs::read_to_string(&out).map_err(Error::in_file("read", &out))?;
        Ok(ablation_in(&text))
    }

    /// `untorn reproduce` of what the last check and run suspected, as far as it has one of these fingerprints.
    pub fn reproduce(
        &self,
        program: &Program,
        package: &str,
        fingerprints: &[String],
    ) -> Result<Said, Error> {
        let mut command = Command::new(&self.program);
        command.arg("reproduce");
        for findings in ["check.json", "run.json"] {
            let file = self.folder.join(findings);
            if file.is_file() {
                command.arg(file);
            }
        }
        command.args([
            "--budget",
            STEERING_BUDGET,
            "--replays",
            "1",
            "--include",
            package,
        ]);
        for fingerprint in fingerprints {
            command.args(["--only", fingerprint]);
        }
        self.said(command, "reproduce.json", &self.java(program))
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn jdk(&self) -> &Path {
        &self.jdk
    }

    pub fn java_program(&self) -> PathBuf {
        self.jdk.join("bin/java")
    }

    /// A file of this evaluation's own, written anew by each command.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The command that runs a program.
    pub fn java(&self, program: &Program) -> Vec<String> {
        let java = self.java_program().display().to_string();
        vec![
            java,
            "-cp".to_owned(),
            program.class_path.clone(),
            program.main.clone(),
        ]
    }

    fn said(&self, mut command: Command, file: &str, of: &[String]) -> Result<Said, Error> {
        let file = self.file(file);
        fs::create_dir_all(&self.folder).map_err(Error::in_file("create", &self.folder))?;
        let _ = fs::remove_file(&file);
        command
            .args(["--format", "json", "--exit-zero", "-o"])
            .arg(&file);
        if !of.is_empty() {
            command.arg("--").args(of);
        }
        let begin = Instant::now();
        let ended = self.bounded(&mut command)?;
        let seconds = begin.elapsed().as_secs_f64();
        let findings = fs::read(&file).ok().and_then(|bytes| findings_in(&bytes));
        Ok(match findings {
            Some(findings) => Said {
                findings,
                seconds,
                failed: None,
            },
            None => Said {
                findings: Vec::new(),
                seconds,
                failed: Some(ended),
            },
        })
    }

    /// Runs the command, and ends it if it takes too long; says how it ended.
    pub fn bounded(&self, command: &mut Command) -> Result<String, Error> {
        self.bounded_into(command, Stdio::null(), Stdio::null())
    }

    /// As [`Self::bounded`], with what it prints kept.
    pub fn bounded_into(
        &self,
        command: &mut Command,
        stdout: Stdio,
        stderr: Stdio,
    ) -> Result<String, Error> {
        self.setup
            .tell(command)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr);
        let lost = |source| Error::Stream {
            command: String::new(),
            source,
        };
        let mut child = command.spawn().map_err(|source| Error::Start {
            command: shown(command),
            source,
        })?;
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(lost)? {
                return Ok(status.to_string());
            }
            if begin.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(format!("took more than {} s", LIMIT.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// How many threads of the machine want a processor, where it says so.
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

pub const SEPARATOR: &str = if cfg!(windows) { ";" } else { ":" };

/// The rows below the line `ablation:`: names, then regions reported, then executions violated.
fn ablation_in(text: &str) -> Vec<(String, u64)> {
    let rows = text.lines().skip_while(|line| *line != "ablation:").skip(2);
    rows.map_while(|row| {
        let mut words: Vec<&str> = row.split_whitespace().collect();
        words.pop()?;
        let regions = words.pop()?.parse().ok()?;
        Some((words.join(" "), regions))
    })
    .collect()
}

fn findings_in(document: &[u8]) -> Option<Vec<Found>> {
    let document: serde_json::Value = serde_json::from_slice(document).ok()?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let findings = document.get("findings")?.as_array()?;
    Some(
        findings
            .iter()
            .map(|finding| Found {
                class: text(&finding["region"]["class"]),
                method: text(&finding["region"]["method"]),
                verdict: text(&finding["verdict"]),
                level: finding["rank"]["level"]
                    .as_str()
                    .unwrap_or("medium")
                    .to_owned(),
                fingerprint: text(&finding["fingerprint"]),
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ablation_is_read_row_by_row() {
        let text = "x\nablation:\n  refinements   regions reported  violated executions\n  none     3   231\n  + reentrant locks   2  231\n";
        let rows = [("none".to_owned(), 3), ("+ reentrant locks".to_owned(), 2)];
        assert_eq!(ablation_in(text), rows);
    }

    #[test]
    fn the_first_finding_of_a_method_has_its_position() {
        let document = br#"{"findings": [
            {"region": {"class": "p.A", "method": "m"}, "verdict": "suspected", "rank": {"level": "high"}, "fingerprint": "1"},
            {"region": {"class": "p.B", "method": "n"}, "verdict": "observed", "rank": {"level": "low"}, "fingerprint": "2"}]}"#;
        let said = Said {
            findings: findings_in(document).unwrap(),
            ..Said::default()
        };
        let told = said.about(&["A.m".to_owned(), "B.n".to_owned()]);
        let positions: Vec<_> = told.hits.iter().map(|hit| hit.position).collect();
        assert_eq!((positions, told.shown), (vec![Some(1), None], 1));
        assert!(said.about(&["B.m".to_owned()]).hits.is_empty());
        assert_eq!(said.shown().count(), 1);
    }
}
