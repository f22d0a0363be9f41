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
}

impl Mark {
    /// The mark in a block comment, if it is one.
    pub(crate) fn of_comment(source: &str, node: tree_sitter::Node<'_>) -> Option<Self> {
        let comment = source.get(node.byte_range())?;
        let inner = comment.strip_prefix("/*#")?.strip_suffix("*/")?;
        let start = node.start_position();
        let line_start = node.start_byte() - start.column;
        Some(Self {
            text: inner.split_whitespace().collect::<Vec<_>>().join(" "),
            line: start.row as u32 + 1,
            column: source.get(line_start..node.start_byte())?.chars().count() as u32 + 1,
            range: node.byte_range(),
        })
    }
}
