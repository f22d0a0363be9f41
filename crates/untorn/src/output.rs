//! Hands findings to the user in the form asked for.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use untorn_findings::Document;
use untorn_report::{Excerpts, text};
use untorn_trace::Note;

use crate::cli::{Format, OutputArgs};
use crate::failure::Failure;

/// Writes the document and says with which status to exit.
pub fn deliver(document: &Document, args: &OutputArgs) -> Result<ExitCode, Failure> {
    let rendered = match args.format {
        Format::Text => text::render(document, &Excerpts::default(), &text_options(args)),
        Format::Json => document.to_json()?,
    };
    match &args.output {
        Some(path) => {
            std::fs::write(path, rendered).map_err(|source| Failure::file(path, source))?;
        }
        None => print(&rendered)?,
    }
    let found = !document.findings.is_empty();
    Ok(if found && !args.exit_zero {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
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
        quiet: args.quiet,
        verbose: args.verbose,
        stats: args.stats,
    }
}

/// Tells the user what did not end the reading of a trace.
pub fn tell(notes: &[Note]) {
    for note in notes {
        eprintln!("untorn: note: {}", sentence(note));
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
