//! An id that stands for one thing after another is as good as an id for each of them.
//!
//! Traces are made in which objects and locks are gone here and there and their ids used again.
//! Whatever an analysis finds there it finds with an id for each life, and the reverse.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use serde_json::{Value, json};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::atomizer::{self, Atomizer};
use untorn_analyses::doublechecker::{self, DoubleChecker};
use untorn_analyses::lockset::{self, Lockset};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::views::{self, Views};
use untorn_analyses::{Analysis, run};
use untorn_findings::merge;
use untorn_model::{Event, LockId, LockMode, ObjectId, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::VecSource;
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::lives::{end_lives, one_id_a_life, with_classes};

/// A way to make an analysis.
type Make = fn() -> Box<dyn Analysis>;

fn exact() -> Vec<(&'static str, Make)> {
    vec![
        ("velodrome", || {
            Box::new(Velodrome::new(velodrome::Options {
                slack: 20,
                ..velodrome::Options::default()
            }))
        }),
        ("aerodrome", || {
            Box::new(Aerodrome::new(aerodrome::Options {
                slack: 20,
                ..aerodrome::Options::default()
            }))
        }),
        ("doublechecker", || {
            Box::new(DoubleChecker::new(doublechecker::Options::default()))
        }),
        ("doublechecker, small", || {
            Box::new(DoubleChecker::new(doublechecker::Options {
                keep: Some(8),
                ..doublechecker::Options::default()
            }))
        }),
        ("doublechecker, precise", || {
            Box::new(DoubleChecker::new(doublechecker::Options {
                mode: doublechecker::Mode::PreciseOnly,
                ..doublechecker::Options::default()
            }))
        }),
        ("lockset", || {
            Box::new(Lockset::new(lockset::Options::default()))
        }),
        ("atomizer", || {
            Box::new(Atomizer::new(atomizer::Options::default()))
        }),
    ]
}

fn views() -> Box<dyn Analysis> {
    Box::new(Views::new(views::Options::default()))
}

/// Takes out of a finding what tells lives apart: the numbers of objects, and the order of locks by their ids.
fn level(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(level),
        Value::Array(all) => {
            all.iter_mut().for_each(level);
            if all.iter().all(Value::is_string) {
                all.sort_by_key(ToString::to_string);
            }
        }
        Value::String(text) => {
            let mut parts = text.split('@');
            let first = parts.next().unwrap_or_default().to_owned();
            *text = parts.fold(first, |text, part| {
                text + "@" + part.trim_start_matches(|c: char| c.is_ascii_digit())
            });
        }
        _ => {}
    }
}

