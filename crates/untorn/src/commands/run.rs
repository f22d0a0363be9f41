//! `untorn run`: watches a program while it runs, and reports at its end.

use std::collections::BTreeMap;
use std::process::ExitCode;

use untorn_analyses::Outcome;
use untorn_analyses::doublechecker::Profile;
use untorn_analyses::lengths::Lengths;
use untorn_findings::Document;
use untorn_live::{Limits, LiveSource, Tally, watch_all};
use untorn_plan::Steering;
use untorn_trace::Source;

use crate::cli::{Format, RunArgs, StatusOf};
use crate::code::{self, named};
use crate::commands::demoted;
use crate::commands::facts::{self, Used};
use crate::commands::filtering::{filter, suffices};
use crate::commands::looked::{Looked, Sharing};
use crate::commands::multi_run::{candidates, chosen, first_run, stale};
use crate::commands::reproduce::trial::Trials;
use crate::commands::reproduce::{self, Effort};
use crate::commands::watching::{
    ending, options, say_left_out, say_unwatched, stats, status_of, warn,
};
use crate::declared;
use crate::failure::Failure;
use crate::interim::{Answers, Interim};
use crate::output::{deliver, format, note, tell, write};
use crate::selection::{AnalysisName, RunMode, specification, write_profile};
use crate::whose::Whose;

/// A run should predict, not only observe.
const DEFAULT: [AnalysisName; 3] = [
    AnalysisName::Doublechecker,
    AnalysisName::Atomizer,
    AnalysisName::Views,
];
const FAST: [AnalysisName; 1] = [AnalysisName::Doublechecker];
/// Analyses that look at conflicts, and do not ask which locks are held.
const EXACT: [&str; 3] = ["doublechecker", "velodrome", "aerodrome"];

/// What came of watching one process.
pub struct Seen {
    pub outcome: Outcome,
    pub tally: Tally,
    /// What a first run says.
    pub profile: Option<Profile>,
    /// The class files of what findings speak of.
    pub code: BTreeMap<String, Vec<u8>>,
    /// Classes that are not those that a second run's profile was made from.
    pub stale: Vec<String>,
}

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let mut options = options(&args.watch, args.selection.spec.as_deref(), &args.command)?;
    if !args.output.source.is_empty() {
        let mut spec = specification(args.selection.spec.as_deref())?;
        for unused in declared::add_to(&mut spec, &args.output.source)? {
            note(&unused);
        }
        let text = spec
            .to_toml()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        options.config.spec = Some(text);
    }
    // What is wrong with the arguments is said before the program starts.
    let wanted = args.selection.select(default(args), &args.output.source)?;
    if args.plan.is_some() && args.watch.facts.is_some() {
        let why = "--facts: a plan counts accesses, so none may be left out";
        return Err(Failure::Usage(why.to_owned()));
    }
    let facts = args.watch.facts.as_deref().map(facts::read).transpose()?;
    options.config.mode = chosen(&args.selection)?;
    if args.selection.mode == RunMode::First {
        options.limits = Limits::of_first_run();
    }
    let mut names = wanted.analyses.iter().map(|analysis| analysis.name());
    options.config.code = true;
    if let Some(path) = &args.plan {
        options.config.steering = Some(Steering::new(reproduce::read_plans(path)?.plans));
    }
    options.config.skip_lone_locks = names.all(|name| EXACT.contains(&name));
    let interim = Interim::begin(args);
    let ran = watch_all(&options, |process, source| {
        let answers = interim.of(process);
        let seen = analyze(args, source, &answers);
        if let Ok(seen) = &seen {
            answers.ended(&seen.outcome.findings, &seen.code);
        }
        seen
    });
    interim.end();
    let ran = ran?;
    let (status, processes) = (ran.status, ran.processes);
    if processes.is_empty() {
        return Err(Failure::NothingWatched);
    }
    let mut document = Document::new(Vec::new());
    let mut findings = Vec::new();
    let mut profile = Profile::default();
    let mut stale = Vec::new();
    let mut looked = Looked::default();
    let mut used = Used::default();
    let mut code = BTreeMap::new();
    let alone = processes.len() == 1;
    for mut process in processes {
        warn(&process);
        let seen = std::mem::replace(&mut process.result, Err(Failure::NothingWatched))?;
        say_left_out(&process.process, seen.tally);
        let mut counts = seen.outcome.stats;
        looked.add(&process, &mut counts);
        used.add(&process.counts);
        counts.extend(stats(&process, seen.tally));
        document.inputs.push(process.process.program.clone());
        findings.extend(seen.outcome.findings);
        // The processes of one run are one first run.
        seen.profile.iter().for_each(|of_one| profile.merge(of_one));
        stale.extend(seen.stale);
        code.extend(seen.code);
        if alone {
            document.stats = counts;
        } else {
            let name = format!("process {}", process.process.pid);
            document.stats.insert(name, counts.into());
        }
    }
    if args.selection.mode == RunMode::First {
        write_profile(args.selection.first_profile()?, &profile)?;
    }
    stale.sort();
    stale.dedup();
    for class in stale {
        note(&format!(
            "{class} has changed since the profile was made: all of its regions were looked at; repeat the first run for what calls it"
        ));
    }
    looked.put_into(&mut document.stats);
    // What was found was looked at.
    let warning = looked.warning(&options.config.mode);
    if let Some(warning) = warning.filter(|_| findings.is_empty()) {
        note(&warning);
    }
    document.take(findings);
    let contradicted = facts.as_ref().and_then(|facts| {
        used.say();
        used.contradictions(facts, &document)
    });
    // Whoever names classes has said whose they are.
    if !args.all_code && args.watch.include.is_empty() {
        let folder = std::env::current_dir().unwrap_or_default();
        Whose::of(&args.command, &folder).leave_out_others(&mut document);
    }
    let code = code::of_files(&document, &code)?;
    untorn_rank::rank(&mut document, &code);
    if args.reproduce {
        let trials = Trials::of_run(args);
        document = reproduce::reproduce(document, &trials, &Effort::default())?;
    }
    let own = if args.selection.mode == RunMode::First && format(&args.output) == Format::Text {
        let file = args.selection.first_profile()?;
        write(&candidates(&profile, file, &args.command), &args.output)?;
        ExitCode::SUCCESS
    } else {
        deliver(&document, &args.output)?
    };
    // Whatever was found: what was not looked at must not pass for clean.
    let own = say_unwatched(&ran.unwatched)
        .or(contradicted)
        .unwrap_or(own);
    if !status.success() && args.exit_code != StatusOf::Untorn {
        // The statuses of both overlap, so it is said whose it is.
        note(&format!("the program ended with {}", ending(status)));
    }
    Ok(match args.exit_code {
        StatusOf::Untorn => own,
        StatusOf::Both if own != ExitCode::SUCCESS => own,
        StatusOf::Both | StatusOf::Program => status_of(status),
    })
}

