//! A documented bug: is it found, where in the report, and is it gone in the repaired version?

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::eval::spotbugs::{self, Peer};
use crate::eval::subjects::{Bug, Side};
use crate::eval::untorn::{Said, Untorn};

#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub torn: Looked,
    pub repaired: Looked,
    pub spotbugs: Peer,
}

/// What was said of one version of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct Looked {
    pub check: Said,
    pub runs: Vec<Said>,
    /// If the method at fault was only suspected and steering was asked for.
    pub steered: Option<Said>,
}

/// What is known of the method at fault.
pub struct Hit<'h> {
    /// In the report, from 1; none if it is ranked low and so not shown.
    pub position: Option<usize>,
    pub verdict: &'h str,
    pub level: &'h str,
}

pub fn look_at(
    bug: &Bug,
    torn_jars: &[PathBuf],
    repaired_jars: &[PathBuf],
    spotbugs: &[PathBuf],
    untorn: &Untorn<'_>,
) -> Result<Outcome, Error> {
    // The repaired version first, so that what is steered afterwards are findings of the torn one.
    let repaired = look(&bug.repaired_side(), repaired_jars, untorn, false)?;
    let torn = look(&bug.torn_side(), torn_jars, untorn, untorn.steers)?;
    let spotbugs = spotbugs::look(untorn, spotbugs, torn_jars, bug.methods())?;
    Ok(Outcome {
        torn,
        repaired,
        spotbugs,
    })
}

fn look(
    side: &Side<'_>,
    jars: &[PathBuf],
    untorn: &Untorn<'_>,
    steer: bool,
) -> Result<Looked, Error> {
    let program = untorn.compile(side.driver, &side.sources, jars, side.driver)?;
    let check = untorn.check(jars)?;
    let runs = (0..untorn.runs)
        .map(|_| untorn.run(&program, Some(side.package)))
        .collect::<Result<Vec<_>, _>>()?;
    let all = || runs.iter().chain([&check]);
    let seen = |verdict: &str| {
        all().any(|said| {
            let mut found = said.findings.iter();
            found.any(|found| found.is_of(side.at_fault) && found.verdict == verdict)
        })
    };
    let steered = if steer && seen("suspected") && !seen("observed") {
        let fingerprints: Vec<String> = all()
            .flat_map(|said| &said.findings)
            .filter(|found| found.is_of(side.at_fault))
            .map(|found| found.fingerprint.clone())
            .collect();
        Some(untorn.reproduce(&program, side.package, &fingerprints)?)
    } else {
        None
    };
    Ok(Looked {
        check,
        runs,
        steered,
    })
}

pub fn hit<'h>(said: &'h Said, at_fault: &[String]) -> Option<Hit<'h>> {
    said.first_of(at_fault).map(|(position, found)| Hit {
        position: found.is_shown().then_some(position),
        verdict: &found.verdict,
        level: &found.level,
    })
}

impl Looked {
    /// The best place of the method at fault in the reports of runs.
    pub fn run_hit(&self, at_fault: &[String]) -> Option<Hit<'_>> {
        let hits = self.runs.iter().filter_map(|said| hit(said, at_fault));
        hits.min_by_key(|hit| {
            (
                hit.position.unwrap_or(usize::MAX),
                hit.verdict != "observed",
            )
        })
    }

    /// In how many runs the report showed it.
    pub fn runs_that_show(&self, at_fault: &[String]) -> usize {
        let shown = |said: &&Said| hit(said, at_fault).is_some_and(|hit| hit.position.is_some());
        self.runs.iter().filter(shown).count()
    }

    /// The strongest claim about the method at fault.
    pub fn verdict(&self, at_fault: &[String]) -> Option<&'static str> {
        let all = self.runs.iter().chain([&self.check]).chain(&self.steered);
        let verdicts: Vec<&str> = all
            .flat_map(|said| &said.findings)
            .filter(|found| found.is_of(at_fault))
            .map(|found| found.verdict.as_str())
            .collect();
        ["observed", "reproduced", "suspected"]
            .into_iter()
            .find(|verdict| verdicts.contains(verdict))
    }

    pub fn first_ten(&self, at_fault: &[String]) -> bool {
        let within = |hit: Option<Hit<'_>>| {
            hit.and_then(|hit| hit.position)
                .is_some_and(|position| position <= 10)
        };
        within(self.run_hit(at_fault)) || within(hit(&self.check, at_fault))
    }

    /// Whether no report shows the method at fault.
    pub fn silent(&self, at_fault: &[String]) -> bool {
        let mut all = self.runs.iter().chain([&self.check]);
        all.all(|said| hit(said, at_fault).is_none_or(|hit| hit.position.is_none()))
    }
}

pub fn in_short(outcome: &Outcome) -> String {
    let names = |said: &Said| {
        let shown: Vec<String> = said
            .shown()
            .take(3)
            .map(|f| format!("{} {}", f.verdict, f.name()))
            .collect();
        shown.join(", ")
    };
    let first = outcome.torn.runs.first().map(names).unwrap_or_default();
    format!("run: {first}; check: {}", names(&outcome.torn.check))
}
