//! What makes loading fail outright; everything less is an [`Assumption`](crate::Assumptions).

use std::path::PathBuf;

/// Why a program could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder named by the user cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// What was read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An input is neither a folder, a jar nor a class file.
    #[error("{} is neither a folder, a jar nor a class file", path.display())]
    UnknownInput {
        /// The input.
        path: PathBuf,
    },
    /// A jar named by the user is no readable zip archive.
    #[error("{} is not a readable jar: {reason}", path.display())]
    BadArchive {
        /// The jar.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A class file named by the user does not parse.
    #[error("{}: offset {offset}: {reason}", path.display())]
    BadClass {
        /// The class file.
        path: PathBuf,
        /// Where in the file.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A JDK's runtime image does not parse.
    #[error("{}: offset {offset}: {reason}", path.display())]
    BadImage {
        /// The image, `lib/modules`.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The folder given as a JDK is none.
    #[error("{} is no JDK: it has neither lib/modules nor lib/rt.jar", path.display())]
    NotAJdk {
        /// The folder.
        path: PathBuf,
    },
    /// No JDK was named and none was found.
    #[error("no JDK found: set JAVA_HOME, put java on PATH, or pass --jdk")]
    NoJdk,
    /// The plan names no class to analyze.
    #[error("nothing to analyze: no class in the inputs")]
    NothingToAnalyze,
    /// A class named by the user is in none of the places searched.
    #[error("class {name} is neither in the inputs, on the class path nor in the JDK")]
    ClassNotFound {
        /// The class as the user wrote it.
        name: String,
    },
    /// The class named as main has no `main` method.
    #[error("class {name} has no method main(String[])")]
    NoMain {
        /// The class as the user wrote it.
        name: String,
    },
    /// The inputs exceed a limit that bounds memory.
    #[error("{} exceeds the limit of {limit} {what}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
        /// What is counted.
        what: &'static str,
    },
}
