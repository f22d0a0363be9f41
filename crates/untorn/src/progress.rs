//! How far long work has come: a bar or spinner on terminals, a line now and then in logs.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use untorn_trace::Progress;

use crate::duration::words;

/// Short work stays silent.
const PATIENCE: Duration = Duration::from_millis(700);

/// Shows how far a source has come: a bar on terminals, a line now and then in logs.
#[derive(Debug)]
pub struct Bar {
    since: Instant,
    shown: Option<ProgressBar>,
    on_terminal: bool,
    /// When a log is told next.
    due: Instant,
}

impl Bar {
    pub fn new() -> Self {
        let since = Instant::now();
        Self {
            since,
            shown: None,
            on_terminal: std::io::stderr().is_terminal(),
            due: since + BETWEEN_LINES,
        }
    }

    pub fn update(&mut self, progress: Progress) {
        let now = Instant::now();
        if !self.on_terminal {
            if now >= self.due {
                self.due = now + BETWEEN_LINES;
                eprintln!("untorn: {}", so_far(progress, now - self.since));
            }
            return;
        }
        if self.shown.is_none() && now - self.since < PATIENCE {
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

/// `reading the trace: 40 %, 20 s so far, about 30 s left`.
fn so_far(progress: Progress, time: Duration) -> String {
    let Progress { done, total } = progress;
    match total {
        Some(total) if done > 0 && done <= total => {
            let left = time.as_secs_f64() * (total - done) as f64 / done as f64;
            format!(
                "reading the trace: {} %, {} so far, about {} left",
                100 * done / total,
                words(time),
                words(Duration::from_secs_f64(left))
            )
        }
        _ => format!("reading the trace, {} so far", words(time)),
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
    fn how_far_a_trace_is_read_is_told_with_what_is_left() {
        let at = |done, total| so_far(Progress { done, total }, Duration::from_secs(20));
        assert_eq!(
            at(40, Some(100)),
            "reading the trace: 40 %, 20 s so far, about 30 s left"
        );
        assert_eq!(at(40, None), "reading the trace, 20 s so far");
        assert_eq!(at(0, Some(100)), "reading the trace, 20 s so far");
    }

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
