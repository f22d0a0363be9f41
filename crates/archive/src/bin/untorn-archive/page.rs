//! Answers as a page that needs no script and no network.

use std::process::ExitCode;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use untorn_archive::{Error, Question};

use crate::answer::{Cells, deliver};
use crate::args::Report;
use crate::{Failure, complain, open};

const STYLE: &str = include_str!("page.css");

/// What the page of an archive shows, in this order.
fn questions() -> [Question; 6] {
    [
        Question::New { version: None },
        Question::Top { limit: 50 },
        Question::Flaky { limit: 50 },
        Question::Trend { by_version: false },
        Question::Trend { by_version: true },
        Question::Steady {
            executions: 1_000_000,
            limit: 50,
        },
    ]
}

pub fn run(args: &Report) -> Result<ExitCode, Failure> {
    let archive = open(&args.narrow.place)?;
    let mut tables = Vec::new();
    let mut complaints: Vec<Error> = Vec::new();
    for question in questions() {
        let narrow = question.narrow(&args.narrow.narrow());
        let answer = archive.ask(&question.sql(), &narrow)?;
        tables.push((question.title(), Cells::of(&answer)?));
        // Each question meets the same files.
        complaints = answer.complaints;
    }
    deliver(&of_tables(&tables), Some(&args.output))?;
    eprintln!("untorn: wrote {}", args.output.display());
    Ok(complain(&complaints))
}

/// Tables below each other; those of a trend have a chart.
pub fn of_tables(tables: &[(String, Cells)]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Untorn: many runs" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Untorn: many runs" }
                @for (title, cells) in tables {
                    section {
                        h2 { (title) }
                        (chart(cells))
                        (table(cells))
                    }
                }
            }
        }
    };
    page.into_string()
}

fn table(cells: &Cells) -> Markup {
    if cells.rows.is_empty() {
        return html! { p.note { "Nothing." } };
    }
    let class = |at: usize| cells.numbers[at].then_some("number");
    html! {
        div.wide {
            table {
                thead { tr { @for (at, name) in cells.columns.iter().enumerate() { th class=[class(at)] { (name.replace('_', " ")) } } } }
                tbody {
                    @for row in &cells.rows {
                        tr { @for (at, word) in row.iter().enumerate() { td class=[class(at)] { (word) } } }
                    }
                }
            }
        }
    }
}

/// Bars of findings by day or version, with what is new in another colour at their feet.
fn chart(cells: &Cells) -> Markup {
    let place = |name: &str| cells.columns.iter().position(|column| column == name);
    let (Some(part), Some(findings), Some(new)) = (place("part"), place("findings"), place("new"))
    else {
        return html! {};
    };
    // The newest fit a screen; the table below has all.
    const SHOWN: usize = 120;
    let rows = &cells.rows[cells.rows.len().saturating_sub(SHOWN)..];
    let number = |row: &[String], at: usize| row[at].parse::<f64>().unwrap_or(0.0);
    let most = (rows.iter().map(|row| number(row, findings))).fold(1.0, f64::max);
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return html! {};
    };
    let step = 1000.0 / rows.len() as f64;
    let height = |value: f64| 120.0 * value / most;
    html! {
        svg viewBox="0 0 1000 150" preserveAspectRatio="none" role="img" aria-label={ "findings, at most " (most) } {
            @for (at, row) in rows.iter().enumerate() {
                @let (all, fresh) = (height(number(row, findings)), height(number(row, new)));
                @let left = at as f64 * step;
                rect.bar x=(left) y=(125.0 - all) width=(step * 0.8) height=(all) { title { (row[part]) ": " (row[findings]) " findings, " (row[new]) " new" } }
                rect.new x=(left) y=(125.0 - fresh) width=(step * 0.8) height=(fresh) { title { (row[part]) ": " (row[new]) " new" } }
            }
            text x="0" y="145" { (first[part]) }
            text x="1000" y="145" text-anchor="end" { (last[part]) }
        }
    }
}
