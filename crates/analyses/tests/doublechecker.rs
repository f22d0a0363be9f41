//! DoubleChecker against the brute-force oracle, on random traces and on the situations that the paper draws.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

mod evidence;
mod families;
mod first_run;
mod oracle;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use evidence::Checker;
use oracle::{Oracle, Transaction};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::doublechecker::{
    DoubleChecker, Mode, Options, Profile, Selected, Selection, StaticRegion,
};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::{Analysis, Context, Outcome};
use untorn_findings::{Kind, Verdict};
use untorn_model::{AccessFlags, Event, EventIndex, Op, Tables, ThreadId};
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::{Batch, Source, VecSource};

/// Feeds a trace to one analysis, which stays at hand.
fn analyze(analysis: &mut dyn Analysis, source: &VecSource) -> Outcome {
    let mut source = source.clone().with_batches_of(16);
    let (mut events, mut first) = (Vec::new(), EventIndex(0));
    loop {
        let kinds = source.fill(&mut events).unwrap();
        let context = Context {
            source: None,
            tables: source.tables(),
            replay: Source::replay(&source),
        };
        if events.is_empty() {
            let mut outcome = Outcome::default();
            analysis.finish(&context, &mut outcome).unwrap();
            return outcome;
        }
        let batch = Batch {
            first,
            events: &events,
            kinds,
        };
        analysis.batch(&batch, &context).unwrap();
        first.0 += events.len() as u64;
    }
}

/// Traces of every shape and length.
fn traces(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, VecSource)> {
    let few_threads = Shape {
        threads: 2,
        ..Shape::crowded()
    };
    let shapes = [
        Shape::default(),
        Shape::crowded(),
        Shape::full(),
        few_threads,
    ];
    seeds.map(move |seed| {
        let shape = &shapes[seed as usize % shapes.len()];
        let (tables, mut events) = random_trace(seed, shape, 10 + (seed as usize * 7) % 190);
        for event in events.iter_mut().skip(5).step_by(11) {
            if let Op::Read(flags, _) | Op::Write(flags, _) = &mut event.op
                && shape.overlapping
            {
                *flags = flags.with(AccessFlags::APPROXIMATE);
            }
        }
        (seed, VecSource::new(tables, events).unwrap())
    })
}

/// Traces in which threads start and await each other.
fn family_traces(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, VecSource)> {
    seeds.map(|seed| {
        let lines = families::random_family(seed, 20 + (seed as usize * 7) % 91);
        (seed, VecSource::from_text(&lines.join("\n")).unwrap())
    })
}

fn options(seed: u64, sync_edges: bool, mode: Mode) -> Options {
    Options {
        sync_edges,
        mode,
        examined: u32::MAX,
        // From no collection at all to one at almost every edge.
        keep: [None, Some(1), Some(3), Some(8)][seed as usize / 4 % 4],
    }
}

/// What an outcome says of the trace, every piece of evidence checked: who is blamed, and which components are reported.
#[derive(PartialEq, Eq, Debug)]
struct Said {
    /// The begin of a region, whether it was observed to be torn, and whether by its own threads alone.
    blamed: BTreeSet<(usize, bool, bool)>,
    components: BTreeSet<usize>,
}

fn said(outcome: &Outcome, source: &VecSource, truth: &Oracle, sync_edges: bool) -> Said {
    let checker = Checker {
        tables: source.tables(),
        events: source.events(),
        truth,
        sync_edges,
    };
    let mut said = Said {
        blamed: BTreeSet::new(),
        components: BTreeSet::new(),
    };
    for finding in &outcome.findings {
        for claim in checker.check(finding).unwrap() {
            let component = (truth.components.iter())
                .position(|component| component.contains(&claim.transactions[0]));
            said.components
                .insert(component.expect("a claim of no cycle"));
            if let Some(blamed) = claim.blamed {
                let by_own_threads = claim.by_own_threads;
                (said.blamed).insert((blamed, claim.observed, by_own_threads));
            }
        }
    }
    said
}

