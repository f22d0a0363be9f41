//! What stays open for long is no region any more, what it calls becomes outermost, and nothing of it is lost.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use support::{jdks, watched};
use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::{Analysis, Context, Outcome, Transactions, run};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_findings::Verdict;
use untorn_live::{Tally, watch};
use untorn_model::{Kinds, ThreadId};
use untorn_trace::{Batch, Error, Source};

/// How many events each outermost execution has, by the name of its region, in order.
#[derive(Default)]
struct Lengths {
    transactions: Transactions,
    open: BTreeMap<ThreadId, u64>,
    all: Arc<Mutex<Vec<(String, u64)>>>,
}

impl Analysis for Lengths {
    fn name(&self) -> &'static str {
        "lengths"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        for (index, event) in batch.indexed() {
            let before = self.transactions.transaction(event.thread).copied();
            self.transactions.step(index, event);
            *self.open.entry(event.thread).or_default() += 1;
            match (before, self.transactions.transaction(event.thread)) {
                (None, Some(_)) => drop(self.open.insert(event.thread, 0)),
                (Some(ended), None) => {
                    let region = &context.tables.regions[ended.region];
                    let name = context.tables.text(region.name).to_owned();
                    self.all
                        .lock()
                        .unwrap()
                        .push((name, self.open[&event.thread]));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Context<'_>, _: &mut Outcome) -> Result<(), Error> {
        Ok(())
    }
}

struct Seen {
    lengths: Vec<(String, u64)>,
    demoted: Vec<String>,
    observed: Vec<String>,
    tally: Tally,
}

fn seen(jdk: &std::path::Path, tracking: Tracking, spec: &str) -> Seen {
    let mut options = watched(jdk, &[], "Demoted", &[]);
    options.config = Config {
        tracking,
        keep_private: true,
        exclude: vec!["Demoted$Pause".to_owned()],
        spec: Some(spec.to_owned()),
        ..Config::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        source.keep().unwrap();
        let lengths = Lengths::default();
        let all = Arc::clone(&lengths.all);
        let mut analyses: [Box<dyn Analysis>; 2] = [
            Box::new(lengths),
            Box::new(Aerodrome::new(aerodrome::Options::default())),
        ];
        let outcome = run(source, &mut analyses, &mut |_| {}).unwrap();
        let demoted = source.demoted().regions.into_iter();
        let tables = source.tables();
        Seen {
            lengths: std::mem::take(&mut *all.lock().unwrap()),
            demoted: demoted
                .map(|(region, _)| tables.text(tables.regions[region].name).to_owned())
                .collect(),
            observed: (outcome.findings.iter())
                .filter(|finding| finding.verdict == Verdict::Observed)
                .map(|finding| finding.region.method.clone())
                .collect(),
            tally: source.tally(),
        }
    })
    .unwrap();
    assert!(status.success(), "{status}");
    all.remove(0).result
}

fn of_drive(seen: &Seen) -> Vec<u64> {
    let drives = (seen.lengths.iter()).filter(|(name, _)| name.contains("drive"));
    drives.map(|(_, length)| *length).collect()
}

#[test]
fn a_driver_is_demoted_and_what_it_calls_is_outermost_and_whole() {
    for jdk in jdks() {
        for tracking in [Tracking::Optimistic, Tracking::Pessimistic] {
            let seen = seen(&jdk, tracking, "");
            let named = format!("{tracking:?} on {}", jdk.display());
            assert_eq!(seen.demoted.len(), 1, "{named}: {:?}", seen.demoted);
            assert!(seen.demoted[0].contains("drive"), "{named}");
            // It is closed soon after it was noticed, and no other execution is one.
            let drives = of_drive(&seen);
            assert_eq!(drives.len(), 1, "{named}: {drives:?}");
            assert!((2000..8000).contains(&drives[0]), "{named}: {drives:?}");
            let others = seen
                .lengths
                .iter()
                .filter(|(name, _)| !name.contains("drive"));
            let longest = others.map(|(_, length)| *length).max();
            assert!(longest < Some(100), "{named}: {longest:?}");
            assert!(seen.lengths.len() > 3000, "{named}: {}", seen.lengths.len());
            // Every end has its beginning, also where a frame leaves whose region was closed.
            assert_eq!(seen.tally.refused + seen.tally.put_in, 0, "{named}");
            assert_eq!(seen.observed, ["add"], "{named}");
        }
    }
}

#[test]
fn what_the_user_names_is_never_demoted() {
    let jdk = jdks().remove(0);
    let spec = "include = [\"Demoted.drive\"]";
    let seen = seen(&jdk, Tracking::Optimistic, spec);
    assert_eq!(seen.demoted, [""; 0]);
    let drives = of_drive(&seen);
    assert_eq!(drives.len(), 2, "{drives:?}");
    assert!(drives.iter().all(|length| *length > 8000), "{drives:?}");
    assert_eq!(seen.observed, ["add"]);
}
