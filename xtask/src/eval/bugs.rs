//! A documented bug: is it found, where in the report, and is it gone in the repaired version?

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::eval::peers::{Peer, error_prone, spotbugs};
use crate::eval::subjects::{Bug, Side};
use crate::eval::untorn::{Hit, Said, Told, Untorn, load};

#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub torn: Looked,
    pub repaired: Looked,
    pub spotbugs: Peer,
    pub error_prone: Peer,
    /// How many threads of the machine wanted a processor when it began.
    pub load: Option<f64>,
    /// From an earlier version of the program.
    #[serde(default)]
    pub earlier: bool,
}

/// What was said of one version of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct Looked {
    pub check: Told,
    pub runs: Vec<Told>,
    /// If the method at fault was only suspected and steering was asked for.
    pub steered: Option<Told>,
}

/// The jars of a bug and of the tools that look for it, each first and behind it what it needs.
pub struct Jars {
    pub torn: Vec<PathBuf>,
    pub repaired: Vec<PathBuf>,
    /// Of the torn version.
    pub sources: Option<PathBuf>,
    pub spotbugs: Vec<PathBuf>,
    pub error_prone: Vec<PathBuf>,
}

pub fn look_at(bug: &Bug, jars: &Jars, untorn: &Untorn<'_>) -> Result<Outcome, Error> {
    let load = load();
    // The repaired version first, so that what is steered afterwards are findings of the torn one.
    let repaired = look(&bug.repaired_side(), &jars.repaired, untorn, false)?;
    let torn = look(&bug.torn_side(), &jars.torn, untorn, untorn.steers)?;
    let at_fault = bug.methods();
    let spotbugs = spotbugs::look(untorn, &jars.spotbugs, &jars.torn, at_fault)?;
    let sources = jars.sources.as_deref();
    let error_prone = error_prone::look(untorn, &jars.error_prone, sources, &jars.torn, at_fault)?;
    Ok(Outcome {
        torn,
        repaired,
        spotbugs,
        error_prone,
        load,
        earlier: false,
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
    let about = |said: &Said| said.about(side.at_fault);
    Ok(Looked {
        check: about(&check),
        runs: runs.iter().map(about).collect(),
        steered: steered.as_ref().map(about),
    })
}

impl Looked {
    /// The best place of the method at fault in the reports of runs.
    pub fn run_hit(&self) -> Option<&Hit> {
        let hits = self.runs.iter().filter_map(|told| told.hits.first());
        hits.min_by_key(|hit| {
            (
                hit.position.unwrap_or(usize::MAX),
                hit.verdict != "observed",
            )
        })
    }

    pub fn check_hit(&self) -> Option<&Hit> {
        self.check.hits.first()
    }

    /// In how many runs the report showed it.
    pub fn runs_that_show(&self) -> usize {
        self.runs.iter().filter(|told| is_shown(told)).count()
    }

    /// The strongest claim about the method at fault.
    pub fn verdict(&self) -> Option<&'static str> {
        let all = self.runs.iter().chain([&self.check]).chain(&self.steered);
        let verdicts: Vec<&str> = all
            .flat_map(|told| &told.hits)
            .map(|hit| hit.verdict.as_str())
            .collect();
        ["observed", "reproduced", "suspected"]
            .into_iter()
            .find(|verdict| verdicts.contains(verdict))
    }

    /// Its place in the better of the two reports.
    pub fn position(&self) -> Option<usize> {
        let place = |hit: Option<&Hit>| hit.and_then(|hit| hit.position);
        place(self.run_hit())
            .into_iter()
            .chain(place(self.check_hit()))
            .min()
    }

    /// Whether no report shows the method at fault.
    pub fn silent(&self) -> bool {
        !self.runs.iter().chain([&self.check]).any(is_shown)
    }
}

fn is_shown(told: &Told) -> bool {
    told.hits.iter().any(|hit| hit.position.is_some())
}

pub fn in_short(outcome: &Outcome) -> String {
    let place = |hit: Option<&Hit>| match hit {
        Some(hit) => hit.position.map_or("low".to_owned(), |at| at.to_string()),
        None => "–".to_owned(),
    };
    let (torn, repaired) = (&outcome.torn, &outcome.repaired);
    format!(
        "run {}, check {}, {}; repaired: run {}, check {}",
        place(torn.run_hit()),
        place(torn.check_hit()),
        torn.verdict().unwrap_or("not found"),
        place(repaired.run_hit()),
        place(repaired.check_hit())
    )
}
