//! A trace that is read until the time is over or somebody presses Ctrl-C.
//!
//! The beginning of a trace is a trace: what is reported of it is right, and what was left out is said.

use std::time::{Duration, Instant};

use untorn_live::signals::is_end_asked_for;
use untorn_model::{Event, EventIndex, Kinds, Tables};
use untorn_trace::{Error, Note, Progress, Replay, Source};

/// A source that may end early.
pub struct Partial<'a> {
    source: &'a mut dyn Source,
    until: Option<Instant>,
    cut: bool,
}

impl<'a> Partial<'a> {
    pub fn of(source: &'a mut dyn Source, budget: Option<Duration>) -> Self {
        Self {
            source,
            until: budget.map(|budget| Instant::now() + budget),
            cut: false,
        }
    }

    /// What to tell the user, if not all was read.
    pub fn left_out(&self) -> Option<String> {
        if !self.cut {
            return None;
        }
        let why = if is_end_asked_for() {
            "stopped"
        } else {
            "the budget was spent"
        };
        let Progress { done, total } = self.source.progress();
        let part = match total {
            Some(total) if total > 0 => format!("{} % of the trace", 100 * done / total),
            _ => "the beginning of the trace".to_owned(),
        };
        Some(format!(
            "{why}: {part} was looked at, and nothing is said of the rest"
        ))
    }
}

impl Source for Partial<'_> {
    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        if late || is_end_asked_for() {
            self.cut = true;
            into.clear();
            return Ok(Kinds::default());
        }
        self.source.fill(into)
    }

    fn replay(&self) -> Option<&dyn Replay> {
        self.source.replay()
    }

    fn line_of(&self, index: EventIndex) -> u64 {
        self.source.line_of(index)
    }

    fn progress(&self) -> Progress {
        self.source.progress()
    }

    fn notes(&self) -> Vec<Note> {
        self.source.notes()
    }
}
