//! Runs a command and watches every JVM that it starts.

use std::ffi::OsString;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use untorn_channel::Config;
use untorn_channel::protocol::Counts;

use crate::drain::{Drained, Limits};
use crate::session::Session;
use crate::source::LiveSource;
use crate::{Error, Launch, Process, signals};

/// How long JVMs that outlive the command are waited for, before they are left alone.
const GRACE: Duration = Duration::from_secs(2);

/// What to run and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub command: Vec<OsString>,
    pub agent: PathBuf,
    pub config: Config,
    pub limits: Limits,
    /// Watch JVMs that the program starts, too.
    pub children: bool,
}

/// A process that was watched, and what came of it.
#[derive(Debug)]
pub struct Watched<T> {
    pub process: Process,
    pub result: T,
    pub drained: Drained,
    /// What the agent counted; empty if it was killed.
    pub counts: Counts,
    /// What kept it from being heard to its end.
    pub broken: Option<String>,
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran<T> {
    pub status: ExitStatus,
    /// The JVMs that were watched, in the order in which they connected.
    pub processes: Vec<Watched<T>>,
    /// What kept JVMs from being watched, or from being watched to their ends; none if all was seen.
    pub unwatched: Vec<String>,
}

/// As [`watch_all`], for who does not ask what went unwatched.
pub fn watch<T: Send>(
    options: &Options,
    consume: impl Fn(&Process, &mut LiveSource) -> T + Sync,
) -> Result<(ExitStatus, Vec<Watched<T>>), Error> {
    let ran = watch_all(options, consume)?;
    Ok((ran.status, ran.processes))
}

/// Runs the command to its end; `consume` reads the events of each JVM, in a thread of its own, while it runs.
pub fn watch_all<T: Send>(
    options: &Options,
    consume: impl Fn(&Process, &mut LiveSource) -> T + Sync,
) -> Result<Ran<T>, Error> {
    let folder = tempfile::Builder::new()
        .prefix("untorn-")
        .tempdir()
        .map_err(Error::Socket)?;
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).map_err(Error::Socket)?;
    let launch = Launch {
        command: &options.command,
        agent: &options.agent,
        socket: &socket,
    };
    let mut command = launch.command()?;
    let mut config = options.config.clone();
    if options.children {
        config.children = Some(launch.for_children());
    }
    let config = &config;
    let caught = signals::catch().map_err(Error::Socket)?;
    let spawned = command.spawn();
    let mut child = spawned.map_err(|source| Error::Spawn {
        command: options.command[0].to_string_lossy().into_owned(),
        source,
    })?;
    caught.pass_on_to(child.id()).map_err(Error::Socket)?;

    let done = AtomicBool::new(false);
    let results = Mutex::new(Vec::new());
    let unwatched: Mutex<Vec<Error>> = Mutex::new(Vec::new());
    let status = thread::scope(|scope| {
        let (done, results, consume, listener) = (&done, &results, &consume, &listener);
        let unwatched = &unwatched;
        let fail = move |error: Error| {
            let mut all = unwatched.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(error);
        };
        scope.spawn(move || {
            let mut number = 0;
            while let Some(stream) = accept(listener, done, &fail) {
                let at = number;
                number += 1;
                scope.spawn(move || {
                    // Whatever fails here is this JVM's, and must not take the others with it.
                    let serve = || serve(stream, config, options.limits, done, consume);
                    match panic::catch_unwind(AssertUnwindSafe(serve)) {
                        Ok(Ok(watched)) => {
                            let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
                            all.push((at, watched));
                        }
                        Ok(Err(refusal)) => fail(refusal.into()),
                        Err(_) => fail(Error::Failed),
                    }
                });
            }
        });
        let status = child.wait().map_err(Error::Wait);
        done.store(true, Ordering::Release);
        // Wakes the accepting thread, which sees that all is over.
        UnixStream::connect(&socket).ok();
        status
    })?;
    let mut processes = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    processes.sort_by_key(|(at, _)| *at);
    let mut unwatched = unwatched
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if processes.is_empty()
        && let Some(error) = unwatched.pop()
    {
        // Nothing else would say why nothing was watched.
        return Err(error);
    }
    let processes: Vec<Watched<T>> = processes.into_iter().map(|(_, one)| one).collect();
    let mut unwatched: Vec<String> = unwatched.iter().map(Error::to_string).collect();
    for one in &processes {
        let why = one.broken.as_ref();
        unwatched.extend(why.map(|why| format!("process {}: {why}", one.process.pid)));
    }
    Ok(Ran {
        status,
        processes,
        unwatched,
    })
}

/// The next JVM that connects; none once the command is done.
///
/// Where connections cannot be taken for now, as without a free descriptor, they wait: the JVMs behind them have not begun.
fn accept(listener: &UnixListener, done: &AtomicBool, fail: &impl Fn(Error)) -> Option<UnixStream> {
    const PAUSE: Duration = Duration::from_millis(50);
    let mut failed = false;
    loop {
        let accepted = listener.accept();
        if done.load(Ordering::Acquire) {
            return None;
        }
        match accepted {
            Ok((stream, _)) => return Some(stream),
            Err(error) => {
                let passing = matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                );
                if !passing && !failed {
                    failed = true;
                    fail(Error::Accept(error));
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

/// Says that nobody reads any more, however that came about.
struct Done<'a> {
    consumed: &'a AtomicBool,
    guard: &'a thread::Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.consumed.store(true, Ordering::Release);
        self.guard.unpark();
    }
}

/// Serves one JVM to its end.
fn serve<T: Send>(
    stream: UnixStream,
    config: &Config,
    limits: Limits,
    command_done: &AtomicBool,
    consume: impl Fn(&Process, &mut LiveSource) -> T + Sync,
) -> Result<Watched<T>, untorn_channel::Error> {
    // A JVM that cannot be served hears it by the closed socket, and runs unwatched.
    let (session, mut source) = Session::open(stream, config, limits)?;
    let consumed = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        let (session, consumed) = (&session, &consumed);
        let guard = scope.spawn(move || {
            let mut deadline = None;
            while !session.is_gone() && !consumed.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(20));
                if command_done.load(Ordering::Acquire) {
                    let deadline = *deadline.get_or_insert_with(|| Instant::now() + GRACE);
                    if Instant::now() > deadline {
                        session.detach();
                        return;
                    }
                }
            }
        });
        // Also if it fails: nothing else ends the guard.
        let _done = Done {
            consumed,
            guard: guard.thread(),
        };
        consume(&session.process, &mut source)
    });
    // A consumer that stopped early leaves records behind; without a receiver the drain ends.
    drop(source);
    if !session.is_gone() {
        session.detach();
    }
    let (process, drained, counts, broken) = session.finish();
    Ok(Watched {
        process,
        result,
        drained,
        counts,
        broken,
    })
}