/// Whether every event of a transaction is in what was passed on.
fn covered(
    suspects: &[(ThreadId, std::ops::Range<EventIndex>)],
    transaction: Transaction,
    events: &[Event],
) -> bool {
    (transaction.begin..=transaction.end)
        .filter(|i| events[*i].thread.0 == transaction.thread)
        .all(|i| {
            let i = EventIndex(i as u64);
            (suspects.iter())
                .any(|(thread, range)| thread.0 == transaction.thread && range.contains(&i))
        })
}

fn profile_of(source: &VecSource, options: &Options) -> Profile {
    let slot = Arc::new(OnceLock::new());
    let mut first = DoubleChecker::new(Options {
        mode: Mode::FirstRun(Arc::clone(&slot)),
        ..options.clone()
    });
    let outcome = analyze(&mut first, source);
    assert!(outcome.findings.is_empty(), "a first run reports nothing");
    slot.get().cloned().expect("a first run yields a profile")
}

fn second_run(options: Options, profile: &Profile, always_unary: bool) -> Selected {
    let selection = Selection::new(profile.clone(), always_unary);
    Selected::new(Box::new(DoubleChecker::new(options)), selection)
}

#[test]
fn verdicts_components_and_blame_are_the_oracles() {
    let (mut cyclic, mut quiet) = (0, 0);
    for (seed, source) in traces(0..20_000).chain(family_traces(400_000..408_000)) {
        for sync_edges in [true, false] {
            let truth = Oracle::new(source.tables(), source.events(), sync_edges);
            let mut checker = DoubleChecker::new(options(seed, sync_edges, Mode::SingleRun));
            let outcome = analyze(&mut checker, &source);
            let suspects: Vec<_> = checker.suspects().collect();
            for transaction in truth.components.iter().flatten() {
                let transaction = truth.transactions[*transaction];
                assert!(
                    covered(&suspects, transaction, source.events()),
                    "seed {seed}, sync {sync_edges}: {transaction:?} is on a cycle and not passed on"
                );
            }
            let said = said(&outcome, &source, &truth, sync_edges);
            assert_eq!(
                said.components.len(),
                truth.components.len(),
                "seed {seed}, sync {sync_edges}: components reported"
            );
            for (blamed, observed, by_own_threads) in &said.blamed {
                assert!(
                    truth.all.torn.contains(blamed),
                    "seed {seed}: {blamed} is not torn"
                );
                assert_eq!(
                    *observed,
                    truth.observed.contains(blamed),
                    "seed {seed}: {blamed}"
                );
                let by_data = truth.data.torn.contains(blamed) && !by_own_threads;
                assert!(by_data || !observed, "seed {seed}: {blamed}");
            }
            // Every innermost region that holds both ends of a tear, and no other.
            let blamed: BTreeSet<usize> = said.blamed.iter().map(|(region, ..)| *region).collect();
            let must = &truth.all.blamed | &truth.data.blamed;
            assert!(
                blamed.is_superset(&must) && blamed.is_subset(&(&must | &truth.observed)),
                "seed {seed}, sync {sync_edges}: blamed {blamed:?} and not {must:?}"
            );
            let first = outcome.stats["doublechecker"]["first_violation"].as_u64();
            assert_eq!(
                first.map(|i| i as usize),
                truth.first_violation,
                "seed {seed}"
            );
            cyclic += usize::from(truth.cyclic());
            quiet += usize::from(suspects.is_empty());
        }
    }
    assert!(cyclic > 10_000, "only {cyclic} traces have a cycle");
    assert!(
        quiet > 1_500,
        "only {quiet} traces are cleared without a second look"
    );
}

