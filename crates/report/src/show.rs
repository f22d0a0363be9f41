//! Which findings of a document a reader wants to see.

use untorn_findings::{Document, Finding, Level};

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Show {
    /// What is not ranked low.
    #[default]
    Worth,
    /// Every finding.
    All,
    /// Only what a run showed torn.
    Observed,
    /// What is not proved, instead of findings.
    Unproved,
}

/// The findings that are shown, in the order of the document.
pub fn shown(document: &Document, show: Show) -> Vec<&Finding> {
    let those = |wanted: &dyn Fn(&Finding) -> bool| {
        let all = document.findings.iter();
        all.filter(|finding| wanted(finding)).collect()
    };
    match show {
        Show::Worth => those(&|finding| finding.level() > Level::Low),
        Show::All => those(&|_| true),
        Show::Observed => those(&|finding| finding.verdict.is_seen()),
        Show::Unproved => document.unproved.iter().collect(),
    }
}
