//! The exact checkers against the brute-force oracle.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

mod evidence;
mod families;
mod oracle;

use std::collections::BTreeSet;

use evidence::{Checker, Claim};
use oracle::{Oracle, conflicts};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::{Analysis, Outcome, run};
use untorn_model::{AccessFlags, Event, Op, Tables};
use untorn_trace::generate::{Shape, random_steps, trace_of};
use untorn_trace::{Source, VecSource};

fn outcome(source: &VecSource, analysis: Box<dyn Analysis>) -> Outcome {
    let mut source = source.clone().with_batches_of(37);
    run(&mut source, &mut [analysis], &mut |_| {}).unwrap()
}

/// What one checker said, with all its evidence checked.
struct Said {
    claims: Vec<Claim>,
    first_violation: Option<usize>,
}

fn said(outcome: &Outcome, name: &str, checker: &Checker<'_>) -> Result<Said, String> {
    let mut claims = Vec::new();
    for finding in &outcome.findings {
        let checked = checker.check(finding);
        claims.extend(checked.map_err(|wrong| format!("{name}: {wrong} in {finding:#?}"))?);
    }
    let first = outcome.stats[name]["first_violation"].as_u64();
    Ok(Said {
        claims,
        first_violation: first.map(|index| index as usize),
    })
}

/// Every relation between the checkers and the truth that holds for all of them.
fn check_said(name: &str, said: &Said, truth: &Oracle) -> Result<(), String> {
    if said.claims.is_empty() == truth.cyclic() {
        return Err(format!(
            "{name}: {} claims, but the trace is {}cyclic",
            said.claims.len(),
            if truth.cyclic() { "" } else { "not " }
        ));
    }
    for component in &truth.components {
        let reported = (said.claims.iter()).any(|claim| component.contains(&claim.transactions[0]));
        if !reported {
            return Err(format!("{name}: component {component:?} is not reported"));
        }
    }
    for claim in &said.claims {
        if let Some(blamed) = claim.blamed {
            if !truth.all.torn.contains(&blamed) {
                return Err(format!("{name}: region at {blamed} is blamed and not torn"));
            }
            if claim.observed && claim.by_own_threads {
                return Err(format!("{name}: observed by fork and join at {blamed}"));
            }
            if claim.observed != truth.observed.contains(&blamed) {
                return Err(format!(
                    "{name}: region at {blamed} is {}observed",
                    if claim.observed { "" } else { "not " }
                ));
            }
        }
    }
    Ok(())
}

/// Who looks for the first observed region of a transaction finds one if there is any.
fn whole_transactions(name: &str, said: &Said, truth: &Oracle) -> Result<(), String> {
    for claim in &said.claims {
        let Some(blamed) = claim.blamed else { continue };
        let missed = (truth.observed.iter())
            .find(|region| truth.transaction_of[**region] == truth.transaction_of[blamed]);
        if let Some(missed) = missed.filter(|_| !claim.observed) {
            return Err(format!(
                "{name}: {blamed} hides {missed}, which is observed"
            ));
        }
    }
    Ok(())
}

fn check_velodrome(
    source: &VecSource,
    truth: &Oracle,
    checker: &Checker<'_>,
) -> Result<(), String> {
    let options = velodrome::Options {
        sync_edges: checker.sync_edges,
        examined: u32::MAX,
        slack: source.events().len() % 3,
    };
    let outcome = outcome(source, Box::new(Velodrome::new(options)));
    let said = said(&outcome, "velodrome", checker)?;
    check_said("velodrome", &said, truth)?;
    whole_transactions("velodrome", &said, truth)?;
    if said.first_violation != truth.first_violation {
        return Err(format!(
            "velodrome: first violation at {:?} and not at {:?}",
            said.first_violation, truth.first_violation
        ));
    }
    Ok(())
}

