//! `cargo xtask demo`: the main job on a bundled example, as a list of steps.
//!
//! A step is a command with what to look for; to show more, add a step.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;

/// Shows the main job on a bundled example.
///
/// Sets up what is missing first (see `cargo xtask setup`), builds, and runs each command with a word on what it shows.
#[derive(clap::Args)]
pub struct Arguments {}

struct Step {
    title: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
    /// What the reader should see in the output, or do with it.
    look_for: &'static str,
    /// The exit status that shows that the step did its work; for `untorn`, 1 means that it found something.
    expected: i32,
}

const WHERE_TO_GO_NEXT: &str = "\
Where to go next
  untorn --help                    all commands (the program was built at the path below)
  untorn trace info TRACE          what a trace holds
  README.md                        what Untorn is
  ARCHITECTURE.md                  how it is built";

pub fn run(workspace: &Workspace) -> Result<ExitCode, Error> {
    let untorn = workspace.untorn()?;
    let setup = Setup::prepare()?;
    Workspace::build(&setup)?;

    for (number, step) in steps(&untorn).iter().enumerate() {
        step.show(number + 1, &setup, workspace.root())?;
    }
    println!("{WHERE_TO_GO_NEXT}\n\nThe program: {}", untorn.display());
    Ok(ExitCode::SUCCESS)
}

fn steps(untorn: &Path) -> Vec<Step> {
    vec![Step {
        title: "A teller moves money between two accounts while an auditor counts it; look for torn operations in the trace of that run",
        program: untorn.to_owned(),
        arguments: vec!["analyze", "examples/traces/bank.std"],
        look_for: "Every access held the right lock, so there is no race. \
            Still Bank.transfer is torn: between its withdrawal and its deposit the auditor read both accounts and missed the money.",
        expected: 1,
    }]
}

impl Step {
    fn show(&self, number: usize, setup: &Setup, root: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root);
        println!("\n{number}. {}.\n$ {}\n", self.title, shown(&command));
        let status = process::status(setup.tell(&mut command))?;
        if status.code() != Some(self.expected) {
            return Err(Error::Ended {
                command: shown(&command),
                status,
            });
        }
        println!("\n{}\n", self.look_for);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    #[test]
    fn every_bundled_file_that_a_step_names_is_there() {
        let mut named = 0;
        for step in steps(Path::new("untorn")) {
            for file in step
                .arguments
                .iter()
                .filter(|argument| argument.starts_with("examples/"))
            {
                assert!(Path::new(ROOT).join(file).is_file(), "{file}");
                named += 1;
            }
        }
        assert!(named > 0);
    }

    /// One line of the bundled trace.
    struct Event<'t> {
        thread: &'t str,
        kind: &'t str,
        operand: &'t str,
    }

    fn events(trace: &str) -> Vec<Event<'_>> {
        let parse = |line| {
            let mut parts = str::split(line, '|');
            let (thread, operation, location) = (parts.next()?, parts.next()?, parts.next()?);
            let (file, number) = location.split_once(".java:")?;
            let (kind, operand) = operation.strip_suffix(')')?.split_once('(')?;
            let well_formed =
                parts.next().is_none() && !file.is_empty() && number.parse::<u32>().is_ok();
            well_formed.then_some(Event {
                thread,
                kind,
                operand,
            })
        };
        trace
            .lines()
            .map(|line| parse(line).unwrap_or_else(|| panic!("malformed: {line}")))
            .collect()
    }

    /// The demo says "no race" and "still torn"; this holds the trace to it, independently of the product.
    #[test]
    fn the_bundled_trace_is_well_locked_and_yet_torn() {
        let trace =
            std::fs::read_to_string(Path::new(ROOT).join("examples/traces/bank.std")).unwrap();
        let events = events(&trace);

        let mut holder = HashMap::new();
        let mut regions: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut alive = HashSet::from(["main"]);
        for Event {
            thread,
            kind,
            operand,
        } in &events
        {
            assert!(
                alive.contains(thread),
                "{thread} runs only between its fork and its join"
            );
            match *kind {
                "acq" => assert_eq!(holder.insert(*operand, *thread), None, "{operand} is free"),
                "rel" => assert_eq!(
                    holder.remove(operand),
                    Some(*thread),
                    "{thread} holds {operand}"
                ),
                "begin" => regions.entry(thread).or_default().push(operand),
                "end" => assert_eq!(regions.get_mut(thread).and_then(Vec::pop), Some(*operand)),
                "fork" => assert!(alive.insert(operand)),
                "join" => assert!(alive.remove(operand)),
                "r" | "w" if alive.len() > 1 => {
                    let account = operand.strip_suffix(".balance").unwrap();
                    assert_eq!(
                        holder.get(account),
                        Some(thread),
                        "{operand} is accessed under its account's lock"
                    );
                }
                "r" | "w" => {}
                other => panic!("unexpected operation {other}"),
            }
        }
        assert!(holder.is_empty() && regions.values().all(Vec::is_empty) && alive.len() == 1);

        let mut rest = events.iter();
        for wanted in [
            ("teller", "begin", "Bank.transfer"),
            ("teller", "w", "checking.balance"),
            ("auditor", "r", "checking.balance"),
            ("auditor", "r", "savings.balance"),
            ("teller", "w", "savings.balance"),
            ("teller", "end", "Bank.transfer"),
        ] {
            assert!(
                rest.any(|e| (e.thread, e.kind, e.operand) == wanted),
                "{wanted:?} comes after those before it"
            );
        }
    }
}
