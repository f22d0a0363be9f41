//! The terminal's face: one headline a region, then the order of events that proves it, a column a thread.

mod interleaving;
mod style;

use std::fmt::Write;

use untorn_findings::{Document, Evidence, Finding, Place, Reduction, Step, Verdict, ViewConflict};

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

/// The document as a person reads it.
pub fn render(document: &Document, options: &Options) -> String {
    let mut page = Page {
        out: String::new(),
        style: Style::new(options.colour),
        options: *options,
    };
    page.document(document);
    page.out
}

struct Page {
    out: String,
    style: Style,
    options: Options,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn document(&mut self, document: &Document) {
        for finding in &document.findings {
            self.finding(finding);
        }
        if !document.proved.is_empty() {
            self.line(&format!(
                "{} proved atomic",
                count(document.proved.len(), "region")
            ));
            if self.options.verbose {
                for region in &document.proved {
                    self.line(&format!("  {}", region.short_name()));
                }
            }
        }
        let observed = document
            .findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Observed)
            .count();
        let summary = match document.findings.len() {
            0 => "nothing found".to_owned(),
            all => format!(
                "{}: {observed} observed, {} suspected",
                count(all, "finding"),
                all - observed
            ),
        };
        let summary = self.style.strong(&summary);
        self.line(&summary);
        if self.options.stats {
            self.stats(document);
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let verdict = match finding.verdict {
            Verdict::Observed => self.style.observed("observed"),
            Verdict::Suspected => self.style.suspected("suspected"),
        };
        let region = &finding.region;
        let place = Place {
            file: region.file.clone(),
            line: region.line,
            ..Place::default()
        };
        let place = place_text(&place).map_or(String::new(), |text| format!(" ({text})"));
        let name = self.style.strong(&region.short_name());
        self.line(&format!("{verdict}: {name}{place}"));
        for line in wrap(&finding.message, self.options.width.saturating_sub(2)) {
            self.line(&format!("  {line}"));
        }
        if self.options.quiet {
            return;
        }
        self.evidence(&finding.evidence);
        let mut said = format!("  said by {}", finding.analyses.join(", "));
        if finding.occurrences > 1 {
            let _ = write!(said, "; seen {} times", finding.occurrences);
        }
        let said = self.style.faint(&said);
        self.line(&said);
        self.line("");
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let shown = if self.options.verbose { usize::MAX } else { 1 };
        for interleaving in evidence.interleavings.iter().take(shown) {
            let width = self.options.width;
            let drawn = interleaving::draw(interleaving, width, self.style);
            self.out.push_str(&drawn);
        }
        for reduction in evidence.reductions.iter().take(shown) {
            self.reduction(reduction);
        }
        for conflict in evidence.views.iter().take(shown) {
            self.views(conflict);
        }
        for race in evidence.races.iter().take(shown) {
            let benign = if race.benign_candidate {
                " (its writes are protected: a benign candidate)"
            } else {
                ""
            };
            self.line(&format!(
                "  no lock protects all accesses of {}{benign}",
                race.variable
            ));
            for step in &race.accesses {
                self.step("access", step);
            }
        }
        if !evidence.enclosing.is_empty() {
            let names: Vec<_> = evidence
                .enclosing
                .iter()
                .map(untorn_findings::Region::short_name)
                .collect();
            self.line(&format!("  torn with it: {}", names.join(", ")));
        }
        for note in &evidence.notes {
            self.line(&format!("  note: {note}"));
        }
    }

    fn step(&mut self, label: &str, step: &Step) {
        let place = step.place.as_ref().and_then(place_text).unwrap_or_default();
        let locks = if step.locks.is_empty() {
            String::new()
        } else {
            format!(" holding {}", step.locks.join(", "))
        };
        self.line(&format!(
            "    {label:<10} {} {} {}{locks}  {place}",
            step.thread, step.op, step.target
        ));
        if self.options.verbose {
            for frame in &step.stack {
                let place = place_text(frame).unwrap_or_default();
                let method = frame.method.as_deref().unwrap_or("?");
                self.line(&format!("               in {method}  {place}"));
            }
        }
    }

    fn reduction(&mut self, reduction: &Reduction) {
        self.line(&format!("  {}", reduction.why));
        self.step("entry", &reduction.entry);
        self.step("commit", &reduction.commit);
        self.step("violation", &reduction.violation);
    }

    fn views(&mut self, conflict: &ViewConflict) {
        let maximal = &conflict.maximal;
        self.line(&format!(
            "  {} holds {} as one under {}",
            maximal.thread,
            maximal.fields.join(", "),
            maximal.lock
        ));
        for view in &conflict.diverging {
            let places: Vec<_> = view.places.iter().filter_map(place_text).collect();
            self.line(&format!(
                "  {} takes only {} under {}  {}",
                view.thread,
                view.fields.join(", "),
                view.lock,
                places.join(", ")
            ));
        }
    }

    fn stats(&mut self, document: &Document) {
        for (name, value) in &document.stats {
            self.stat(0, name, value);
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

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `File.java:12`, or nothing where no file is known.
pub(crate) fn place_text(place: &Place) -> Option<String> {
    let file = place.file.as_ref()?;
    Some(match place.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    })
}

/// Breaks text at spaces into lines of at most `width` characters; a longer word stands alone.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match line {
            Some(line) => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
