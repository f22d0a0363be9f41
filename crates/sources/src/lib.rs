//! Sources: what class files do not hold.
//!
//! Comments such as `/*# guarded_by this */`, annotations that the compiler drops, the text of a line, and where an inferred annotation is to be written.
//! All of that is for Java; of Kotlin and Scala, only what suppresses findings is understood (`outline.rs`).
//! Sources are parsed with tree-sitter, which takes incomplete and broken files as they are: what cannot be understood has no declarations, and the rest still has.
//!
//! *Invariant.* This crate reads sources and nothing else: what an annotation means is for others to say.

mod arguments;
mod declarations;
mod edit;
mod folder;
mod language;
mod mark;
mod outline;
mod snippet;

pub use arguments::{Arguments, GivenTo};
pub use declarations::{Annotation, Declaration, DeclarationKind, SourceFile};
pub use edit::{EditError, Edits, Form};
pub use folder::{Error, Folder};
pub use language::Language;
pub use mark::Mark;
pub use snippet::{Snippet, SnippetLine};
