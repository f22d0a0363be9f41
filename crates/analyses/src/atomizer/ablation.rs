//! What each refinement is worth: the paper's Figure 18 on a trace of one's own.
//!
//! Six atomizers, from none of the refinements to all of them, take the same pass.

use serde_json::json;
use untorn_model::Kinds;
use untorn_trace::{Batch, Error};

use super::{Atomizer, Options, Refinements};
use crate::{Analysis, Context, Outcome};

/// The warnings with one set of refinements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AblationRow {
    /// What this row adds to the one before.
    pub added: &'static str,
    pub refinements: Refinements,
    /// Regions that are reported: the paper's warnings.
    pub regions: usize,
    /// Violated executions of them.
    pub executions: u64,
}

/// Runs the cumulative sets of refinements side by side.
#[derive(Debug)]
pub struct Ablation {
    atomizers: Vec<(&'static str, Refinements, Atomizer)>,
}

impl Ablation {
    /// The refinements of the options do not matter: all sets of them are tried.
    pub fn new(options: &Options) -> Self {
        let atomizers = Refinements::cumulative()
            .into_iter()
            .map(|(added, refinements)| {
                let options = Options {
                    refinements,
                    ..options.clone()
                };
                (added, refinements, Atomizer::new(options))
            })
            .collect();
        Self { atomizers }
    }

    /// The table, from basic to everything.
    pub fn rows(&self) -> Vec<AblationRow> {
        (self.atomizers.iter())
            .map(|(added, refinements, atomizer)| {
                let (regions, executions) = atomizer.warnings();
                AblationRow {
                    added,
                    refinements: *refinements,
                    regions,
                    executions,
                }
            })
            .collect()
    }
}

impl Analysis for Ablation {
    fn name(&self) -> &'static str {
        "ablation"
    }

    fn subscribes(&self) -> Kinds {
        (self.atomizers.iter()).fold(Kinds::NONE, |all, (_, _, atomizer)| {
            all.union(atomizer.subscribes())
        })
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        for (_, _, atomizer) in &mut self.atomizers {
            atomizer.batch(batch, context)?;
        }
        Ok(())
    }

    /// Hands over what the fully refined atomizer found, and the table as a statistic.
    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let rows: Vec<_> = (self.rows().iter())
            .map(|row| {
                json!({
                    "refinements": row.added,
                    "regions reported": row.regions,
                    "violated executions": row.executions,
                })
            })
            .collect();
        outcome.stats.insert(self.name().to_owned(), json!(rows));
        match self.atomizers.last_mut() {
            Some((_, _, refined)) => refined.finish(context, outcome),
            None => Ok(()),
        }
    }
}
