//! The file as a whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use untorn_findings::Region;
use untorn_spec::{Pattern, Specification};

use crate::Suppression;

/// Where a project keeps it: at its root, under this name.
pub const FILE_NAME: &str = "untorn.toml";

/// Options by their long names without the dashes: `format = "sarif"`, `quiet = true`, `with = ["velodrome", "atomizer"]`.
pub type Defaults = BTreeMap<String, toml::Value>;

/// What `untorn.toml` says.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Config {
    /// The program's own classes, as patterns of class names such as `bank.**`; findings elsewhere are left out. Empty means all.
    pub packages: Vec<Pattern>,
    /// What ought to be atomic.
    pub spec: Specification,
    /// Findings not to be reported.
    pub suppress: Vec<Suppression>,
    /// Defaults of options: of all commands that have them, or in a table with the name of a command of that one alone.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub defaults: Defaults,
}

/// Why an `untorn.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{}", .0.to_string().trim_end())]
    Toml(#[from] toml::de::Error),
    #[error("the suppression {0} has no reason: say why it is right not to hear of it")]
    NoReason(String),
}

impl Config {
    pub fn from_toml(text: &str) -> Result<Self, ReadError> {
        let config: Self = toml::from_str(text)?;
        match config
            .suppress
            .iter()
            .find(|entry| entry.reason.trim().is_empty())
        {
            Some(entry) => Err(ReadError::NoReason(entry.what.to_string())),
            None => Ok(config),
        }
    }

    /// Whether a region is of the program itself; the label of a text trace always is.
    pub fn is_own(&self, region: &Region) -> bool {
        let Some(class) = &region.class else {
            return true;
        };
        self.packages.is_empty() || self.packages.iter().any(|p| p.matches_name(class))
    }

    /// The defaults that hold for a command: its own before those of all.
    pub fn defaults_of(&self, command: &str) -> Defaults {
        let mut defaults: Defaults = (self.defaults.iter())
            .filter(|(_, value)| !value.is_table())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let Some(toml::Value::Table(own)) = self.defaults.get(command) {
            defaults.extend(
                own.iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        defaults
    }
}

/// The JSON schema of the file, for editors, pretty-printed.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Config))?;
    text.push('\n');
    Ok(text)
}