#[test]
fn every_way_to_check_a_trace_finds_the_same() {
    let (mut found, mut partial) = (0, 0);
    for (seed, source) in traces(50_000..60_000).chain(family_traces(450_000..454_000)) {
        let sync_edges = seed / 16 % 2 == 0;
        let truth = Oracle::new(source.tables(), source.events(), sync_edges);
        let say = |analysis: &mut dyn Analysis| {
            said(&analyze(analysis, &source), &source, &truth, sync_edges)
        };
        let check = |mode| say(&mut DoubleChecker::new(options(seed, sync_edges, mode)));
        let velodrome = || {
            Box::new(Velodrome::new(velodrome::Options {
                sync_edges,
                examined: u32::MAX,
                ..velodrome::Options::default()
            }))
        };
        let aerodrome = || {
            Box::new(Aerodrome::new(aerodrome::Options {
                sync_edges,
                examined: u32::MAX,
                ..aerodrome::Options::default()
            }))
        };
        let single = check(Mode::SingleRun);
        let profile = profile_of(&source, &options(seed, sync_edges, Mode::SingleRun));
        for always_unary in [false, true] {
            let options = options(seed, sync_edges, Mode::SingleRun);
            let second = say(&mut second_run(options, &profile, always_unary));
            assert_eq!(second, single, "seed {seed}: second run, {always_unary}");
        }
        assert_eq!(
            check(Mode::PreciseOnly),
            single,
            "seed {seed}: precise only"
        );
        let selection = Selection::new(profile.clone(), false);
        let mut selected = Selected::new(velodrome(), selection.clone());
        assert_eq!(
            say(&mut selected),
            say(&mut *velodrome()),
            "seed {seed}: velodrome as second run"
        );
        let mut selected = Selected::new(aerodrome(), selection);
        assert_eq!(
            say(&mut selected),
            single,
            "seed {seed}: aerodrome as second run"
        );
        assert_eq!(say(&mut *aerodrome()), single, "seed {seed}: aerodrome");
        found += usize::from(!single.components.is_empty());
        partial += usize::from(!profile.has_unary() && profile.regions().next().is_some());
    }
    assert!(found > 2_000, "only {found} traces have a cycle");
    assert!(
        partial > 50,
        "only {partial} profiles leave events outside of regions out"
    );
}

#[test]
fn a_second_run_knows_whose_child_a_thread_is() {
    let steps = [
        "A|begin(a)",
        "A|w(x)",
        "A|fork(B)",
        "B|begin(b)",
        "B|fork(C)",
        "C|w(x)",
        "B|join(C)",
        "B|end",
        "A|join(B)",
        "A|r(x)",
        "A|end",
    ];
    let lines = (1..)
        .zip(steps)
        .map(|(line, step)| format!("{step}|{line}\n"));
    let source = VecSource::from_text(&lines.collect::<String>()).unwrap();
    let mut profile = Profile::default();
    profile.add(StaticRegion::Label("a".to_owned()));
    profile.add_unary();
    let found = |analysis: &mut dyn Analysis| -> Vec<_> {
        let outcome = analyze(analysis, &source);
        let findings = outcome.findings.iter();
        let of_a = findings.filter(|it| it.region.method == "a");
        of_a.map(|it| (it.kind, it.verdict)).collect()
    };
    let single = found(&mut DoubleChecker::new(Options::default()));
    assert_eq!(single, [(Kind::ForkJoin, Verdict::Suspected)]);
    let mut second = second_run(Options::default(), &profile, false);
    assert_eq!(found(&mut second), single);
}

fn check_text(text: &str) -> (VecSource, DoubleChecker, Outcome) {
    let source = VecSource::from_text(text).unwrap();
    let mut checker = DoubleChecker::new(Options::default());
    let outcome = analyze(&mut checker, &source);
    (source, checker, outcome)
}

fn suspect_threads(checker: &DoubleChecker, tables: &Tables) -> BTreeSet<String> {
    (checker.suspects())
        .map(|(thread, _)| tables.thread_name(thread))
        .collect()
}

