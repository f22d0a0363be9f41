//! The protocol holds in every state of every small scenario, and each mutation of it is caught.

use untorn_protocol::Model;
use untorn_protocol::checks::{Check, Checks};
use untorn_protocol::log::Wrong::{Overlap, Unordered};
use untorn_protocol::scenario::Scenario;
use untorn_protocol::scenarios::{LARGE, SMALL};
use untorn_protocol::search::Fault::{self, Stuck, Wrong};
use untorn_protocol::search::{Outcome, search};

fn run(scenario: &Scenario, checks: Checks, limit: usize) -> Outcome {
    let model = Model {
        scenario: scenario.clone(),
        checks,
    };
    search(&model, limit)
}

fn named(name: &str) -> &'static Scenario {
    let mut all = SMALL.iter().chain(LARGE);
    all.find(|scenario| scenario.name == name).expect(name)
}

#[test]
fn the_protocol_holds() {
    for scenario in SMALL {
        let outcome = run(scenario, Checks::ALL, usize::MAX);
        if let Some(found) = outcome.counterexample {
            panic!("{}: {found}", scenario.name);
        }
        println!("{}: {} states", scenario.name, outcome.states);
    }
}

/// What each mutation breaks, and where that shows.
const MUTATIONS: &[(Check, Fault, &str)] = &[
    (Check::RespondFence, Stuck, "the owner is asked again"),
    (Check::AskBeforePoll, Stuck, "the owner loops"),
    (Check::AwaitResponse, Wrong(Overlap), "the owner polls"),
    (
        Check::PositionAfterResponse,
        Wrong(Unordered),
        "the owner polls",
    ),
    (
        Check::EpochKnownFirst,
        Wrong(Overlap),
        "an epoch is used at once",
    ),
    (
        Check::WakeFence,
        Wrong(Overlap),
        "the owner sleeps and wakes",
    ),
    (
        Check::Membarrier,
        Wrong(Overlap),
        "the owner waits for a monitor",
    ),
    (
        Check::UnsafeIsNoSafePoint,
        Wrong(Overlap),
        "the owner is interpreted",
    ),
    (Check::WaitersPoll, Stuck, "two ask for each other's"),
    (Check::Patience, Stuck, "the owner strays"),
    (Check::EdgeFromEpoch, Wrong(Unordered), "the owner polls"),
    (
        Check::EdgeFromReader,
        Wrong(Unordered),
        "a written object becomes read-shared",
    ),
    (
        Check::SharesFlag,
        Wrong(Overlap),
        "a reader is joined by a writer",
    ),
    (
        Check::ShareIsCurrent,
        Wrong(Unordered),
        "re-bias brings a word back",
    ),
    (
        Check::EdgeFromShared,
        Wrong(Unordered),
        "contended, and read by all",
    ),
    (Check::SeeFence, Wrong(Overlap), "a reader catches up"),
    (
        Check::ReadersRespond,
        Wrong(Overlap),
        "a reader is joined by a writer",
    ),
    (
        Check::EdgesFromReaders,
        Wrong(Unordered),
        "a reader is joined by a writer",
    ),
    (
        Check::ForgetUnderLock,
        Wrong(Overlap),
        "a reader forgets while it is joined",
    ),
    (
        Check::EpochAfterResponses,
        Wrong(Unordered),
        "two write what both read",
    ),
    (
        Check::DeferredPoll,
        Stuck,
        "contended, and the holder polls",
    ),
    (
        Check::RevokeMark,
        Wrong(Overlap),
        "contended, and the holder naps",
    ),
    (
        Check::DeferredBeforeLook,
        Wrong(Overlap),
        "contended, and the holder naps before its access",
    ),
    (
        Check::DeferredCleared,
        Wrong(Overlap),
        "contended, and the holder naps before its access",
    ),
    (
        Check::RestoreWord,
        Wrong(Unordered),
        "contended, and the holder runs out of stack",
    ),
    (Check::ExitBeforeGone, Wrong(Unordered), "the owner ends"),
];

#[test]
fn each_mutation_is_caught() {
    let mut missed = Vec::new();
    for &(check, fault, name) in MUTATIONS {
        let outcome = run(named(name), Checks::ALL.without(check), 1_000_000);
        let found = outcome.counterexample.as_ref().map(|it| it.fault);
        println!("{check:?}: {found:?} after {} states", outcome.states);
        if found != Some(fault) {
            missed.push((check, fault, found));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn no_check_is_without_a_mutation() {
    for check in Check::ALL {
        assert!(MUTATIONS.iter().any(|(it, ..)| *it == check), "{check:?}");
    }
}
