//! Ctrl-C for commands that start no program: the first one asks for what is known so far, the second one ends the process.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use crate::signals::END;

extern "C" fn note(_: libc::c_int) {
    END.store(true, Ordering::Relaxed);
}

/// From now on, [`is_end_asked_for`](crate::signals::is_end_asked_for) knows of the first `INT` or `TERM`.
pub fn catch_first() -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: all-zero is a valid `sigaction`; the handler stores to an atomic and does nothing else. The kernel restores the default before it is called.
        let status = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = note as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
