//! Signals for us that are meant for the program.
//!
//! A terminal sends Ctrl-C to the whole process group, so the program has it already; what is sent to this process alone is passed on.
//! Either way this process lives on to report what the program did until then, and knows that somebody waits for it.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use rustix::process::{Pid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// A program that gets the last of them says what its threads do, and goes on.
const PASSED_ON: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Somebody has asked for an end.
pub(crate) static END: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether somebody has asked for an end, of the program and of this process.
#[inline]
pub fn is_end_asked_for() -> bool {
    END.load(Ordering::Relaxed)
}

/// Asks a process that this one has started and not waited for to say what its threads do, or to end.
pub fn send(child: &Child, signal: Signal) {
    let signal = match signal {
        Signal::Dump => rustix::process::Signal::QUIT,
        Signal::End => rustix::process::Signal::TERM,
    };
    // The id is not used again while the process is our unwaited child; that it is gone already is no harm.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// What a process is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A JVM prints what its threads do, and goes on.
    Dump,
    End,
}

/// Catches signals from now on; before the program is started, so that none falls between.
///
/// Handlers, unlike ignored signals, do not survive `exec`, so the program starts with the defaults.
pub fn catch() -> io::Result<Caught> {
    for signal in PASSED_ON.into_iter().filter(|signal| *signal != SIGQUIT) {
        flag::register(signal, Arc::clone(&END))?;
    }
    Ok(Caught {
        signals: SignalsInfo::new(PASSED_ON)?,
    })
}

/// Signals that wait for somebody to pass them on.
#[derive(Debug)]
pub struct Caught {
    signals: SignalsInfo<WithOrigin>,
}

impl Caught {
    /// Passes them on to a process, from a thread of its own, as long as this process lives.
    pub fn pass_on_to(mut self, pid: u32) -> io::Result<()> {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for origin in self.signals.forever() {
                    pass_on(&origin, pid);
                }
            })?;
        Ok(())
    }
}

/// Passes a signal on if a process sent it to this one alone.
fn pass_on(origin: &Origin, pid: Pid) {
    let sent = matches!(origin.cause, Cause::Sent(_));
    if let (true, Some(signal)) = (sent, rustix::process::Signal::from_named_raw(origin.signal)) {
        // The program may be gone, which is no harm: its id is not used again while it is our unwaited child, and we end soon after waiting.
        let _ = kill_process(pid, signal);
    }
}
