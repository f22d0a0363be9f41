//! Stateright, which nobody here wrote, finds the same states and the same faults.
//!
//! It does not replace the search: its properties of the kind "eventually" take no account of ways that lead in a circle, and threads that wait do that.

use std::fmt;

use stateright::{Checker, Model as _, Property};
use untorn_protocol::Model;
use untorn_protocol::checks::{Check, Checks};
use untorn_protocol::scenarios::SMALL;
use untorn_protocol::search::{fault, search};
use untorn_protocol::state::State;
use untorn_protocol::steps::Step;

struct Protocol(Model);

/// A step with the state that it leads to.
#[derive(Clone, PartialEq)]
struct Action(Step, State);

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.thread, self.0.what)
    }
}

impl stateright::Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(&self.0.scenario)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut next = Vec::new();
        self.0.successors(state, &mut next);
        actions.extend(next.into_iter().map(|(step, state)| Action(step, state)));
    }

    fn next_state(&self, _: &State, action: Action) -> Option<State> {
        Some(action.1)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing is wrong", |model, state| {
            fault(&model.0, state).is_none()
        })]
    }
}

fn model(name: &str, checks: Checks) -> Model {
    let scenario = SMALL.iter().find(|it| it.name == name).expect(name);
    Model {
        scenario: scenario.clone(),
        checks,
    }
}

#[test]
fn it_finds_the_same_states() {
    for name in [
        "the owner loops",
        "the owner is interpreted",
        "an epoch is used at once",
        "a reader catches up",
        "re-bias brings a word back",
        "contended, and the holder naps",
    ] {
        let model = model(name, Checks::ALL);
        let known = search(&model, usize::MAX).states;
        let checker = Protocol(model).checker().spawn_bfs().join();
        checker.assert_properties();
        assert_eq!(checker.unique_state_count(), known, "{name}");
    }
}

#[test]
fn it_finds_the_same_faults() {
    for (check, name) in [
        (Check::SeeFence, "a reader catches up"),
        (Check::Membarrier, "the owner waits for a monitor"),
        (Check::RevokeMark, "contended, and the holder naps"),
        (
            Check::RestoreWord,
            "contended, and the holder runs out of stack",
        ),
    ] {
        let checker = Protocol(model(name, Checks::ALL.without(check)))
            .checker()
            .spawn_bfs()
            .join();
        checker.assert_any_discovery("nothing is wrong");
    }
}
