//! DoubleChecker against the brute-force oracle, on random traces.

mod oracle;

use oracle::Oracle;
use untorn_analyses::doublechecker::{DoubleChecker, Options};
use untorn_analyses::{Analysis, Context, Outcome};
use untorn_model::{Event, Tables};
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::{Batch, Source, VecSource};

/// Feeds a trace to one analysis that stays at hand.
fn analyze(analysis: &mut dyn Analysis, source: &mut VecSource) -> Outcome {
    let (mut events, mut first) = (Vec::new(), untorn_model::EventIndex(0));
    loop {
        let kinds = source.fill(&mut events).unwrap();
        let context = Context {
            tables: source.tables(),
            replay: Source::replay(source),
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

fn source(tables: &Tables, events: &[Event], batch: usize) -> VecSource {
    let source = VecSource::new(tables.clone(), events.to_vec()).unwrap();
    source.with_batches_of(batch)
}

fn shapes() -> [Shape; 4] {
    let few_threads = Shape {
        threads: 2,
        ..Shape::crowded()
    };
    [
        Shape::default(),
        Shape::crowded(),
        Shape::full(),
        few_threads,
    ]
}

/// Traces of every shape and length.
fn traces(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Tables, Vec<Event>)> {
    let shapes = shapes();
    seeds.map(move |seed| {
        let shape = &shapes[seed as usize % shapes.len()];
        let (tables, events) = random_trace(seed, shape, 10 + (seed as usize * 7) % 190);
        (seed, tables, events)
    })
}

#[test]
fn every_precise_cycle_lies_in_what_the_imprecise_analysis_passes_on() {
    let mut cyclic = 0;
    for (seed, tables, events) in traces(0..20_000) {
        let sync_edges = seed / 4 % 2 == 0;
        // From no collection at all to one at almost every edge.
        let keep = [None, Some(1), Some(3), Some(8)][seed as usize / 8 % 4];
        let truth = Oracle::new(&tables, &events, sync_edges);
        let mut checker = DoubleChecker::new(Options {
            sync_edges,
            keep,
            ..Options::default()
        });
        analyze(&mut checker, &mut source(&tables, &events, 16));
        let suspects: Vec<_> = checker.suspects().collect();
        let covered = |thread: u32, index: usize| {
            (suspects.iter()).any(|(t, range)| {
                t.0 == thread && range.start.0 <= index as u64 && (index as u64) < range.end.0
            })
        };
        cyclic += usize::from(!truth.components.is_empty());
        for transaction in truth.components.iter().flatten() {
            let transaction = truth.transactions[*transaction];
            for (index, event) in events
                .iter()
                .enumerate()
                .take(transaction.end + 1)
                .skip(transaction.begin)
            {
                if event.thread.0 == transaction.thread {
                    assert!(
                        covered(transaction.thread, index),
                        "seed {seed}: event {index} of {transaction:?} is not passed on"
                    );
                }
            }
        }
    }
    assert!(cyclic > 5_000, "only {cyclic} traces have a cycle");
}
