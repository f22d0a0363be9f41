//! What is known of the project: saved findings, and those of the newest check.

use std::collections::BTreeSet;

use untorn_findings::{Document, Finding};
use untorn_report::diff;
use untorn_report::show::{Show, shown};

/// Findings of both kinds.
#[derive(Debug)]
pub struct Found {
    pub saved: Document,
    pub checked: Document,
    /// Both, each finding once, without what is in the baseline.
    shown: Document,
}

impl Default for Found {
    fn default() -> Self {
        let empty = || Document::new(Vec::new());
        Self {
            saved: empty(),
            checked: empty(),
            shown: empty(),
        }
    }
}

impl Found {
    /// Unites both kinds, but for what the baseline has.
    pub fn leave_out(&mut self, baseline: &Document) {
        let mut document = Document::new(Vec::new());
        let all = self.saved.findings.iter().chain(&self.checked.findings);
        document.take(all.cloned().collect());
        untorn_rank::rank(&mut document, &untorn_rank::Code::default());
        diff::subtract(&mut document, baseline);
        self.shown = document;
    }

    /// What is worth a look, each finding once.
    pub fn findings(&self) -> Vec<&Finding> {
        let mut seen = BTreeSet::new();
        let mut findings = shown(&self.shown, Show::Worth);
        findings.retain(|finding| seen.insert(finding.fingerprint.as_str()));
        findings
    }

    pub fn by_fingerprint(&self, fingerprint: &str) -> Option<&Finding> {
        (self.shown.findings.iter()).find(|finding| finding.fingerprint == fingerprint)
    }
}
