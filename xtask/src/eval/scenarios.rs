//! A scenario program: are its torn methods found, and nothing else?

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::eval::subjects::Scenario;
use crate::eval::tables::Row;
use crate::eval::untorn::{Said, Untorn, load};

#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub runs: Vec<Said>,
    /// Regions that the atomizer reports with more and more of its refinements.
    pub ablation: Vec<(String, u64)>,
    pub row: Row,
    /// How many threads of the machine wanted a processor when it began.
    pub load: Option<f64>,
}

pub fn look_at(scenario: &Scenario, untorn: &Untorn<'_>) -> Result<Outcome, Error> {
    let load = load();
    let sources = [scenario.source.clone()];
    let program = untorn.compile(&scenario.name, &sources, &[], &scenario.class)?;
    let runs = (0..untorn.runs)
        .map(|_| untorn.run(&program, None).map(Said::of_shown))
        .collect::<Result<_, _>>()?;
    let ablation = untorn.ablation(&program)?;
    let row = Row::of(scenario, &program, untorn)?;
    Ok(Outcome {
        runs,
        ablation,
        row,
        load,
    })
}

impl Outcome {
    /// The methods that a report showed, with the strongest verdict of each.
    pub fn found(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for finding in self.runs.iter().flat_map(Said::shown) {
            let name = finding.name();
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, verdict)) if finding.verdict == "observed" => {
                    verdict.clone_from(&finding.verdict);
                }
                Some(_) => {}
                None => found.push((name, finding.verdict.clone())),
            }
        }
        found
    }

    pub fn missed<'s>(&self, scenario: &'s Scenario) -> Vec<&'s str> {
        let found = self.found();
        let mut torn: Vec<&str> = scenario.torn.iter().map(String::as_str).collect();
        torn.retain(|method| found.iter().all(|(name, _)| name != method));
        torn
    }

    pub fn extra(&self, scenario: &Scenario) -> Vec<(String, String)> {
        let mut found = self.found();
        found.retain(|(name, _)| !scenario.torn.contains(name));
        found
    }
}

pub fn in_short(scenario: &Scenario, outcome: &Outcome) -> String {
    format!(
        "{} expected, missed {:?}, extra {:?}",
        scenario.torn.len(),
        outcome.missed(scenario),
        outcome.extra(scenario)
    )
}
