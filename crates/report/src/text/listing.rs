//! Source lines with the numbers of the steps that are on them.

use std::collections::BTreeMap;

use untorn_findings::Place;

use super::Page;

/// Lines shown before and after a marked one.
const AROUND: u32 = 1;

/// The lines of one file that are shown: each with its text and the steps on it.
type File<'a> = BTreeMap<u32, (&'a str, Vec<String>)>;

impl Page<'_> {
    /// Shows the lines of some marked places, a file at a time; nothing where no sources are at hand.
    pub fn sources(&mut self, marked: &[(String, &Place)]) {
        let excerpts = self.excerpts;
        let mut files: Vec<(&str, File<'_>)> = Vec::new();
        for (mark, place) in marked {
            let lines = excerpts.around(place, AROUND);
            let (Some(listing), false) = (excerpts.listing(place), lines.is_empty()) else {
                continue;
            };
            let at =
                (files.iter().position(|(path, _)| *path == listing.path)).unwrap_or_else(|| {
                    files.push((&listing.path, File::new()));
                    files.len() - 1
                });
            for (number, text) in lines {
                let (_, marks) = files[at].1.entry(number).or_insert((text, Vec::new()));
                if Some(number) == place.line && !marks.contains(mark) {
                    marks.push(mark.clone());
                }
            }
        }
        for (path, lines) in files {
            self.blank();
            let path = self.style.faint(path);
            self.line(&format!("{:1$}{path}", "", super::INDENT));
            self.file(&lines);
        }
    }

    fn file(&mut self, lines: &File<'_>) {
        let gutter = (lines.values())
            .map(|(_, marks)| marks.concat().chars().count())
            .max()
            .unwrap_or(0);
        let digits = lines.keys().last().map_or(1, |last| last.to_string().len());
        let common = (lines.values())
            .filter(|(text, _)| !text.trim().is_empty())
            .map(|(text, _)| text.len() - text.trim_start().len())
            .min()
            .unwrap_or(0);
        let mut previous = None;
        for (number, (text, marks)) in lines {
            if previous.is_some_and(|previous| previous + 1 != *number) {
                let dots = self.style.faint("⋮");
                self.line(&format!("{:1$}{dots}", "", super::INDENT + gutter + 1));
            }
            previous = Some(*number);
            let text = text.get(common..).unwrap_or(text).trim_end();
            let room = (self.width).saturating_sub(super::INDENT + gutter + digits + 4);
            let text = cut(text, room);
            let marks = marks.concat();
            let number = format!("{number:>digits$} │");
            let (marks, number, text) = if marks.is_empty() {
                let line = format!("{number} {text}");
                (" ".repeat(gutter), self.style.faint(&line), String::new())
            } else {
                let marks = format!("{marks:<gutter$}");
                (self.style.strong(&marks), number, format!(" {text}"))
            };
            self.line(&format!("{:1$}{marks} {number}{text}", "", super::INDENT));
        }
    }
}

fn cut(text: &str, room: usize) -> String {
    let tabless = text.replace('\t', "    ");
    if tabless.chars().count() <= room {
        return tabless;
    }
    let mut shorter: String = tabless.chars().take(room.saturating_sub(1)).collect();
    shorter.push('…');
    shorter
}
