//! A recording without a reader: the agent's own process drains its log and writes the file.
//!
//! Everything is as with a reader, which here is a thread at the other end of a socket pair.
//! What a kill of the process costs is what was not written yet, a second's worth.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use untorn_channel::Config;
use untorn_trace::UtrOptions;

use crate::drain::Limits;
use crate::record::record;
use crate::session::Session;

/// The thread that writes.
#[derive(Debug)]
pub struct Standalone {
    thread: JoinHandle<Result<(), String>>,
}

impl Standalone {
    /// Serves the agent at the other end of the stream.
    pub fn start(stream: UnixStream, config: Config, path: PathBuf) -> io::Result<Self> {
        let thread = thread::Builder::new()
            .name("untorn-record".to_owned())
            .spawn(move || {
                let (session, mut source) = Session::open(stream, &config, Limits::default())
                    .map_err(|error| error.to_string())?;
                let written = record(&mut source, &path, UtrOptions::default())
                    .map_err(|error| error.to_string());
                drop(source);
                session.detach();
                session.finish();
                written
            })?;
        Ok(Self { thread })
    }

    /// Waits for the file to be complete, as long as that is reasonable; the agent has closed its end.
    pub fn finish(self, patience: Duration) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        while !self.thread.is_finished() {
            if Instant::now() > deadline {
                return Err("the recording is not complete".to_owned());
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.thread
            .join()
            .unwrap_or_else(|_| Err("the recording failed".to_owned()))
    }
}
