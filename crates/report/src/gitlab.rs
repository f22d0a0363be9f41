//! GitLab's report on code quality: a list of issues, which a merge request shows beside the changed lines.

use serde_json::{Value, json};
use untorn_findings::{Document, Finding, Level};

use crate::kinds::info;
use crate::words::headline;
use crate::{Excerpts, places};

/// The document as JSON text, ending in a newline.
pub fn render(document: &Document, excerpts: &Excerpts) -> Result<String, serde_json::Error> {
    let issues: Vec<Value> = (document.findings.iter())
        .map(|finding| issue(finding, excerpts))
        .collect();
    let mut text = serde_json::to_string_pretty(&issues)?;
    text.push('\n');
    Ok(text)
}

fn issue(finding: &Finding, excerpts: &Excerpts) -> Value {
    let place = places::shown(finding);
    // A place is asked for; what was compiled without names of files has its class.
    let class = finding.region.class.as_deref().unwrap_or("unknown");
    let path = places::path(&place, excerpts).unwrap_or_else(|| class.replace('.', "/"));
    json!({
        "description": headline(finding),
        "check_name": format!("untorn/{}", info(finding.kind).id),
        "fingerprint": finding.fingerprint,
        "severity": match finding.level() {
            Level::High => "critical",
            Level::Medium => "major",
            Level::Low => "minor",
        },
        "location": { "path": path, "lines": { "begin": place.line.unwrap_or(1).max(1) } },
    })
}