fn check_aerodrome(
    source: &VecSource,
    truth: &Oracle,
    checker: &Checker<'_>,
) -> Result<(), String> {
    let options = aerodrome::Options {
        sync_edges: checker.sync_edges,
        examined: u32::MAX,
        slack: source.events().len() % 3,
    };
    let outcome = outcome(source, Box::new(Aerodrome::new(options)));
    let said = said(&outcome, "aerodrome", checker)?;
    check_said("aerodrome", &said, truth)?;
    if said.first_violation != truth.first_violation {
        return Err(format!(
            "aerodrome: first violation at {:?} and not at {:?}",
            said.first_violation, truth.first_violation
        ));
    }
    let blamed: BTreeSet<usize> = said.claims.iter().filter_map(|c| c.blamed).collect();
    let must = &truth.all.blamed | &truth.data.blamed;
    // A smaller pair of the region's own threads may hide one that is observed: then both are blamed.
    if !blamed.is_superset(&must) || !blamed.is_subset(&(&must | &truth.observed)) {
        return Err(format!("aerodrome: blamed {blamed:?} and not {must:?}"));
    }
    for region in (truth.regions.iter()).filter(|r| truth.observed.contains(&r.begin)) {
        let shown = said.claims.iter().filter(|claim| claim.observed);
        let inside = |begin: usize| {
            let event = &source.events()[begin];
            event.thread.0 == region.thread && region.begin <= begin && begin <= region.end
        };
        if !(shown.filter_map(|claim| claim.blamed)).any(inside) {
            return Err(format!(
                "aerodrome: nothing in the region at {} is observed",
                region.begin
            ));
        }
    }
    let stats = &outcome.stats["aerodrome"];
    let counted = (
        stats["torn_executions"].as_u64().unwrap_or(0) as usize,
        stats["observed_executions"].as_u64().unwrap_or(0) as usize,
    );
    let true_counts = (truth.all.blamed.len(), truth.data.blamed.len());
    if counted != true_counts {
        return Err(format!(
            "aerodrome: counted {counted:?} and not {true_counts:?}"
        ));
    }
    Ok(())
}

/// How often the random traces showed something worth checking.
#[derive(Debug, Default)]
struct Seen {
    acyclic: u32,
    torn: u32,
    torn_by_sync_alone: u32,
    nobody_blamed: u32,
    inner_blamed: u32,
    several_components: u32,
    by_own_threads_alone: u32,
}

impl Seen {
    fn add(&mut self, truth: &Oracle) {
        self.acyclic += u32::from(!truth.cyclic());
        self.torn += u32::from(!truth.all.torn.is_empty());
        self.torn_by_sync_alone += u32::from(truth.all.torn != truth.data.torn);
        self.nobody_blamed += u32::from(truth.cyclic() && truth.all.torn.is_empty());
        self.inner_blamed += u32::from(truth.all.torn != truth.all.blamed);
        self.several_components += u32::from(truth.components.len() > 1);
        self.by_own_threads_alone += u32::from(truth.observed != truth.data.torn);
    }

    fn merge(&mut self, other: &Self) {
        self.acyclic += other.acyclic;
        self.torn += other.torn;
        self.torn_by_sync_alone += other.torn_by_sync_alone;
        self.nobody_blamed += other.nobody_blamed;
        self.inner_blamed += other.inner_blamed;
        self.several_components += other.several_components;
        self.by_own_threads_alone += other.by_own_threads_alone;
    }

    /// A generator that no longer makes the interesting cases would make every check pass.
    fn assert_at_least(&self, least: &Self) {
        let counts = |s: &Self| {
            [
                s.acyclic,
                s.torn,
                s.torn_by_sync_alone,
                s.nobody_blamed,
                s.inner_blamed,
                s.several_components,
                s.by_own_threads_alone,
            ]
        };
        let enough = counts(self).iter().zip(counts(least)).all(|(a, b)| *a >= b);
        assert!(enough, "{self:?}, but it ought to be at least {least:?}");
    }
}

