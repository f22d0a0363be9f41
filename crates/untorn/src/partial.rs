//! A trace that is read until the time is over or somebody presses Ctrl-C.
//!
//! The beginning of a trace is a trace: what is reported of it is right, and what was left out is said.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use untorn_live::signals::is_end_asked_for;
use untorn_model::{Event, EventIndex, Kinds, Tables};
use untorn_trace::{Error, Note, Progress, Replay, Source};

/// A source that may end early.
pub struct Partial {
    source: Box<dyn Source + Send>,
    until: Option<Instant>,
    cut: Arc<OnceLock<Progress>>,
}

/// How far a source came that ended early.
pub struct Cut(Arc<OnceLock<Progress>>);

impl Partial {
    pub fn of(source: Box<dyn Source + Send>, budget: Option<Duration>) -> (Box<Self>, Cut) {
        let cut = Arc::new(OnceLock::new());
        let partial = Self {
            source,
            until: budget.map(|budget| Instant::now() + budget),
            cut: Arc::clone(&cut),
        };
        (Box::new(partial), Cut(cut))
    }
}

impl Cut {
    /// What to tell the user, if not all was read.
    pub fn left_out(&self) -> Option<String> {
        let Progress { done, total } = *self.0.get()?;
        let why = if is_end_asked_for() {
            "stopped"
        } else {
            "the budget was spent"
        };
        let part = match total {
            Some(total) if total > 0 => format!("{} % of the trace", 100 * done / total),
            _ => "the beginning of the trace".to_owned(),
        };
        Some(format!(
            "{why}: {part} was looked at, and nothing is said of the rest"
        ))
    }
}

impl Source for Partial {
    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        if late || is_end_asked_for() {
            // Only the first time counts.
            self.cut.set(self.source.progress()).ok();
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
