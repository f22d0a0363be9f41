//! The faces of a findings document: text for terminals, SARIF for code hosts, HTML for browsers, Markdown for job summaries, and what GitLab and build servers take.
//!
//! *Invariant.* A face takes a [`Document`](untorn_findings::Document), and [`Excerpts`] of the sources where there are any, and yields text: it reads no trace, no file and no terminal.
//!
//! What all faces say alike is said in one place: the headline in [`words`], what each analysis holds in [`opinions`], the suggested repair in [`repair`], the kinds of findings in [`kinds`].

pub mod diff;
pub mod excerpts;
pub mod gitlab;
pub mod html;
pub mod junit;
pub mod kinds;
pub mod opinions;
pub mod places;
pub mod repair;
pub mod sarif;
pub mod show;
pub mod summary;
pub mod text;
pub mod words;

pub use excerpts::{Excerpts, Listing, Mismatch};

/// Under this name the statistics of a check count the classes of a library that show no sign of threads.
pub const NOT_FOR_THREADS: &str = "not written for threads";
