//! The agent of this process: its connection, its ids, what it counts.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use untorn_channel::config::{Mode, Tracking};
use untorn_channel::protocol::AgentEnd;
use untorn_channel::{Error, SharedMemory, layout};
use untorn_live::Standalone;

use crate::counts::Counters;
use crate::instrument::{Plan, PlanError};
use crate::jvm::Jvmti;
use crate::loaders::Loaders;
use crate::options::Options;
use crate::{Registry, faults};

#[derive(Debug)]
pub struct Agent {
    pub registry: Registry,
    pub loaders: Loaders,
    pub plan: Plan,
    pub counters: Counters,
    /// What the JVMs that this one starts should find in JAVA_TOOL_OPTIONS.
    pub children: Option<String>,
    memory: Arc<SharedMemory>,
    /// What the Java runtime is told beside the address of the memory.
    runtime_options: u64,
    standalone: Mutex<Option<Standalone>>,
    /// Whether something kept it from its work, so that classes are left as they are.
    gave_up: AtomicBool,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// How long the end of the JVM may be held up by writing the rest of a file.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is nobody to record for.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("neither socket=… nor out=… tells where the recording goes")]
    NoDestination,
    #[error("{path}: {source}")]
    Connect {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Channel(#[from] Error),
}

impl Agent {
    /// The agent, if one was started.
    pub fn get() -> Option<&'static Self> {
        AGENT.get()
    }

    /// Connects to the reader, or becomes its own; afterwards [`Agent::get`] finds the agent.
    pub fn start(options: &Options, jvmti: Jvmti) -> Result<&'static Self, StartError> {
        let (stream, standalone) = match (&options.socket, &options.out) {
            (Some(path), _) => (connect(path)?, None),
            (None, Some(path)) => {
                let (stream, other) = UnixStream::pair().map_err(Error::from)?;
                // Now: the JVM changes its working directory for a moment while it starts.
                let path = std::path::absolute(numbered(path)).map_err(Error::from)?;
                let standalone = Standalone::start(other, options.config.clone(), path);
                (stream, Some(standalone.map_err(Error::from)?))
            }
            (None, None) => return Err(StartError::NoDestination),
        };
        let (mut end, config, memory) = AgentEnd::greet(stream, &program())?;
        let memory = Arc::new(memory);
        let prepared = Plan::new(&config)
            .map_err(StartError::from)
            .and_then(|plan| stop_when_gone(&end, &memory).map(|()| plan));
        let plan = prepared.inspect_err(|problem| {
            // A closed socket alone looks like the end of the program.
            end.give_up(&problem.to_string()).ok();
        })?;
        if let Some(known) = &plan.known {
            known.runs(&program());
        }
        let runtime_options = match config.tracking {
            Tracking::Pessimistic => 0,
            Tracking::Optimistic if config.keep_private => 1,
            Tracking::Optimistic => 1 | 2,
        } | match &config.mode {
            Mode::Single => 0,
            Mode::First => 4,
            Mode::Second(choice) if choice.unary => 8 | 16,
            Mode::Second(_) => 8,
        } | if config.skip_lone_locks { 32 } else { 0 }
            | if config.steering.is_some() { 64 } else { 0 };
        let registry = Registry::new(Some(end));
        registry.by_hand(&config.sites);
        Ok(AGENT.get_or_init(|| Self {
            registry,
            loaders: Loaders::new(jvmti),
            plan,
            children: config.children,
            counters: Counters::default(),
            memory,
            runtime_options,
            standalone: Mutex::new(standalone),
            gave_up: AtomicBool::new(false),
        }))
    }

    /// Tells a reader, if one waits, why this process is not going to be watched.
    pub fn refuse(options: &Options, why: &str) {
        if let Some(stream) = options
            .socket
            .as_deref()
            .and_then(|path| connect(path).ok())
        {
            // Who does not hear it still finds it on standard error.
            AgentEnd::refuse(stream, &program(), why).ok();
        }
    }

    /// Leaves the program alone from here on.
    pub fn give_up(&self, why: &str) {
        self.gave_up.store(true, Ordering::SeqCst);
        self.memory.set_state(layout::STOPPED);
        self.registry.give_up(why);
    }

    pub fn has_given_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// Where the shared memory is; the low bits are options of the runtime, since pages are aligned.
    pub fn memory_and_options(&self) -> u64 {
        self.memory.address() | self.runtime_options
    }

    /// The JVM ends in an orderly way; what went wrong with the file, if this process writes it.
    pub fn finish(&self) -> Result<(), String> {
        let standalone = self.standalone.lock().ok().and_then(|mut it| it.take());
        if standalone.is_some() {
            // Daemon threads still run, and would log for ever.
            self.memory.set_state(layout::STOPPED);
        }
        self.registry.goodbye(&self.counters.all());
        match standalone {
            Some(standalone) => standalone.finish(PATIENCE),
            None => Ok(()),
        }
    }
}

/// Stops the recording when the reader is gone.
fn stop_when_gone(end: &AgentEnd, memory: &Arc<SharedMemory>) -> Result<(), StartError> {
    if faults::fails("thread", "") {
        return Err(Error::from(std::io::Error::from(std::io::ErrorKind::OutOfMemory)).into());
    }
    let gone = end.watch().map_err(Error::from)?;
    let watched = Arc::clone(memory);
    // Not a Java thread: the program does not see it, and it ends with the process.
    thread::Builder::new()
        .name("untorn-watch".to_owned())
        .stack_size(64 << 10)
        .spawn(move || {
            gone.wait();
            watched.set_state(layout::STOPPED);
        })
        .map_err(Error::from)?;
    Ok(())
}

fn connect(path: &Path) -> Result<UnixStream, StartError> {
    UnixStream::connect(path).map_err(|source| StartError::Connect {
        path: path.display().to_string(),
        source,
    })
}

/// The path with `%p` replaced by the process id, so that several JVMs do not share a file.
fn numbered(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    if text.contains("%p") {
        text.replace("%p", &std::process::id().to_string()).into()
    } else {
        path.to_owned()
    }
}

/// What this process runs, for reports: its command line without the JVM and what is meant for it.
fn program() -> String {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|&b| b == 0).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    let of_jvm = options_of_jvm(words.get(1..).unwrap_or_default());
    words.get(1 + of_jvm..).unwrap_or_default().join(" ")
}

/// How many words come before the main class, the jar or the module.
fn options_of_jvm<S: AsRef<str>>(words: &[S]) -> usize {
    const WITH_VALUE: [&str; 12] = [
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--limit-modules",
        "--add-reads",
        "--add-exports",
        "--add-opens",
        "--patch-module",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at).map(S::as_ref) {
        at += match word {
            _ if WITH_VALUE.contains(&word) => 2,
            "-jar" | "-m" | "--module" => break,
            _ if word.starts_with('-') || word.starts_with('@') => 1,
            _ => break,
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_after_what_it_runs() {
        let shown = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            words[options_of_jvm(&words)..].join(" ")
        };
        assert_eq!(shown("-Xmx1g -cp a.jar:b.jar -ea Main 2"), "Main 2");
        assert_eq!(
            shown("--add-opens a/b=c -jar app.jar -x"),
            "-jar app.jar -x"
        );
        assert_eq!(shown("@options -p mods -m app/Main"), "-m app/Main");
    }
}
