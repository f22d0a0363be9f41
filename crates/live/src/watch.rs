//! Runs a command and watches every JVM that it starts.

use std::ffi::OsString;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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
}

/// Runs the command to its end; `consume` reads the events of each JVM, in a thread of its own, while it runs.
///
/// Returns the command's status and what each JVM gave, in the order in which they connected.
pub fn watch<T: Send>(
    options: &Options,
    consume: impl Fn(&Process, &mut LiveSource) -> T + Sync,
) -> Result<(ExitStatus, Vec<Watched<T>>), Error> {
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
    let refused = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let (done, results, consume, listener) = (&done, &results, &consume, &listener);
        let refused = &refused;
        scope.spawn(move || {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept() {
                if done.load(Ordering::Acquire) {
                    return;
                }
                let at = number;
                number += 1;
                scope.spawn(
                    move || match serve(stream, config, options.limits, done, consume) {
                        Ok(watched) => results.lock().map(|mut all| all.push((at, watched))).ok(),
                        Err(refusal) => refused.lock().map(|mut all| all.push(refusal)).ok(),
                    },
                );
            }
        });
        let status = child.wait().map_err(Error::Wait);
        done.store(true, Ordering::Release);
        // Wakes the accepting thread, which sees that all is over.
        UnixStream::connect(&socket).ok();
        status
    })
    .and_then(|status| {
        let mut all = results.into_inner().unwrap_or_default();
        all.sort_by_key(|(at, _)| *at);
        match refused.into_inner().unwrap_or_default().pop() {
            // Nothing else would say why nothing was watched.
            Some(refusal) if all.is_empty() => Err(refusal.into()),
            _ => Ok((
                status,
                all.into_iter().map(|(_, watched)| watched).collect(),
            )),
        }
    })
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
        let result = consume(&session.process, &mut source);
        consumed.store(true, Ordering::Release);
        guard.thread().unpark();
        result
    });
    // A consumer that stopped early leaves records behind; without a receiver the drain ends.
    drop(source);
    if !session.is_gone() {
        session.detach();
    }
    let (process, drained, counts) = session.finish();
    Ok(Watched {
        process,
        result,
        drained,
        counts,
    })
}
