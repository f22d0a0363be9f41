//! `untorn refine`: iterative refinement of what ought to be atomic (paper 002, section 5.1 and Figure 6).
//!
//! A specification begins with too many regions.
//! Each trial watches a run, and every region that was torn, with the regions around it that hold both accesses, is taken out.
//! When nothing was torn in a number of trials in a row, what is left is the specification to check new versions of the program against.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use untorn_findings::{Document, Finding, Kind, Region, merge};
use untorn_spec::{Pattern, Specification};

use crate::cli::{Blamer, RefineArgs};
use crate::failure::Failure;
use crate::selection::specification;

pub fn run(args: &RefineArgs) -> Result<ExitCode, Failure> {
    let mut refinement = Refinement::begin(args)?;
    let mut quiet = 0;
    let mut trial = 0;
    while quiet < args.trials {
        let jobs = args.jobs.min(args.trials - quiet);
        let (findings, demoted) = refinement.trials(args, jobs)?;
        trial += jobs;
        let taken = refinement.take_out_demoted(&demoted) + refinement.take_out(findings);
        quiet = if taken == 0 { quiet + jobs } else { 0 };
        refinement.save()?;
        eprintln!(
            "untorn: trial {trial}: {taken} regions taken out, {} in all; quiet for {quiet} of {} trials",
            refinement.reasons.len(),
            args.trials
        );
    }
    eprintln!("untorn: refined: {}", refinement.output.display());
    args.archive.keep(&refinement.document())?;
    Ok(ExitCode::SUCCESS)
}

/// Why a region is taken out that a run demoted.
const LONG: &str = "stays open for long, so it is hardly meant to be one step";

struct Refinement {
    output: PathBuf,
    spec: Specification,
    /// Why each pattern was taken out.
    reasons: BTreeMap<Pattern, String>,
    evidence: Vec<Finding>,
}

impl Refinement {
    fn begin(args: &RefineArgs) -> Result<Self, Failure> {
        let output = args.output.clone();
        let (spec, evidence) = if args.resume {
            (
                specification(Some(&output))?,
                read_evidence(&evidence_of(&output))?,
            )
        } else {
            if output.exists() {
                return Err(Failure::Usage(format!(
                    "{} is there already: go on with --resume, or name another file",
                    output.display()
                )));
            }
            (specification(args.spec.as_deref())?, Vec::new())
        };
        let mut refinement = Self {
            output,
            spec,
            reasons: BTreeMap::new(),
            evidence: Vec::new(),
        };
        refinement.take_out(evidence);
        Ok(refinement)
    }

