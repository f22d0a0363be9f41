//! Other tools on the same bugs: does one of their reports name the method at fault?

pub mod error_prone;
pub mod spotbugs;

use serde::{Deserialize, Serialize};

/// What another tool said.
#[derive(Debug, Serialize, Deserialize)]
pub struct Peer {
    /// All reports of its checks for concurrency, however sure it is of them.
    pub reports: usize,
    /// The patterns that name a method at fault.
    pub patterns: Vec<String>,
    /// Why it said nothing, if it could not be asked.
    pub why_not: Option<String>,
}

impl Peer {
    pub fn not_asked(why: &str) -> Self {
        Self {
            reports: 0,
            patterns: Vec::new(),
            why_not: Some(why.to_owned()),
        }
    }

    /// Of all reports, each with its pattern and whether it names a method at fault.
    pub fn of(reports: &[(String, bool)]) -> Self {
        let mut patterns: Vec<String> = (reports.iter())
            .filter(|(_, names)| *names)
            .map(|(pattern, _)| pattern.clone())
            .collect();
        patterns.sort();
        patterns.dedup();
        Self {
            reports: reports.len(),
            patterns,
            why_not: None,
        }
    }
}
