//! What a torn run did to the program, against runs that nobody watched.

use std::collections::BTreeSet;
use std::time::Instant;

use super::progress::Progress;
use super::trial::{Trial, Trials};
use crate::failure::Failure;

/// How many exceptions are named.
const NAMED: usize = 3;

/// What the program does when nobody watches it.
#[derive(Debug)]
pub struct Harm {
    statuses: BTreeSet<Option<i32>>,
    exceptions: BTreeSet<String>,
    /// What it prints, if it is the same each time.
    output: Option<String>,
}

impl Harm {
    /// Runs the program twice by itself; nothing if it does not end.
    pub fn usual(trials: &Trials, _: &Progress) -> Result<Option<Self>, Failure> {
        let mut progress = Progress::begin("reproduced", 0, Instant::now());
        let mut runs = Vec::new();
        for _ in 0..2 {
            let run = trials.alone(&mut progress)?;
            if run.cut_short {
                return Ok(None);
            }
            runs.push(run);
        }
        let same = runs[0].stdout == runs[1].stdout;
        Ok(Some(Self {
            statuses: runs.iter().map(|run| run.status).collect(),
            exceptions: runs
                .iter()
                .flat_map(|run| exceptions(&run.stderr))
                .collect(),
            output: same.then(|| runs[0].stdout.clone()),
        }))
    }

    /// What a run did that these did not.
    pub fn of(&self, run: &Trial) -> Vec<String> {
        let mut harm = Vec::new();
        let new: BTreeSet<String> = (exceptions(&run.stderr).into_iter())
            .filter(|one| !self.exceptions.contains(one))
            .collect();
        for exception in new.iter().take(NAMED) {
            harm.push(format!(
                "{exception} was thrown, which did not happen in runs that were not steered"
            ));
        }
        if let Some(status) = run.status.filter(|_| !self.statuses.contains(&run.status)) {
            harm.push(format!(
                "the program ended with status {status}, unlike in runs that were not steered"
            ));
        }
        if let Some(usual) = self.output.as_ref().filter(|usual| **usual != run.stdout) {
            harm.push(match first_difference(usual, &run.stdout) {
                (Some(before), Some(now)) => {
                    format!("the program printed \"{now}\" where it else prints \"{before}\"")
                }
                (None, Some(now)) => format!("the program also printed \"{now}\""),
                (Some(before), None) => format!("the program did not print \"{before}\""),
                (None, None) => "the program printed something else".to_owned(),
            });
        }
        if let Some(deadlock) = &run.deadlock {
            harm.push(format!("the program deadlocked: {deadlock}"));
        }
        harm
    }
}

fn first_difference<'t>(usual: &'t str, now: &'t str) -> (Option<&'t str>, Option<&'t str>) {
    let (mut usual, mut now) = (usual.lines(), now.lines());
    loop {
        match (usual.next(), now.next()) {
            (Some(a), Some(b)) if a == b => {}
            different => return different,
        }
    }
}

/// The exceptions that a JVM or a program reports on standard error, without their messages' numbers.
fn exceptions(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for line in text.lines() {
        // "Exception in thread "x" java.lang.E: message", and stack traces that begin with the class.
        let rest = match line.split_once("Exception in thread \"") {
            Some((_, rest)) => rest.split_once("\" ").map_or("", |(_, rest)| rest),
            None => line,
        };
        let name: String = (rest.chars())
            .take_while(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '$' | '_'))
            .collect();
        let is_class =
            name.contains('.') && (name.ends_with("Exception") || name.ends_with("Error"));
        if is_class && !line.starts_with(char::is_whitespace) {
            all.insert(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_known_by_their_classes() {
        let text = "Exception in thread \"second\" java.util.NoSuchElementException: 7\n\tat a.B.c(B.java:3)\njava.lang.IllegalStateException\n";
        let found: Vec<String> = exceptions(text).into_iter().collect();
        assert_eq!(
            found,
            [
                "java.lang.IllegalStateException",
                "java.util.NoSuchElementException"
            ]
        );
    }

    #[test]
    fn what_differs_is_said() {
        let usual = Harm {
            statuses: BTreeSet::from([Some(0)]),
            exceptions: BTreeSet::new(),
            output: Some("total 200\n".to_owned()),
        };
        let run = Trial {
            status: Some(1),
            stdout: "total 199\n".to_owned(),
            ..Trial::default()
        };
        let harm = usual.of(&run);
        assert_eq!(harm.len(), 2, "{harm:?}");
        assert!(harm[1].contains("\"total 199\" where it else prints \"total 200\""));
    }
}
