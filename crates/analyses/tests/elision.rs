//! What the agent leaves out of a log invents nothing, and what it leaves out of locks hides nothing: the same trace with and without it, by the definition of *torn*.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

#[expect(dead_code, reason = "more of the truth than is asked for here")]
mod oracle;

use std::collections::{BTreeSet, HashMap};

use oracle::Oracle;
use untorn_model::{Event, LockId, LockMode, Op, Tables, ThreadId, VarId};
use untorn_trace::VecSource;
use untorn_trace::generate::{Shape, random_trace};

/// Events that were kept, with their places in the whole trace, in which put-in ones have that of the next.
type Kept = Vec<(usize, Event)>;

/// Where regions begin that are torn by data alone.
fn torn(tables: &Tables, kept: &Kept) -> BTreeSet<usize> {
    let events: Vec<Event> = kept.iter().map(|&(_, event)| event).collect();
    // What is left is a trace.
    let source = VecSource::new(tables.clone(), events).unwrap();
    let truth = Oracle::new(tables, source.events(), true);
    truth.data.torn.iter().map(|&begin| kept[begin].0).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum User {
    Lone(ThreadId),
    Many,
}

/// Leaves out locks that one thread alone has used so far, as the runtime does.
fn without_lone_locks(events: &[Event]) -> Kept {
    let mut users: HashMap<LockId, User> = HashMap::new();
    let mut depths: HashMap<LockId, usize> = HashMap::new();
    let mut kept = Vec::new();
    for (i, &event) in events.iter().enumerate() {
        let lone = User::Lone(event.thread);
        let is_lone = |lock| users.get(&lock) == Some(&lone);
        match event.op {
            Op::Acquire(LockMode::Exclusive, lock) => {
                let user = users.entry(lock).or_insert(lone);
                if *user == lone {
                    depths.insert(lock, 1);
                    continue;
                }
                *user = User::Many;
            }
            Op::Reacquire(LockMode::Exclusive, lock) if is_lone(lock) => {
                *depths.entry(lock).or_default() += 1;
                continue;
            }
            Op::Release(LockMode::Exclusive, lock) | Op::Rerelease(LockMode::Exclusive, lock)
                if is_lone(lock) =>
            {
                *depths.entry(lock).or_default() -= 1;
                continue;
            }
            Op::Notify(lock) if is_lone(lock) => continue,
            Op::Wait(lock) | Op::Acquire(LockMode::Shared, lock) => {
                let held = if is_lone(lock) { depths[&lock] } else { 0 };
                for depth in 0..held {
                    let op = match depth {
                        0 => Op::Acquire(LockMode::Exclusive, lock),
                        _ => Op::Reacquire(LockMode::Exclusive, lock),
                    };
                    kept.push((i, Event { op, ..event }));
                }
                users.insert(lock, User::Many);
            }
            _ => {}
        }
        kept.push((i, event));
    }
    kept
}

/// Leaves out accesses to locations that one thread alone has used so far.
fn without_private_locations(events: &[Event]) -> Kept {
    let mut users: HashMap<VarId, User> = HashMap::new();
    let mut kept = Vec::new();
    for (i, &event) in events.iter().enumerate() {
        if let Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) = event.op {
            let lone = User::Lone(event.thread);
            let user = users.entry(var).or_insert(lone);
            if *user == lone {
                continue;
            }
            *user = User::Many;
        }
        kept.push((i, event));
    }
    kept
}

/// Runs many traces; how many events were left out, and how many regions torn in what was left.
fn compare(
    shape: &Shape,
    shorten: fn(&[Event]) -> Kept,
    check: impl Fn(&BTreeSet<usize>, &BTreeSet<usize>) -> bool,
) {
    let (mut left_out, mut still_torn) = (0, 0);
    for seed in 0..4_000 {
        let (tables, events) = random_trace(seed, shape, 70);
        let all: Kept = events.iter().copied().enumerate().collect();
        let fewer = shorten(&events);
        left_out += all.len().saturating_sub(fewer.len());
        let (before, after) = (torn(&tables, &all), torn(&tables, &fewer));
        still_torn += after.len();
        assert!(check(&before, &after), "seed {seed}: {before:?} {after:?}");
    }
    assert!(
        left_out > 4_000 && still_torn > 1_000,
        "{left_out} {still_torn}"
    );
}

#[test]
fn locks_of_one_thread_change_nothing_that_was_seen() {
    let shape = Shape {
        locks: 5,
        variables: 3,
        ..Shape::default()
    };
    compare(&shape, without_lone_locks, |before, after| before == after);
}

#[test]
fn private_locations_hide_and_never_invent() {
    compare(
        &Shape::default(),
        without_private_locations,
        |before, after| after.is_subset(before),
    );
}