#[test]
fn the_precise_analysis_takes_two_of_the_four_transactions_of_figure_3() {
    let begins: String = (1..=7).map(|i| format!("T{i}|begin(t{i})|{i}\n")).collect();
    let middle = "T1|w(o.f)|8\nT7|w(p.q)|9\nT6|r(p.q)|10\nT5|r(p.q)|11\nT2|r(o.g)|12\n";
    let shared = "T3|r(o.f)|13\nT4|r(o.h)|14\nT4|r(p.q)|15\nT1|w(o.f)|16\n";
    let (source, checker, outcome) = check_text(&format!("{begins}{middle}{shared}T1|end|17\n"));
    let four = ["T1", "T2", "T3", "T4"].map(str::to_owned);
    assert_eq!(suspect_threads(&checker, source.tables()), four.into());
    let [finding] = &outcome.findings[..] else {
        panic!("{:#?}", outcome.findings);
    };
    assert_eq!(
        (finding.kind, finding.verdict),
        (Kind::Torn, Verdict::Observed)
    );
    assert_eq!(finding.region.method, "t1");
    assert_eq!(finding.analyses, ["doublechecker"]);
    let interleaving = &finding.evidence.interleavings[0];
    assert_eq!(interleaving.analysis, "doublechecker");
    let threads: BTreeSet<_> = (interleaving.transactions.iter())
        .map(|t| t.thread.as_str())
        .collect();
    assert_eq!(threads, ["T1", "T3"].into());
    // Without the read of that very field there is an imprecise cycle and nothing to report.
    let harmless = shared.replace("T3|r(o.f)", "T3|r(o.i)");
    let (source, checker, outcome) = check_text(&format!("{begins}{middle}{harmless}T1|end|17\n"));
    assert_eq!(suspect_threads(&checker, source.tables()).len(), 4);
    assert!(outcome.findings.is_empty());
}

#[test]
fn a_cycle_that_is_imprecise_first_and_precise_later_is_found() {
    // When both edges are there, A's write of f and B's write of g still conflict with nothing of the other.
    let early = "A|begin(a)|1\nA|w(o.f)|2\nB|begin(b)|3\nB|w(o.g)|4\nA|r(o.g)|5\n";
    let (_, checker, outcome) = check_text(early);
    assert_eq!(checker.suspects().count(), 2);
    assert!(outcome.findings.is_empty());
    let (_, _, outcome) = check_text(&format!("{early}B|r(o.f)|6\nB|end|7\nA|end|8\n"));
    assert_eq!(outcome.findings.len(), 1);
}

#[test]
fn a_profile_names_regions_of_the_program_and_carries_over_to_another_run() {
    let run = |x: &str| {
        format!(
            "A|begin(deposit)|1\nA|r({x})|2\nB|w({x})|3\nA|w({x})|4\nA|end|5\nA|begin(log)|6\nA|w(l)|7\nA|end|8\n"
        )
    };
    let source = VecSource::from_text(&run("x")).unwrap();
    let profile = profile_of(&source, &Options::default());
    let regions: Vec<_> = profile.regions().cloned().collect();
    assert_eq!(regions, [StaticRegion::Label("deposit".to_owned())]);
    assert!(profile.has_unary());
    let second = |profile: &Profile, always_unary| {
        let source = VecSource::from_text(&run("y")).unwrap();
        let mut checker = second_run(Options::default(), profile, always_unary);
        let outcome = analyze(&mut checker, &source);
        let stats = &outcome.stats["doublechecker"];
        let seen = (
            stats["regular_transactions"].as_u64(),
            stats["accesses_outside"].as_u64(),
        );
        (outcome.findings.len(), seen)
    };
    assert_eq!(second(&profile, false), (1, (Some(1), Some(1))));
    assert_eq!(second(&Profile::default(), false), (0, (Some(0), Some(0))));
    assert_eq!(second(&Profile::default(), true), (0, (Some(0), Some(1))));
}
