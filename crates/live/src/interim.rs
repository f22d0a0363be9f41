//! Questions in the middle of a run: what was found so far?
//!
//! Whoever analyzes a [`LiveSource`] gets between two batches to see that somebody asks; a source whose program is silent yields an empty batch for that.
//! A question never stops the program: it goes on, and waits at most as it does for any slow analysis.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::drain::Passed;
use crate::source::LiveSource;

/// How soon a question is noticed where the program is silent.
const NOTICED: Duration = Duration::from_millis(100);

/// How often the signal came.
static SIGNALS: AtomicU64 = AtomicU64::new(0);

/// Numbers the questions that were asked.
#[derive(Clone, Debug, Default)]
pub struct Questions(Arc<AtomicU64>);

impl Questions {
    /// Asks, and says the number of the question.
    pub fn ask(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of the last question; 0 if nobody has asked.
    pub fn last(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// What a source knows of questions.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    questions: Option<Questions>,
    /// The last question for which the source has interrupted its waiting.
    noticed: u64,
}

/// Counts the signal `USR1` from now on, which would end the process otherwise.
///
/// The handler does not survive `exec`, so the program starts with the default.
pub fn count_signals() -> io::Result<()> {
    let mut signals = SignalsInfo::<SignalOnly>::new([SIGUSR1])?;
    thread::Builder::new()
        .name("questions".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                SIGNALS.fetch_add(1, Ordering::Relaxed);
            }
        })?;
    Ok(())
}

/// How often the signal came so far.
pub fn signals() -> u64 {
    SIGNALS.load(Ordering::Relaxed)
}

/// What waiting for more of the program came to.
pub(crate) enum Waited {
    More(Passed),
    /// Nothing yet, and somebody asks.
    Asked,
    /// There will be nothing more.
    Over,
}

impl LiveSource {
    /// Yields an empty batch, without being over, when one of these questions is asked while the program is silent.
    pub fn hear_questions(&mut self, questions: &Questions) {
        self.heard.questions = Some(questions.clone());
    }

    pub(crate) fn wait(&mut self) -> Waited {
        let Some(questions) = &self.heard.questions else {
            return self.chunks.recv().map_or(Waited::Over, Waited::More);
        };
        loop {
            match self.chunks.recv_timeout(NOTICED) {
                Ok(passed) => return Waited::More(passed),
                Err(RecvTimeoutError::Disconnected) => return Waited::Over,
                Err(RecvTimeoutError::Timeout) => {
                    let last = questions.last();
                    if self.heard.noticed < last {
                        self.heard.noticed = last;
                        return Waited::Asked;
                    }
                }
            }
        }
    }
}