/// Everything that must hold of one trace.
fn check(tables: &Tables, events: &[Event]) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let source = VecSource::new(tables.clone(), events.to_vec()).map_err(|e| e.to_string())?;
    let conflicts = conflicts(source.tables(), source.events());
    for sync_edges in [true, false] {
        let truth = Oracle::of(source.events(), &conflicts, sync_edges);
        let checker = Checker {
            tables: source.tables(),
            events: source.events(),
            truth: &truth,
            sync_edges,
        };
        check_velodrome(&source, &truth, &checker)
            .and_then(|()| check_aerodrome(&source, &truth, &checker))
            .map_err(|wrong| format!("sync edges {sync_edges}: {wrong}"))?;
        seen.add(&truth);
    }
    Ok(seen)
}

/// The trace of some steps; where locations overlap, some accesses are approximate too.
fn make(shape: &Shape, steps: &[u32]) -> (Tables, Vec<Event>) {
    let (tables, mut events) = trace_of(shape, steps);
    if shape.overlapping {
        for (event, step) in events.iter_mut().zip(steps) {
            if step % 11 == 0
                && let Op::Read(flags, _) | Op::Write(flags, _) | Op::Update(flags, _) =
                    &mut event.op
            {
                *flags = flags.with(AccessFlags::APPROXIMATE);
            }
        }
    }
    (tables, events)
}

/// Drops steps as long as the trace still fails.
fn shrink(shape: &Shape, mut steps: Vec<u32>) -> Vec<u32> {
    let fails = |steps: &[u32]| {
        let (tables, events) = make(shape, steps);
        check(&tables, &events).is_err()
    };
    let mut chunk = steps.len();
    while chunk > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + chunk).min(steps.len()));
            if fails(&fewer) {
                steps = fewer;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    steps
}

/// `UNTORN_SEED=n` checks other traces than usual.
fn shifted(seeds: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    let other = std::env::var("UNTORN_SEED").map_or(0, |n| n.parse::<u64>().unwrap());
    seeds.map(move |seed| seed + other * 1_000_000)
}

/// Checks random traces; a failing one is made small and kept among the regressions.
fn check_random(name: &str, shape: &Shape, seeds: std::ops::Range<u64>, nobody_blamed: u32) {
    let mut seen = Seen::default();
    for seed in shifted(seeds) {
        let length = 10 + (seed as usize * 7) % 191;
        let shape = Shape {
            threads: 2 + (seed % 5) as u32,
            ..shape.clone()
        };
        let steps = random_steps(seed, length);
        let (tables, events) = make(&shape, &steps);
        if let Ok(found) = check(&tables, &events) {
            seen.merge(&found);
            continue;
        }
        let steps = shrink(&shape, steps);
        let (tables, events) = make(&shape, &steps);
        let wrong = check(&tables, &events).unwrap_err();
        let mut writer = untorn_trace::TextWriter::new("regression", Vec::new());
        writer.write(&tables, &events).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let path = format!(
            "{}/tests/regressions/{name}-{seed}.std",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(&path, &text).unwrap();
        panic!("seed {seed}: {wrong}\n{text}kept in {path}");
    }
    seen.assert_at_least(&Seen {
        acyclic: 1000,
        torn: 1000,
        torn_by_sync_alone: 100,
        nobody_blamed,
        inner_blamed: 100,
        several_components: 100,
        by_own_threads_alone: 0,
    });
}

#[test]
fn crowded_traces() {
    check_random("crowded", &Shape::crowded(), 0..5_000, 0);
}

#[test]
fn ordinary_traces() {
    check_random("ordinary", &Shape::default(), 100_000..105_000, 5);
}

#[test]
fn traces_with_everything() {
    check_random("everything", &Shape::full(), 200_000..205_000, 5);
}

/// With many locations conflicts are few, and so cycles that blame nobody are frequent.
#[test]
fn calm_traces() {
    let shape = Shape {
        variables: 14,
        locks: 6,
        ..Shape::default()
    };
    check_random("calm", &shape, 300_000..307_000, 100);
}

fn check_lines(lines: &[String]) -> Result<Seen, String> {
    let source = VecSource::from_text(&lines.join("\n")).map_err(|e| e.to_string())?;
    check(source.tables(), source.events())
}

/// Drops lines as long as the trace is well-formed and still fails.
fn shrink_lines(mut lines: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while at < lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(at);
        if VecSource::from_text(&fewer.join("\n")).is_ok() && check_lines(&fewer).is_err() {
            (lines, at) = (fewer, 0);
        } else {
            at += 1;
        }
    }
    lines
}