/// What an analysis finds, in a form in which lives do not matter.
fn found(tables: &Tables, events: &[Event], make: Make, batch: usize) -> Vec<String> {
    let mut source = VecSource::new(tables.clone(), events.to_vec())
        .unwrap()
        .with_batches_of(batch);
    let outcome = run(&mut source, &mut [make()], &mut |_| {}).unwrap();
    let mut all: Vec<String> = (merge(outcome.findings).iter())
        .map(|finding| {
            let mut value = serde_json::to_value(finding).unwrap();
            // Which of several instances is shown is a matter of when they are looked at.
            value["evidence"]["races"].take();
            if !value["evidence"]["views"].is_null() {
                // So is the place of a region that is reached on several paths.
                let region = &finding.region;
                value = json!([region.class, region.method, region.field]);
            }
            level(&mut value);
            serde_json::to_string_pretty(&value).unwrap()
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Fails with the first line that differs, which tells more than all of both.
fn same(with: &[String], without: &[String], name: &str, seed: u64) {
    let lines = |all: &[String]| {
        all.join("\n")
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (with, without) = (lines(with), lines(without));
    for (i, (one, other)) in with.iter().zip(&without).enumerate() {
        assert_eq!(one, other, "{name}, seed {seed}, line {i}");
    }
    assert_eq!(with.len(), without.len(), "{name}, seed {seed}");
}

fn shapes() -> [Shape; 3] {
    [
        Shape {
            variables: 6,
            ..Shape::crowded()
        },
        Shape {
            variables: 8,
            locks: 4,
            ..Shape::default()
        },
        Shape::full(),
    ]
}

#[test]
fn exact_checkers_locksets_and_atomizer_find_the_same() {
    let (mut findings, mut gone) = (0, 0);
    for seed in 0..150 {
        let shape = &shapes()[seed as usize % 3];
        let (tables, events) = random_trace(seed, shape, 250);
        let tables = with_classes(&tables);
        let reused = end_lives(seed, 6, &tables, &events);
        gone += reused.len() - events.len();
        let (spread_tables, spread) = one_id_a_life(&tables, &reused);
        for (name, make) in exact() {
            let with = found(&tables, &reused, make, 37);
            let without = found(&spread_tables, &spread, make, 37);
            findings += with.len();
            same(&with, &without, name, seed);
        }
    }
    assert!(gone > 1_500, "{gone} lives ended");
    assert!(findings > 1_500, "{findings} findings");
}

/// Traces one after another, each with objects and locks of its own, all regions and sections closed in between.
fn episodes(seed: u64, shape: &Shape) -> (Tables, Vec<Event>) {
    let mut all = Vec::new();
    let mut tables = Tables::default();
    for episode in 0..4 {
        let (made, events) = random_trace(seed * 4 + episode, shape, 120);
        tables = with_classes(&made);
        let begin = all.len();
        let life = |event: &&Event| !matches!(event.op, Op::Fork(_) | Op::Join(_));
        all.extend(events.iter().filter(life));
        let closing = closing(&tables, &all[begin..]);
        all.extend(closing);
        let gone = |op| Event {
            thread: ThreadId(0),
            site: SiteId::UNKNOWN,
            op,
        };
        all.extend((0..tables.objects.len() as u32).map(|o| gone(Op::GoneObject(ObjectId(o)))));
        all.extend((0..tables.locks.len() as u32).map(|l| gone(Op::GoneLock(LockId(l)))));
    }
    (tables, all)
}

/// What ends all that is open.
fn closing(tables: &Tables, events: &[Event]) -> Vec<Event> {
    let mut all = Vec::new();
    let mut checked = VecSource::new(tables.clone(), events.to_vec())
        .unwrap()
        .events()
        .to_vec();
    // Twice, since who waits wakes when others have given the lock up.
    let threads = (0..tables.threads.len() as u32).map(ThreadId);
    for thread in threads.clone().chain(threads) {
        let mut try_all = |ops: &[Op]| {
            // As long as any of them can come next.
            while let Some(events) = ops.iter().find_map(|&op| {
                let site = SiteId::UNKNOWN;
                let mut longer = checked.clone();
                longer.push(Event { thread, site, op });
                VecSource::new(tables.clone(), longer).ok()
            }) {
                checked = events.events().to_vec();
                all.extend(checked.last());
            }
        };
        let locks = || (0..tables.locks.len() as u32).map(LockId);
        try_all(&locks().map(Op::Wake).collect::<Vec<_>>());
        let both = [LockMode::Exclusive, LockMode::Shared];
        let releases = locks().flat_map(|lock| both.map(|mode| Op::Release(mode, lock)));
        try_all(&releases.collect::<Vec<_>>());
        try_all(&[Op::End(RegionId::ANONYMOUS)]);
    }
    all
}

#[test]
fn views_find_the_same_if_objects_that_are_used_together_are_gone_together() {
    let mut findings = 0;
    for seed in 0..80 {
        let shape = Shape {
            calls: false,
            ..shapes()[seed as usize % 3].clone()
        };
        let (tables, reused) = episodes(seed, &shape);
        let (spread_tables, spread) = one_id_a_life(&tables, &reused);
        for (name, make) in [("views", views as Make)].into_iter().chain(exact()) {
            let with = found(&tables, &reused, make, 64);
            let without = found(&spread_tables, &spread, make, 64);
            findings += with.len();
            same(&with, &without, name, seed);
        }
    }
    assert!(findings > 1_000, "{findings} findings");
}

/// The one case that is lost: what tears the view of a dropped object comes after it.
#[test]
fn views_of_a_dropped_object_are_not_compared_with_what_comes_later() {
    let text = "\
A|acq(m)|1\nA|w(o0.a)|2\nA|w(o1.a)|3\nA|rel(m)|4
B|acq(m)|5\nB|w(o1.a)|6\nB|rel(m)|7\nB|acq(m)|8\nB|w(o0.a)|9\nB|rel(m)|10\n";
    let source = VecSource::from_text(text).unwrap();
    let tables = with_classes(untorn_trace::Source::tables(&source));
    let all = source.events().to_vec();
    assert_eq!(found(&tables, &all, views, 64).len(), 1);
    let gone = |at: usize, op| {
        let mut events = all.clone();
        let event = events[0];
        events.insert(at, Event { op, ..event });
        events
    };
    let o1 = tables.vars().iter().nth(1).unwrap().1.object;
    let late = gone(all.len(), Op::GoneObject(o1));
    assert_eq!(found(&tables, &late, views, 64).len(), 1);
    let early = gone(7, Op::GoneObject(o1));
    assert_eq!(found(&tables, &early, views, 64).len(), 0);
}
