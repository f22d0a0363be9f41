//! The terminal's face: for each region a headline, the order of events that proves it with a column a thread, and what follows from it.

mod details;
mod fill;
mod interleaving;
mod listing;
mod style;

use untorn_findings::{Document, Finding, Verdict};

use crate::words::{count, headline, place_text};
use crate::{Excerpts, opinions, places, repair};
use fill::wrap;
use style::Style;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    /// Only the headlines.
    pub quiet: bool,
    /// Every piece of evidence, not only the first of its sort.
    pub verbose: bool,
    /// Print the counts.
    pub stats: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            quiet: false,
            verbose: false,
            stats: false,
        }
    }
}

/// Narrower terminals are written to as if they had this many columns.
const NARROWEST: usize = 30;
/// Lines longer than this are hard to read, however wide the terminal is.
const WIDEST: usize = 120;
/// What stands under a headline is this far in.
const INDENT: usize = 4;
/// `(12) ` before each step.
const NUMBER: usize = 5;
/// The words in the margin: `Blamed`, `Says`, `Suggestion`.
const MARGIN: usize = 12;

/// The document as a person reads it.
pub fn render(document: &Document, excerpts: &Excerpts, options: &Options) -> String {
    let mut page = Page {
        out: String::new(),
        style: Style::new(options.colour),
        width: options.width.clamp(NARROWEST, WIDEST),
        options: *options,
        excerpts,
    };
    page.document(document);
    page.out
}

struct Page<'a> {
    out: String,
    style: Style,
    width: usize,
    options: Options,
    excerpts: &'a Excerpts,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Text under a headline, broken to fit.
    fn paragraph(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// A number and text beside it.
    fn numbered(&mut self, number: &str, text: &str) {
        let mut number = number.to_owned();
        for line in wrap(text, self.width.saturating_sub(INDENT + NUMBER)) {
            self.line(&format!("{:INDENT$}{number:<NUMBER$}{line}", ""));
            number.clear();
        }
    }

    /// A word in the margin and text beside it.
    fn labelled(&mut self, label: &str, text: &str) {
        let beside = INDENT + MARGIN;
        let mut label = label.to_owned();
        for line in wrap(text, self.width.saturating_sub(beside)) {
            let padding = " ".repeat(MARGIN.saturating_sub(label.chars().count()));
            let margin = self.style.faint(&label);
            self.line(&format!("{:INDENT$}{margin}{padding}{line}", ""));
            label.clear();
        }
    }

    fn document(&mut self, document: &Document) {
        for (index, finding) in document.findings.iter().enumerate() {
            self.finding(index + 1, finding);
        }
        self.blank();
        self.summary(document);
        if self.options.stats {
            self.blank();
            for (name, value) in &document.stats {
                self.stat(0, name, value);
            }
        }
    }

    fn summary(&mut self, document: &Document) {
        let observed = (document.findings.iter())
            .filter(|finding| finding.verdict == Verdict::Observed)
            .count();
        let looked_at = |what: &str| document.stats.get("looked at")?.get(what)?.as_u64();
        let summary = match document.findings.len() {
            0 if looked_at("regions") == Some(0) => "nothing was looked at".to_owned(),
            0 => "nothing found".to_owned(),
            all => format!(
                "{}: {observed} observed, {} suspected",
                count(all, "finding"),
                all - observed
            ),
        };
        let mut summary = self.style.strong(&summary);
        if !document.proved.is_empty() {
            summary.push_str(&format!(
                "; {} proved atomic",
                count(document.proved.len(), "region")
            ));
        }
        if !document.proved_if_sequential.is_empty() {
            summary.push_str(&format!(
                "; {} more in sequentially consistent runs",
                document.proved_if_sequential.len()
            ));
        }
        self.line(&summary);
        if let (Some(regions), Some(threads)) = (looked_at("regions"), looked_at("threads")) {
            let mut line = format!(
                "{} entered by {}",
                count(regions as usize, "region"),
                count(threads as usize, "thread")
            );
            if let Some(shared) = looked_at("shared objects") {
                line.push_str(&format!("; {} shared", count(shared as usize, "object")));
            }
            self.paragraph(0, &line);
        }
        if self.options.verbose {
            let sure = document.proved.iter().map(|region| (region, ""));
            let racy = (document.proved_if_sequential.iter())
                .map(|region| (region, " (with a race on plain fields)"));
            for (region, mark) in sure.chain(racy) {
                let place = place_text(&places::of_region(region));
                let place = place.map_or_else(String::new, |text| format!(" {text}"));
                let mut line = format!("{}{place}{mark}", region.short_name());
                for assumed in document.assumptions_of(region) {
                    line.push_str(&format!(", assuming that {}", assumed.what));
                }
                self.paragraph(INDENT, &line);
            }
        }
        for assumed in &document.assumed {
            let rest = match assumed.proofs.len() {
                0 => "no proof rests on it".to_owned(),
                1 => "1 proof rests on it".to_owned(),
                n => format!("{n} proofs rest on it"),
            };
            let line = format!("assumed that {} ({}); {rest}", assumed.what, assumed.place);
            self.paragraph(0, &line);
        }
    }

    fn finding(&mut self, number: usize, finding: &Finding) {
        let quiet = self.options.quiet;
        if !quiet {
            self.blank();
        }
        let verdict = match finding.verdict {
            Verdict::Observed => self.style.observed("observed"),
            Verdict::Suspected => self.style.suspected("suspected"),
        };
        let name = self.style.strong(&finding.region.short_name());
        let place = place_text(&places::of_region(&finding.region))
            .map_or(String::new(), |text| format!("  {text}"));
        let number = format!("{number}.");
        self.line(&format!("{number:<INDENT$}{verdict}  {name}{place}"));
        self.paragraph(INDENT, &headline(finding));
        if quiet {
            return;
        }
        self.evidence(finding);
        self.blank();
        self.blame(finding);
        let mut label = "Says";
        for opinion in opinions::opinions(finding) {
            self.labelled(label, &format!("{}: {}", opinion.analysis, opinion.says));
            label = "";
        }
        if finding.occurrences > 1 {
            self.labelled("Seen", &format!("{} times", finding.occurrences));
        }
        for note in &finding.evidence.notes {
            self.labelled("Note", note);
        }
        let mut label = "Suggestion";
        for suggestion in repair::suggestions(finding) {
            self.labelled(label, &suggestion);
            label = "or";
        }
    }

    fn stat(&mut self, depth: usize, name: &str, value: &serde_json::Value) {
        let indent = "  ".repeat(depth);
        match value {
            serde_json::Value::Object(entries) => {
                self.line(&format!("{indent}{name}:"));
                for (name, value) in entries {
                    self.stat(depth + 1, name, value);
                }
            }
            serde_json::Value::Array(items)
                if items.iter().any(|item| item.is_object() || item.is_array()) =>
            {
                self.line(&format!("{indent}{name}:"));
                for item in items {
                    self.line(&format!("{indent}  {item}"));
                }
            }
            serde_json::Value::Array(items) => {
                let items: Vec<_> = items.iter().map(plain).collect();
                self.line(&format!("{indent}{name}: {}", items.join(", ")));
            }
            value => self.line(&format!("{indent}{name}: {}", plain(value))),
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
