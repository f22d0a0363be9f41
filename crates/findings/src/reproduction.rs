//! What steered runs have shown of a finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use untorn_plan::Plan;

/// What became of the attempts to show a region torn by steering runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    /// In how many runs a plan for this finding was followed.
    pub runs: u32,
    /// In how many of them the exact checker observed the region torn.
    pub torn: u32,
    /// The plan that was followed when it was; a run that follows it is likely to show the tear again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<Plan>,
    /// How often the tear came again when that plan was followed once more, if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replays: Option<Replays>,
    /// Why it was not observed, as far as the runs show.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resisted: Option<String>,
    /// What the program did in a run in which the region was torn, and did not do in runs that were not steered.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub harm: Vec<String>,
}

/// Runs in which a plan was followed again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Replays {
    /// In so many of them the region was torn again.
    pub again: u32,
    pub of: u32,
}
