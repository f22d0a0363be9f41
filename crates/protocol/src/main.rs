//! `cargo xtask model`: searches every scenario and says how many states it has.
//!
//! With `--without CHECK`, shows what goes wrong without one of the protocol's fences or checks.

use std::process::ExitCode;

use untorn_protocol::Model;
use untorn_protocol::checks::{Check, Checks};
use untorn_protocol::scenario::Scenario;
use untorn_protocol::scenarios::{LARGE, SMALL};
use untorn_protocol::search::search;

/// More states than this are not looked at: they take some gigabytes.
const LIMIT: usize = 20_000_000;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let mut checks = Checks::ALL;
    if let Some(at) = names.iter().position(|name| name == "--without") {
        let named: Vec<String> = names.drain(at..).collect();
        for name in &named[1..] {
            let Some(check) = Check::ALL.iter().find(|it| format!("{it:?}") == *name) else {
                eprintln!("no check is called {name}; there are {:?}", Check::ALL);
                return ExitCode::FAILURE;
            };
            checks = checks.without(*check);
        }
    }
    let is_named = |scenario: &&Scenario| {
        names.is_empty()
            || names
                .iter()
                .any(|name| scenario.name.contains(name.as_str()))
    };
    let mut code = ExitCode::SUCCESS;
    for scenario in SMALL.iter().chain(LARGE).filter(is_named) {
        let outcome = search(
            &Model {
                scenario: scenario.clone(),
                checks,
            },
            LIMIT,
        );
        let cut = if outcome.cut { ", and more" } else { "" };
        println!("{}: {} states{cut}", scenario.name, outcome.states);
        if let Some(found) = outcome.counterexample {
            println!("{found}");
            code = ExitCode::FAILURE;
        }
    }
    code
}
