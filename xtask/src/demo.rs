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
    arguments: Vec<String>,
    /// What the reader should see in the output, or do with it.
    look_for: &'static str,
    /// The exit status that shows that the step did its work; for `untorn`, 1 means that it found something.
    expected: i32,
}

const WHERE_TO_GO_NEXT: &str = "\
Where to go next
  untorn --help                    all commands (the program was built at the path below)
  untorn run -- java -jar APP.jar  watch a program of yours
  untorn check APP.jar             check it without running it
  README.md                        what Untorn is
  ARCHITECTURE.md                  how it is built";

/// Where the bundled program's sources are.
const SOURCES: &str = "examples/bank/src";

pub fn run(workspace: &Workspace) -> Result<ExitCode, Error> {
    let untorn = workspace.untorn()?;
    let setup = Setup::prepare()?;
    Workspace::build(&setup)?;

    let places = Places {
        untorn: &untorn,
        jdk: setup.jdk_homes().next(),
        folder: &workspace.cache("demo"),
    };
    for (number, step) in steps(&places).iter().enumerate() {
        step.show(number + 1, &setup, workspace.root())?;
    }
    println!(
        "{WHERE_TO_GO_NEXT}\n\nThe report: {}\nThe program: {}",
        places.file("report.html"),
        untorn.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Where the programs that the steps run are, and where they write.
struct Places<'p> {
    untorn: &'p Path,
    jdk: Option<&'p Path>,
    folder: &'p Path,
}

impl Places<'_> {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn jdk_tool(&self, name: &str) -> PathBuf {
        match self.jdk {
            Some(home) => home.join("bin").join(name),
            None => name.into(),
        }
    }
}

fn steps(places: &Places<'_>) -> Vec<Step> {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let (classes, findings) = (places.file("classes"), places.file("findings.json"));
    let java = places.jdk_tool("java").display().to_string();
    let sources = ["Account", "Bank", "Main", "OrderBook", "PriceCache", "Work"]
        .map(|class| format!("{SOURCES}/bank/{class}.java"));
    vec![
        Step {
            title: "A small bank: three tellers and an auditor at work; every access is locked. Compile it",
            program: places.jdk_tool("javac"),
            arguments: [words(&["-g", "-d", &classes]), sources.to_vec()].concat(),
            look_for: "Nothing special so far: these are ordinary class files.",
            expected: 0,
        },
        Step {
            title: "Check the class files, without running them",
            program: places.untorn.to_owned(),
            arguments: words(&["check", &classes, "--source", SOURCES]),
            look_for: "What could be torn is suspected; what the types show to be atomic is proved.",
            expected: 1,
        },
        Step {
            title: "Watch the bank at work, steer it at what is only suspected, and keep what is found",
            program: places.untorn.to_owned(),
            arguments: words(&[
                "run",
                "--reproduce",
                "-o",
                &findings,
                "--",
                &java,
                "-cp",
                &classes,
                "bank.Main",
            ]),
            look_for: "The program printed what it always prints; the findings are in the file. \
                What this run did not show torn by itself was reproduced in runs whose threads were held up at the right moments.",
            expected: 1,
        },
        Step {
            title: "Read what was found",
            program: places.untorn.to_owned(),
            arguments: words(&["report", &findings, "--source", SOURCES, "--exit-zero"]),
            look_for: "Every access held the right lock, so there is no race. \
                Still transfer, place and withdraw are torn: another thread was seen between their parts.",
            expected: 0,
        },
        Step {
            title: "The same as a page for a browser",
            program: places.untorn.to_owned(),
            arguments: words(&[
                "report",
                &findings,
                "--source",
                SOURCES,
                "--exit-zero",
                "-o",
                &places.file("report.html"),
            ]),
            look_for: "Open it in a browser; it needs no network.",
            expected: 0,
        },
    ]
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
        let places = Places {
            untorn: Path::new("untorn"),
            jdk: None,
            folder: Path::new("demo"),
        };
        for step in steps(&places) {
            for file in step
                .arguments
                .iter()
                .filter(|argument| argument.starts_with("examples/"))
            {
                assert!(Path::new(ROOT).join(file).exists(), "{file}");
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
