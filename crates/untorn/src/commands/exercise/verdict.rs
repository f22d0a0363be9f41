//! What exercising says of the findings: visible tears come first, and what all tries explain comes last.

use serde_json::json;
use untorn_exercise::{Pair, Pairs, Results, Tried, Visible};
use untorn_findings::{
    Document, Evidence, Finding, Kind, Level, Rank, Region, Reproduction, Verdict,
};
use untorn_plan::Plan;
use untorn_reproduce::shows;

use crate::commands::reproduce::{of, region_of, unite};
use crate::output::note;

/// So much must have been tried before a finding is lowered for it.
const ENOUGH_STATES: u64 = 3;
const ENOUGH_TRIES: u64 = 20;

/// What the exact checker saw of steered clients.
#[derive(Debug, Default)]
pub struct Shown {
    pub findings: Vec<Finding>,
    pub plans: Vec<Plan>,
    /// What the driver saw meanwhile.
    pub results: Results,
}

/// Tries of one method, with all its partners.
#[derive(Default)]
struct Sum<'r> {
    states: u64,
    tries: u64,
    /// Pairs that time did not suffice for.
    untried: usize,
    visible: Vec<(&'r Pair, &'r Visible)>,
}

impl<'r> Sum<'r> {
    fn of(tried: impl Iterator<Item = (&'r Pair, &'r Tried)>) -> Self {
        let mut sum = Self::default();
        for (pair, tried) in tried {
            sum.states += tried.states;
            sum.tries += tried.tries;
            sum.visible
                .extend(tried.visible.as_ref().map(|it| (pair, it)));
        }
        sum
    }
}

/// Puts what came of the pairs into the document.
pub fn judge(
    document: &mut Document,
    chosen: &Pairs,
    results: &Results,
    shown: &Shown,
    written: &[String],
) {
    let tried = |wanted: &dyn Fn(&Pair) -> bool| {
        let all = results.tried.iter().filter_map(|(number, tried)| {
            let pair = chosen.pairs.get(*number)?;
            wanted(pair).then_some((pair, tried))
        });
        Sum::of(all.collect::<Vec<_>>().into_iter())
    };
    let mut lowered = 0;
    // A tear of a method says nothing certain of what that calls.
    let suspects = |document: &Document, pair: &Pair| {
        let finding = pair.finding.and_then(|it| document.findings.get(it));
        finding.is_some_and(|it| pair.is_of(&it.region))
    };
    let own: Vec<bool> = (chosen.pairs.iter())
        .map(|pair| suspects(document, pair))
        .collect();
    for (number, finding) in document.findings.iter_mut().enumerate() {
        let mut sum = tried(&|pair| pair.finding == Some(number));
        let own =
            (chosen.pairs.iter().enumerate()).filter(|(_, pair)| pair.finding == Some(number));
        sum.untried = own
            .filter(|(at, _)| !results.tried.contains_key(at))
            .count();
        let region = finding.region.clone();
        let seen = sum.visible.len();
        sum.visible.retain(|(pair, _)| pair.is_of(&region));
        let is_torn_elsewhere = sum.visible.is_empty() && seen > 0;
        if sum.tries == 0 || is_torn_elsewhere {
            continue;
        }
        lowered += usize::from(apply(finding, &sum));
    }
    // What nobody had suspected.
    let mut done: Vec<&Pair> = Vec::new();
    let mut found = Vec::new();
    for (number, it) in &results.tried {
        let pair = &chosen.pairs[*number];
        let same = |other: &&Pair| other.torn == pair.torn && other.declared_by == pair.declared_by;
        if it.visible.is_none() || own[*number] || done.iter().any(same) {
            continue;
        }
        done.push(pair);
        let sum = tried(&|other| same(&other));
        let mut finding = suspected(pair);
        apply(&mut finding, &sum);
        found.push(finding);
    }
    document.findings.append(&mut found);
    let mut reproduced = 0;
    for plan in &shown.plans {
        let region = region_of(plan);
        let Some(seen) = shown.findings.iter().find(|it| shows(it, &region)) else {
            continue;
        };
        for finding in document
            .findings
            .iter_mut()
            .filter(|it| it.region.same_as(&region))
        {
            let rank = finding.rank.clone();
            let harm = finding
                .reproduction
                .take()
                .map(|it| it.harm)
                .unwrap_or_default();
            *finding = unite(finding.clone(), of(seen, &region));
            // Judged by outcomes, which weigh more than the shape of the accesses.
            finding.rank = rank.or(finding.rank.take());
            finding.reproduction = Some(Reproduction {
                runs: 1,
                torn: 1,
                plan: Some(plan.clone()),
                harm,
                ..Reproduction::default()
            });
            reproduced += 1;
        }
    }
    document.sort();
    let visible = results
        .tried
        .values()
        .filter(|it| it.visible.is_some())
        .count();
    let all = results.tried.values();
    let made = all.clone().filter(|it| it.states > 0).count();
    let tries: u64 = all.map(|it| it.tries).sum();
    note(&format!(
        "{made} of {} pairs of methods were called {tries} times in two threads: {visible} visibly torn, {reproduced} methods torn before the exact checker",
        chosen.pairs.len(),
    ));
    if !written.is_empty() {
        note(&format!(
            "{} written",
            plural(written.len(), "test was", "tests were")
        ));
    }
    document.stats.insert(
        "exercise".into(),
        json!({
            "pairs": chosen.pairs.len(),
            "pairs with objects": made,
            "tries": tries,
            "visibly torn": visible,
            "methods reproduced": reproduced,
            "findings lowered": lowered,
            "tests": written,
        }),
    );
}

