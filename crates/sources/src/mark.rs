//! Comments that speak to Untorn: `/*# … */`.

use std::ops::Range;

/// The text between `/*#` and `*/`, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Trimmed, with white space folded.
    pub text: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The bytes of the whole comment.
    pub range: Range<usize>,
    /// The last line of the block of statements around it; its own line outside of blocks.
    pub block_end: u32,
}

impl Mark {
    /// The mark in a block comment, if it is one.
    pub(crate) fn of_comment(source: &str, node: tree_sitter::Node<'_>) -> Option<Self> {
        let comment = source.get(node.byte_range())?;
        let inner = comment.strip_prefix("/*#")?.strip_suffix("*/")?;
        let start = node.start_position();
        let line_start = node.start_byte() - start.column;
        let mut around = node.parent();
        while let Some(parent) = around
            && !matches!(parent.kind(), "block" | "constructor_body")
        {
            around = parent.parent();
        }
        Some(Self {
            text: inner.split_whitespace().collect::<Vec<_>>().join(" "),
            line: start.row as u32 + 1,
            column: source.get(line_start..node.start_byte())?.chars().count() as u32 + 1,
            range: node.byte_range(),
            block_end: around.unwrap_or(node).end_position().row as u32 + 1,
        })
    }

    /// Whether it gives the ghost arguments of the name before it: `/*# <this> */`.
    pub fn is_arguments(&self) -> bool {
        self.text.starts_with('<')
    }

    /// Line and column, from 1, of a byte of [`text`](Self::text), in the source that the mark was read from.
    pub fn place(&self, source: &str, offset: usize) -> (u32, u32) {
        let inner = (source.get(self.range.clone()))
            .and_then(|comment| comment.strip_prefix("/*#"))
            .unwrap_or_default();
        let (mut line, mut column) = (self.line, self.column + 3);
        // White space counts for nothing before the text and for one byte within it.
        let (mut at, mut spaced) = (0, true);
        for letter in inner.chars() {
            if letter.is_whitespace() {
                if !spaced {
                    if at >= offset {
                        break;
                    }
                    at += 1;
                    spaced = true;
                }
            } else {
                if at >= offset {
                    break;
                }
                at += letter.len_utf8();
                spaced = false;
            }
            if letter == '\n' {
                (line, column) = (line + 1, 1);
            } else {
                column += 1;
            }
        }
        (line, column)
    }
}
