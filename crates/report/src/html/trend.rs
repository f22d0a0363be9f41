//! How many findings there are beside a baseline, by rank.

use serde::Serialize;
use untorn_findings::{Document, Finding, Level};

use crate::diff::diff;

/// Counts of two documents, and of what changed between them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Trend {
    pub before: Counts,
    pub now: Counts,
    pub new: Counts,
    pub gone: Counts,
    /// Findings of both with a stronger verdict now.
    pub stronger: usize,
}

/// Findings by rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    pub high: usize,
    pub medium: usize,
    pub low: usize,
}

impl Counts {
    fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.level() {
                Level::High => counts.high += 1,
                Level::Medium => counts.medium += 1,
                Level::Low => counts.low += 1,
            }
        }
        counts
    }
}

impl Trend {
    /// What changed from the one to the other.
    pub fn between(before: &Document, now: &Document) -> Self {
        let change = diff(before, now);
        Self {
            before: Counts::of(&before.findings),
            now: Counts::of(&now.findings),
            new: Counts::of(change.new),
            gone: Counts::of(change.gone),
            stronger: change.stronger.len(),
        }
    }
}
