//! Writes inferred annotations into a copy of a source.

use crate::{Declaration, SourceFile};

/// How an annotation is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `/*# text */` beside the name.
    Mark,
    /// `@Text` on the line before.
    Annotation,
    /// `// text` on the line before, for people alone.
    Remark,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    #[error("the text `{0}` would end its comment early")]
    EndsComment(String),
    #[error("the declaration does not belong to this text")]
    OtherText,
}

/// Insertions into one file; all places refer to the text before any of them.
#[derive(Debug, Default)]
pub struct Edits {
    insertions: Vec<(usize, String)>,
}

impl Edits {
    /// Annotates a declaration.
    pub fn annotate(
        &mut self,
        file: &SourceFile,
        declaration: &Declaration,
        form: Form,
        text: &str,
    ) -> Result<(), EditError> {
        let at = match form {
            Form::Mark => declaration.mark_at,
            Form::Annotation | Form::Remark => declaration.insert_at,
        };
        if !file.text().is_char_boundary(at) {
            return Err(EditError::OtherText);
        }
        let inserted = match form {
            Form::Mark if text.contains("*/") => {
                return Err(EditError::EndsComment(text.to_owned()));
            }
            Form::Mark => {
                // After a name a space goes before the mark; before a type or block, behind it.
                let after_name = file.text()[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
                if after_name {
                    format!(" /*# {text} */")
                } else {
                    format!("/*# {text} */ ")
                }
            }
            Form::Annotation | Form::Remark => {
                let line_start = file.text()[..at]
                    .rfind('\n')
                    .map_or(0, |newline| newline + 1);
                let indent = &file.text()[line_start..at];
                let alone = indent.trim().is_empty();
                match form {
                    Form::Remark if alone => format!("// {text}\n{indent}"),
                    Form::Remark if text.contains("*/") => {
                        return Err(EditError::EndsComment(text.to_owned()));
                    }
                    Form::Remark => format!("/* {text} */ "),
                    _ if alone => format!("@{text}\n{indent}"),
                    _ => format!("@{text} "),
                }
            }
        };
        self.insertions.push((at, inserted));
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.insertions.is_empty()
    }

    /// The text with all insertions, those at one place in the order they were made.
    pub fn apply(mut self, file: &SourceFile) -> String {
        self.insertions.sort_by_key(|(at, _)| *at);
        let mut text = String::with_capacity(file.text().len());
        let mut from = 0;
        for (at, inserted) in &self.insertions {
            text.push_str(&file.text()[from..*at]);
            text.push_str(inserted);
            from = *at;
        }
        text.push_str(&file.text()[from..]);
        text
    }
}
