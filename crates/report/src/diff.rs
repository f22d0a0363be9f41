//! What changed between two documents.

use std::collections::HashMap;

use serde::Serialize;
use untorn_findings::{Document, Finding, Verdict};

use crate::places;
use crate::words::{count, headline, place_text, verdict};

/// Findings by what became of them; a finding is the same if its fingerprint is.
#[derive(Debug, Default, Serialize)]
pub struct Diff<'a> {
    pub new: Vec<&'a Finding>,
    /// Was suspected, is observed.
    pub stronger: Vec<&'a Finding>,
    pub gone: Vec<&'a Finding>,
    /// Found before and now, with the same verdict or a weaker one.
    pub same: usize,
}

pub fn diff<'a>(before: &'a Document, after: &'a Document) -> Diff<'a> {
    let mut known: HashMap<&str, &Finding> = (before.findings.iter())
        .map(|finding| (finding.fingerprint.as_str(), finding))
        .collect();
    let mut diff = Diff::default();
    for finding in &after.findings {
        match known.remove(finding.fingerprint.as_str()) {
            None => diff.new.push(finding),
            Some(old) if old.verdict < finding.verdict => diff.stronger.push(finding),
            Some(_) => diff.same += 1,
        }
    }
    diff.gone = (before.findings.iter())
        .filter(|finding| known.contains_key(finding.fingerprint.as_str()))
        .collect();
    diff
}

impl Diff<'_> {
    /// Whether something is worse than before.
    pub fn is_worse(&self) -> bool {
        !self.new.is_empty() || !self.stronger.is_empty()
    }

    /// The changes as a person reads them.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (title, findings) in [
            ("New", &self.new),
            ("Observed now, suspected before", &self.stronger),
            ("Gone", &self.gone),
        ] {
            if findings.is_empty() {
                continue;
            }
            out.push_str(&format!("{title}:\n"));
            for finding in findings {
                let place = place_text(&places::of_region(&finding.region));
                let place = place.map_or_else(String::new, |place| format!("  {place}"));
                out.push_str(&format!(
                    "  {}  {}{place}\n    {}\n",
                    verdict(finding.verdict),
                    finding.region.short_name(),
                    headline(finding)
                ));
            }
            out.push('\n');
        }
        out.push_str(&format!(
            "{} new, {} stronger, {} gone, {} as before\n",
            self.new.len(),
            self.stronger.len(),
            self.gone.len(),
            count(self.same, "finding")
        ));
        out
    }
}

/// Leaves only what the baseline does not have, or has with a weaker verdict; says how many were left out.
pub fn subtract(document: &mut Document, baseline: &Document) -> usize {
    let known: HashMap<&str, Verdict> = (baseline.findings.iter())
        .map(|finding| (finding.fingerprint.as_str(), finding.verdict))
        .collect();
    let before = document.findings.len();
    document.findings.retain(|finding| {
        (known.get(finding.fingerprint.as_str())).is_none_or(|verdict| *verdict < finding.verdict)
    });
    before - document.findings.len()
}
