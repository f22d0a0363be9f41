//! Findings as an editor shows them: diagnostics with related places, and the interleaving on hover.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Hover, HoverContents,
    HoverParams, Location, MarkupContent, MarkupKind, NumberOrString, Position, Range, Uri,
};
use untorn_findings::{Document, Finding, Level, Place};
use untorn_report::show::Show;
use untorn_report::words::headline;
use untorn_report::{Excerpts, Listing, kinds, places, repair, text};
use untorn_sources::Folder;

use super::found::Found;
use super::workspace::{Workspace, path_of, uri_of};

/// Hovers are narrow.
const COLUMNS: usize = 80;
/// More related places than that nobody reads.
const RELATED: usize = 12;

/// By the address of the file: what is found in it.
pub fn diagnostics(workspace: &Workspace, found: &Found) -> BTreeMap<String, Vec<Diagnostic>> {
    let folder = workspace.folder();
    let mut all: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for finding in found.findings() {
        let Some((uri, range)) = shown_at(finding).and_then(|place| locate(&folder, &place)) else {
            continue;
        };
        all.entry(uri)
            .or_default()
            .push(diagnostic(&folder, finding, range));
    }
    all
}

/// Where a finding is shown: at its region, else at the first place of its evidence.
fn shown_at(finding: &Finding) -> Option<Place> {
    let region = places::of_region(&finding.region);
    if region.file.is_some() && region.line.is_some() {
        return Some(region);
    }
    let mut first = None;
    places::visit(finding, &mut |place| {
        if first.is_none() && place.file.is_some() && place.line.is_some() {
            first = Some(place.clone());
        }
    });
    first
}

fn locate(folder: &Folder, place: &Place) -> Option<(String, Range)> {
    let class = place.class.as_deref().unwrap_or("");
    let path = folder.find(class, place.file.as_deref()?)?;
    Some((uri_of(path)?, line(path, place.line?)))
}

/// The text of a line, as far as it can be read.
fn line(path: &Path, number: u32) -> Range {
    let row = number.saturating_sub(1);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let text = text.lines().nth(row as usize).unwrap_or("");
    // Columns are counted in units of UTF-16.
    let units = |text: &str| text.encode_utf16().count() as u32;
    let end = units(text.trim_end());
    let start = end - units(text.trim());
    Range::new(Position::new(row, start), Position::new(row, end))
}

fn diagnostic(folder: &Folder, finding: &Finding, range: Range) -> Diagnostic {
    let severity = match (finding.level(), finding.verdict.is_seen()) {
        (Level::High, true) => DiagnosticSeverity::ERROR,
        (Level::High, false) | (Level::Medium, true) => DiagnosticSeverity::WARNING,
        (Level::Medium, false) | (Level::Low, _) => DiagnosticSeverity::INFORMATION,
    };
    let mut message = headline(finding);
    for suggestion in repair::suggestions(finding) {
        message.push('\n');
        message.push_str(&suggestion);
    }
    Diagnostic {
        range,
        severity: Some(severity),
        code: Some(NumberOrString::String(
            kinds::info(finding.kind).id.to_owned(),
        )),
        source: Some("untorn".to_owned()),
        message,
        related_information: Some(related(folder, finding)),
        data: Some(finding.fingerprint.clone().into()),
        ..Diagnostic::default()
    }
}

/// The steps of the evidence, each with what it does.
fn related(folder: &Folder, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let mut all = Vec::new();
    let mut add = |place: Option<&Place>, message: String| {
        let located = place.and_then(|place| locate(folder, place));
        let Some((uri, range)) = located else { return };
        if let Ok(uri) = Uri::from_str(&uri)
            && all.len() < RELATED
        {
            all.push(DiagnosticRelatedInformation {
                location: Location { uri, range },
                message,
            });
        }
    };
    let evidence = &finding.evidence;
    if let Some(order) = evidence.interleavings.first() {
        for step in &order.steps {
            let what = format!("({}) {}: {} {}", step.n, step.thread, step.op, step.target);
            add(step.place.as_ref(), what);
        }
        return all;
    }
    if let Some(reduction) = evidence.reductions.first() {
        for (step, role) in [
            (&reduction.commit, "takes effect here"),
            (&reduction.violation, "cannot be moved before that"),
        ] {
            let what = format!("{} {}: {role}", step.op, step.target);
            add(step.place.as_ref(), what);
        }
        return all;
    }
    places::visit(finding, &mut |place| {
        add(Some(place), "part of the evidence".to_owned());
    });
    all
}

/// The findings at a line, each with its whole story.
pub fn hover(workspace: &Workspace, found: &Found, params: &HoverParams) -> Option<Hover> {
    let at = &params.text_document_position_params;
    let path = path_of(at.text_document.uri.as_str())?;
    let row = at.position.line + 1;
    let folder = workspace.folder();
    let mut said = Vec::new();
    for finding in found.findings() {
        if touches(&folder, finding, &path, row) {
            said.push(story(&folder, finding));
        }
    }
    if said.is_empty() {
        return None;
    }
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: said.join("\n\n---\n\n"),
        }),
        range: Some(line(&path, row)),
    })
}

/// Whether a finding is shown at the line, or has evidence there.
pub fn touches(folder: &Folder, finding: &Finding, path: &Path, row: u32) -> bool {
    let here = |place: &Place| {
        let class = place.class.as_deref().unwrap_or("");
        place.line == Some(row)
            && (place.file.as_deref())
                .and_then(|file| folder.find(class, file))
                .is_some_and(|file| same(file, path))
    };
    let mut touched = shown_at(finding).as_ref().is_some_and(here);
    places::visit(finding, &mut |place| touched |= here(place));
    touched
}

pub fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The finding as a terminal shows it.
fn story(folder: &Folder, finding: &Finding) -> String {
    let mut document = Document::new(Vec::new());
    document.findings.push(finding.clone());
    let excerpts = Excerpts::collect(&document, &mut |class, name| {
        let path = folder.find(class?, name)?;
        let text = std::fs::read_to_string(path).ok()?;
        Some(Listing {
            path: path.display().to_string(),
            lines: text.lines().map(str::to_owned).collect(),
        })
    });
    let options = text::Options {
        width: COLUMNS,
        show: Show::All,
        ..text::Options::default()
    };
    let told = text::render(&document, &excerpts, &options);
    format!(
        "**{}**\n\n```text\n{}\n```",
        headline(finding),
        told.trim_end()
    )
}
