//! Hands findings to the user in the form asked for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use untorn_config::Date;
use untorn_findings::{Document, Finding, Level, ReadError};
use untorn_rank::Code;
use untorn_report::show::{Show, shown};
use untorn_report::{diff, gitlab, html, junit, sarif, summary, text};
use untorn_trace::Note;

use crate::cli::{FailOn, Format, OutputArgs, ShowArg};
use crate::failure::Failure;
use crate::library::Library;
use crate::project::Project;

/// Writes what the project wants to hear of the document, and says with which status to exit.
///
/// An archive gets all of it, and after the user, for whom a store that does not answer is no reason to wait.
pub fn deliver(document: &Document, args: &OutputArgs) -> Result<ExitCode, Failure> {
    let status = shown_to_user(document, args)?;
    args.archive.keep(document)?;
    Ok(status)
}

fn shown_to_user(document: &Document, args: &OutputArgs) -> Result<ExitCode, Failure> {
    let mut document = document.clone();
    let project = Project::open(args.config.as_deref())?;
    let all = document.findings.len();
    (document.findings).retain(|finding| project.config.is_own(&finding.region));
    (document.unproved).retain(|finding| project.config.is_own(&finding.region));
    let foreign = all - document.findings.len();
    if foreign > 0 {
        note(&format!(
            "{foreign} findings are outside of the project's packages and not shown"
        ));
    }
    let library = Library::open(&args.source)?;
    library.suppress(&mut document);
    for complaint in untorn_config::apply(&project.config.suppress, &mut document, today()) {
        note(&complaint.to_string());
    }
    // What was ranked with code at hand keeps its rank.
    untorn_rank::rank(&mut document, &Code::default());
    let mut stronger = BTreeSet::new();
    let mut trend = None;
    if let Some(path) = &args.baseline {
        let baseline = read(path)?;
        trend = Some(html::Trend::between(&baseline, &document));
        let subtracted = diff::subtract(&mut document, &baseline);
        note(&match subtracted.known {
            1 => "1 finding is in the baseline and not shown".to_owned(),
            known => format!("{known} findings are in the baseline and not shown"),
        });
        stronger = subtracted.stronger;
        if !stronger.is_empty() {
            note(&format!(
                "{} findings of the baseline have a stronger verdict now; they are shown, and fail only with --fail-on stronger",
                stronger.len()
            ));
        }
    }
    let excerpts = library.excerpts(&document);
    if format(args) != Format::Json {
        library.name_properties(&mut document);
    }
    let rendered = match format(args) {
        Format::Text => text::render(&document, &excerpts, &text_options(args)),
        Format::Json => document.to_json()?,
        Format::Sarif => sarif::render(&narrowed(&document, args), &excerpts)?,
        Format::Html => html::render(&document, &excerpts, trend.as_ref())?,
        Format::Gitlab => gitlab::render(&narrowed(&document, args), &excerpts)?,
        Format::Junit => junit::render(&narrowed(&document, args)),
    };
    write(&rendered, args)?;
    if let Some(path) = &args.summary {
        // Appended, as steps of a job do with the page of its summary.
        let mut file = (OpenOptions::new().create(true).append(true))
            .open(path)
            .map_err(|source| Failure::file(path, source))?;
        (file.write_all(summary::render(&document).as_bytes()))
            .map_err(|source| Failure::file(path, source))?;
    }
    let failing = (document.findings.iter()).any(|finding| {
        if stronger.contains(&finding.fingerprint) {
            args.fail_on == FailOn::Stronger
        } else {
            fails(finding, args.fail_on)
        }
    });
    Ok(status(failing, args))
}

/// Whether a finding makes the status 1.
pub fn fails(finding: &Finding, rule: FailOn) -> bool {
    let (level, seen) = (finding.level(), finding.verdict.is_seen());
    match rule {
        FailOn::Worth | FailOn::Stronger => level == Level::High || (seen && level > Level::Low),
        FailOn::Observed => seen,
        FailOn::High => level == Level::High,
        FailOn::Any => true,
        FailOn::None => false,
    }
}

