//! Draws a recorded order with a column a thread, time running down.

use untorn_findings::{Interleaving, Step};

use super::NUMBER;
use super::fill::{pad, wrap};
use super::style::Style;
use crate::words::{label, short, step_place};

/// The narrowest column that still shows an operation.
const NARROWEST: usize = 22;
/// Between two columns.
const GAP: usize = 2;

/// The steps as a table; falls back to one step a line when the columns would be too narrow.
pub fn draw(interleaving: &Interleaving, indent: usize, width: usize, style: Style) -> String {
    let mut threads: Vec<&str> = Vec::new();
    for step in &interleaving.steps {
        if !threads.contains(&step.thread.as_str()) {
            threads.push(&step.thread);
        }
    }
    let room = width.saturating_sub(indent + NUMBER);
    let column = (room / threads.len().max(1)).saturating_sub(GAP);
    let table = Table {
        interleaving,
        indent,
        style,
        out: String::new(),
    };
    if column >= NARROWEST {
        table.in_columns(&threads, column)
    } else {
        table.in_lines(room)
    }
}

struct Table<'a> {
    interleaving: &'a Interleaving,
    indent: usize,
    style: Style,
    out: String,
}

impl Table<'_> {
    fn in_columns(mut self, threads: &[&str], column: usize) -> String {
        let heads: Vec<Vec<String>> = (threads.iter())
            .map(|thread| {
                let mut head = wrap(thread, column);
                head.extend(
                    self.regions(thread)
                        .flat_map(|name| wrap(&format!("in {name}"), column)),
                );
                head
            })
            .collect();
        let height = heads.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..height {
            let cells: String = (heads.iter())
                .map(|head| pad(head.get(row).map_or("", |line| line), column + GAP))
                .collect();
            let cells = self.style.faint(cells.trim_end());
            self.push("", &cells);
        }
        for step in &self.interleaving.steps {
            let lane = threads.iter().position(|thread| *thread == step.thread);
            let before = " ".repeat(lane.unwrap_or(0) * (column + GAP));
            let mut number = number(step);
            for (text, faint) in cell(step, column) {
                let text = if faint { self.style.faint(&text) } else { text };
                self.push(&number, &format!("{before}{text}"));
                number.clear();
            }
        }
        self.out
    }

    fn in_lines(mut self, room: usize) -> String {
        for step in &self.interleaving.steps {
            let mut number = number(step);
            let head = format!("{}: {}", step.thread, label(step));
            for line in wrap(&head, room) {
                self.push(&number, &line);
                number.clear();
            }
            for line in where_text(step).iter().flat_map(|text| wrap(text, room)) {
                let line = self.style.faint(&line);
                self.push("", &line);
            }
        }
        self.out
    }

    /// A line of the table, its number marked where the region is left and entered again.
    fn push(&mut self, number: &str, text: &str) {
        let torn = self
            .interleaving
            .torn
            .is_some_and(|(from, to)| number == format!("({from})") || number == format!("({to})"));
        let padded = pad(number, NUMBER);
        let number = if torn {
            self.style.observed(&padded)
        } else {
            padded
        };
        let line = format!("{:1$}{number}{text}", "", self.indent);
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// The regions that this thread's steps are in.
    fn regions(&self, thread: &str) -> impl Iterator<Item = String> {
        let mut names: Vec<String> = Vec::new();
        for step in &self.interleaving.steps {
            let transaction = (step.transaction)
                .and_then(|index| self.interleaving.transactions.get(index as usize));
            if let Some(region) = transaction.and_then(|t| t.region.as_ref())
                && step.thread == thread
                && !names.contains(&region.short_name())
            {
                names.push(region.short_name());
            }
        }
        names.into_iter()
    }
}

fn number(step: &Step) -> String {
    format!("({})", step.n)
}

/// The lines of one step, and whether each is less important.
fn cell(step: &Step, width: usize) -> Vec<(String, bool)> {
    let what = wrap(&label(step), width)
        .into_iter()
        .map(|line| (line, false));
    let at = (where_text(step).into_iter())
        .flat_map(|text| wrap(&text, width))
        .map(|line| (line, true));
    what.chain(at).collect()
}

/// Where the step is and what it holds.
fn where_text(step: &Step) -> Option<String> {
    let place = step_place(step);
    let locks: Vec<String> = step.locks.iter().map(|lock| short(lock)).collect();
    let held = (!locks.is_empty()).then(|| format!("holding {}", locks.join(", ")));
    match (place, held) {
        (Some(place), Some(held)) => Some(format!("{place}, {held}")),
        (place, held) => place.or(held),
    }
}
