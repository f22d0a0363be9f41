//! One declaration: what is said, of what, and where.

use std::fmt;

use untorn_program::{ClassId, FieldId, MethodId};
use untorn_sources::Mark;

use super::NamedSource;
use super::words::Says;
use crate::notation::NotationError;

/// A place in a source, a class file or a specification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, or the entry of the specification.
    pub file: String,
    /// From 1; 0 if there are no lines.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// A declaration that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct AnnotationError {
    /// Where it stands.
    pub place: Place,
    /// What is wrong with it.
    pub problem: String,
}

/// Where a declaration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A comment: the index of its source, and the mark.
    Comment(usize, Mark),
    /// An annotation in a class file.
    Annotation {
        /// The member that carries it, as `Class.member @Name`.
        at: String,
        /// One of ours, so that nothing in it may be misunderstood.
        own: bool,
    },
    /// An entry of the specification.
    Specification(String),
}

impl Origin {
    /// The place of a byte of the declaration's text.
    pub fn place(&self, sources: &[NamedSource], offset: usize) -> Place {
        match self {
            Origin::Comment(source, mark) => {
                let source = &sources[*source];
                let (line, column) = mark.place(source.file.text(), offset);
                Place {
                    file: source.path.clone(),
                    line,
                    column,
                }
            }
            Origin::Annotation { at, .. } | Origin::Specification(at) => Place {
                file: at.clone(),
                line: 0,
                column: 0,
            },
        }
    }

    /// Where it begins.
    pub fn start(&self, sources: &[NamedSource]) -> Place {
        match self {
            Origin::Comment(source, mark) => Place {
                file: sources[*source].path.clone(),
                line: mark.line,
                column: mark.column,
            },
            other => other.place(sources, 0),
        }
    }

    /// The error for a text that cannot be read.
    pub fn malformed(&self, sources: &[NamedSource], error: NotationError) -> AnnotationError {
        AnnotationError {
            place: self.place(sources, error.offset),
            problem: error.problem,
        }
    }

    /// An error of the whole declaration.
    pub fn misplaced(&self, sources: &[NamedSource], problem: String) -> AnnotationError {
        AnnotationError {
            place: self.start(sources),
            problem,
        }
    }

    /// Written by people who may not know our notation.
    pub fn is_foreign(&self) -> bool {
        matches!(self, Origin::Annotation { own: false, .. })
    }
}

/// What a declaration speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A class.
    Class(ClassId),
    /// A field.
    Field(FieldId),
    /// A method.
    Method(MethodId),
    /// A synchronized block: its number in the method from 1, and its lines.
    Section(MethodId, u32, (u32, u32)),
    /// Lines of a method.
    Lines(MethodId, u32, u32),
    /// A line of whatever methods the classes of a file have there.
    FileLine {
        /// The binary name, with slashes, of a class of the file.
        class: String,
        /// The line.
        line: u32,
    },
    /// The type of a field.
    FieldType(FieldId),
    /// The type of a parameter.
    ParameterType(MethodId, u32),
    /// The type of a result.
    ResultType(MethodId),
    /// A supertype of a class, as it is written.
    Supertype(ClassId, String),
    /// `new` of a class, as it is written, on a line of a method.
    New(MethodId, String, u32),
    /// A call of a method by this name, on a line of a method.
    Call(MethodId, String, u32),
}

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Where it comes from.
    pub origin: Origin,
    /// What it speaks of.
    pub of: Subject,
    /// What it says.
    pub says: Says,
}
