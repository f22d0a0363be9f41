//! A region in which nothing is recorded leaves nothing in the log; any other begins right before the first record in it.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use support::{jdks, watched};
use untorn_analyses::{Analysis, Context, Outcome, run};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::watch;
use untorn_model::{Kinds, Op, ThreadId};
use untorn_trace::{Batch, Error};

/// The open regions of each thread, and how often each one began; a region ends in which something happened, and the innermost one.
#[derive(Default)]
struct Nesting {
    open: BTreeMap<ThreadId, Vec<(String, u64)>>,
    begun: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Analysis for Nesting {
    fn name(&self) -> &'static str {
        "nesting"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        for (_, event) in batch.indexed() {
            let open = self.open.entry(event.thread).or_default();
            match event.op {
                Op::Begin(region) => {
                    let name = context.tables.text(context.tables.regions[region].name);
                    *self
                        .begun
                        .lock()
                        .unwrap()
                        .entry(name.to_owned())
                        .or_default() += 1;
                    open.push((name.to_owned(), 0));
                }
                Op::End(region) => {
                    let name = context.tables.text(context.tables.regions[region].name);
                    let (innermost, events) = open.pop().unwrap();
                    assert_eq!(innermost, name);
                    assert_ne!(events, 0, "{name} was empty");
                }
                _ => {
                    for (_, events) in open {
                        *events += 1;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Context<'_>, _: &mut Outcome) -> Result<(), Error> {
        assert!(self.open.values().all(Vec::is_empty));
        Ok(())
    }
}

#[test]
fn regions_without_records_leave_nothing_and_the_others_nest() {
    for jdk in jdks() {
        for tracking in [Tracking::Optimistic, Tracking::Pessimistic] {
            let mut options = watched(&jdk, &[], "Empty", &[]);
            options.config = Config {
                tracking,
                spec: Some("heuristic = \"all-methods\"\n".to_owned()),
                ..Config::default()
            };
            let begun = Arc::default();
            let nesting = Arc::clone(&begun);
            let (status, all) = watch(&options, move |_, source| {
                source.keep().unwrap();
                let mut analyses: Vec<Box<dyn Analysis>> = vec![Box::new(Nesting {
                    begun: Arc::clone(&nesting),
                    ..Nesting::default()
                })];
                run(source, &mut analyses, &mut |_| {}).unwrap();
            })
            .unwrap();
            assert!(status.success());
            drop(all);
            let begun = begun.lock().unwrap();
            let count = |name: &str| begun.get(name).copied().unwrap_or(0);
            for name in ["Empty.nothing", "Empty.more", "Empty.least"] {
                assert_eq!(count(name), 0, "{begun:?}");
            }
            assert_eq!(count("Empty.inner"), 60, "{begun:?}");
            assert_eq!(count("Empty.outer"), 20, "{begun:?}");
            assert_eq!(count("Empty.thrown"), 20, "{begun:?}");
            assert_eq!(count("Empty.deep"), 20 * 301, "{begun:?}");
        }
    }
}
