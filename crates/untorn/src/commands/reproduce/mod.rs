//! `untorn reproduce`: steers runs of a program until what is suspected was observed.
//!
//! Every run is a process of its own, `untorn run --plan`, whose exact checker decides; here is chosen what to try next, and told what came of it.

mod args;
mod harm;
pub mod progress;
pub mod trial;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use untorn_findings::{Document, Finding, Level, Region, Replays, Reproduction, Verdict, merge};
use untorn_live::signals;
use untorn_plan::{MOST_PLANS, Plan, PlanFile};
use untorn_reproduce::{Outcomes, can_be_planned, plan, shows};

pub use args::{ReproduceArgs, duration};

use crate::failure::Failure;
use crate::output::{deliver, note, read};
use harm::Harm;
use progress::Progress;
use trial::{Trial, Trials};

/// How much may be tried.
#[derive(Clone, Debug)]
pub struct Effort {
    pub budget: Duration,
    /// How many runs are steered at most, without replays.
    pub runs: u32,
    pub replays: u32,
    /// Fingerprints, or beginnings of some; none: every finding that is suspected.
    pub only: Vec<String>,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            budget: Duration::from_mins(1),
            runs: 40,
            replays: 10,
            only: Vec::new(),
        }
    }
}

pub fn run(args: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let _caught = signals::catch().map_err(|error| Failure::Usage(error.to_string()))?;
    if args.watch.facts.is_some() {
        let why = "--facts: a steered run counts accesses, so none may be left out";
        return Err(Failure::Usage(why.to_owned()));
    }
    let trials = Trials::new(&args.watch, args.spec.as_deref(), &args.command);
    let effort = args.effort();
    if let Some(path) = &args.plan {
        let document = replay(&read_plans(path)?, &trials, &effort)?;
        return deliver(&document, &args.output);
    }
    let mut document = Document::new(Vec::new());
    if args.findings.is_empty() {
        note("no findings are given: the program runs once to make some");
        document = trials.first(effort.budget / 2)?;
    } else {
        let mut findings = Vec::new();
        for path in &args.findings {
            let saved = read(path)?;
            document.inputs.extend(saved.inputs);
            findings.extend(saved.findings);
        }
        document.take(findings);
    }
    let document = reproduce(document, &trials, &effort)?;
    if let Some(path) = &args.save_plans {
        let stored = document.findings.iter();
        let plans: Vec<Plan> = stored
            .filter_map(|finding| finding.reproduction.as_ref()?.plan.clone())
            .collect();
        let text = PlanFile::new(plans).to_json()?;
        std::fs::write(path, text).map_err(|source| Failure::file(path, source))?;
    }
    deliver(&document, &args.output)
}

/// Reads saved plans, or those that saved findings carry.
pub fn read_plans(path: &Path) -> Result<PlanFile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| Failure::file(path, source))?;
    if let Ok(document) = Document::from_json(&text) {
        let stored = document.findings.into_iter();
        let mut plans: Vec<Plan> = stored
            .filter_map(|finding| finding.reproduction?.plan)
            .collect();
        plans.truncate(MOST_PLANS);
        return Ok(PlanFile::new(plans));
    }
    PlanFile::from_json(&text).map_err(|error| Failure::Input {
        path: path.display().to_string(),
        what: error.to_string(),
    })
}

/// What is known of one finding that is tried.
struct Case {
    finding: Finding,
    runs: u32,
    torn: u32,
    outcomes: Outcomes,
    /// The plan that showed it, and what the program did in that run.
    shown: Option<(Plan, Trial)>,
    replays: Option<Replays>,
    harm: Vec<String>,
}

impl Case {
    fn new(finding: Finding) -> Self {
        Self {
            finding,
            runs: 0,
            torn: 0,
            outcomes: Outcomes::default(),
            shown: None,
            replays: None,
            harm: Vec::new(),
        }
    }
}