/// Threads that start and await each other inside of regions: who is observed, and who is only divided by its own threads, is the oracle's.
#[test]
fn families_of_threads() {
    let mut seen = Seen::default();
    for seed in shifted(400_000..416_000) {
        let lines = families::random_family(seed, 20 + (seed as usize * 7) % 91);
        if let Ok(found) = check_lines(&lines) {
            seen.merge(&found);
            continue;
        }
        let lines = shrink_lines(lines);
        let wrong = check_lines(&lines).unwrap_err();
        panic!("seed {seed}: {wrong}\n{}", lines.join("\n"));
    }
    seen.assert_at_least(&Seen {
        acyclic: 1000,
        torn: 1000,
        torn_by_sync_alone: 100,
        nobody_blamed: 5,
        inner_blamed: 100,
        several_components: 100,
        by_own_threads_alone: 300,
    });
}

#[test]
fn regressions() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "std") {
            continue;
        }
        let source = VecSource::from_text(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if let Err(wrong) = check(source.tables(), source.events()) {
            panic!("{}: {wrong}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 0, "no regression file in {folder}");
}

fn truth_of(text: &str, sync_edges: bool) -> Oracle {
    let source = VecSource::from_text(text).unwrap();
    Oracle::new(source.tables(), source.events(), sync_edges)
}

#[test]
fn the_oracle_sees_a_lost_update() {
    let truth = truth_of(
        "A|begin(deposit)|1\nA|r(x)|2\nB|w(x)|3\nA|w(x)|4\nA|end|5\n",
        true,
    );
    assert_eq!(truth.first_violation, Some(3));
    assert!(truth.all.torn.contains(&0) && truth.data.blamed.contains(&0));
    assert_eq!(truth.components.len(), 1);
}

#[test]
fn the_oracle_blames_nobody_for_a_crossing_and_the_innermost_of_nested_regions() {
    let crossing =
        "A|begin(a)|1\nB|begin(b)|2\nA|w(x)|3\nB|w(y)|4\nB|r(x)|5\nA|r(y)|6\nA|end|7\nB|end|8\n";
    let truth = truth_of(crossing, true);
    assert_eq!(truth.first_violation, Some(5));
    assert!(truth.all.torn.is_empty());
    let nested =
        "A|begin(a)|1\nA|begin(b)|2\nA|r(x)|3\nB|w(x)|4\nA|r(x)|5\nA|end|6\nA|r(x)|7\nA|end|8\n";
    let truth = truth_of(nested, true);
    assert_eq!(truth.all.torn, [0, 1].into());
    assert_eq!(truth.all.blamed, [1].into());
}

#[test]
fn the_oracle_calls_a_region_torn_by_locks_alone_torn_but_not_by_data() {
    let text = "A|begin(a)|1\nA|acq(m)|2\nA|rel(m)|3\nB|acq(m)|4\nB|rel(m)|5\nA|acq(m)|6\nA|rel(m)|7\nA|end|8\n";
    let truth = truth_of(text, true);
    assert!(truth.all.torn.contains(&0) && truth.data.torn.is_empty());
    assert!(!truth_of(text, false).cyclic());
}
