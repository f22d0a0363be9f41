//! The browser's face: one file without network, an overview and a page per finding.
//!
//! The document is embedded as data and drawn by small scripts, a finding's page only when it is opened, so that ten thousand findings stay usable.
//! Everything reaches the page as text nodes or attributes, never as markup, so names from the analyzed program cannot inject any.

mod data;
mod trend;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use untorn_findings::Document;

use crate::Excerpts;
use crate::words::count;

pub use trend::Trend;

const STYLE: &str = include_str!("html/report.css");
const SCRIPTS: [&str; 6] = [
    include_str!("html/dom.js"),
    include_str!("html/diagram.js"),
    include_str!("html/finding.js"),
    include_str!("html/charts.js"),
    include_str!("html/overview.js"),
    include_str!("html/route.js"),
];

/// The document as a page, complete in itself; beside a baseline with what changed since.
pub fn render(
    document: &Document,
    excerpts: &Excerpts,
    trend: Option<&Trend>,
) -> Result<String, serde_json::Error> {
    let data = serde_json::to_string(&data::data(document, excerpts, trend))?;
    // Nothing in the data may look like the end of its element.
    let data = data.replace('<', "\\u003c");
    Ok(page(document, &data).into_string())
}

fn page(document: &Document, data: &str) -> Markup {
    let script = format!("\"use strict\";\n{}", SCRIPTS.concat());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { (title(document)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the findings" }
                header {
                    h1 { a href="#" { "Untorn" } }
                    p { (document.inputs.join(", ")) }
                }
                main id="main" tabindex="-1" {
                    noscript { p { "This report is drawn by scripts in the file itself; allow them to see it." } }
                    section id="overview" aria-label="Overview" {}
                    article id="finding" hidden {}
                }
                footer {
                    p { (document.tool.name) " " (document.tool.version) }
                }
                script type="application/json" id="data" { (PreEscaped(data)) }
                script { (PreEscaped(script)) }
            }
        }
    }
}

fn title(document: &Document) -> String {
    let observed = (document.findings.iter())
        .filter(|finding| finding.verdict.is_seen())
        .count();
    format!(
        "{}, {observed} observed – Untorn",
        count(document.findings.len(), "finding")
    )
}