/// Steers runs until every suspected finding was observed, or the effort is spent; what is known by then is in the document.
pub fn reproduce(
    mut document: Document,
    trials: &Trials,
    effort: &Effort,
) -> Result<Document, Failure> {
    let end = Instant::now() + effort.budget;
    let is_wanted = |finding: &Finding| {
        finding.verdict == Verdict::Suspected
            && can_be_planned(finding)
            && (effort.only.is_empty()
                || (effort.only.iter()).any(|only| finding.fingerprint.starts_with(only.as_str())))
    };
    document.sort();
    let (wanted, mut findings): (Vec<Finding>, Vec<Finding>) =
        document.findings.drain(..).partition(is_wanted);
    let mut cases: Vec<Case> = wanted.into_iter().map(Case::new).collect();
    if cases.is_empty() {
        note("nothing that is suspected can be steered at");
        document.findings = findings;
        return Ok(document);
    }
    let mut progress = Progress::begin("reproduced", cases.len(), end);
    let mut runs = 0;
    let mut hung = None;
    while runs < effort.runs && Instant::now() < end && !signals::is_end_asked_for() {
        let chosen = choose(&cases, runs);
        if chosen.is_empty() {
            break;
        }
        let planned = |at: usize| Some((at, plan(&cases[at].finding, cases[at].runs)?));
        let (chosen, plans): (Vec<usize>, Vec<Plan>) =
            chosen.into_iter().filter_map(planned).unzip();
        let trial = trials.steered(&PlanFile::new(plans.clone()), end, &mut progress)?;
        runs += 1;
        if let Some(deadlock) = &trial.deadlock {
            hung = Some(deadlock.clone());
        }
        let mut outcomes = trial.outcomes();
        for (number, &at) in chosen.iter().enumerate() {
            let outcome = outcomes.remove(&number).unwrap_or_default();
            let case = &mut cases[at];
            case.runs += 1;
            case.outcomes.add(&outcome);
            let seen = trial.findings.iter();
            let regions: Vec<Region> = regions(&case.finding).cloned().collect();
            let shown = |region: &Region| {
                let found = seen.clone().find(|it| shows(it, region));
                found.map(|it| of(it, region))
            };
            if let Some(seen) = regions.iter().find_map(shown) {
                case.torn += 1;
                case.finding = unite(case.finding.clone(), seen);
                case.shown = Some((outcome.narrow(&plans[number]), trial.clone()));
            }
        }
        // What nobody asked for and the run showed all the same is as true.
        for seen in &trial.findings {
            let known = |case: &Case| regions(&case.finding).any(|region| shows(seen, region));
            let known = cases.iter().any(known);
            if seen.verdict.is_seen() && !known {
                findings.push(seen.clone());
            }
        }
        let reproduced = cases.iter().filter(|case| case.torn > 0).count();
        progress.show(reproduced);
    }
    say_deadlock(hung.as_deref());
    replay_shown(&mut cases, trials, effort, end, &mut progress)?;
    show_harm(&mut cases, trials, &progress)?;
    progress.end();
    let tried = cases.len();
    let reproduced = cases.iter().filter(|case| case.torn > 0).count();
    document.stats.insert(
        "reproduce".to_owned(),
        serde_json::json!({ "runs": runs, "suspected": tried, "reproduced": reproduced }),
    );
    findings.extend(cases.into_iter().map(judged));
    document.findings = merge(findings);
    lower_what_is_discarded(&mut document);
    document.sort();
    let times = if runs == 1 { "run" } else { "runs" };
    note(&format!(
        "{reproduced} of {tried} suspected findings reproduced in {runs} steered {times}"
    ));
    Ok(document)
}

/// The idiom of a region that throws away what it saw in the middle of another one.
const VALIDATED: &str = "validated optimistic read";

/// Ranks low what only reads see torn that are validated afterwards, and then made again.
fn lower_what_is_discarded(document: &mut Document) {
    let validated = |finding: &&Finding| {
        let rank = finding.rank.as_ref();
        rank.and_then(|rank| rank.idiom.as_deref()) == Some(VALIDATED)
    };
    let readers: Vec<Region> = (document.findings.iter().filter(validated))
        .map(|finding| finding.region.clone())
        .collect();
    let is_reader = |region: &Region| readers.iter().any(|reader| reader.same_as(region));
    for finding in &mut document.findings {
        let Finding {
            region,
            rank,
            evidence,
            verdict,
            ..
        } = finding;
        let mut others = (evidence.interleavings.iter())
            .flat_map(|interleaving| &interleaving.transactions)
            .filter_map(|transaction| transaction.region.as_ref())
            .filter(|other| !other.same_as(region))
            .peekable();
        let discarded = others.peek().is_some() && others.all(is_reader);
        if let Some(rank) = rank
            .as_mut()
            .filter(|_| *verdict == Verdict::Reproduced && discarded)
        {
            rank.level = Level::Low;
            let reason = "only reads saw it that are validated before they are used";
            rank.reasons.insert(0, reason.to_owned());
        }
    }
}

