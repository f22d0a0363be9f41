//! The terminal's face: for each region a headline, the order of events that proves it with a column a thread, and what follows from it.

mod details;
mod fill;
mod interleaving;
mod listing;
mod stats;
mod style;

use untorn_findings::{Document, Finding, Level, Verdict};

use crate::NOT_FOR_THREADS;
use crate::show::{Show, shown};
use crate::words::{count, headline, place_text, verdict_counts};
use crate::{Excerpts, opinions, places, repair, words};
use fill::wrap;
use style::Style;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    pub show: Show,
    /// How many findings are shown at most.
    pub limit: Option<usize>,
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
            show: Show::default(),
            limit: None,
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
        let chosen = shown(document, self.options.show);
        let most = self.options.limit.unwrap_or(usize::MAX);
        for (index, finding) in chosen.iter().take(most).enumerate() {
            self.finding(index + 1, finding);
        }
        self.blank();
        self.summary(document);
        self.left_out(document, chosen.len(), most);
        self.stats(document);
    }

    fn summary(&mut self, document: &Document) {
        let looked_at = |what: &str| document.stats.get("looked at")?.get(what)?.as_u64();
        let summary = match document.findings.len() {
            0 if looked_at("regions") == Some(0) => "nothing was looked at".to_owned(),
            0 => "nothing found".to_owned(),
            all => format!(
                "{}: {}",
                count(all, "finding"),
                verdict_counts(&document.findings)
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
        if looked_at("regions") != Some(0) && left_out_arrays(&document.stats) {
            summary.push_str("; array elements were not watched (--arrays)");
        }
        if !document.unproved.is_empty() {
            summary.push_str(&format!("; {} not proved", document.unproved.len()));
            if self.options.show != Show::Unproved {
                summary.push_str(" (--show unproved lists them)");
            }
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
        let unthreaded =
            (document.stats.get(NOT_FOR_THREADS)).and_then(|all| all.get("count")?.as_u64());
        if let Some(classes) = unthreaded {
            let line = format!(
                "not written for threads: {} (no lock, volatile field or concurrent collection; heuristic = \"all-methods\" in a specification looks at them too)",
                if classes == 1 {
                    "1 class".to_owned()
                } else {
                    format!("{classes} classes")
                }
            );
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

    /// One line for what is not shown.
    fn left_out(&mut self, document: &Document, chosen: usize, most: usize) {
        let low = (document.findings.iter())
            .filter(|finding| finding.level() == Level::Low)
            .count();
        if self.options.show == Show::Worth && low > 0 {
            let are = if low == 1 { "is" } else { "are" };
            self.line(&format!(
                "{low} of them {are} ranked low and not shown; --show all shows them"
            ));
        }
        if chosen > most {
            self.line(&format!(
                "{} more are not shown, since --limit is {most}",
                chosen - most
            ));
        }
    }

    /// The rank and its reasons, how often the region was torn, and who else the cause spoils.
    fn worth(&mut self, finding: &Finding) {
        if let Some(rank) = &finding.rank {
            self.labelled("Rank", &words::rank(rank));
        }
        if let Some(text) = words::frequency(finding) {
            self.labelled("Seen", &text);
        }
        if let Some(text) = words::affected(finding) {
            self.labelled("Affected", &text);
        }
    }

    fn finding(&mut self, number: usize, finding: &Finding) {
        let quiet = self.options.quiet;
        if !quiet {
            self.blank();
        }
        let word = words::verdict(finding.verdict);
        let verdict = match finding.verdict {
            Verdict::Observed | Verdict::Reproduced => self.style.observed(word),
            Verdict::Suspected => self.style.suspected(word),
            Verdict::Unproved => self.style.faint(word),
        };
        let name = self.style.strong(&finding.region.short_name());
        let place = place_text(&places::of_region(&finding.region))
            .map_or(String::new(), |text| format!("  {text}"));
        let number = format!("{number}.");
        let level = (finding.rank.as_ref()).map_or_else(String::new, |rank| {
            format!("  {}", words::level(rank.level))
        });
        self.line(&format!("{number:<INDENT$}{verdict}{level}  {name}{place}"));
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
        self.worth(finding);
        for note in &finding.evidence.notes {
            self.labelled("Note", note);
        }
        let mut label = "Suggestion";
        for suggestion in repair::suggestions(finding) {
            self.labelled(label, &suggestion);
            label = "or";
        }
    }
}

/// Whether some process of a run accessed array elements that nobody recorded.
fn left_out_arrays(stats: &serde_json::Map<String, serde_json::Value>) -> bool {
    stats.iter().any(|(name, value)| {
        name == "sites left out: array elements" || value.as_object().is_some_and(left_out_arrays)
    })
}
