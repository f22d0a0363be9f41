//! Draws a recorded order with a column a thread, time running down.

use untorn_findings::{Interleaving, Step};

use super::place_text;
use super::style::Style;

/// The narrowest column that still shows an operation.
const NARROWEST: usize = 16;

/// The steps as a table; falls back to one step a line when the columns would be too narrow.
pub fn draw(interleaving: &Interleaving, width: usize, style: Style) -> String {
    let mut threads: Vec<&str> = Vec::new();
    for step in &interleaving.steps {
        if !threads.contains(&step.thread.as_str()) {
            threads.push(&step.thread);
        }
    }
    let column = width.saturating_sub(8) / threads.len().max(1);
    let mut out = String::new();
    let in_columns = column >= NARROWEST;
    if in_columns {
        let heads: String = threads.iter().map(|thread| cell(thread, column)).collect();
        push_line(
            &mut out,
            &style.faint(&format!("        {}", heads.trim_end())),
        );
    }
    for step in &interleaving.steps {
        let number = format!("  {:>5} ", format!("({})", step.n));
        let mark = match interleaving.torn {
            Some((from, to)) if step.n == from || step.n == to => style.observed(&number),
            _ => number,
        };
        let text = step_text(step);
        if in_columns {
            let lane = threads
                .iter()
                .position(|thread| *thread == step.thread)
                .unwrap_or(0);
            push_line(
                &mut out,
                &format!("{mark}{}{}", " ".repeat(lane * column), text),
            );
        } else {
            push_line(&mut out, &format!("{mark}{}: {text}", step.thread));
        }
    }
    if let Some((from, to)) = interleaving.torn {
        let region = interleaving
            .transactions
            .first()
            .and_then(|transaction| transaction.region.as_ref())
            .map_or_else(
                || "the region".to_owned(),
                untorn_findings::Region::short_name,
            );
        push_line(
            &mut out,
            &format!(
                "  {region} is torn between ({from}) and ({to}): another thread's steps cannot be moved out of it."
            ),
        );
    }
    out
}

fn step_text(step: &Step) -> String {
    let place = step.place.as_ref().and_then(place_text);
    match place {
        Some(place) => format!("{} {}  {place}", step.op, step.target),
        None => format!("{} {}", step.op, step.target),
    }
}

fn cell(text: &str, width: usize) -> String {
    let mut text: String = text.chars().take(width.saturating_sub(1)).collect();
    let used = text.chars().count();
    text.extend(std::iter::repeat_n(' ', width - used));
    text
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}
