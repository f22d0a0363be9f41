//! The saved form of findings, `untorn-findings/1`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::layout::Lines;
use crate::merge::{merge, sort};
use crate::shared;
use crate::{Finding, Region, Verdict};

/// The name and version of the saved form; a change that old readers cannot take raises the number.
pub const SCHEMA: &str = "untorn-findings/1";

/// Under this name the regions that a run found out not to be meant as one step stand among the statistics.
pub const DEMOTED: &str = "demoted";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

/// All that one run of Untorn found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    pub schema: String,
    pub tool: Tool,
    /// What was analyzed, as the user named it.
    pub inputs: Vec<String>,
    pub findings: Vec<Finding>,
    /// Regions that ought to be atomic and that nothing proves or suspects: a state and no finding.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unproved: Vec<Finding>,
    /// Regions that types show atomic.
    pub proved: Vec<Region>,
    /// What was believed without a check, and the proofs that rest on it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub assumed: Vec<Assumed>,
    /// Regions that types show atomic in sequentially consistent runs, since they access plain fields in a race.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub proved_if_sequential: Vec<Region>,
    /// Findings that somebody chose not to hear of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub suppressed: Vec<Suppressed>,
    /// Counts by analysis.
    pub stats: serde_json::Map<String, serde_json::Value>,
}

/// Something that was believed without a check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Assumed {
    /// In one phrase.
    pub what: String,
    /// Where somebody says so.
    pub place: String,
    /// The proved regions that rest on it.
    pub proofs: Vec<Region>,
}

/// A finding that somebody chose not to hear of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Suppressed {
    pub finding: Finding,
    pub by: SuppressedBy,
    /// In the words of whoever suppressed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// Where it was said that a finding is not to be reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressedBy {
    /// An annotation or a mark in the sources.
    Source,
    /// An entry of `untorn.toml`.
    Config,
}

/// Why a saved document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not a findings file: {0}")]
    NotFindings(#[source] serde_json::Error),
    #[error(
        "the file ends in the middle (line {line}): it was not written to its end, and only its complete findings can be shown; run the analysis again"
    )]
    HalfWritten { line: usize },
    #[error("the findings are of schema {found}, this version reads {SCHEMA}: update untorn")]
    OtherSchema { found: String },
}

impl Document {
    /// The regions that a run found out not to be meant as one step, as they stand among its statistics, alone or by process.
    pub fn demoted(&self) -> Vec<Region> {
        let of_processes = self.stats.values().filter_map(|of_one| of_one.get(DEMOTED));
        (self.stats.get(DEMOTED).into_iter().chain(of_processes))
            .filter_map(serde_json::Value::as_array)
            .flatten()
            .filter_map(|entry| serde_json::from_value(entry.get("region")?.clone()).ok())
            .collect()
    }

    pub fn new(inputs: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            tool: Tool {
                name: "untorn".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            inputs,
            findings: Vec::new(),
            unproved: Vec::new(),
            proved: Vec::new(),
            assumed: Vec::new(),
            proved_if_sequential: Vec::new(),
            suppressed: Vec::new(),
            stats: serde_json::Map::new(),
        }
    }

    /// Takes what analyses report: unites what they say of one region, and keeps what is only not proved apart.
    pub fn take(&mut self, findings: Vec<Finding>) {
        let is_finding = |finding: &Finding| finding.verdict > Verdict::Unproved;
        (self.findings, self.unproved) = merge(findings).into_iter().partition(is_finding);
    }

    /// Puts what deserves a look most to the front, after findings were ranked.
    pub fn sort(&mut self) {
        sort(&mut self.findings);
    }

    /// What the proof of a region rests on.
    pub fn assumptions_of(&self, region: &Region) -> impl Iterator<Item = &Assumed> {
        (self.assumed.iter()).filter(|assumed| assumed.proofs.contains(region))
    }

    /// All findings, whatever is made of them.
    fn all_findings(&mut self) -> impl Iterator<Item = &mut Finding> {
        let suppressed = (self.suppressed.iter_mut()).map(|suppressed| &mut suppressed.finding);
        (self.findings.iter_mut().chain(&mut self.unproved)).chain(suppressed)
    }

    /// The document as text, a line for each finding, ending in a newline; what is the same around it is said once ([`shared`]).
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut folded = self.clone();
        folded.all_findings().for_each(shared::fold);
        let mut text = Vec::new();
        folded.serialize(&mut serde_json::Serializer::with_formatter(
            &mut text,
            Lines::default(),
        ))?;
        text.push(b'\n');
        String::from_utf8(text).map_err(<serde_json::Error as serde::ser::Error>::custom)
    }

    /// Reads a saved document, telling a newer one and a half-written one from one that is something else.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let classify = |error: serde_json::Error| {
            if error.is_eof() && !text.trim().is_empty() {
                ReadError::HalfWritten { line: error.line() }
            } else {
                ReadError::NotFindings(error)
            }
        };
        let head: Head = serde_json::from_str(text).map_err(classify)?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherSchema { found: head.schema });
        }
        let mut document: Self = serde_json::from_str(text).map_err(classify)?;
        document.all_findings().for_each(shared::unfold);
        Ok(document)
    }

    /// What is complete in a document that was not written to its end; nothing if that is no findings file of this schema.
    pub fn from_half_written(text: &str) -> Option<Self> {
        let mut document = Self {
            schema: String::new(),
            ..Self::new(Vec::new())
        };
        let mut reader = serde_json::Deserializer::from_str(text);
        // It fails at the end of the text; what was read until then is kept.
        let _ = Partial(&mut document).deserialize(&mut reader);
        document.all_findings().for_each(shared::unfold);
        (document.schema == SCHEMA).then_some(document)
    }
}

/// Reads a document field by field and keeps what it has when the text ends.
struct Partial<'a>(&'a mut Document);

impl<'de> DeserializeSeed<'de> for Partial<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Partial<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a findings document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let document = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema" => document.schema = map.next_value()?,
                "tool" => document.tool = map.next_value()?,
                "inputs" => document.inputs = map.next_value()?,
                "findings" => map.next_value_seed(Items(&mut document.findings))?,
                "unproved" => map.next_value_seed(Items(&mut document.unproved))?,
                "suppressed" => map.next_value_seed(Items(&mut document.suppressed))?,
                // Proofs are left out: what they rest on stands behind them and may be lost.
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Reads a list item by item.
struct Items<'a, T>(&'a mut Vec<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            self.0.push(item);
        }
        Ok(())
    }
}

/// The JSON schema of [`Document`], pretty-printed.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Document))?;
    text.push('\n');
    Ok(text)
}
