//! The views analysis against the definitions of paper 001 written down naively, on random traces.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::collections::{BTreeMap, BTreeSet};

use untorn_analyses::views::{Options, Views};
use untorn_analyses::{Outcome, run};
use untorn_model::{Event, LockId, LockMode, Op, Tables, ThreadId, VarId};
use untorn_trace::VecSource;
use untorn_trace::generate::{Shape, random_trace};

type Fields = BTreeSet<VarId>;

/// One execution of a critical section.
#[derive(Clone, Debug)]
struct Section {
    thread: ThreadId,
    lock: LockId,
    mode: LockMode,
    /// The locks of the sections around the whole of it.
    enclosing: BTreeSet<LockId>,
    fields: Fields,
    /// The numbers of the sections that were open when this one was opened.
    opened_in: BTreeSet<usize>,
    open: bool,
}

fn sections(tables: &Tables, events: &[Event]) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let close = |all: &mut Vec<Section>, thread, mode, lock| {
        let at = all
            .iter()
            .rposition(|s| s.open && s.thread == thread && s.lock == lock && s.mode == mode);
        let at = at.unwrap();
        all[at].open = false;
        // Enclosing: open before it was opened, and still open now.
        let enclosing = all[at].opened_in.clone();
        all[at].enclosing = (enclosing.iter())
            .filter(|&&outer| all[outer].open)
            .map(|&outer| all[outer].lock)
            .collect();
    };
    for event in events {
        let thread = event.thread;
        let opens = match event.op {
            Op::Acquire(mode, lock) => Some((mode, lock)),
            Op::Wake(lock) => Some((LockMode::Exclusive, lock)),
            _ => None,
        };
        if let Some((mode, lock)) = opens {
            let around = |(_, s): &(usize, &Section)| s.open && s.thread == thread;
            let opened_in = all
                .iter()
                .enumerate()
                .filter(around)
                .map(|(i, _)| i)
                .collect();
            all.push(Section {
                thread,
                lock,
                mode,
                enclosing: BTreeSet::new(),
                fields: Fields::new(),
                opened_in,
                open: true,
            });
        }
        match event.op {
            Op::Release(mode, lock) => close(&mut all, thread, mode, lock),
            Op::Wait(lock) => close(&mut all, thread, LockMode::Exclusive, lock),
            _ => {}
        }
        if let Some((var, _)) = event.op.access() {
            for section in all.iter_mut().filter(|s| s.open && s.thread == thread) {
                section.fields.insert(var);
                section.fields.extend(tables.overlapping(var));
            }
        }
    }
    // The end of the trace closes what is open, innermost first.
    for at in (0..all.len()).rev() {
        if all[at].open {
            let (thread, mode, lock) = (all[at].thread, all[at].mode, all[at].lock);
            close(&mut all, thread, mode, lock);
        }
    }
    // A section within one on the same lock belongs to that one.
    all.retain(|section| !section.enclosing.contains(&section.lock));
    all
}

/// Fields that two threads access and somebody writes after their construction: under a lock, or when another thread has accessed them.
fn variables(tables: &Tables, events: &[Event]) -> Fields {
    let mut held: BTreeMap<ThreadId, usize> = BTreeMap::new();
    // By event: whether its thread holds a lock.
    let locked: Vec<bool> = (events.iter())
        .map(|event| {
            let held = held.entry(event.thread).or_default();
            match event.op {
                Op::Acquire(..) | Op::Wake(_) => *held += 1,
                Op::Release(..) | Op::Wait(_) => *held -= 1,
                _ => {}
            }
            *held > 0
        })
        .collect();
    let accesses_of = |var: VarId| -> Vec<(ThreadId, bool, bool)> {
        (events.iter().zip(&locked))
            .filter(|(event, _)| event.op.access().is_some_and(|(x, _)| x == var))
            .map(|(event, locked)| (event.thread, !matches!(event.op, Op::Read(..)), *locked))
            .collect()
    };
    let mut variables = Fields::new();
    for (var, _) in tables.vars().iter() {
        let own = accesses_of(var);
        let Some(&(first, ..)) = own.first() else {
            continue;
        };
        let shared = own.iter().position(|(thread, ..)| *thread != first);
        let changes = |&(at, (_, writes, locked)): &(usize, &(ThreadId, bool, bool))| {
            *writes && (*locked || shared.is_some_and(|shared| at >= shared))
        };
        let own_is_variable = shared.is_some() && own.iter().enumerate().any(|one| changes(&one));
        let overlapping = tables.overlapping(var).iter().any(|&other| {
            let others = accesses_of(other);
            let mut both = own.iter().chain(&others);
            !others.is_empty()
                && both.clone().any(|(thread, ..)| *thread != first)
                && both.any(|(_, writes, _)| *writes)
        });
        if own_is_variable || overlapping {
            variables.insert(var);
        }
    }
    variables
}

