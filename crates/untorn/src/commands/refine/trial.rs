//! One trial of a refinement: the program is watched by a process of its own, so that trials do not share signals or memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use untorn_findings::{Document, Finding, Region};

use super::{read_document, to_toml, write};
use crate::cli::{Blamer, RefineArgs, TrackingArg};
use crate::failure::Failure;
use crate::selection::Switch;
use untorn_spec::Specification;

/// What trials have shown.
#[derive(Default)]
pub struct Shown {
    pub findings: Vec<Finding>,
    /// What the runs themselves demoted.
    pub demoted: Vec<Region>,
}

impl Shown {
    fn add(&mut self, document: Document) {
        self.demoted.extend(document.demoted());
        self.findings.extend(document.findings);
    }
}

/// Makes some trials at once.
pub fn trials(
    args: &RefineArgs,
    specification: &Specification,
    jobs: u32,
) -> Result<Shown, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::file(&args.output, error))?;
    let spec = folder.path().join("spec.toml");
    write(&spec, &to_toml(specification)?)?;
    let trial = |job: u32| {
        let trial = Trial {
            args,
            spec: &spec,
            folder: folder.path(),
            job,
        };
        trial.run()
    };
    let ended = std::thread::scope(|scope| {
        let running: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || trial(job)))
            .collect();
        (running.into_iter())
            .map(|trial| {
                trial
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect::<Vec<_>>()
    });
    let mut all = Shown::default();
    for shown in ended {
        for document in shown? {
            all.add(document);
        }
    }
    Ok(all)
}

#[derive(Clone, Copy)]
struct Trial<'a> {
    args: &'a RefineArgs,
    spec: &'a Path,
    folder: &'a Path,
    job: u32,
}

impl Trial<'_> {
    /// One run, or some first runs and then a second one of what all of them suspect.
    fn run(self) -> Result<Vec<Document>, Failure> {
        let first_runs = self.args.first_runs;
        if first_runs == 0 {
            let with = match self.args.with {
                Blamer::Doublechecker => "doublechecker",
                Blamer::Velodrome => "velodrome",
                Blamer::Aerodrome => "aerodrome",
            };
            return Ok(vec![self.watch("run", &["--with".into(), with.into()])?]);
        }
        let mut documents = Vec::new();
        let mut profiles = Vec::new();
        for number in 0..first_runs {
            let profile = self.file(&format!("{number}.prof"));
            let options = [
                "--mode".into(),
                "first".into(),
                "--profile".into(),
                profile.clone(),
            ];
            documents.push(self.watch(&format!("first{number}"), &options)?);
            profiles.extend(["--profile".into(), profile]);
        }
        let mut options: Vec<PathBuf> = vec!["--mode".into(), "second".into()];
        options.extend(profiles);
        if self.args.with == Blamer::Velodrome {
            options.extend(["--with".into(), "velodrome".into()]);
        }
        documents.push(self.watch("second", &options)?);
        Ok(documents)
    }

    fn file(self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.{name}", self.job))
    }

    /// Watches the program once.
    fn watch(self, name: &str, options: &[PathBuf]) -> Result<Document, Failure> {
        let own =
            std::env::current_exe().map_err(|error| Failure::file(Path::new("untorn"), error))?;
        let findings = self.file(&format!("{name}.json"));
        let mut command = Command::new(&own);
        // A program that fails is a trial like any other.
        command
            .args(["run", "--format", "json", "--exit-zero"])
            .args(["--exit-code", "untorn", "--spec"])
            .arg(self.spec)
            .args(options)
            .args(self.watching())
            .args(self.facts())
            .arg("--output")
            .arg(&findings)
            .arg("--")
            .args(&self.args.command)
            .stdin(Stdio::null());
        if !self.args.verbose {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let output = (command.spawn())
            .and_then(std::process::Child::wait_with_output)
            .map_err(|error| Failure::file(&own, error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing");
            return Err(Failure::Usage(format!("a trial failed: {last}")));
        }
        read_document(&findings)
    }

    fn facts(self) -> impl Iterator<Item = PathBuf> {
        let facts = self.args.watch.facts.iter();
        facts.flat_map(|path| ["--facts".into(), path.clone()])
    }

    /// The options of `run` that a refinement takes as they are.
    fn watching(self) -> Vec<String> {
        let watch = &self.args.watch;
        let mut options = Vec::new();
        for (name, patterns) in [("--include", &watch.include), ("--exclude", &watch.exclude)] {
            for pattern in patterns {
                options.extend([name.to_owned(), pattern.clone()]);
            }
        }
        for (name, is_on) in [
            ("--arrays", watch.arrays),
            ("--no-children", watch.no_children),
            ("--stacks", watch.stacks),
            ("--all-code", self.args.all_code),
        ] {
            if is_on {
                options.push(name.to_owned());
            }
        }
        let tracking = watch.tracking;
        if tracking != TrackingArg::Optimistic {
            options.extend(named("--tracking", &tracking));
        }
        if self.args.sync_edges != Switch::On {
            options.extend(named("--sync-edges", &self.args.sync_edges));
        }
        options
    }
}

fn named(option: &str, value: &impl ValueEnum) -> Vec<String> {
    let value = value.to_possible_value();
    let value = value.map(|value| value.get_name().to_owned());
    std::iter::once(option.to_owned()).chain(value).collect()
}
