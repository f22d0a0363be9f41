//! The page and its tables.

use std::path::PathBuf;

use crate::jdks::{RELEASES, Verdicts};

/// A method that is not proved.
#[derive(Debug, Clone)]
pub struct Row {
    pub method: String,
    pub releases: Vec<u16>,
    pub judged: String,
    pub why: String,
}

/// The page, line by line.
pub struct Page {
    lines: Vec<String>,
}

const SHARES: &str = "| class | JDK 17 | with a race | if pure | JDK 25 |";
const METHODS: &str = "| not proved | JDK | judged | what the types say |";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/evaluation-types.md")
}

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim_start_matches('|').trim_end_matches('|');
    line.split(" | ").map(str::trim).collect()
}

impl Row {
    fn of(line: &str) -> Row {
        let cells = cells(line);
        assert_eq!(cells.len(), 4, "no row of the table: {line}");
        Row {
            method: cells[0].trim_matches('`').to_owned(),
            releases: cells[1].split(", ").map(|r| r.parse().unwrap()).collect(),
            judged: cells[2].to_owned(),
            why: cells[3].to_owned(),
        }
    }

    fn line(&self) -> String {
        let releases: Vec<String> = self.releases.iter().map(u16::to_string).collect();
        let Row {
            method,
            judged,
            why,
            ..
        } = self;
        format!(
            "| `{method}` | {} | {judged} | {why} |",
            releases.join(", ")
        )
    }
}

impl Page {
    pub fn read() -> Page {
        let text = std::fs::read_to_string(path()).unwrap();
        Page {
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    pub fn write(&self) {
        std::fs::write(path(), self.lines.join("\n") + "\n").unwrap();
    }

    /// Where the rows of a table begin and end, counted from a line.
    fn table(&self, header: &str, from: usize) -> (usize, usize) {
        let at = self.lines[from..].iter().position(|line| line == header);
        let first = from + at.unwrap_or_else(|| panic!("no table {header} after line {from}")) + 2;
        let count = self.lines[first..]
            .iter()
            .take_while(|line| line.starts_with('|'))
            .count();
        (first, first + count)
    }

    fn methods(&self, class: &str) -> (usize, usize) {
        let heading = format!("### {class}");
        let at = self.lines.iter().position(|line| *line == heading);
        self.table(
            METHODS,
            at.unwrap_or_else(|| panic!("no section {heading}")),
        )
    }

    /// The methods of a class that are not proved on some release.
    fn all_rows(&self, class: &str) -> Vec<Row> {
        let (first, end) = self.methods(class);
        self.lines[first..end]
            .iter()
            .map(|line| Row::of(line))
            .collect()
    }

    /// The share that is proved, as the page says.
    pub fn share(&self, class: &str, release: u16) -> String {
        let (first, end) = self.table(SHARES, 0);
        let row = self.lines[first..end]
            .iter()
            .map(|line| cells(line))
            .find(|row| row[0] == class);
        let column = if release == RELEASES[0] { 1 } else { 4 };
        row.map_or_else(String::new, |row| row[column].to_owned())
    }

    /// Writes all tables anew.
    pub fn bless(&mut self, found: &[(u16, Vec<Verdicts>)]) {
        let [(_, old), (_, new)] = found else {
            panic!("two releases")
        };
        let shares: Vec<String> = old
            .iter()
            .zip(new)
            .map(|(old, new)| {
                let Verdicts {
                    class,
                    racy,
                    if_pure,
                    ..
                } = old;
                format!(
                    "| {class} | {} | {racy} | {if_pure} | {} |",
                    old.share(),
                    new.share()
                )
            })
            .collect();
        let (first, end) = self.table(SHARES, 0);
        self.lines.splice(first..end, shares);
        for index in 0..old.len() {
            let class = old[index].class;
            let known = self.all_rows(class);
            let mut rows: Vec<Row> = Vec::new();
            for (release, all) in found {
                for (method, why) in &all[index].unproved {
                    if let Some(row) = rows.iter_mut().find(|row| row.method == *method) {
                        row.releases.push(*release);
                        continue;
                    }
                    let judged = known.iter().find(|row| row.method == *method);
                    rows.push(Row {
                        method: method.clone(),
                        releases: vec![*release],
                        judged: judged.map_or_else(|| "?".to_owned(), |row| row.judged.clone()),
                        why: why.clone(),
                    });
                }
            }
            rows.sort_by(|a, b| a.method.cmp(&b.method));
            let (first, end) = self.methods(class);
            self.lines.splice(first..end, rows.iter().map(Row::line));
        }
    }

    /// The methods of a class that are not proved on one release.
    pub fn rows(&self, class: &str, release: u16) -> Vec<Row> {
        let mut rows = self.all_rows(class);
        rows.retain(|row| row.releases.contains(&release));
        rows
    }
}
