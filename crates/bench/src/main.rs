//! Benchmarks: `cargo run --release -p untorn-bench -- trace`.
//!
//! Each is a module that measures one part beside a plain yardstick in the same run, and prints the ratio: absolute numbers differ between machines, ratios hardly.

mod agent;
mod analyses;
mod archive;
mod check;
mod clock;
mod program;
mod trace;
mod types;

use std::process::ExitCode;

type Outcome = Result<(), Box<dyn std::error::Error>>;
type Benchmark = fn() -> Outcome;

/// Every benchmark by name.
const BENCHMARKS: [(&str, Benchmark); 7] = [
    ("trace", trace::run),
    ("analyses", analyses::run),
    ("agent", agent::run),
    ("program", program::run),
    ("types", types::run),
    ("check", check::run),
    ("archive", archive::run),
];

fn main() -> ExitCode {
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    asked.retain(|word| word != archive::BALLISTA);
    let unknown = asked
        .iter()
        .find(|name| BENCHMARKS.iter().all(|(known, _)| known != name));
    if let Some(name) = unknown {
        let known: Vec<&str> = BENCHMARKS.iter().map(|(name, _)| *name).collect();
        eprintln!("no benchmark `{name}`; there are: {}", known.join(", "));
        return ExitCode::from(2);
    }
    for (name, run) in BENCHMARKS {
        // Twenty jars and ten thousand runs take minutes, so they are looked at only where that is asked for.
        let unasked = asked.is_empty() && ["check", "archive"].contains(&name);
        if unasked || !asked.is_empty() && !asked.iter().any(|one| one == name) {
            continue;
        }
        println!("{name}");
        if let Err(error) = run() {
            eprintln!("{name}: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
