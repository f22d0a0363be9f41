//! Lockset and Atomizer against the rules of the paper written down naively, on random traces.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod naive;

use std::collections::{BTreeMap, BTreeSet};

use naive::{Naive, Settings, Violated};
use untorn_analyses::assumptions::{Assumptions, Guard, Pattern};
use untorn_analyses::atomizer::{Atomizer, Mode, Options, Refinements};
use untorn_analyses::lockset::{self, Lockset};
use untorn_analyses::{Analysis, Outcome, run};
use untorn_findings::{Kind, Reduction};
use untorn_model::{AccessFlags, Event, LockId, MethodId, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::VecSource;
use untorn_trace::generate::{Shape, random_trace};

const TRACES: u64 = 2000;

fn shapes() -> [Shape; 4] {
    let nested = Shape {
        threads: 3,
        variables: 3,
        locks: 4,
        ..Shape::full()
    };
    [Shape::default(), Shape::crowded(), Shape::full(), nested]
}

/// A random trace in which some accesses are 64 bits wide.
fn trace(seed: u64) -> (Tables, Vec<Event>) {
    let shapes = shapes();
    let shape = &shapes[seed as usize % shapes.len()];
    let (tables, mut events) = random_trace(seed, shape, 20 + (seed % 180) as usize);
    for (i, event) in events.iter_mut().enumerate() {
        if (i as u64 + seed).is_multiple_of(5) {
            let wide = |flags: AccessFlags| {
                if flags.is_volatile() {
                    flags
                } else {
                    flags.with(AccessFlags::WIDE)
                }
            };
            event.op = match event.op {
                Op::Read(flags, var) => Op::Read(wide(flags), var),
                Op::Write(flags, var) => Op::Write(wide(flags), var),
                Op::Update(flags, var) => Op::Update(wide(flags), var),
                other => other,
            };
        }
    }
    (tables, events)
}

fn outcome(
    tables: &Tables,
    events: &[Event],
    batch: usize,
    analysis: Box<dyn Analysis>,
) -> Outcome {
    let mut source = VecSource::new(tables.clone(), events.to_vec())
        .unwrap()
        .with_batches_of(batch);
    run(&mut source, &mut [analysis], &mut |_| {}).unwrap()
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Key {
    Named(RegionId),
    Anonymous(ThreadId, SiteId),
}

/// Violated executions by region, in the order of first violations.
fn by_region(events: &[Event], violated: &[Violated]) -> Vec<Vec<Violated>> {
    let mut order: Vec<Vec<Violated>> = Vec::new();
    let mut at: BTreeMap<Key, usize> = BTreeMap::new();
    for one in violated {
        let entry = &events[one.entry];
        let key = if one.region == RegionId::ANONYMOUS {
            Key::Anonymous(entry.thread, entry.site)
        } else {
            Key::Named(one.region)
        };
        let slot = *at.entry(key).or_insert_with(|| {
            order.push(Vec::new());
            order.len() - 1
        });
        order[slot].push(*one);
    }
    order
}

fn shown(events: &[Event], violated: &[Violated]) -> Vec<[u64; 3]> {
    let mut seen = BTreeSet::new();
    (violated.iter())
        .filter(|one| seen.insert((events[one.commit].site, events[one.violation].site)))
        .map(|one| [one.entry as u64, one.commit as u64, one.violation as u64])
        .take(5)
        .collect()
}

fn triple(reduction: &Reduction) -> [u64; 3] {
    [
        reduction.entry.event.unwrap(),
        reduction.commit.event.unwrap(),
        reduction.violation.event.unwrap(),
    ]
}

/// Runs both and compares everything that is reported; says how many regions were.
fn compare(seed: u64, settings: &Settings, assumptions: Assumptions) -> usize {
    let (tables, events) = trace(seed);
    let naive = Naive::run(&tables, &events, settings.clone());
    let options = Options {
        mode: settings.mode,
        refinements: settings.refinements,
        shared_from_the_start: settings.from_the_start,
        assumptions,
    };
    let batch = 1 + seed as usize % 50;
    let outcome = outcome(&tables, &events, batch, Box::new(Atomizer::new(options)));
    let expected = by_region(&events, &naive.violated);
    let found: Vec<_> = (outcome.findings.iter())
        .filter(|finding| finding.kind == Kind::Reduction)
        .collect();
    assert_eq!(found.len(), expected.len(), "seed {seed} {settings:?}");
    for (finding, executions) in found.iter().zip(&expected) {
        let reductions = &finding.evidence.reductions;
        let triples: Vec<_> = reductions.iter().map(triple).collect();
        assert_eq!(
            triples,
            shown(&events, executions),
            "seed {seed} {settings:?}"
        );
        assert_eq!(finding.occurrences, executions.len() as u64, "seed {seed}");
    }
    let races: u64 = (outcome.findings.iter())
        .filter(|finding| finding.kind == Kind::Race)
        .map(|finding| finding.occurrences)
        .sum();
    assert_eq!(
        races,
        naive.undisciplined.values().sum::<u64>(),
        "seed {seed}"
    );
    let harmless: BTreeSet<String> = (naive.vars.iter())
        .filter(|(var, this)| {
            let racy = this.unprotected && this.plain && !settings.guarded.contains(*var);
            racy && !this.harmful
        })
        .map(|(&var, _)| tables.var_name(var))
        .collect();
    let stats = &outcome.stats["atomizer"];
    let listed: BTreeSet<String> = (stats["racy_fields_without_harm"].as_array().unwrap().iter())
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, harmless, "seed {seed} {settings:?}");
    assert_eq!(stats["lockset_pairs"], naive.pairs.len(), "seed {seed}");
    found.len()
}

#[test]
fn every_mode_reports_what_its_figure_says() {
    let mut reported = 0;
    for seed in 0..TRACES {
        for mode in [Mode::Full, Mode::Relaxed, Mode::Strict] {
            let mut settings = Settings::new(mode, Refinements::ALL);
            settings.from_the_start = seed % 3 == 0;
            reported += compare(seed, &settings, Assumptions::default());
        }
    }
    assert!(
        reported > 1000,
        "only {reported} regions were reported at all"
    );
}

#[test]
fn declared_guards_decide_as_in_figure_8() {
    let mut reported = 0;
    for seed in 0..TRACES {
        let mut settings = Settings::new(Mode::Declared, Refinements::ALL);
        settings.from_the_start = seed % 2 == 0;
        let (tables, _) = trace(seed);
        for (var, _) in tables.vars().iter() {
            let guard = match tables.var_name(var).as_str() {
                "o0.a" | "o0.b" => Some(LockId(0)),
                "o1.a" => None,
                _ => continue,
            };
            settings.guards.insert(var, guard);
        }
        let assumptions = Assumptions {
            guards: vec![
                ("o0.*".into(), Guard::Named(Pattern::new("m0"))),
                ("o1.a".into(), Guard::Named(Pattern::new("nowhere"))),
            ],
            ..Assumptions::default()
        };
        reported += compare(seed, &settings, assumptions);
    }
    assert!(
        reported > 1000,
        "only {reported} regions were reported at all"
    );
}

#[test]
fn every_set_of_refinements_reports_what_section_4_says() {
    let mut reported = [0; 6];
    for seed in 0..TRACES {
        for (i, (_, refinements)) in Refinements::cumulative().into_iter().enumerate() {
            reported[i] += compare(
                seed,
                &Settings::new(Mode::Full, refinements),
                Assumptions::default(),
            );
        }
        let odd = Refinements {
            reentrant: seed % 2 == 0,
            thread_local_locks: seed % 3 == 0,
            thread_local_2_locks: seed % 5 < 2,
            protected_locks: seed % 7 < 4,
            write_protected_data: seed % 11 < 6,
        };
        compare(
            seed,
            &Settings::new(Mode::Full, odd),
            Assumptions::default(),
        );
    }
    assert!(
        reported.is_sorted_by(|a, b| a > b),
        "each removes some: {reported:?}"
    );
}

#[test]
fn assumptions_change_what_the_paper_says_they_change() {
    let mut reported = 0;
    for seed in 0..TRACES {
        let (tables, _) = trace(seed);
        let mut settings = Settings::new(Mode::Full, Refinements::ALL);
        for (site, _) in tables.sites.iter() {
            let name = tables.site_name(site).unwrap();
            if name.ends_with(":3") || name.ends_with(":12") {
                settings.silenced.insert(site);
            }
        }
        settings.guarded = (tables.vars().iter())
            .map(|(var, _)| var)
            .filter(|&var| tables.var_name(var) == "o0.b")
            .collect();
        settings.atomic_regions = [RegionId(1)].into();
        settings.mover_methods = [MethodId(2)].into();
        let assumptions = Assumptions {
            atomic: vec!["region1".into()],
            mover: vec!["*.method2".into()],
            guarded: vec!["o0.b".into()],
            no_warn: vec!["Main.java:3".into(), "**:12".into()],
            guards: Vec::new(),
        };
        reported += compare(seed, &settings, assumptions);
    }
    assert!(
        reported > 1000,
        "only {reported} regions were reported at all"
    );
}

#[test]
fn races_are_the_fields_whose_naive_access_set_is_empty() {
    let (mut races, mut benign) = (0, 0);
    for seed in 0..TRACES {
        let (tables, events) = trace(seed);
        let settings = Settings::new(Mode::Full, Refinements::ALL);
        let naive = Naive::run(&tables, &events, settings);
        let lockset = Lockset::new(lockset::Options::default());
        let outcome = outcome(&tables, &events, 64, Box::new(lockset));
        let expected: BTreeMap<String, bool> = (naive.vars.iter())
            .filter(|(_, this)| this.unprotected && this.plain)
            .map(|(&var, this)| {
                let protected = this.write.as_ref().is_some_and(|set| !set.is_empty());
                (tables.var_name(var), protected)
            })
            .collect();
        let found: BTreeMap<String, bool> = (outcome.findings.iter())
            .map(|finding| {
                let race = &finding.evidence.races[0];
                assert!(!race.accesses.is_empty() || tables.any_overlaps());
                (race.variable.clone(), race.benign_candidate)
            })
            .collect();
        assert_eq!(found, expected, "seed {seed}");
        races += found.len();
        benign += found.values().filter(|benign| **benign).count();
        assert_eq!(outcome.stats["lockset"]["lockset_pairs"], naive.pairs.len());
    }
    assert!(
        races > 1000 && benign > 100,
        "{races} races, {benign} benign"
    );
}
