//! Answers as text, JSON, CSV or a page.

use std::path::Path;
use std::process::ExitCode;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use untorn_archive::{Answer, Narrow, Question};

use crate::args::{Asking, Format};
use crate::{Failure, complain, open, page, print};

/// Answers a named question.
pub fn named(question: &Question, asking: &Asking) -> Result<ExitCode, Failure> {
    let narrow = question.narrow(&asking.narrow.narrow());
    answer(&question.sql(), &question.title(), &narrow, asking)
}

/// Answers a question in SQL.
pub fn asked(sql: &str, asking: &Asking) -> Result<ExitCode, Failure> {
    answer(sql, "Answer", &asking.narrow.narrow(), asking)
}

fn answer(sql: &str, title: &str, narrow: &Narrow, asking: &Asking) -> Result<ExitCode, Failure> {
    if asking.print_sql {
        print(&format!("{sql}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let archive = open(&asking.narrow.place)?;
    let answer = archive.ask(sql, narrow)?;
    let text = match form(asking) {
        Format::Text => text(&Cells::of(&answer)?),
        Format::Json => json(&answer)?,
        Format::Csv => csv(&answer)?,
        Format::Html => page::of_tables(&[(title.to_owned(), Cells::of(&answer)?)]),
    };
    deliver(&text, asking.output.as_deref())?;
    Ok(complain(&answer.complaints))
}

fn form(asking: &Asking) -> Format {
    let ending = asking.output.as_deref().and_then(Path::extension);
    asking
        .format
        .unwrap_or(match ending.and_then(|ending| ending.to_str()) {
            Some("json") => Format::Json,
            Some("csv") => Format::Csv,
            Some("html" | "htm") => Format::Html,
            _ => Format::Text,
        })
}

/// Writes to a file, or to standard output.
pub fn deliver(text: &str, output: Option<&Path>) -> Result<(), Failure> {
    match output {
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::file(path, &error)),
        None => print(text),
    }
}

/// An answer as words; what is absent is empty.
#[derive(Debug)]
pub struct Cells {
    pub columns: Vec<String>,
    /// Whether a column has numbers, which stand at its right side.
    pub numbers: Vec<bool>,
    pub rows: Vec<Vec<String>>,
}

impl Cells {
    pub fn of(answer: &Answer) -> Result<Self, Failure> {
        let failed = |error: arrow::error::ArrowError| Failure::Said(error.to_string());
        let options = FormatOptions::default();
        let fields = answer.columns.fields();
        let mut rows = Vec::new();
        for batch in &answer.rows {
            let columns = (batch.columns().iter())
                .map(|column| ArrayFormatter::try_new(column, &options))
                .collect::<Result<Vec<_>, _>>()
                .map_err(failed)?;
            for row in 0..batch.num_rows() {
                rows.push(columns.iter().map(|of| of.value(row).to_string()).collect());
            }
        }
        Ok(Self {
            columns: fields.iter().map(|field| field.name().clone()).collect(),
            numbers: fields
                .iter()
                .map(|field| field.data_type().is_numeric())
                .collect(),
            rows,
        })
    }
}

/// Columns beside each other; the last one may be as long as it is.
fn text(cells: &Cells) -> String {
    if cells.rows.is_empty() {
        return "nothing\n".to_owned();
    }
    let width = |at: usize| {
        let words = cells.rows.iter().map(|row| row[at].chars().count());
        words
            .chain([cells.columns[at].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..cells.columns.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&cells.columns).chain(&cells.rows) {
        let mut line = String::new();
        for ((word, width), number) in row.iter().zip(&widths).zip(&cells.numbers) {
            if *number {
                line.push_str(&format!("{word:>width$}  "));
            } else {
                line.push_str(&format!("{word:<width$}  "));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn json(answer: &Answer) -> Result<String, Failure> {
    let failed = |error: arrow::error::ArrowError| Failure::Said(error.to_string());
    let mut writer = arrow::json::WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, arrow::json::writer::JsonArray>(Vec::new());
    for batch in &answer.rows {
        writer.write(batch).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    if text.is_empty() {
        text.push_str("[]");
    }
    text.push('\n');
    Ok(text)
}

fn csv(answer: &Answer) -> Result<String, Failure> {
    let failed = |error: arrow::error::ArrowError| Failure::Said(error.to_string());
    let mut bytes = Vec::new();
    let mut writer = arrow::csv::WriterBuilder::new().build(&mut bytes);
    let none = arrow::record_batch::RecordBatch::new_empty(answer.columns.clone());
    // Without a row there is still the line of names.
    for batch in if answer.rows.is_empty() {
        std::slice::from_ref(&none)
    } else {
        &answer.rows
    } {
        writer.write(batch).map_err(failed)?;
    }
    drop(writer);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
