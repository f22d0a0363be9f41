//! How far long work has come: a bar or spinner on terminals, a line now and then in logs.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
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

/// Says which part of a long work is going on: on terminals all the time, elsewhere in a line now and then.
#[derive(Debug)]
pub struct Stage(Shown);

#[derive(Debug)]
enum Shown {
    Spinner(ProgressBar),
    Lines(Lines),
}

impl Stage {
    /// Begins with the first part.
    pub fn begin(what: &'static str) -> Self {
        if std::io::stderr().is_terminal() {
            let spinner = ProgressBar::new_spinner().with_message(what);
            spinner.enable_steady_tick(PATIENCE / 7);
            return Self(Shown::Spinner(spinner));
        }
        let print = |line: String| eprintln!("untorn: {line}");
        Self(Shown::Lines(Lines::begin(what, BETWEEN_LINES, print)))
    }

    /// Goes on to another part.
    pub fn next(&self, what: &'static str) {
        match &self.0 {
            Shown::Spinner(spinner) => spinner.set_message(what),
            Shown::Lines(lines) => lines.next(what),
        }
    }

    /// The work is done.
    pub fn end(self) {
        if let Shown::Spinner(spinner) = self.0 {
            spinner.finish_and_clear();
        }
    }
}

/// How often a log is told that work goes on.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A thread that says what is going on; it ends when this is dropped.
#[derive(Debug)]
struct Lines(Sender<&'static str>);

impl Lines {
    fn begin(
        first: &'static str,
        every: Duration,
        print: impl Fn(String) + Send + 'static,
    ) -> Self {
        let (sender, changes) = channel();
        let begun = Instant::now();
        thread::spawn(move || {
            let mut what = first;
            let mut due = begun + every;
            loop {
                match changes.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(next) => what = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        print(format!("{what}, {} s so far", begun.elapsed().as_secs()));
                        due += every;
                    }
                }
            }
        });
        Self(sender)
    }

    fn next(&self, what: &'static str) {
        // Without the thread nothing is said, and that is all.
        let _ = self.0.send(what);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_told_what_is_going_on_and_nothing_after_the_end() {
        let (sender, said) = channel();
        let print = move |line| sender.send(line).unwrap_or_default();
        let lines = Lines::begin("reading", Duration::from_millis(20), print);
        let first = said.recv_timeout(Duration::from_mins(1));
        assert!(first.is_ok_and(|line| line.starts_with("reading, ")));
        lines.next("checking");
        // What was under way when the part changed may still come.
        let rest = || said.recv_timeout(Duration::from_mins(1));
        let mut line = rest();
        while line.as_ref().is_ok_and(|line| line.starts_with("reading")) {
            line = rest();
        }
        assert!(line.is_ok_and(|line| line.starts_with("checking, ")));
        drop(lines);
        // The thread ends, and with it whatever prints.
        while rest().is_ok() {}
        assert!(said.recv().is_err());
    }
}
