//! `untorn run`: watches a program while it runs, and reports at its end.

use std::process::ExitCode;

use untorn_analyses::Outcome;
use untorn_analyses::doublechecker::Profile;
use untorn_findings::{Document, merge};
use untorn_live::{Limits, LiveSource, Tally, watch_all};
use untorn_trace::Source;

use crate::cli::{RunArgs, StatusOf};
use crate::commands::multi_run::{chosen, first_run, stale};
use crate::commands::sifting::{sift, suffices};
use crate::commands::watching::{
    ending, options, say_left_out, say_unwatched, stats, status_of, warn,
};
use crate::failure::Failure;
use crate::output::{deliver, note, tell};
use crate::selection::{AnalysisName, RunMode, write_profile};

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
    /// Classes that are not those that a second run's profile was made from.
    pub stale: Vec<String>,
}

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let mut options = options(&args.watch, args.selection.spec.as_deref(), &args.command)?;
    // What is wrong with the arguments is said before the program starts.
    let wanted = args.selection.select(default(args))?;
    options.config.mode = chosen(&args.selection)?;
    if args.selection.mode == RunMode::First {
        options.limits = Limits::of_first_run();
    }
    let mut names = wanted.analyses.iter().map(|analysis| analysis.name());
    options.config.skip_lone_locks = names.all(|name| EXACT.contains(&name));
    let ran = watch_all(&options, |_, source| analyze(args, source))?;
    let (status, processes) = (ran.status, ran.processes);
    if processes.is_empty() {
        return Err(Failure::NothingWatched);
    }
    let mut document = Document::new(Vec::new());
    let mut findings = Vec::new();
    let mut profile = Profile::default();
    let mut stale = Vec::new();
    let alone = processes.len() == 1;
    for mut process in processes {
        warn(&process);
        let seen = std::mem::replace(&mut process.result, Err(Failure::NothingWatched))?;
        say_left_out(&process.process, seen.tally);
        let mut counts = seen.outcome.stats;
        counts.extend(stats(&process, seen.tally));
        document.inputs.push(process.process.program.clone());
        findings.extend(seen.outcome.findings);
        // The processes of one run are one first run.
        seen.profile.iter().for_each(|of_one| profile.merge(of_one));
        stale.extend(seen.stale);
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
    document.findings = merge(findings);
    let own = deliver(&document, &args.output)?;
    // Whatever was found: what was not looked at must not pass for clean.
    let own = say_unwatched(&ran.unwatched).unwrap_or(own);
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
    if args.fast { &FAST } else { &DEFAULT }
}

/// Feeds the analyses with one process's events, to its end.
fn analyze(args: &RunArgs, source: &mut LiveSource) -> Result<Seen, Failure> {
    let mut analyses = match args.selection.mode {
        RunMode::First => return Ok(first_run(source)),
        // The program records only what was chosen, so there is nothing left to choose.
        RunMode::Second => vec![args.selection.second_analysis()],
        RunMode::Single | RunMode::Precise => args.selection.select(default(args))?.analyses,
    };
    let sifted = suffices(args, default(args)).then(|| sift(source));
    if sifted.is_some() {
        analyses = vec![args.selection.precise_analysis()];
    }
    source.reuse_ids();
    if analyses.iter().any(|analysis| analysis.needs_replay()) {
        source.keep()?;
    }
    let mut outcome = untorn_analyses::run(source, &mut analyses, &mut |_| {})?;
    if let Some(counts) = sifted {
        counts.put_into(&mut outcome);
    }
    tell(&source.notes());
    outcome.notes.iter().for_each(|text| note(text));
    Ok(Seen {
        outcome,
        tally: source.tally(),
        profile: None,
        stale: match args.selection.mode {
            RunMode::Second => stale(&args.selection.second_profile()?, source),
            RunMode::Single | RunMode::Precise | RunMode::First => Vec::new(),
        },
    })
}
