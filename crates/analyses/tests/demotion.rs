//! Leaving out of a trace what stays open for long: what is left is a trace, and what is torn of it is what was torn.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

#[expect(dead_code, reason = "more of the truth than is asked for here")]
mod oracle;

use std::collections::BTreeSet;

use oracle::Oracle;
use untorn_analyses::demotion::{Demoting, Options};
use untorn_model::{Event, Op, RegionId, Tables, ThreadId};
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::{Source, VecSource};

/// What is yielded of a trace, and what was demoted.
fn demoted(source: VecSource, long: u64) -> (VecSource, Vec<RegionId>) {
    let options = Options {
        long,
        ..Options::default()
    };
    let (mut demoting, demoted) = Demoting::new(Box::new(source), options, Box::new(|_, _| false));
    // Whatever comes out is checked to be a trace.
    let left = VecSource::from_source(&mut demoting).unwrap();
    let regions = demoted.regions().into_iter().map(|(region, _)| region);
    (left, regions.collect())
}

/// The events without the beginnings and ends of some regions.
fn without(events: &[Event], regions: &[RegionId]) -> Vec<Event> {
    let mut open: Vec<Vec<bool>> = Vec::new();
    let mut left = Vec::new();
    for event in events {
        let thread = event.thread.index();
        if open.len() <= thread {
            open.resize_with(thread + 1, Vec::new);
        }
        let keeps = match event.op {
            Op::Begin(region) => {
                open[thread].push(!regions.contains(&region));
                open[thread].last().copied()
            }
            Op::End(_) => open[thread].pop(),
            _ => None,
        };
        if keeps.unwrap_or(true) {
            left.push(*event);
        }
    }
    left
}

/// The executions that data tears, each by its thread, its region and how many accesses and locks of the thread came before it.
fn torn(tables: &Tables, events: &[Event]) -> BTreeSet<(ThreadId, RegionId, usize)> {
    let truth = Oracle::new(tables, events, true);
    let name = |&begin: &usize| {
        let Event { thread, op, .. } = events[begin];
        let Op::Begin(region) = op else {
            panic!("{begin} begins nothing")
        };
        let before = (events[..begin].iter())
            .filter(|event| event.thread == thread)
            .filter(|event| !matches!(event.op, Op::Begin(_) | Op::End(_)))
            .count();
        (thread, region, before)
    };
    truth.data.torn.iter().map(name).collect()
}

#[test]
fn no_tear_of_what_is_not_demoted_is_lost_or_made() {
    let mut seen = 0;
    for seed in 0..300 {
        let (tables, events) = random_trace(seed, &Shape::default(), 120);
        let source = VecSource::new(tables.clone(), events).unwrap();
        let events = source.events().to_vec();
        let (left, regions) = demoted(source.with_batches_of(7), 20);
        let from_the_start = without(&events, &regions);
        let of_others = |all: BTreeSet<(ThreadId, RegionId, usize)>| -> BTreeSet<_> {
            (all.into_iter())
                .filter(|(_, region, _)| !regions.contains(region))
                .collect()
        };
        let expected = of_others(torn(&tables, &from_the_start));
        assert_eq!(
            of_others(torn(&tables, left.events())),
            expected,
            "seed {seed}"
        );
        seen += usize::from(!regions.is_empty() && !expected.is_empty());
    }
    assert!(seen > 20, "only {seen} traces say something");
}

#[test]
fn what_is_open_for_long_ends_when_nothing_younger_is_open_and_begins_no_more() {
    let mut text = String::from("A|begin(drive)|1\n");
    for line in 0..6 {
        text += &format!("A|begin(step)|{line}\nA|w(x)|{line}\nA|end|{line}\n");
    }
    text += "A|end|9\nA|begin(drive)|10\nA|w(x)|11\nA|end|12\n";
    let source = VecSource::from_text(&text).unwrap();
    let (left, regions) = demoted(source, 8);
    let names: Vec<&str> = (regions.iter())
        .map(|region| left.tables().text(left.tables().regions[*region].name))
        .collect();
    assert_eq!(names, ["drive"]);
    let drives: Vec<usize> = (left.events().iter().enumerate())
        .filter(|(_, event)| {
            matches!(event.op, Op::Begin(region) | Op::End(region) if region == regions[0])
        })
        .map(|(at, _)| at)
        .collect();
    // After three steps, and not in the middle of the third, which began before that was so.
    assert_eq!(drives, [0, 10]);
    assert_eq!(left.events().len(), 1 + 6 * 3 + 1 + 1);
}

#[test]
fn events_keep_their_lines() {
    let mut text = String::from("A|begin|1\n");
    for line in 2..20 {
        text += &format!("A|begin(long)|{line}\nA|w(x)|{line}\nA|w(y)|{line}\nA|end|{line}\n");
    }
    let text = text + "A|end|99\n";
    let whole = VecSource::from_text(&text).unwrap();
    let options = Options {
        long: 2,
        ..Options::default()
    };
    let (mut demoting, _) = Demoting::new(Box::new(whole.clone()), options, Box::new(|_, _| false));
    let (mut batch, mut first) = (Vec::new(), 0);
    loop {
        demoting.fill(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        for (at, event) in (first..).zip(&batch) {
            if event.op.access().is_some() {
                let line = demoting.line_of(untorn_model::EventIndex(at));
                assert_eq!(whole.events()[line as usize - 1].op, event.op);
                assert_eq!(whole.events()[line as usize - 1].site, event.site);
            }
        }
        first += batch.len() as u64;
    }
    assert!(first > 20);
}