#[derive(Debug, Default, PartialEq)]
struct Truth {
    distinct: usize,
    maximal: usize,
    incompatible: usize,
    /// The fields of all pairs that diverge.
    fields: BTreeSet<Vec<String>>,
}

fn truth(tables: &Tables, events: &[Event]) -> Truth {
    let variables = variables(tables, events);
    let mut sections = sections(tables, events);
    for section in &mut sections {
        section.fields.retain(|var| variables.contains(var));
    }
    sections.retain(|section| !section.fields.is_empty());
    let mut views: BTreeMap<ThreadId, BTreeSet<&Fields>> = BTreeMap::new();
    for section in &sections {
        views
            .entry(section.thread)
            .or_default()
            .insert(&section.fields);
    }
    let mut truth = Truth {
        distinct: views.values().map(BTreeSet::len).sum(),
        ..Truth::default()
    };
    for (&thread, own) in &views {
        let maximal = own.iter().filter(|view| {
            !own.iter()
                .any(|other| other != *view && view.is_subset(other))
        });
        for view in maximal {
            truth.maximal += 1;
            let under: BTreeSet<LockId> = (sections.iter())
                .filter(|s| s.thread == thread && s.fields == **view)
                .map(|s| s.lock)
                .collect();
            for &other in views.keys().filter(|&&other| other != thread) {
                let overlaps: BTreeSet<Fields> = (sections.iter())
                    .filter(|s| s.thread == other)
                    .filter(|s| under.contains(&s.lock) || s.enclosing.is_disjoint(&under))
                    .map(|s| s.fields.intersection(view).copied().collect::<Fields>())
                    .filter(|overlap| !overlap.is_empty())
                    .collect();
                let mut compatible = true;
                for a in &overlaps {
                    for b in &overlaps {
                        if !a.is_subset(b) && !b.is_subset(a) {
                            compatible = false;
                            let names = a.union(b).map(|&var| tables.var_name(var));
                            truth.fields.insert(names.collect());
                        }
                    }
                }
                truth.incompatible += usize::from(!compatible);
            }
        }
    }
    truth
}

fn found(outcome: &Outcome) -> Truth {
    let stats = &outcome.stats["views"];
    let count = |name: &str| stats[name].as_u64().unwrap() as usize;
    Truth {
        distinct: count("distinct_views"),
        maximal: count("maximal_views"),
        incompatible: count("incompatible"),
        fields: (outcome.findings.iter())
            .flat_map(|finding| &finding.evidence.views)
            .map(|conflict| conflict.fields.clone())
            .collect(),
    }
}

#[test]
fn conflicts_are_those_of_the_definitions() {
    let shapes = [
        Shape {
            threads: 3,
            locks: 2,
            ..Shape::default()
        },
        Shape {
            threads: 2,
            variables: 3,
            locks: 3,
            ..Shape::default()
        },
        Shape::full(),
    ];
    let mut incompatible = 0;
    for seed in 0..6000 {
        let shape = &shapes[seed as usize % shapes.len()];
        let (tables, events) = random_trace(seed, shape, 30 + seed as usize % 170);
        let expected = truth(&tables, &events);
        let mut source = VecSource::new(tables, events)
            .unwrap()
            .with_batches_of(1 + seed as usize % 40);
        let views = Views::new(Options::default());
        let outcome = run(&mut source, &mut [Box::new(views)], &mut |_| {}).unwrap();
        let found = found(&outcome);
        let counts = |truth: &Truth| (truth.distinct, truth.maximal, truth.incompatible);
        assert_eq!(counts(&found), counts(&expected), "seed {seed}");
        // Not all pairs are shown, but each that is shown diverges, and none is forgotten altogether.
        assert!(found.fields.is_subset(&expected.fields), "seed {seed}");
        assert_eq!(found.fields.is_empty(), expected.fields.is_empty());
        incompatible += expected.incompatible;
    }
    assert!(incompatible > 1000, "only {incompatible} were incompatible");
}
