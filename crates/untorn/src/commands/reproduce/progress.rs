//! How far the search is: on terminals all the time, elsewhere a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

const EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    all: usize,
    reproduced: usize,
    end: Instant,
    said: Instant,
    spinner: Option<ProgressBar>,
}

impl Progress {
    /// So many things are to become what the word says.
    pub fn begin(what: &'static str, all: usize, end: Instant) -> Self {
        let spinner = std::io::stderr().is_terminal().then(|| {
            let spinner = ProgressBar::new_spinner();
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        let progress = Self {
            what,
            all,
            reproduced: 0,
            end,
            said: Instant::now(),
            spinner,
        };
        progress.update();
        progress
    }

    fn text(&self) -> String {
        let left = self.end.saturating_duration_since(Instant::now());
        format!(
            "{} of {} {}, {} s left",
            self.reproduced,
            self.all,
            self.what,
            left.as_secs()
        )
    }

    fn update(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(self.text());
        }
    }

    /// So many were reproduced by now.
    pub fn show(&mut self, reproduced: usize) {
        self.reproduced = reproduced;
        self.tick();
    }

    /// Time has passed.
    pub fn tick(&mut self) {
        self.update();
        if self.spinner.is_none() && self.said.elapsed() >= EVERY {
            self.said = Instant::now();
            eprintln!("untorn: {}", self.text());
        }
    }

    pub fn end(self) {
        if let Some(spinner) = self.spinner {
            spinner.finish_and_clear();
        }
    }
}