fn default(args: &RunArgs) -> &'static [AnalysisName] {
    if args.fast || args.plan.is_some() {
        &FAST
    } else {
        &DEFAULT
    }
}

/// Feeds the analyses with one process's events, to its end.
fn analyze(
    args: &RunArgs,
    source: &mut LiveSource,
    mut answers: &Answers,
) -> Result<Seen, Failure> {
    let mut analyses = match args.selection.mode {
        RunMode::First => {
            answers.cannot("a first run has a profile, at its end, and no findings");
            return Ok(first_run(source));
        }
        // The program records only what was chosen, so there is nothing left to choose.
        RunMode::Second => {
            let analysis = args.selection.second_analysis();
            vec![(args.selection).of_selected(analysis, &args.output.source)?]
        }
        RunMode::Single | RunMode::Precise => {
            args.selection
                .select(default(args), &args.output.source)?
                .analyses
        }
    };
    // What may lie on a cycle is looked at when all was heard.
    let filters = suffices(args, default(args)) && args.report_every.is_none();
    if filters {
        answers.cannot("with --fast, findings are known when the program has ended; --report-every makes them known while it runs");
    } else {
        answers.listen(source);
    }
    let filtered = filters.then(|| filter(source));
    if filtered.is_some() {
        let analysis = args.selection.precise_analysis();
        analyses = vec![(args.selection).of_selected(analysis, &args.output.source)?];
    }
    source.reuse_ids();
    if filtered.is_none() {
        analyses.push(Box::new(Sharing::default()));
        if args.output.stats {
            analyses.push(Box::new(Lengths::default()));
        }
    }
    if analyses.iter().any(|analysis| analysis.needs_replay()) {
        source.keep()?;
    }
    let mut outcome =
        untorn_analyses::run_and_tell(source, &mut analyses, &mut |_| {}, &mut answers)?;
    if let Some(counts) = filtered {
        counts.put_into(&mut outcome);
    }
    demoted::put_into(&mut outcome, source);
    tell(&source.notes());
    outcome.notes.iter().for_each(|text| note(text));
    Ok(Seen {
        tally: source.tally(),
        code: named(source.code(), &outcome.findings),
        outcome,
        profile: None,
        stale: match args.selection.mode {
            RunMode::Second => stale(&args.selection.second_profile()?, source),
            RunMode::Single | RunMode::Precise | RunMode::First => Vec::new(),
        },
    })
}
