//! The lines around a place.

use crate::SourceFile;

/// One line of a snippet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnippetLine {
    /// From 1.
    pub number: u32,
    pub text: String,
}

/// Some consecutive lines of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    pub lines: Vec<SnippetLine>,
}

impl SourceFile {
    /// The line with `around` lines before and after; `None` when the file has no such line, as when sources and classes do not match.
    pub fn snippet(&self, line: u32, around: u32) -> Option<Snippet> {
        let first = line.saturating_sub(around).max(1);
        let lines: Vec<_> = self
            .text()
            .lines()
            .enumerate()
            .map(|(index, text)| SnippetLine {
                number: index as u32 + 1,
                text: text.replace('\t', "    "),
            })
            .skip(first as usize - 1)
            .take((line.saturating_add(around) - first) as usize + 1)
            .collect();
        lines
            .iter()
            .any(|entry| entry.number == line)
            .then_some(Snippet { lines })
    }
}
