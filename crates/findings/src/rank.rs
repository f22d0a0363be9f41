//! How much a finding deserves a look, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding deserves a look, the least first.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Known to be right, meant so, or hardly more than a hint.
    Low,
    Medium,
    /// Worth a repair.
    High,
}

/// A level with its reasons.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    pub level: Level,
    /// Why, a phrase each, the weightiest first.
    pub reasons: Vec<String>,
    /// The correct idiom that the region follows, if it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub idiom: Option<String>,
}

/// How often a region was executed, and how often an exact checker saw it torn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Executions {
    /// At least so many: of executions within others not all are looked at.
    pub torn: u64,
    pub of: u64,
}