/// The document with only the findings that were asked for, for programs that show all they get.
fn narrowed<'a>(document: &'a Document, args: &OutputArgs) -> Cow<'a, Document> {
    // Code hosts have their own filters, by level: only what was asked for is left out.
    let (Some(_), show) = (args.show, show(args)) else {
        return Cow::Borrowed(document);
    };
    Cow::Owned(Document {
        findings: shown(document, show).into_iter().cloned().collect(),
        ..document.clone()
    })
}

fn show(args: &OutputArgs) -> Show {
    match args.show {
        None => Show::Worth,
        Some(ShowArg::All) => Show::All,
        Some(ShowArg::Observed) => Show::Observed,
        Some(ShowArg::Unproved) => Show::Unproved,
    }
}

/// 1 if something fails, unless the user wants 0.
pub fn status(found: bool, args: &OutputArgs) -> ExitCode {
    if found && !args.exit_zero {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    }
}

/// Writes to the file that was named, or to standard output.
pub fn write(rendered: &str, args: &OutputArgs) -> Result<(), Failure> {
    match &args.output {
        Some(path) => std::fs::write(path, rendered).map_err(|source| Failure::file(path, source)),
        None => print(rendered),
    }
}

/// The form that was asked for, or that the name of the output calls for.
pub fn format(args: &OutputArgs) -> Format {
    let ending = args.output.as_deref().and_then(Path::extension);
    args.format
        .unwrap_or(match ending.and_then(|ending| ending.to_str()) {
            Some("json") => Format::Json,
            Some("sarif") => Format::Sarif,
            Some("html" | "htm") => Format::Html,
            Some("xml") => Format::Junit,
            _ => Format::Text,
        })
}

/// Reads saved findings; `-` is standard input.
pub fn read(path: &Path) -> Result<Document, Failure> {
    match read_what_is_there(path) {
        (_, Some(failure)) => Err(failure),
        (Some(document), None) => Ok(document),
        (None, None) => Err(bad_input(path, "not a findings file".to_owned())),
    }
}

/// Reads saved findings; of those that were not written to their end, what is complete comes with the failure.
pub fn read_what_is_there(path: &Path) -> (Option<Document>, Option<Failure>) {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(failure) => return (None, Some(failure)),
    };
    match Document::from_json(&text) {
        Ok(document) => (Some(document), None),
        Err(error) => {
            let half = matches!(error, ReadError::HalfWritten { .. });
            let rest = half.then(|| Document::from_half_written(&text)).flatten();
            (rest, Some(bad_input(path, error.to_string())))
        }
    }
}

fn bad_input(path: &Path, what: String) -> Failure {
    Failure::Input {
        path: path.display().to_string(),
        what,
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|source| Failure::file(path, source))?;
    let no_text = |_| bad_input(path, "not a findings file: no text".to_owned());
    String::from_utf8(bytes).map_err(no_text)
}

/// Something the user should know that is no failure.
pub fn note(text: &str) {
    eprintln!("untorn: note: {text}");
}

fn today() -> Date {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Date::from_unix(now.map_or(0, |since| since.as_secs()))
}

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

fn text_options(args: &OutputArgs) -> text::Options {
    let on_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    text::Options {
        width: if on_terminal { width } else { 100 },
        colour: on_terminal && !no_colour,
        show: show(args),
        limit: args.limit,
        quiet: args.quiet,
        verbose: args.verbose,
        stats: args.stats,
    }
}

/// Tells the user what did not end the reading of a trace.
pub fn tell(notes: &[Note]) {
    for note in notes {
        self::note(&sentence(note));
    }
}

fn sentence(note: &Note) -> String {
    match note {
        Note::Truncated { file, offset } => {
            format!("{file} ends in the middle (offset {offset}); everything before is used")
        }
        Note::SkippedLines {
            file,
            count,
            first_line,
        } => format!(
            "{file}: {count} lines could not be read and were skipped, the first is line {first_line}"
        ),
        Note::RefusedEvents {
            file,
            count,
            first_line,
            first,
        } => format!(
            "{file}: {count} events cannot follow what came before and were skipped, the first at line {first_line}: {first}"
        ),
        Note::DroppedEvents { file, count } => {
            format!(
                "{file}: {count} events were left out, since what must come before them is missing"
            )
        }
    }
}
