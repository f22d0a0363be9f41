//! Markdown for the summary page of a job.

use untorn_findings::{Document, Finding};

use crate::places;
use crate::show::{Show, shown};
use crate::words::{count, headline, level, place_text, verdict};

/// Findings named in full; a summary is read at a glance.
const NAMED: usize = 20;

/// The document as a short Markdown page.
pub fn render(document: &Document) -> String {
    let observed = (document.findings.iter())
        .filter(|finding| finding.verdict.is_seen())
        .count();
    let mut out = String::from("## Untorn\n\n");
    out.push_str("| observed | suspected | proved atomic | not proved | suppressed |\n|---:|---:|---:|---:|---:|\n");
    out.push_str(&format!(
        "| {observed} | {} | {} | {} | {} |\n\n",
        document.findings.len() - observed,
        document.proved.len(),
        document.unproved.len(),
        document.suppressed.len()
    ));
    if document.findings.is_empty() {
        out.push_str("Nothing was found.\n");
        return out;
    }
    out.push_str("| | rank | region | place | what |\n|---|---|---|---|---|\n");
    let worth = shown(document, Show::Worth);
    for finding in worth.iter().take(NAMED) {
        out.push_str(&row(finding));
    }
    let left = document.findings.len() - worth.len().min(NAMED);
    if left > 0 {
        out.push_str(&format!("\nAnd {} more.\n", count(left, "finding")));
    }
    out
}

fn row(finding: &Finding) -> String {
    let place = place_text(&places::of_region(&finding.region)).unwrap_or_default();
    format!(
        "| {} | {} | {} | {} | {} |\n",
        verdict(finding.verdict),
        (finding.rank.as_ref()).map_or("", |rank| level(rank.level)),
        code(&finding.region.short_name()),
        escape(&place),
        escape(&headline(finding))
    )
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}

/// Text that no renderer takes for markup.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' => safe.push(' '),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '@' | '#' => {
                safe.push('\\');
                safe.push(letter);
            }
            other => safe.push(other),
        }
    }
    safe
}
