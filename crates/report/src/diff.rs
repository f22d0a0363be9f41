//! What changed between two documents.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use untorn_findings::{Document, Finding, Region, Verdict, fingerprint};

use crate::places;
use crate::words::{count, headline, place_text, verdict};

/// Findings by what became of them; a finding is the same if its fingerprint is.
#[derive(Debug, Default, Serialize)]
pub struct Diff<'a> {
    pub new: Vec<&'a Finding>,
    /// Has a stronger verdict than before: was suspected, is observed.
    pub stronger: Vec<&'a Finding>,
    pub gone: Vec<&'a Finding>,
    /// Found before and now, with the same verdict or a weaker one.
    pub same: usize,
}

pub fn diff<'a>(before: &'a Document, after: &'a Document) -> Diff<'a> {
    let (known, now) = (Known::of(before), Known::of(after));
    let mut diff = Diff::default();
    for finding in &after.findings {
        match known.verdict_of(finding) {
            None => diff.new.push(finding),
            Some(old) if old < finding.verdict => diff.stronger.push(finding),
            Some(_) => diff.same += 1,
        }
    }
    diff.gone = (before.findings.iter())
        .filter(|finding| now.verdict_of(finding).is_none())
        .collect();
    diff
}

/// What a document knows, by name.
///
/// Schedules decide which regions of a cycle are seen together, and which of several regions shows a cause.
/// So a finding is also known if every region of it was named before.
struct Known<'a> {
    by_fingerprint: HashMap<&'a str, Verdict>,
    regions: HashMap<String, Verdict>,
}

impl<'a> Known<'a> {
    fn of(document: &'a Document) -> Self {
        let mut known = Self {
            by_fingerprint: HashMap::new(),
            regions: HashMap::new(),
        };
        for finding in &document.findings {
            let verdict = finding.verdict;
            known.by_fingerprint.insert(&finding.fingerprint, verdict);
            for region in regions(finding).chain(&finding.affected) {
                let most = known
                    .regions
                    .entry(fingerprint(region, &[]))
                    .or_insert(verdict);
                *most = verdict.max(*most);
            }
        }
        known
    }

    /// The verdict that a finding had, if it is known.
    fn verdict_of(&self, finding: &Finding) -> Option<Verdict> {
        if let Some(verdict) = self.by_fingerprint.get(finding.fingerprint.as_str()) {
            return Some(*verdict);
        }
        let before = |region: &Region| self.regions.get(&fingerprint(region, &[])).copied();
        let all: Option<Vec<Verdict>> = regions(finding).map(before).collect();
        all?.into_iter().max()
    }
}

fn regions(finding: &Finding) -> impl Iterator<Item = &Region> {
    std::iter::once(&finding.region).chain(&finding.group)
}

impl Diff<'_> {
    /// The changes as a person reads them.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (title, findings) in [
            ("New", &self.new),
            ("With a stronger verdict than before", &self.stronger),
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

/// What became of a document's findings in the light of a baseline.
#[derive(Debug, Default)]
pub struct Subtracted {
    /// How many the baseline has, and are left out.
    pub known: usize,
    /// The fingerprints of those that it has with a weaker verdict, and that are kept.
    pub stronger: BTreeSet<String>,
}

/// Leaves only what the baseline does not have, or has with a weaker verdict.
pub fn subtract(document: &mut Document, baseline: &Document) -> Subtracted {
    let known = Known::of(baseline);
    let mut subtracted = Subtracted::default();
    document
        .findings
        .retain(|finding| match known.verdict_of(finding) {
            None => true,
            Some(before) if before < finding.verdict => {
                subtracted.stronger.insert(finding.fingerprint.clone());
                true
            }
            Some(_) => {
                subtracted.known += 1;
                false
            }
        });
    subtracted
}
