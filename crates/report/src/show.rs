//! Which findings of a document a reader wants to see.

use untorn_findings::{Document, Finding};

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Show {
    /// Every finding.
    #[default]
    All,
    /// Only what a run showed torn.
    Observed,
    /// What is not proved, instead of findings.
    Unproved,
}

/// The findings that are shown, in the order of the document.
pub fn shown(document: &Document, show: Show) -> Vec<&Finding> {
    match show {
        Show::All => document.findings.iter().collect(),
        Show::Observed => (document.findings.iter())
            .filter(|finding| finding.verdict.is_seen())
            .collect(),
        Show::Unproved => document.unproved.iter().collect(),
    }
}
