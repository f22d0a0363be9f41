//! What the profile of a program's own first run is worth: whether a second run over the same events, restricted to it, finds what an unrestricted one finds.
//!
//! A program tells of dependences from the transaction that the other thread is in by then, not from the one that made the access, so the true source lies somewhere before.

use std::collections::BTreeSet;

use untorn_analyses::doublechecker::{FirstRun, Profile, Selected, Selection, StaticRegion};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::{Analysis, run};
use untorn_model::{Op, RegionId, SiteId, ThreadId};
use untorn_trace::generate::random_steps;
use untorn_trace::{Source, VecSource};

use crate::oracle::{Oracle, conflicts};

/// Of which transactions a thread tells beside those that depend on others and those that others depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Telling {
    Nothing,
    /// Of each region, and of being outside, once since it last told of a dependence.
    EachRegionOnce,
    Everything,
}

#[derive(Clone, Copy, Debug)]
enum Told {
    In(u64, Option<u32>),
    Depends(u32, u64, Option<u32>),
}

#[derive(Clone, Debug, Default)]
struct Thread {
    depth: u32,
    number: u64,
    region: Option<u32>,
    /// What it has told of since the last dependence.
    fresh: BTreeSet<Option<u32>>,
    told: Vec<Told>,
}

impl Thread {
    fn turn_to(&mut self, region: Option<u32>, telling: Telling) {
        (self.number, self.region) = (self.number + 1, region);
        let tells = match telling {
            Telling::Nothing => false,
            Telling::EachRegionOnce => self.fresh.insert(region),
            Telling::Everything => true,
        };
        if tells {
            self.told.push(Told::In(self.number, region));
        }
    }
}

/// What each thread of a program tells, which counts transactions as the agent's runtime does.
fn told(source: &VecSource, telling: Telling) -> Vec<Vec<Told>> {
    let events = source.events();
    let mut threads = vec![Thread::default(); source.tables().threads.len()];
    for thread in &mut threads {
        thread.turn_to(None, telling);
    }
    let mut conflicts = conflicts(source.tables(), events).into_iter().peekable();
    for (j, event) in events.iter().enumerate() {
        let t = event.thread.index();
        if let Op::Begin(region) = event.op {
            threads[t].depth += 1;
            if threads[t].depth == 1 {
                threads[t].turn_to(Some(region.0), telling);
            }
        }
        while let Some((i, ..)) = conflicts.next_if(|(_, to, _)| *to == j) {
            let on = &threads[events[i].thread.index()];
            let from = Told::Depends(events[i].thread.0, on.number, on.region);
            let thread = &mut threads[t];
            if thread.depth == 0 {
                thread.turn_to(None, telling);
            }
            thread.fresh = BTreeSet::from([thread.region]);
            thread.told.push(Told::In(thread.number, thread.region));
            thread.told.push(from);
        }
        if let Op::End(_) = event.op {
            threads[t].depth -= 1;
            if threads[t].depth == 0 {
                threads[t].turn_to(None, telling);
            }
        }
    }
    threads.into_iter().map(|thread| thread.told).collect()
}

/// Hears the threads in an order that has nothing to do with the run's.
fn profile(source: &VecSource, telling: Telling, seed: u64) -> Profile {
    let told = told(source, telling);
    let mut first = FirstRun::searching_after(2 + seed as usize % 30);
    let mut heard = vec![0; told.len()];
    let mut random = seed;
    while heard.iter().zip(&told).any(|(n, all)| *n < all.len()) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let t = (random >> 33) as usize % told.len();
        for told in told[t].iter().skip(heard[t]).take(3) {
            heard[t] += 1;
            match *told {
                Told::In(number, region) => first.enter(t as u32, number, region),
                Told::Depends(on, number, region) => {
                    first.depend(t as u32, on, number);
                    first.name(on, number, region);
                }
            }
        }
    }
    let found = first.finish();
    let mut profile = Profile::default();
    for region in found.regions {
        let tables = source.tables();
        let region = StaticRegion::of(tables, RegionId(region), ThreadId(0), SiteId::UNKNOWN);
        profile.add(region);
    }
    if found.unary {
        profile.add_unary();
    }
    profile
}

/// The verdict on each region, and where the transaction began.
type Said = BTreeSet<(String, u64)>;

fn said(source: &VecSource, profile: Option<&Profile>) -> Said {
    let velodrome = Velodrome::new(velodrome::Options {
        examined: u32::MAX,
        ..velodrome::Options::default()
    });
    let mut analysis: Box<dyn Analysis> = Box::new(velodrome);
    if let Some(profile) = profile {
        let selection = Selection::new(profile.clone(), false);
        analysis = Box::new(Selected::new(analysis, selection));
    }
    let outcome = run(&mut source.clone(), &mut [analysis], &mut |_| {}).unwrap();
    (outcome.findings.iter())
        .map(|finding| {
            let name = finding.region.short_name();
            let (kind, verdict) = (finding.kind, finding.verdict);
            let interleaving = &finding.evidence.interleavings[0];
            let unseen = (interleaving.steps.iter()).find(|step| step.op.contains("enter"));
            assert!(
                unseen.is_none(),
                "a step that is not to be seen: {unseen:?}"
            );
            let transaction = &interleaving.transactions[0];
            (format!("{kind:?} {name} {verdict:?}"), transaction.begin)
        })
        .collect()
}

