//! `untorn run`: watches a program while it runs, and reports at its end.

use std::process::ExitCode;

use untorn_analyses::Outcome;
use untorn_findings::{Document, merge};
use untorn_live::{LiveSource, Tally, watch};
use untorn_trace::Source;

use crate::cli::{RunArgs, StatusOf};
use crate::commands::watching::{options, stats, status_of, warn};
use crate::failure::Failure;
use crate::output::{deliver, note, tell};
use crate::selection::AnalysisName;

/// A run should predict, not only observe.
const DEFAULT: [AnalysisName; 3] = [
    AnalysisName::Doublechecker,
    AnalysisName::Atomizer,
    AnalysisName::Views,
];
const FAST: [AnalysisName; 1] = [AnalysisName::Doublechecker];

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let options = options(&args.watch, args.selection.spec.as_deref(), &args.command)?;
    // What is wrong with the arguments is said before the program starts.
    args.selection.select(default(args))?;
    let (status, processes) = watch(&options, |_, source| analyze(args, source))?;
    if processes.is_empty() {
        return Err(Failure::NothingWatched);
    }
    let mut document = Document::new(Vec::new());
    let mut findings = Vec::new();
    let alone = processes.len() == 1;
    for mut process in processes {
        warn(&process);
        let (outcome, tally) =
            std::mem::replace(&mut process.result, Err(Failure::NothingWatched))?;
        let mut counts = outcome.stats;
        counts.extend(stats(&process, tally));
        document.inputs.push(process.process.program.clone());
        findings.extend(outcome.findings);
        if alone {
            document.stats = counts;
        } else {
            let name = format!("process {}", process.process.pid);
            document.stats.insert(name, counts.into());
        }
    }
    document.findings = merge(findings);
    let own = deliver(&document, &args.output)?;
    Ok(match args.exit_code {
        StatusOf::Untorn => own,
        StatusOf::Program => status_of(status),
    })
}

fn default(args: &RunArgs) -> &'static [AnalysisName] {
    if args.fast { &FAST } else { &DEFAULT }
}

/// Feeds the analyses with one process's events, to its end.
fn analyze(args: &RunArgs, source: &mut LiveSource) -> Result<(Outcome, Tally), Failure> {
    let mut wanted = args.selection.select(default(args))?;
    if wanted
        .analyses
        .iter()
        .any(|analysis| analysis.needs_replay())
    {
        source.keep()?;
    }
    let outcome = untorn_analyses::run(source, &mut wanted.analyses, &mut |_| {})?;
    tell(&source.notes());
    outcome.notes.iter().for_each(|text| note(text));
    wanted.deliver_profile()?;
    Ok((outcome, source.tally()))
}
