//! What is told in the middle of a trace is what would be told at an end there, and asking changes nothing.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

use serde_json::Value;
use untorn_analyses::aerodrome::Aerodrome;
use untorn_analyses::atomizer::{self, Atomizer};
use untorn_analyses::doublechecker::{self, DoubleChecker};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::views::{self, Views};
use untorn_analyses::{Analysis, Interim, Outcome, aerodrome, run, run_and_tell};
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::{Error, VecSource};

/// Events of a batch; questions come after each.
const BATCH: usize = 23;

fn analyses() -> Vec<Box<dyn Analysis>> {
    vec![
        Box::new(DoubleChecker::new(doublechecker::Options::default())),
        Box::new(Aerodrome::new(aerodrome::Options::default())),
        Box::new(Velodrome::new(velodrome::Options::default())),
        Box::new(Atomizer::new(atomizer::Options::default())),
        Box::new(Views::new(views::Options::default())),
    ]
}

fn told(outcome: &Outcome) -> Value {
    serde_json::to_value((&outcome.findings, &outcome.executions)).unwrap()
}

/// Asks after every batch.
#[derive(Default)]
struct Curious(Vec<Value>);

impl Interim<VecSource> for Curious {
    fn is_asked(&mut self) -> bool {
        true
    }

    fn take(&mut self, so_far: Result<Outcome, Error>, _: &VecSource) {
        self.0.push(told(&so_far.unwrap()));
    }
}

#[test]
fn an_answer_in_the_middle_is_that_of_the_beginning_of_the_trace() {
    let mut found = 0;
    for seed in 0..40 {
        let (tables, events) = random_trace(seed, &Shape::full(), 120);
        let source = |events: &[_]| {
            let source = VecSource::new(tables.clone(), events.to_vec()).unwrap();
            source.with_batches_of(BATCH)
        };
        let alone =
            |events: &[_]| told(&run(&mut source(events), &mut analyses(), &mut |_| {}).unwrap());
        let mut curious = Curious::default();
        let mut whole = source(&events);
        let last = run_and_tell(&mut whole, &mut analyses(), &mut |_| {}, &mut curious).unwrap();
        assert_eq!(
            told(&last),
            alone(&events),
            "seed {seed}: asking changed the end"
        );
        for (number, answer) in curious.0.iter().enumerate() {
            let end = (BATCH * (number + 1)).min(events.len());
            assert_eq!(*answer, alone(&events[..end]), "seed {seed}, after {end}");
            found += usize::from(!answer[0].as_array().unwrap().is_empty());
        }
    }
    assert!(found > 40, "{found} answers had findings");
}
