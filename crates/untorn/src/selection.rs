//! Which analyses a command runs.

use clap::ValueEnum;
use untorn_analyses::Analysis;
use untorn_analyses::count::Count;

/// The analyses by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub enum AnalysisName {
    /// All of the following.
    All,
    /// Counts events by kind.
    Count,
}

/// The analyses of a list, each once.
pub fn select(names: &[AnalysisName]) -> Vec<Box<dyn Analysis>> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut selected: Vec<Box<dyn Analysis>> = Vec::new();
    if names.contains(&AnalysisName::All) || names.contains(&AnalysisName::Count) {
        selected.push(Box::new(Count::default()));
    }
    selected
}
