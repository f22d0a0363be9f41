//! What programmers declare: guards, atomicities, ghost locks, requirements and assumptions.
//!
//! Declarations come from annotations in class files (`class_files`), from comments in sources (`source_files`) and from the specification (`specification`), and all become the same [`Given`].
//! `scope` says what their names mean, `enter` puts them into the input of the analysis, `check` compares them with what the analysis found, and `write` turns what was inferred into declarations again.
//!
//! # What a declaration does
//! - A *guard* is checked at every access that others can see; if one breaks it, that is a finding, and nothing rests on the guard.
//! - An *atomicity* is an upper bound: the body must be below it.
//!   Callers still see the body's own type, which is more precise; a method without a body has nothing but its declaration, which its implementations must keep.
//!   `atomic` alone says that the method is compound in no context that keeps the discipline.
//! - A *requirement* (`holds`) is asked of all callers in the program; others are trusted.
//! - An *assumption* is believed and listed, and each proof that rests on it says so.
//!
//! A name that means nothing at its place makes a comment, or an annotation of our own, an error; what others wrote in their annotations may be prose, and is left out with a note.

mod check;
mod class_files;
mod enter;
mod ghosts;
mod given;
mod lines;
mod rests;
mod scope;
mod source_files;
mod specification;
mod words;
mod write;

use untorn_program::{ClassId, FieldId, MethodId, Program};
use untorn_sources::SourceFile;
use untorn_spec::Specification;

pub use check::Broken;
pub use enter::{Asserted, Bound, DeclaredGuard, Entered, bodiless, enter};
pub use ghosts::{ClassGhosts, DeclaredGhosts, GhostArguments};
pub use given::{AnnotationError, Given, Origin, Place, Subject};
pub use rests::{Assumption, resting};
pub use scope::{Finals, GhostNames, Scope};
pub use words::{Assumed, GuardWord, Says};
pub use write::{Inferred, Written};

/// A source file and how the user knows it.
#[derive(Debug)]
pub struct NamedSource {
    /// Its path, for messages.
    pub path: String,
    /// Its text, parsed.
    pub file: SourceFile,
}

/// Everything that is declared.
#[derive(Debug, Default)]
pub struct Annotations {
    /// The declarations.
    pub given: Vec<Given>,
    /// The sources that were read.
    pub sources: Vec<NamedSource>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// Methods that the specification leaves out, whatever is declared of them.
    pub excluded: Vec<MethodId>,
    /// Where the declarations of methods and fields stand.
    pub declared_at: Vec<Declared>,
}

/// A method, field or class of the program and its declaration in the sources.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// Index into [`Annotations::sources`].
    pub source: usize,
    /// Index into the file's declarations.
    pub declaration: usize,
    /// What it is.
    pub item: Item,
}

/// Something that can carry a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A class.
    Class(ClassId),
    /// A field.
    Field(FieldId),
    /// A method.
    Method(MethodId),
}

impl Annotations {
    /// Reads all declarations that concern a program.
    pub fn read(
        program: &Program,
        sources: Vec<NamedSource>,
        spec: &Specification,
    ) -> Result<Annotations, AnnotationError> {
        let mut all = Annotations {
            sources,
            ..Annotations::default()
        };
        class_files::read(program, &mut all)?;
        source_files::read(program, &mut all)?;
        specification::read(program, spec, &mut all)?;
        Ok(all)
    }

    /// The names of a method's parameters, where its source is known.
    pub fn parameter_names(&self, method: MethodId) -> &[String] {
        let declared = self
            .declared_at
            .iter()
            .find(|declared| declared.item == Item::Method(method));
        declared.map_or(&[], |declared| {
            let file = &self.sources[declared.source].file;
            &file.declarations()[declared.declaration].parameter_names
        })
    }

    /// The names of all parameters, those that nobody wrote included; `arg0`, … where no source is known.
    pub fn all_parameter_names(&self, program: &Program, method: MethodId) -> Vec<String> {
        let written = self.parameter_names(method);
        let count = program.classes().method(method).params.len();
        let added = count.saturating_sub(written.len());
        (0..count)
            .map(|index| {
                let name = index.checked_sub(added).and_then(|at| written.get(at));
                name.cloned().unwrap_or_else(|| format!("arg{index}"))
            })
            .collect()
    }

    /// How many declarations of each kind there are.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let kinds = ["guard", "atomicity", "ghost", "escape"];
        kinds
            .iter()
            .map(|&kind| {
                let fits = |given: &&Given| given.says.kind() == kind;
                (kind, self.given.iter().filter(fits).count())
            })
            .collect()
    }

    /// Lines of the sources that were read.
    pub fn lines(&self) -> usize {
        (self.sources.iter())
            .map(|source| source.file.text().lines().count())
            .sum()
    }
}