/// A thread is held up for a moment at most, so who hangs does so without us.
fn say_deadlock(deadlock: Option<&str>) {
    if let Some(deadlock) = deadlock {
        note(&format!(
            "the program deadlocked by itself in a steered run: {deadlock}"
        ));
    }
}

/// Which cases the next run is steered at: what was not shown yet, the highest ranks and fewest tries first.
///
/// Every third run is for one half of them and every third for the other, as plans can be in each other's way.
fn choose(cases: &[Case], run: u32) -> Vec<usize> {
    let mut open: Vec<usize> = (0..cases.len()).filter(|&at| cases[at].torn == 0).collect();
    if open.len() > 1 && !run.is_multiple_of(3) {
        let half = (run % 3) as usize - 1;
        let mut at = 0;
        open.retain(|_| {
            at += 1;
            at % 2 == half
        });
    }
    open.sort_by_key(|&at| (cases[at].runs, std::cmp::Reverse(cases[at].finding.level())));
    open.truncate(MOST_PLANS);
    // No two about one region: each would take the other's executions.
    let mut regions: Vec<&Region> = Vec::new();
    open.retain(|&at| {
        let region = &cases[at].finding.region;
        let new = !regions.iter().any(|known| known.same_as(region));
        regions.push(region);
        new
    });
    open
}

/// The regions that a finding is about: what has one cause is one finding, whichever of them is torn.
fn regions(finding: &Finding) -> impl Iterator<Item = &Region> {
    std::iter::once(&finding.region).chain(&finding.affected)
}

/// What a run showed, as a finding about the region that was asked for.
pub fn of(seen: &Finding, region: &Region) -> Finding {
    let mut seen = seen.clone();
    seen.verdict = Verdict::Reproduced;
    if !seen.region.same_as(region) {
        seen.region = region.clone();
        seen.fingerprint = untorn_findings::fingerprint(region, &[]);
    }
    seen
}

/// Both as one; a rank that was given with the tear before the eyes counts more than one without.
pub fn unite(suspected: Finding, seen: Finding) -> Finding {
    if !suspected.region.same_as(&seen.region) {
        // Another region that the same cause spoils was torn: that one is what was seen.
        let mut finding = seen;
        let others = regions(&suspected).filter(|it| !it.same_as(&finding.region));
        finding.affected = others.cloned().collect();
        return finding;
    }
    let rank = seen.rank.clone();
    let fingerprint = suspected.fingerprint.clone();
    let region = suspected.region.clone();
    let mut seen = seen;
    seen.fingerprint.clone_from(&fingerprint);
    let mut united = merge(vec![suspected, seen]);
    let mut finding = united.swap_remove(0);
    finding.region = region;
    finding.fingerprint = fingerprint;
    if rank.is_some() {
        finding.rank = rank;
    }
    finding
}

/// Follows the plans that showed something again, all in one run.
fn replay_shown(
    cases: &mut [Case],
    trials: &Trials,
    effort: &Effort,
    end: Instant,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let shown: Vec<usize> = (0..cases.len())
        .filter(|&at| cases[at].shown.is_some())
        .take(MOST_PLANS)
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    let plans: Vec<Plan> = (shown.iter())
        .filter_map(|&at| cases[at].shown.as_ref().map(|(plan, _)| plan.clone()))
        .collect();
    let file = PlanFile::new(plans);
    for _ in 0..effort.replays {
        if Instant::now() >= end || signals::is_end_asked_for() {
            break;
        }
        let trial = trials.steered(&file, end, progress)?;
        if trial.cut_short {
            break;
        }
        for &at in &shown {
            let case = &mut cases[at];
            let replays = case.replays.get_or_insert(Replays { again: 0, of: 0 });
            replays.of += 1;
            let mut seen = trial.findings.iter();
            replays.again += u32::from(seen.any(|it| shows(it, &case.finding.region)));
        }
    }
    Ok(())
}

