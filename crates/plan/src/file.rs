//! The saved form of plans, `untorn-plan/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Plan;

/// The name and version of the saved form; a change that old readers cannot take raises the number.
pub const SCHEMA: &str = "untorn-plan/1";

/// Plans as `untorn reproduce` stores and replays them.
///
/// ```json
/// {
///   "schema": "untorn-plan/1",
///   "plans": [
///     {
///       "region": { "class": "bank.Account", "method": "withdraw", "descriptor": "(J)Z" },
///       "pause": [ { "after": { "class": "bank.Account", "method": "balance", "line": 12, "access": "read" } } ],
///       "partners": [ { "class": "bank.Account", "method": "deposit" } ],
///       "classes": [ "bank.**" ]
///     }
///   ]
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanFile {
    /// `untorn-plan/1`.
    pub schema: String,
    /// All of them are followed in one run.
    pub plans: Vec<Plan>,
}

/// Why saved plans cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not a file of plans: {0}")]
    NotPlans(#[source] serde_json::Error),
    #[error("the plans are of schema {found}, this version reads {SCHEMA}: update untorn")]
    OtherSchema { found: String },
    #[error("plan {number} names no pause point: nothing would wait")]
    NoPause { number: usize },
    #[error("the file has {found} plans, and one run follows {most} at most: divide it")]
    TooMany { found: usize, most: usize },
}

impl PlanFile {
    pub fn new(plans: Vec<Plan>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            plans,
        }
    }

    /// The plans as text, ending in a newline.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads saved plans, telling newer ones from something else.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_str(text).map_err(ReadError::NotPlans)?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherSchema { found: head.schema });
        }
        let file: Self = serde_json::from_str(text).map_err(ReadError::NotPlans)?;
        if let Some(at) = file.plans.iter().position(|plan| plan.pause.is_empty()) {
            return Err(ReadError::NoPause { number: at + 1 });
        }
        if file.plans.len() > crate::MOST_PLANS {
            return Err(ReadError::TooMany {
                found: file.plans.len(),
                most: crate::MOST_PLANS,
            });
        }
        Ok(file)
    }
}

/// The JSON schema of [`PlanFile`], pretty-printed.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(PlanFile))?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, PausePoint, Place, PlannedRegion};

    #[test]
    fn plans_are_read_as_they_were_written() {
        let plan = Plan {
            fingerprint: Some("0a1b".to_owned()),
            region: PlannedRegion {
                class: "bank.Account".to_owned(),
                method: "withdraw".to_owned(),
                descriptor: Some("(J)Z".to_owned()),
                block: None,
            },
            pause: vec![
                PausePoint::After(Place {
                    class: "bank.Account".to_owned(),
                    method: "balance".to_owned(),
                    line: Some(12),
                    access: Some(Access::Read),
                }),
                PausePoint::AfterAccess(2),
            ],
            partners: Vec::new(),
            classes: vec!["bank.**".to_owned()],
            patience_ms: None,
            every_execution: true,
        };
        let file = PlanFile::new(vec![plan]);
        let text = file.to_json().unwrap();
        assert_eq!(PlanFile::from_json(&text).unwrap(), file);
    }

    #[test]
    fn what_is_no_plan_is_named() {
        let error = |text: &str| PlanFile::from_json(text).unwrap_err().to_string();
        assert!(error("{}").starts_with("not a file of plans"));
        assert!(
            error(r#"{"schema":"untorn-plan/9","plans":[]}"#).contains("untorn-plan/9"),
            "newer ones are told apart"
        );
        let nowhere = r#"{"schema":"untorn-plan/1","plans":[{"region":{"class":"A","method":"m"},"pause":[],"classes":["A"]}]}"#;
        assert!(error(nowhere).contains("plan 1 names no pause point"));
    }
}