fn plural(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// A finding that the outcome alone shows.
fn suspected(pair: &Pair) -> Finding {
    let region = Region {
        class: Some(pair.declared_by.clone()),
        method: pair.torn.0.clone(),
        descriptor: Some(pair.torn.1.clone()),
        ..Region::default()
    };
    let message = format!(
        "another thread can get in between the parts of {}",
        pair.torn.0
    );
    Finding::new(
        "exercise",
        Kind::Torn,
        Verdict::Suspected,
        region,
        message,
        Evidence::default(),
    )
}

/// What the tries say of a finding; whether they lowered it.
fn apply(finding: &mut Finding, sum: &Sum<'_>) -> bool {
    let rank = finding.rank.get_or_insert_with(|| Rank {
        level: Level::Medium,
        reasons: Vec::new(),
        idiom: None,
    });
    if let Some((_, first)) = sum.visible.first() {
        rank.level = Level::High;
        rank.reasons
            .insert(0, format!("visibly torn: {}", first.words()));
        let reproduction = finding
            .reproduction
            .get_or_insert_with(Reproduction::default);
        for (pair, visible) in &sum.visible {
            let (torn, by) = (&pair.torn.0, &pair.by.0);
            let mut words = format!(
                "{torn} and {by} in two threads did what neither order does: {}",
                visible.words()
            );
            reproduction.harm.push(words.clone());
            if let Some(place) = &visible.place {
                words += &format!("; {by} came in at {place}");
            }
            finding.evidence.notes.push(format!("Exercised: {words}."));
            if let Some(test) = &visible.test {
                finding.evidence.notes.push(format!("Test: {test}."));
            }
        }
        return false;
    }
    let how = format!(
        "exercised {} times from {}: every outcome was that of a serial order",
        sum.tries,
        plural(
            usize::try_from(sum.states).unwrap_or(usize::MAX),
            "state",
            "states"
        )
    );
    finding
        .evidence
        .notes
        .push(format!("Not visibly torn: {how}."));
    // With partners left that nobody tried, nothing is said.
    if sum.states < ENOUGH_STATES || sum.tries < ENOUGH_TRIES || sum.untried > 0 {
        return false;
    }
    rank.level = Level::Low;
    rank.reasons.insert(0, how);
    true
}
