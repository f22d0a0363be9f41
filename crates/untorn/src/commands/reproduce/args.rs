//! The options of `untorn reproduce`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::Effort;
use crate::cli::{OutputArgs, WatchArgs};

/// Run a program again and again, steered, until what is suspected was observed.
///
/// Threads are held up where the findings say that another one could come between, for some milliseconds and never where that would block the program; what was really torn, an exact analysis says.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn reproduce -- java -jar app.jar
  untorn check app.jar -o findings.json; untorn reproduce findings.json -- java -jar app.jar
  untorn reproduce findings.json --only 3f2a --save-plans plan.json -- java -jar app.jar
  untorn reproduce --plan plan.json -- java -jar app.jar

Without FINDINGS, a first run makes them.
The program gets no input, and what it prints is not shown.
Ctrl-C ends the program and reports what is known so far.")]
pub struct ReproduceArgs {
    /// Findings that were saved with --format json, of runs or checks.
    #[arg(value_name = "FINDINGS", conflicts_with = "plan")]
    pub findings: Vec<PathBuf>,
    /// Follow these plans again, and say how often each shows its tear: a file of --save-plans, or saved findings.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Write the plans of what was reproduced to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub save_plans: Option<PathBuf>,
    /// How long to try in all: 60s, 5m, or seconds.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub budget: Duration,
    /// How many runs to steer at most.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub runs: u32,
    /// How often to follow the plans again that showed something, within the budget.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub replays: u32,
    /// Try only findings whose fingerprint begins so.
    #[arg(long, value_name = "FINGERPRINT")]
    pub only: Vec<String>,
    /// What ought to be atomic: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub watch: WatchArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

impl ReproduceArgs {
    pub fn effort(&self) -> Effort {
        Effort {
            budget: self.budget,
            runs: self.runs,
            replays: self.replays,
            only: self.only.clone(),
        }
    }
}

/// `90`, `90s`, `2m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(number) => (number, 60),
        None => (text.strip_suffix('s').unwrap_or(text), 1),
    };
    let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    seconds
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs)
        .ok_or_else(|| "a time such as 60s or 5m is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("60s"), Ok(Duration::from_mins(1)));
        assert_eq!(duration("5m"), Ok(Duration::from_mins(5)));
        assert!(duration("0s").is_err() && duration("soon").is_err());
    }
}
