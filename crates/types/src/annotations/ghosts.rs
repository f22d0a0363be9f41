//! Ghost parameters and arguments as they are declared, for the translation.

use rustc_hash::FxHashMap;
use untorn_program::{ClassId, MethodId};

use super::given::{AnnotationError, Given, Origin, Subject};
use super::words::{Piece, Says};
use super::{Annotations, NamedSource};
use crate::notation::NotationError;

/// The ghost parameters of a class.
#[derive(Debug, Clone, Default)]
pub struct ClassGhosts {
    /// Their names.
    pub names: Vec<String>,
    /// The first one is the protecting lock.
    pub protecting: bool,
}

/// Ghost arguments of one type or call.
#[derive(Debug, Clone, Copy)]
pub struct GhostArguments<'a> {
    /// What they are given to.
    pub of: &'a Subject,
    /// The locks.
    pub locks: &'a [Piece],
    origin: &'a Origin,
    sources: &'a [NamedSource],
}

impl GhostArguments<'_> {
    /// An error in the text of an argument.
    pub fn malformed(&self, error: NotationError) -> AnnotationError {
        self.origin.malformed(self.sources, error)
    }

    /// An error of the whole.
    pub fn misplaced(&self, problem: impl Into<String>) -> AnnotationError {
        self.origin.misplaced(self.sources, problem.into())
    }
}

/// Everything that is declared of ghosts.
#[derive(Debug, Default)]
pub struct DeclaredGhosts<'a> {
    /// Parameters of classes.
    pub classes: FxHashMap<ClassId, ClassGhosts>,
    /// Parameters of methods.
    pub methods: FxHashMap<MethodId, Vec<String>>,
    /// Arguments.
    pub arguments: Vec<GhostArguments<'a>>,
}

impl DeclaredGhosts<'_> {
    /// Nothing has ghosts, so that the analysis may find its own.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.methods.is_empty() && self.arguments.is_empty()
    }
}

impl Annotations {
    /// What is declared of ghosts.
    pub fn ghosts(&self) -> Result<DeclaredGhosts<'_>, AnnotationError> {
        let mut declared = DeclaredGhosts::default();
        for Given { origin, of, says } in &self.given {
            let twice = || Err(origin.misplaced(&self.sources, "ghosts are declared twice".into()));
            match (of, says) {
                (Subject::Class(class), Says::Ghosts { names, protecting }) => {
                    let ghosts = ClassGhosts {
                        names: names.clone(),
                        protecting: *protecting,
                    };
                    if declared.classes.insert(*class, ghosts).is_some() {
                        return twice();
                    }
                }
                (Subject::Method(method), Says::Ghosts { names, .. }) => {
                    if declared.methods.insert(*method, names.clone()).is_some() {
                        return twice();
                    }
                }
                (of, Says::Arguments(locks)) => declared.arguments.push(GhostArguments {
                    of,
                    locks,
                    origin,
                    sources: &self.sources,
                }),
                _ => {}
            }
        }
        Ok(declared)
    }
}
