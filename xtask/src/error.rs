//! Everything that can stop a task, said so that the reader knows what to do next.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("cannot start `{command}`: {source}")]
    Start { command: String, source: io::Error },

    #[error("`{command}` ended with {status}")]
    Ended { command: String, status: ExitStatus },

    #[error("lost the output of `{command}`: {source}")]
    Stream { command: String, source: io::Error },

    #[error("{0}; run this as `cargo xtask` from within the repository")]
    NotUnderCargo(&'static str),

    #[error("{what} is needed and was not found; {refusal}\n  {remedy}")]
    Missing {
        what: &'static str,
        refusal: String,
        remedy: String,
    },

    #[error(
        "there are no packages for {0}; there are for x86_64-unknown-linux-gnu and aarch64-unknown-linux-gnu"
    )]
    Platform(String),

    #[error("`{command}` answered what cannot be read: {source}")]
    Answer {
        command: String,
        source: serde_json::Error,
    },

    #[error("this workspace has no {what} yet: {needed_for}")]
    Absent {
        what: &'static str,
        needed_for: &'static str,
    },

    #[error("{}: {source}", path.display())]
    CorpusSyntax {
        path: PathBuf,
        source: toml::de::Error,
    },

    #[error("{}: {problem}", path.display())]
    CorpusEntry { path: PathBuf, problem: String },

    #[error("the JVM refuses classes that it took before they were rewritten ({way})")]
    Refused { way: &'static str },

    #[error("the corpus has no jar named `{name}`; it has: {known}")]
    UnknownJar { name: String, known: String },

    #[error(
        "{artifact} is not the file that xtask/corpus.toml pins\n  pinned sha256 {pinned}\n  fetched sha256 {fetched}\n  \
         If the version was changed on purpose, pin the fetched sum; otherwise remove the artifact from Maven's local repository and fetch again."
    )]
    Checksum {
        artifact: String,
        pinned: String,
        fetched: String,
    },

    #[error(
        "Maven failed twice to fetch {artifacts}: {cause}\n  Check that its repository can be reached (proxies and mirrors go into Maven's own settings) and run the command again."
    )]
    Fetch {
        artifacts: String,
        cause: Box<Error>,
    },
}

impl Error {
    /// Says what was being done with which file, for `map_err`.
    pub fn in_file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
