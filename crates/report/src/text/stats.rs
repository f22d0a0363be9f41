//! What was counted, as a person reads it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use untorn_findings::{DEMOTED, Document, Region};

use super::Page;
use crate::words::count;

/// Who asks for one of these asks for its numbers.
const ALWAYS: [&str; 1] = ["ablation"];

impl Page<'_> {
    /// All numbers if they are asked for, and in any case those that are what the user came for.
    pub fn stats(&mut self, document: &Document) {
        let all = self.options.stats;
        let mut wanted = (document.stats.iter())
            .filter(|(name, _)| all || ALWAYS.contains(&name.as_str()))
            .peekable();
        if wanted.peek().is_some() {
            self.blank();
        }
        for (name, value) in wanted {
            self.stat(0, name, value);
        }
    }

    fn stat(&mut self, depth: usize, name: &str, value: &Value) {
        let indent = "  ".repeat(depth);
        match value {
            Value::Array(items) if name == DEMOTED => {
                self.line(&format!("{indent}{name}:"));
                for item in items {
                    self.line(&format!("{indent}  {}", demoted(item)));
                }
            }
            Value::Object(entries) => {
                self.line(&format!("{indent}{name}:"));
                for (name, value) in entries {
                    self.stat(depth + 1, name, value);
                }
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
                self.line(&format!("{indent}{name}:"));
                let rows: Vec<_> = items.iter().filter_map(Value::as_object).collect();
                self.table(depth + 1, &rows);
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                self.line(&format!("{indent}{name}:"));
                for item in items {
                    self.line(&format!("{indent}  {item}"));
                }
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(plain).collect();
                self.line(&format!("{indent}{name}: {}", items.join(", ")));
            }
            value => self.line(&format!("{indent}{name}: {}", plain(value))),
        }
    }

    /// A column for each name, words before numbers, which are set to the right.
    fn table(&mut self, depth: usize, rows: &[&Map<String, Value>]) {
        let numeric = |name: &str| {
            rows.iter()
                .all(|row| row.get(name).is_none_or(Value::is_number))
        };
        let columns: BTreeSet<(bool, &str)> = (rows.iter().flat_map(|row| row.keys()))
            .map(|name| (numeric(name), name.as_str()))
            .collect();
        let mut lines = vec!["  ".repeat(depth); rows.len() + 1];
        for (numbers, name) in columns {
            let cells: Vec<String> = std::iter::once(name.to_owned())
                .chain(
                    rows.iter()
                        .map(|row| row.get(name).map_or_else(String::new, plain)),
                )
                .collect();
            let width = cells.iter().map(|cell| cell.chars().count()).max();
            let width = width.unwrap_or(0);
            for (line, cell) in lines.iter_mut().zip(&cells) {
                line.push_str(&if numbers {
                    format!("{cell:>width$}  ")
                } else {
                    format!("{cell:<width$}  ")
                });
            }
        }
        for line in lines {
            self.line(&line);
        }
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// What became of a region that a run found out not to be meant as one step, in a line.
fn demoted(entry: &Value) -> String {
    let number = |name: &str| entry.get(name).and_then(Value::as_u64);
    let region = entry.get("region").cloned();
    let Some(region) = region.and_then(|it| serde_json::from_value::<Region>(it).ok()) else {
        return format!("and {} more", number("others").unwrap_or(0));
    };
    let executions = number("executions").map_or_else(String::new, |n| {
        format!("after {}, ", count(n as usize, "execution"))
    });
    let tear = entry.get("tear").and_then(Value::as_str);
    format!(
        "{}: {executions}one of them open for {}; {}",
        region.short_name(),
        count(number("records").unwrap_or(0) as usize, "record"),
        tear.unwrap_or("no tear of it was seen")
    )
}
