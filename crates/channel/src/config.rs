//! What the reader asks of the agent.

use serde::{Deserialize, Serialize};

/// Sent as JSON when an agent connects, or built from the agent's own options when it is used by hand.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Class patterns; none means every class outside the platform.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Array elements are locations too.
    pub arrays: bool,
    /// Entry and exit of every instrumented method.
    pub stacks: bool,
    /// The specification of what ought to be atomic, in its TOML form.
    pub spec: Option<String>,
}