/// Threads that go from region to region; the first stays long in each.
fn random_regions(seed: u64) -> VecSource {
    let mut inside = [false; 3];
    let mut lines = vec!["A|r(x)|0".to_owned()];
    for step in random_steps(seed, 20 + (seed as usize * 7) % 91) {
        let (t, what, operand) = (step as usize % 3, step >> 8 & 0x1f, step >> 13);
        let ends = what < [2, 12, 12][t];
        let op = if !inside[t] {
            // One execution of a region is mostly the only one.
            format!("begin(r{})", operand % 100)
        } else if ends {
            "end".to_owned()
        } else {
            format!("{}(x{})", ["r", "w"][what as usize % 2], operand % 15)
        };
        inside[t] = !(inside[t] && ends);
        lines.push(format!("{}|{op}|{}", ["A", "B", "C"][t], lines.len()));
    }
    VecSource::from_text(&lines.join("\n")).unwrap()
}

/// How many of many random traces have a cycle, in how many of these the second run does not find what a single run finds, and how many profiles leave something out.
fn missed(telling: Telling) -> (u32, u32, u32) {
    let (mut cyclic, mut missed, mut partial) = (0, 0, 0);
    for seed in 500_000..504_000 {
        let source = random_regions(seed);
        if !Oracle::new(source.tables(), source.events(), true).cyclic() {
            continue;
        }
        cyclic += 1;
        let profile = profile(&source, telling, seed);
        let regions = source.tables().regions.len();
        partial += u32::from(!profile.has_unary() || profile.regions().count() < regions);
        missed += u32::from(said(&source, Some(&profile)) != said(&source, None));
    }
    (cyclic, missed, partial)
}

#[test]
fn where_threads_tell_all_that_they_pass_nothing_is_missed() {
    for telling in [Telling::Everything, Telling::EachRegionOnce] {
        let (cyclic, missed, partial) = missed(telling);
        assert!(cyclic > 1000, "only {cyclic} traces have a cycle");
        assert!(partial > 100, "only {partial} profiles leave something out");
        assert_eq!(missed, 0, "{telling:?}, of {cyclic}");
    }
}

#[test]
fn where_they_tell_of_dependences_alone_a_true_source_can_be_missed() {
    let (cyclic, missed, _) = missed(Telling::Nothing);
    assert!(missed >= 10 && missed * 20 < cyclic, "{missed} of {cyclic}");
}

#[test]
fn a_region_between_where_a_cycle_enters_and_leaves_may_hold_the_conflict() {
    // B takes x when A is two regions further: only `enters` and `later` have dependences.
    let text = "B|begin(torn)|1\nB|w(y)|2\n\
        A|begin(enters)|3\nA|r(y)|4\nA|end|5\n\
        A|begin(source)|6\nA|w(x)|7\nA|end|8\n\
        A|begin(later)|9\nB|r(x)|10\nA|end|11\nB|end|12\n";
    let source = VecSource::from_text(text).unwrap();
    let single = said(&source, None);
    assert_eq!(single, Said::from([("Torn torn Observed".to_owned(), 0)]));
    let chosen = |telling| {
        let profile = profile(&source, telling, 0);
        let source_is_in = profile.contains(&StaticRegion::Label("source".to_owned()));
        (source_is_in, said(&source, Some(&profile)))
    };
    assert_eq!(chosen(Telling::Nothing), (false, Said::default()));
    assert_eq!(chosen(Telling::EachRegionOnce), (true, single.clone()));
    assert_eq!(chosen(Telling::Everything), (true, single));
}

#[test]
fn evidence_shows_nothing_that_was_not_selected() {
    // The thread's last event is in a region that is not selected; what is awaited is shown by an earlier one.
    let text = "A|begin(a)|1\nA|w(x)|2\nA|fork(B)|3\n\
        B|begin(b)|4\nB|r(x)|5\nB|end|6\nB|begin(c)|7\nB|r(y)|8\nB|end|9\n\
        A|join(B)|10\nA|end|11\n";
    let source = VecSource::from_text(text).unwrap();
    let mut profile = Profile::default();
    for region in ["a", "b"] {
        profile.add(StaticRegion::Label(region.to_owned()));
    }
    let found = said(&source, Some(&profile));
    assert_eq!(found, Said::from([("ForkJoin a Suspected".to_owned(), 0)]));
}
