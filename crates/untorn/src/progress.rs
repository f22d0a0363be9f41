//! A progress bar for long inputs, on terminals only.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use untorn_trace::Progress;

/// Short work stays silent.
const PATIENCE: Duration = Duration::from_millis(700);

/// Shows how far a source has come.
#[derive(Debug)]
pub struct Bar {
    since: Instant,
    shown: Option<ProgressBar>,
    enabled: bool,
}

impl Bar {
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
            shown: None,
            enabled: std::io::stderr().is_terminal(),
        }
    }

    pub fn update(&mut self, progress: Progress) {
        if !self.enabled || (self.shown.is_none() && self.since.elapsed() < PATIENCE) {
            return;
        }
        let bar = self.shown.get_or_insert_with(|| match progress.total {
            Some(total) => {
                let style = ProgressStyle::with_template("{bar:40} {percent}% {eta}");
                let bar = ProgressBar::new(total);
                match style {
                    Ok(style) => bar.with_style(style),
                    Err(_) => bar,
                }
            }
            None => ProgressBar::new_spinner(),
        });
        bar.set_position(progress.done);
    }
}

/// Says which part of a long work is going on.
#[derive(Debug)]
pub struct Stage(Option<ProgressBar>);

impl Stage {
    /// Begins with the first part.
    pub fn begin(what: &'static str) -> Self {
        let shown = std::io::stderr().is_terminal().then(|| {
            let spinner = ProgressBar::new_spinner().with_message(what);
            spinner.enable_steady_tick(PATIENCE / 7);
            spinner
        });
        Self(shown)
    }

    /// Goes on to another part.
    pub fn next(&self, what: &'static str) {
        if let Some(spinner) = &self.0 {
            spinner.set_message(what);
        }
    }

    /// The work is done.
    pub fn end(self) {
        if let Some(spinner) = self.0 {
            spinner.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
