//! A limit on how long a command works: what is not done by then is left out, as a whole.
//!
//! Work goes on in threads of its own, and whoever waits for it stops waiting in time; the end of the process ends the work.
//! So nothing that is half done is ever seen.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use untorn_live::signals::is_end_asked_for;

use crate::failure::Failure;

/// As much as the main thread may have, and more: bodies of methods nest.
const STACK: usize = 64 << 20;

/// How soon Ctrl-C is noticed.
const NOTICED: Duration = Duration::from_millis(100);

/// When to stop waiting, if ever.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begun: Instant,
    limit: Option<Duration>,
}

impl Budget {
    /// Begins now.
    pub fn begin(seconds: Option<u64>) -> Self {
        Self {
            begun: Instant::now(),
            limit: seconds.map(Duration::from_secs),
        }
    }

    /// When half of it is spent.
    pub fn half(&self) -> Option<Instant> {
        Some(self.begun + self.limit? / 2)
    }

    /// Why work was left.
    pub fn why() -> &'static str {
        if is_end_asked_for() {
            "stopped"
        } else {
            "the budget was spent"
        }
    }

    fn left(&self) -> Duration {
        match self.limit {
            _ if is_end_asked_for() => Duration::ZERO,
            Some(limit) => limit.saturating_sub(self.begun.elapsed()),
            None => Duration::MAX,
        }
    }
}

/// Work that goes on.
#[derive(Debug)]
pub struct Pending<T> {
    result: Receiver<T>,
    thread: JoinHandle<()>,
}

impl<T: Send + 'static> Pending<T> {
    /// Begins some work.
    pub fn begin(work: impl FnOnce() -> T + Send + 'static) -> Result<Self, Failure> {
        let (sender, result) = channel();
        let run = move || {
            // Nobody may be waiting any more.
            let _ = sender.send(work());
        };
        let thread = (Builder::new().stack_size(STACK).spawn(run))
            .map_err(|error| Failure::Usage(format!("cannot start a thread: {error}")))?;
        Ok(Self { result, thread })
    }

    /// What comes out, if it is there in time.
    pub fn wait(self, budget: Budget) -> Option<T> {
        loop {
            let left = budget.left();
            match self.result.recv_timeout(left.min(NOTICED)) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match self.thread.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return None,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_done_in_time_is_left_out() -> Result<(), Failure> {
        let (hold, held) = channel::<()>();
        let slow = Pending::begin(move || held.recv().is_ok())?;
        let quick = Pending::begin(|| 7)?;
        assert_eq!(quick.wait(Budget::begin(None)), Some(7));
        assert_eq!(slow.wait(Budget::begin(Some(0))), None);
        drop(hold);
        Ok(())
    }
}
