//! Findings that somebody chose not to hear of, with a reason and perhaps an end.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use untorn_findings::{Document, Finding, Kind, Region, Suppressed, SuppressedBy};
use untorn_spec::{Pattern, PatternError};

use crate::Date;

/// What is suppressed: `kind:pattern`, such as `torn:bank.Account.*`, or `*:bank.legacy.**` for every kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Subject {
    /// Absent for every kind.
    kind: Option<Kind>,
    pattern: Pattern,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubjectError {
    #[error("`{0}`: what is suppressed is written kind:pattern, such as torn:bank.Account.*")]
    NoKind(String),
    #[error("`{0}` is no kind of finding; there are {all}, and * for all", all = kinds().join(", "))]
    UnknownKind(String),
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// The kinds by the names they are saved with.
const KINDS: [Kind; 8] = [
    Kind::Torn,
    Kind::Cycle,
    Kind::ForkJoin,
    Kind::Reduction,
    Kind::ViewInconsistency,
    Kind::MethodInconsistency,
    Kind::Untypable,
    Kind::Race,
];

fn name(kind: Kind) -> String {
    let saved = serde_json::to_value(kind).ok();
    saved
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn kinds() -> Vec<String> {
    KINDS.iter().map(|kind| name(*kind)).collect()
}

impl FromStr for Subject {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        let (kind, pattern) =
            (text.split_once(':')).ok_or_else(|| SubjectError::NoKind(text.to_owned()))?;
        let kind = match kind {
            "*" => None,
            _ => Some(
                (KINDS.into_iter().find(|known| name(*known) == kind))
                    .ok_or_else(|| SubjectError::UnknownKind(kind.to_owned()))?,
            ),
        };
        let pattern = pattern.parse()?;
        Ok(Self { kind, pattern })
    }
}

impl TryFrom<String> for Subject {
    type Error = SubjectError;

    fn try_from(text: String) -> Result<Self, SubjectError> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.map_or_else(|| "*".to_owned(), name);
        write!(f, "{kind}:{}", self.pattern)
    }
}

impl Subject {
    pub fn matches(&self, finding: &Finding) -> bool {
        self.kind.is_none_or(|kind| kind == finding.kind) && self.names(&finding.region)
    }

    fn names(&self, region: &Region) -> bool {
        let class = region.class.as_deref().unwrap_or("");
        if let Some(field) = &region.field {
            let dot = if class.is_empty() { "" } else { "." };
            return self.pattern.matches_name(&format!("{class}{dot}{field}"));
        }
        match region.class {
            Some(_) => {
                let descriptor = region.descriptor.as_deref().unwrap_or("");
                (self.pattern).matches_region(class, &region.method, descriptor, region.block)
            }
            // The label of a text trace is the whole name.
            None => self.pattern.matches_name(&region.method),
        }
    }
}

/// One entry of `untorn.toml`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    pub what: Subject,
    /// Why it is right not to hear of it; must not be empty.
    pub reason: String,
    /// The last day on which it holds.
    #[serde(default)]
    pub until: Option<Date>,
}

/// An entry that did nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// Nothing that it names was found.
    Unused(Subject),
    /// Its last day is over, so what it names is reported again.
    Expired(Subject, Date),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unused(what) => write!(
                f,
                "the suppression {what} names nothing that was found; remove it if it is repaired"
            ),
            Self::Expired(what, until) => {
                write!(
                    f,
                    "the suppression {what} ended on {until} and no longer holds"
                )
            }
        }
    }
}

/// Moves what the entries name to the document's suppressed findings; says which entries did nothing.
pub fn apply(entries: &[Suppression], document: &mut Document, today: Date) -> Vec<Complaint> {
    let mut used = vec![false; entries.len()];
    let mut kept = Vec::new();
    for finding in std::mem::take(&mut document.findings) {
        let mut by = None;
        for (index, entry) in entries.iter().enumerate() {
            if entry.what.matches(&finding) {
                used[index] = true;
                if entry.until.is_none_or(|until| today <= until) {
                    by.get_or_insert(entry);
                }
            }
        }
        match by {
            Some(entry) => document.suppressed.push(Suppressed {
                finding,
                by: SuppressedBy::Config,
                reason: Some(entry.reason.clone()),
            }),
            None => kept.push(finding),
        }
    }
    document.findings = kept;
    let entries = entries.iter().zip(used);
    entries
        .filter_map(|(entry, used)| match entry.until {
            Some(until) if until < today => Some(Complaint::Expired(entry.what.clone(), until)),
            _ => (!used).then(|| Complaint::Unused(entry.what.clone())),
        })
        .collect()
}
