//! Objects and locks come and go: their ids are used again, and each stands for one thing at a time.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;
use std::path::Path;

use support::{jdks, watched};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::{LiveSource, Tally, watch};
use untorn_model::{LockId, Op, VarId};
use untorn_trace::Source;

const ITEMS: usize = 300_000;
/// How many the program passes on together.
const AT_ONCE: usize = 500;

/// What happens to one item or lock in the whole of its life, a letter an event.
type Life = String;

/// Follows lives from one end to the next.
#[derive(Default)]
struct Lives {
    items: HashMap<VarId, Life>,
    locks: HashMap<LockId, Life>,
    /// How many lives were the same.
    ended: HashMap<(&'static str, Life), usize>,
}

impl Lives {
    fn end(&mut self, what: &'static str, life: Option<Life>) {
        if let Some(life) = life {
            *self.ended.entry((what, life)).or_default() += 1;
        }
    }

    fn follow(&mut self, source: &mut LiveSource) {
        let mut batch = Vec::new();
        while source.fill(&mut batch).is_ok() && !batch.is_empty() {
            let tables = source.tables();
            for event in &batch {
                let thread = tables.thread_name(event.thread);
                let thread = thread.chars().next().unwrap();
                let is_item = |var| tables.var_name(var).split('.').next_back() == Some("value");
                let is_lock = |lock| tables.lock_name(lock).starts_with("java.lang.Object@");
                match event.op {
                    Op::Read(_, var) if is_item(var) => {
                        self.items.entry(var).or_default().extend([thread, 'r']);
                    }
                    Op::Write(_, var) if is_item(var) => {
                        self.items.entry(var).or_default().extend([thread, 'w']);
                    }
                    Op::Acquire(_, lock) if is_lock(lock) => {
                        self.locks.entry(lock).or_default().push(thread);
                    }
                    Op::GoneObject(object) => {
                        for var in tables.vars_of(object) {
                            let life = self.items.remove(&var);
                            self.end("item", life);
                        }
                    }
                    Op::GoneLock(lock) => {
                        let life = self.locks.remove(&lock);
                        self.end("lock", life);
                    }
                    _ => {}
                }
            }
        }
    }
}

fn dropping(jdk: &Path, tracking: Tracking) -> (Lives, Tally) {
    // A small heap, so that the collector comes often.
    let mut options = watched(jdk, &["-Xmx24m"], "Dropping", &[ITEMS.to_string()]);
    options.config = Config {
        tracking,
        ..Config::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        source.reuse_ids();
        let mut lives = Lives::default();
        lives.follow(source);
        (lives, source.tally())
    })
    .unwrap();
    assert!(status.success(), "{status} {options:?}");
    all.remove(0).result
}

#[test]
fn ids_are_used_again_and_every_life_is_whole() {
    for jdk in jdks() {
        for tracking in [Tracking::Optimistic, Tracking::Pessimistic] {
            let (lives, tally) = dropping(&jdk, tracking);
            assert_eq!((tally.undeclared, tally.cut_off), (0, 0));
            // What one thread alone does with an item is recorded while its class can afford it, if words are owned.
            let alone: &[&str] = match tracking {
                Tracking::Optimistic => &["", "mrmw"],
                Tracking::Pessimistic => &["mrmw"],
            };
            for ((what, life), count) in &lives.ended {
                let whole = match *what {
                    "item" => (life.strip_suffix("prpwdrdwdr"))
                        .is_some_and(|before| alone.contains(&before)),
                    _ => life == "mpd",
                };
                // A class that can afford no more takes the id of the item that its thread just uses: what follows is
                // another life. It earns more with every item that is handed over, so this is rare.
                let spent = tracking == Tracking::Optimistic && life == "mr";
                let rare = *count < ITEMS / AT_ONCE;
                assert!(
                    whole || spent && rare,
                    "{life}: {count} lives of {what}s, {tally:?}"
                );
            }
            for what in ["item", "lock"] {
                let ended = lives.ended.iter().filter(|((of, _), _)| *of == what);
                let ended: usize = ended.map(|(_, count)| count).sum();
                assert!(ended > ITEMS * 2 / 3, "{ended} {what}s told to be gone");
            }
            assert!(tally.reused > ITEMS as u64, "{tally:?}");
            // What lives at a time, and as much again that the collector has not found yet.
            assert!(tally.objects < ITEMS as u64 / 2, "{tally:?}");
            assert!(tally.locks < ITEMS as u64 / 2, "{tally:?}");
        }
    }
}
