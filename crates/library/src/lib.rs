//! What is known of library code without reading it: data, in `data/*.toml`, whose words are in `README.md`.
//!
//! An entry says everything that is known of some methods; whoever asks gets the part that is theirs:
//! [`calls`] is what calls do to the content of objects and to the order of threads, for those who see a run;
//! [`flow`] is where references, locks and control go, for those who read the program;
//! [`steps`] is how calls commute with other threads, for those who prove.
//! [`scope`] says which library code is read at all, and [`platform`] where the platform's own code hands work from thread to thread.
//!
//! In each of them a row for certain descriptors comes before one for all, so the first that fits holds.
//!
//! The build script reads and checks the data, so that nothing is parsed when a program starts.

pub mod calls;
pub mod flow;
pub mod platform;
pub mod scope;
pub mod steps;
mod words;

/// Whether a method's descriptor is one of those that a row is for: in full, or up to the closing parenthesis.
/// A row without any is for all.
fn fits(descriptors: &[&str], descriptor: &str) -> bool {
    descriptors.is_empty() || descriptors.iter().any(|own| descriptor.starts_with(own))
}

#[cfg(test)]
#[path = "../build/schema.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod schema;
