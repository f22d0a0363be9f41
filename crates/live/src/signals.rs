//! Signals for us that are meant for the program.
//!
//! A terminal sends Ctrl-C to the whole process group, so the program has it already; what is sent to this process alone is passed on.
//! Either way this process lives on to report what the program did until then, and knows that somebody waits for it.
#![allow(unsafe_code)]

use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

const PASSED_ON: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Where the handler writes; -1 before there is a pipe.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Somebody has asked for an end.
pub(crate) static END: AtomicBool = AtomicBool::new(false);

/// Whether somebody has asked for an end, of the program and of this process.
#[inline]
pub fn is_end_asked_for() -> bool {
    END.load(Ordering::Relaxed)
}

extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure to a handler installed with SA_SIGINFO.
    let from_process = unsafe { (*info).si_code } <= 0;
    // A program that gets the last of them says what its threads do, and goes on.
    if signal != libc::SIGQUIT {
        END.store(true, Ordering::Relaxed);
    }
    if from_process {
        let byte = signal as u8;
        // SAFETY: `write` may be called in a handler; a full or closed pipe loses the signal, nothing worse.
        unsafe {
            libc::write(PIPE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        }
    }
}

/// Asks a process that this one has started and not waited for to say what its threads do, or to end.
pub fn send(child: &std::process::Child, signal: Signal) {
    let number = match signal {
        Signal::Dump => libc::SIGQUIT,
        Signal::End => libc::SIGTERM,
    };
    // SAFETY: plain call; the id is not used again while the process is our unwaited child.
    unsafe {
        libc::kill(child.id() as libc::pid_t, number);
    }
}

/// What a process is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A JVM prints what its threads do, and goes on.
    Dump,
    End,
}

/// Catches signals from now on; before the program is started, so that none falls between.
pub fn catch() -> io::Result<Caught> {
    let (reader, writer) = io::pipe()?;
    // Kept open for good: the handlers stay.
    let writer = Box::leak(Box::new(OwnedFd::from(writer)));
    PIPE.store(writer.as_raw_fd(), Ordering::Relaxed);
    for signal in PASSED_ON {
        // SAFETY: all-zero is a valid `sigaction`; the handler only uses what a handler may use. Handlers, unlike ignored signals, do not survive `exec`, so the program starts with the defaults.
        let status = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = note as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(Caught { reader })
}

/// Signals that wait for somebody to pass them on.
#[derive(Debug)]
pub struct Caught {
    reader: PipeReader,
}

impl Caught {
    /// Passes them on to a process, from a thread of its own, as long as this process lives.
    pub fn pass_on_to(mut self, pid: u32) -> io::Result<()> {
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let mut signal = [0];
                while let Ok(1) = self.reader.read(&mut signal) {
                    // SAFETY: plain call; the process may be gone, which is no harm. Its id is not reused while it is our unwaited child, and we end soon after waiting.
                    unsafe {
                        libc::kill(pid as libc::pid_t, i32::from(signal[0]));
                    }
                }
            })?;
        Ok(())
    }
}
