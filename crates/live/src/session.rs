//! One connected JVM: its memory, its socket, the threads that serve it.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded, unbounded};
use untorn_channel::protocol::{Counts, HangUp, Message, ReaderEnd};
use untorn_channel::{Config, Declaration, Error, SharedMemory, layout};

use crate::drain::{Drain, Drained, Limits};
use crate::source::LiveSource;

/// Chunks between the drain and the source: enough to keep both busy, few enough to hold memory down.
const IN_FLIGHT: usize = 256;

/// Who runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    pub pid: u32,
    /// Its command line, without the JVM.
    pub program: String,
}

/// The serving side of a connection; the events come out of the [`LiveSource`] made with it.
pub struct Session {
    pub process: Process,
    memory: Arc<SharedMemory>,
    gone: Arc<AtomicBool>,
    hang_up: HangUp,
    drain: JoinHandle<Drained>,
    socket: JoinHandle<(Counts, Option<String>)>,
}

/// How long a JVM may take from the connection to its greeting: the one follows the other.
const GREETING: Duration = Duration::from_secs(10);

impl Session {
    /// Welcomes a JVM.
    pub fn open(
        stream: UnixStream,
        config: &Config,
        limits: Limits,
    ) -> Result<(Self, LiveSource), Error> {
        let patience = stream.try_clone()?;
        patience.set_read_timeout(Some(GREETING))?;
        let (mut end, hello) = ReaderEnd::meet(stream)?;
        patience.set_read_timeout(None)?;
        let memory = Arc::new(SharedMemory::create(limits.most)?);
        let drain = Drain::new(Arc::clone(&memory), limits)?;
        end.welcome(config, &memory)?;
        let hang_up = end.hang_up_handle()?;
        let gone = Arc::new(AtomicBool::new(false));
        let (chunks, chunks_out) = bounded(IN_FLIGHT);
        // Unbounded: it grows with the classes of the program, not with its run.
        let (declarations, declarations_out) = unbounded();
        let process = Process {
            pid: hello.pid,
            program: hello.program,
        };
        let drain = {
            let gone = Arc::clone(&gone);
            thread::Builder::new()
                .name("drain".to_owned())
                .spawn(move || drain.run(&gone, &chunks))?
        };
        let socket = {
            let gone = Arc::clone(&gone);
            thread::Builder::new()
                .name("declarations".to_owned())
                .spawn(move || {
                    let heard = listen(end, &declarations);
                    gone.store(true, Ordering::Release);
                    heard
                })?
        };
        let name = format!("process {} ({})", process.pid, process.program);
        let source = LiveSource::new(
            name,
            Arc::clone(&memory),
            chunks_out,
            declarations_out,
            Arc::clone(&gone),
        );
        let session = Self {
            process,
            memory,
            gone,
            hang_up,
            drain,
            socket,
        };
        Ok((session, source))
    }

    /// Whether the JVM has ended or broken off.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Leaves the JVM alone: it goes on unwatched, and what it has logged is still read.
    pub fn detach(&self) {
        self.memory.set_state(layout::STOPPED);
        self.hang_up.hang_up();
    }

    /// Waits for the end, and tells what was counted on both sides, and what kept this side from hearing all.
    pub fn finish(self) -> (Process, Drained, Counts, Option<String>) {
        let panicked = || "a thread of the reader failed".to_owned();
        let (counts, broken) = match self.socket.join() {
            Ok(heard) => heard,
            Err(_) => (Counts::new(), Some(panicked())),
        };
        match self.drain.join() {
            Ok(drained) => (self.process, drained, counts, broken),
            Err(_) => (self.process, Drained::default(), counts, Some(panicked())),
        }
    }
}

/// Passes declarations on until the agent is gone; what it says last is what it counted, or what kept it from its work.
fn listen(mut end: ReaderEnd, to: &Sender<Vec<Declaration>>) -> (Counts, Option<String>) {
    let mut counts = Counts::new();
    let mut gave_up = None;
    loop {
        match end.listen() {
            Ok(Some(Message::Declare(all))) => {
                // A source that is gone wants no more, but the socket must not fill up.
                to.send(all).ok();
            }
            Ok(Some(Message::Goodbye(all))) => counts = all,
            Ok(Some(Message::GaveUp(why))) => gave_up = Some(format!("it ran unwatched: {why}")),
            Ok(None) => return (counts, gave_up),
            // An agent that speaks nonsense is as good as gone.
            Err(error) => return (counts, Some(error.to_string())),
        }
    }
}