/// Says what a run in which a region was torn did, and runs that are not steered do not.
fn show_harm(cases: &mut [Case], trials: &Trials, progress: &Progress) -> Result<(), Failure> {
    if cases.iter().all(|case| case.shown.is_none()) || signals::is_end_asked_for() {
        return Ok(());
    }
    let Some(usual) = Harm::usual(trials, progress)? else {
        return Ok(());
    };
    for case in cases {
        if let Some((_, trial)) = &case.shown {
            case.harm = usual.of(trial);
        }
    }
    Ok(())
}

/// The finding with what came of its runs.
fn judged(case: Case) -> Finding {
    let Case {
        mut finding,
        runs,
        torn,
        outcomes,
        shown,
        replays,
        harm,
    } = case;
    let resisted = (torn == 0 && runs > 0).then(|| outcomes.why_not(runs));
    let notes = &mut finding.evidence.notes;
    if torn > 0 {
        notes.push(match replays {
            Some(Replays { again, of }) if of > 0 => format!(
                "Reproduced in a steered run; its plan showed it again in {again} of {of} replays."
            ),
            _ => "Reproduced in a steered run; its plan is stored with it.".to_owned(),
        });
        notes.extend(harm.iter().map(|what| format!("In that run {what}.")));
    } else if let Some(why) = &resisted {
        notes.push(format!("Not reproduced: {why}."));
        if let Some(rank) = &mut finding.rank {
            rank.level = match rank.level {
                Level::High => Level::Medium,
                Level::Medium | Level::Low => Level::Low,
            };
            rank.reasons.insert(0, format!("it resisted: {why}"));
        }
    }
    finding.reproduction = (runs > 0).then(|| Reproduction {
        runs,
        torn,
        plan: shown.map(|(plan, _)| plan),
        replays,
        resisted,
        harm,
    });
    finding
}

/// Follows saved plans some times, and says how often each was torn.
fn replay(file: &PlanFile, trials: &Trials, effort: &Effort) -> Result<Document, Failure> {
    if file.plans.is_empty() {
        return Err(Failure::Usage("there is no plan in the file".to_owned()));
    }
    let end = Instant::now() + effort.budget;
    let mut progress = Progress::begin("reproduced", file.plans.len(), end);
    let mut document = Document::new(Vec::new());
    let mut findings: BTreeMap<usize, Finding> = BTreeMap::new();
    let mut others = Vec::new();
    let mut hung = None;
    let mut counts = vec![Replays { again: 0, of: 0 }; file.plans.len()];
    for _ in 0..effort.replays.max(1) {
        if Instant::now() >= end || signals::is_end_asked_for() {
            break;
        }
        let trial = trials.steered(file, end, &mut progress)?;
        hung = hung.or_else(|| trial.deadlock.clone());
        for (at, plan) in file.plans.iter().enumerate() {
            counts[at].of += 1;
            let region = region_of(plan);
            let mut seen = trial.findings.iter();
            if let Some(seen) = seen.find(|it| shows(it, &region)) {
                counts[at].again += 1;
                (findings.entry(at)).or_insert_with(|| of(seen, &region));
            }
        }
        others.extend(
            trial
                .findings
                .iter()
                .filter(|it| it.verdict.is_seen())
                .cloned(),
        );
        progress.show(findings.len());
    }
    progress.end();
    say_deadlock(hung.as_deref());
    for (at, plan) in file.plans.iter().enumerate() {
        let Replays { again, of } = counts[at];
        note(&format!(
            "{}: torn in {again} of {of} replays",
            region_of(plan).short_name()
        ));
    }
    let shown = findings.into_iter().map(|(at, mut finding)| {
        finding.reproduction = Some(Reproduction {
            runs: counts[at].of,
            torn: counts[at].again,
            plan: Some(file.plans[at].clone()),
            replays: Some(counts[at]),
            ..Reproduction::default()
        });
        finding
    });
    document.take(shown.chain(others).collect());
    Ok(document)
}

pub fn region_of(plan: &Plan) -> Region {
    Region {
        class: Some(plan.region.class.clone()),
        method: plan.region.method.clone(),
        descriptor: plan.region.descriptor.clone(),
        block: plan.region.block,
        ..Region::default()
    }
}
