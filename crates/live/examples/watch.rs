//! Runs a command, reads what its JVMs log, and says what was counted: the smallest use of this crate.
//!
//! UNTORN_TRACKING may be `optimistic`.
//!
//! `cargo run --release -p untorn-live --example watch -- java -version`

use std::env;
use std::process::ExitCode;

use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::{Options, agent_library, watch};
use untorn_trace::Source;

fn main() -> ExitCode {
    let agent = match agent_library() {
        Ok(path) => path,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let options = Options {
        command: env::args_os().skip(1).collect(),
        agent,
        config: Config {
            tracking: match env::var("UNTORN_TRACKING").as_deref() {
                Ok("optimistic") => Tracking::Optimistic,
                _ => Tracking::Pessimistic,
            },
            ..Config::default()
        },
        ..Options::default()
    };
    let print = env::var_os("UNTORN_PRINT").is_some();
    let outcome = watch(&options, |_, source| {
        let mut events = Vec::new();
        loop {
            if source.fill(&mut events).is_err() || events.is_empty() {
                return source.tally();
            }
            for event in events.iter().filter(|_| print) {
                eprintln!("{event:?}");
            }
        }
    });
    match outcome {
        Ok((status, watched)) => {
            eprintln!("{status}");
            for one in watched {
                eprintln!("{one:?}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