    /// Runs the program some times at once, and gathers what was found and which regions the runs themselves demoted.
    ///
    /// Each trial is a process of its own, so that trials do not share signals or memory.
    fn trials(&self, args: &RefineArgs, jobs: u32) -> Result<(Vec<Finding>, Vec<Region>), Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::file(&self.output, error))?;
        let spec = folder.path().join("spec.toml");
        write(&spec, &to_toml(&self.spec)?)?;
        let own =
            std::env::current_exe().map_err(|error| Failure::file(Path::new("untorn"), error))?;
        let with = match args.with {
            Blamer::Doublechecker => "doublechecker",
            Blamer::Velodrome => "velodrome",
            Blamer::Aerodrome => "aerodrome",
        };
        let facts: Vec<&OsStr> = (args.facts.iter())
            .flat_map(|path| [OsStr::new("--facts"), path.as_os_str()])
            .collect();
        let mut running = Vec::new();
        for job in 0..jobs {
            let findings = folder.path().join(format!("{job}.json"));
            let mut command = Command::new(&own);
            command
                .args([
                    "run",
                    "--with",
                    with,
                    "--format",
                    "json",
                    "--exit-zero",
                    // A program that fails is a trial like any other.
                    "--exit-code",
                    "untorn",
                    "--spec",
                ])
                .arg(&spec)
                .arg("--output")
                .arg(&findings)
                .args(facts.clone())
                .arg("--")
                .args(&args.command)
                .stdin(Stdio::null());
            if !args.verbose {
                command.stdout(Stdio::null()).stderr(Stdio::piped());
            }
            let child = command
                .spawn()
                .map_err(|error| Failure::file(&own, error))?;
            running.push((child, findings));
        }
        let (mut all, mut demoted) = (Vec::new(), Vec::new());
        for (child, findings) in running {
            let output = child
                .wait_with_output()
                .map_err(|error| Failure::file(&own, error))?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().last().unwrap_or("it said nothing");
                return Err(Failure::Usage(format!("a trial failed: {last}")));
            }
            let document = read_document(&findings)?;
            demoted.extend(document.demoted());
            all.extend(document.findings);
        }
        Ok((all, demoted))
    }

    /// Takes out what runs found out not to be meant as one step: they look at it no more, so it would seem quiet.
    fn take_out_demoted(&mut self, demoted: &[Region]) -> usize {
        let before = self.reasons.len();
        for pattern in demoted.iter().filter_map(pattern_of) {
            (self.reasons.entry(pattern)).or_insert_with(|| LONG.to_owned());
        }
        self.reasons.len() - before
    }

    /// Takes the blamed regions out of the specification, and tells how many were new.
    fn take_out(&mut self, findings: Vec<Finding>) -> usize {
        let before = self.reasons.len();
        for finding in findings {
            // Cycles in which nobody is torn by itself, and regions ordered only by their own fork and join, are kept as evidence and never taken out.
            if finding.kind != Kind::Torn {
                self.evidence.push(finding);
                continue;
            }
            let blamed = std::iter::once(&finding.region).chain(&finding.evidence.enclosing);
            for pattern in blamed.filter_map(pattern_of) {
                self.reasons
                    .entry(pattern)
                    .or_insert_with(|| finding.message.clone());
            }
            self.evidence.push(finding);
        }
        self.evidence = merge(std::mem::take(&mut self.evidence));
        for pattern in self.reasons.keys() {
            if !self.spec.exclude.contains(pattern) {
                self.spec.exclude.push(pattern.clone());
            }
        }
        self.reasons.len() - before
    }

    /// Writes the specification and the evidence, each whole or not at all.
    fn save(&self) -> Result<(), Failure> {
        write(&evidence_of(&self.output), &self.document().to_json()?)?;
        write(&self.output, &self.commented()?)
    }

    fn document(&self) -> Document {
        let mut document = Document::new(vec![self.output.display().to_string()]);
        document.findings.clone_from(&self.evidence);
        document
    }

    /// The specification, with the reason before each region that was taken out.
    fn commented(&self) -> Result<String, Failure> {
        let text = to_toml(&self.spec)?;
        let mut lines = Vec::new();
        for line in text.lines() {
            let pattern = line.trim().trim_end_matches(',').trim_matches('"');
            let reason = pattern
                .parse()
                .ok()
                .and_then(|pattern: Pattern| self.reasons.get(&pattern));
            if let Some(reason) = reason.filter(|_| line.starts_with(' ')) {
                lines.push(format!("    # {reason}"));
            }
            lines.push(line.to_owned());
        }
        lines.push(String::new());
        Ok(lines.join("\n"))
    }
}

fn pattern_of(region: &Region) -> Option<Pattern> {
    let class = region.class.as_deref()?;
    let descriptor = region.descriptor.as_deref()?;
    Some(Pattern::exact(
        class,
        &region.method,
        descriptor,
        region.block,
    ))
}

fn to_toml(spec: &Specification) -> Result<String, Failure> {
    spec.to_toml()
        .map_err(|error| Failure::Usage(error.to_string()))
}

fn evidence_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".findings.json");
    PathBuf::from(name)
}

fn read_evidence(path: &Path) -> Result<Vec<Finding>, Failure> {
    if path.exists() {
        Ok(read_document(path)?.findings)
    } else {
        Ok(Vec::new())
    }
}

fn read_document(path: &Path) -> Result<Document, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    Document::from_json(&text).map_err(|error| Failure::Input {
        path: path.display().to_string(),
        what: error.to_string(),
    })
}

/// Writes beside and renames, so that an interrupt leaves the old file or the new one.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|error| Failure::file(path, error))
}
