//! `untorn analyze`: any analyses over recorded traces.

use std::process::ExitCode;

use untorn_analyses::Outcome;
use untorn_analyses::demotion::{self, Demoting};
use untorn_analyses::doublechecker::Profile;
use untorn_analyses::lengths::Lengths;
use untorn_findings::Document;
use untorn_model::Tables;
use untorn_program::LoadPlan;
use untorn_spec::Specification;
use untorn_trace::{OpenOptions, Source, open, spool};

use crate::cli::AnalyzeArgs;
use crate::code;
use crate::commands::demoted::{is_meant, put};
use crate::declared;
use crate::failure::Failure;
use crate::output::{deliver, note, tell};
use crate::partial::Partial;
use crate::progress::Bar;
use crate::selection::{AnalysisName, RunMode, specification, write_profile};

/// A trace has all the time of the world, so the complete exact analysis leads.
const DEFAULT: [AnalysisName; 3] = [
    AnalysisName::Aerodrome,
    AnalysisName::Atomizer,
    AnalysisName::Views,
];

pub fn run(args: &AnalyzeArgs) -> Result<ExitCode, Failure> {
    for path in &args.classes {
        std::fs::metadata(path).map_err(|source| Failure::file(path, source))?;
    }
    let inputs = args
        .traces
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    for unused in declared::add_to(&mut Specification::default(), &args.output.source)? {
        note(&unused);
    }
    let mut document = Document::new(inputs);
    let mut findings = Vec::new();
    let mut profile = Profile::default();
    for trace in &args.traces {
        let outcome = analyze(args, trace, &mut profile)?;
        findings.extend(outcome.findings);
        if args.traces.len() == 1 {
            document.stats = outcome.stats;
        } else {
            let name = trace.display().to_string();
            document.stats.insert(name, outcome.stats.into());
        }
    }
    if args.selection.mode == RunMode::First {
        write_profile(args.selection.first_profile()?, &profile)?;
    }
    document.take(findings);
    if !args.classes.is_empty() {
        let plan = LoadPlan {
            inputs: args.classes.clone(),
            ..LoadPlan::default()
        };
        let code = code::of_paths(&document, &plan);
        untorn_rank::rank(&mut document, &code);
    }
    deliver(&document, &args.output)
}

fn analyze(
    args: &AnalyzeArgs,
    trace: &std::path::Path,
    profile: &mut Profile,
) -> Result<Outcome, Failure> {
    let mut wanted = args.selection.select(&DEFAULT, &args.output.source)?;
    let analyses = &mut wanted.analyses;
    if args.output.stats {
        analyses.push(Box::new(Lengths::default()));
    }
    let options = OpenOptions {
        lenient: args.input.lenient,
    };
    // Limited before it is copied: what does not end could not be copied to its end.
    let (partial, cut) = Partial::of(open(trace, options)?, args.budget);
    let mut source: Box<dyn Source + Send> = partial;
    let mut demoted = None;
    if args.demote {
        let spec = specification(args.selection.spec.as_deref())?;
        let is_meant = Box::new(move |tables: &Tables, region| is_meant(&spec, tables, region));
        let (demoting, regions) = Demoting::new(source, demotion::Options::default(), is_meant);
        source = Box::new(demoting);
        demoted = Some(regions);
    }
    let wants_replay = analyses.iter().any(|analysis| analysis.needs_replay());
    if wants_replay && source.replay().is_none() {
        source = spool(source)?;
    }
    let mut bar = Bar::new();
    let mut outcome = untorn_analyses::run(source.as_mut(), analyses, &mut |progress| {
        bar.update(progress);
    })?;
    drop(bar);
    if let Some(demoted) = demoted {
        put(&mut outcome, source.tables(), &demoted.regions(), 0);
    }
    cut.left_out().iter().for_each(|text| note(text));
    tell(&source.notes());
    outcome.notes.iter().for_each(|text| note(text));
    if let Some(of_trace) = wanted.profile() {
        profile.merge(of_trace);
    }
    Ok(outcome)
}
