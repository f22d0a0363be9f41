//! Ctrl-C for commands that start no program: the first one asks for what is known so far, the second one ends the process.

use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::signals::END;

/// From now on, [`is_end_asked_for`](crate::signals::is_end_asked_for) knows of the first `INT` or `TERM`.
pub fn catch_first() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in this order: the first one acts only once the second one has run before.
        flag::register_conditional_default(signal, Arc::clone(&END))?;
        flag::register(signal, Arc::clone(&END))?;
    }
    Ok(())
}
