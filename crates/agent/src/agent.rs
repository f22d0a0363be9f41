//! The agent of this process: its connection, its ids, what it counts.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::thread;

use untorn_channel::protocol::AgentEnd;
use untorn_channel::{Error, SharedMemory, layout};

use crate::Registry;
use crate::counts::Counters;
use crate::instrument::{Plan, PlanError};
use crate::options::Options;

#[derive(Debug)]
pub struct Agent {
    pub registry: Registry,
    pub plan: Plan,
    pub counters: Counters,
    memory: Arc<SharedMemory>,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

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

    /// Connects to the reader; afterwards [`Agent::get`] finds the agent.
    pub fn start(options: &Options) -> Result<&'static Self, StartError> {
        let path = options.socket.as_ref().ok_or(StartError::NoDestination)?;
        let stream = UnixStream::connect(path).map_err(|source| StartError::Connect {
            path: path.display().to_string(),
            source,
        })?;
        let (end, config, memory) = AgentEnd::greet(stream, &program())?;
        let plan = Plan::new(&config)?;
        let memory = Arc::new(memory);
        let gone = end.watch().map_err(Error::from)?;
        let watched = Arc::clone(&memory);
        // Not a Java thread: the program does not see it, and it ends with the process.
        thread::Builder::new()
            .name("untorn-watch".to_owned())
            .stack_size(64 << 10)
            .spawn(move || {
                gone.wait();
                watched.set_state(layout::STOPPED);
            })
            .map_err(Error::from)?;
        let registry = Registry::new(Some(end));
        registry.by_hand(&config.sites);
        Ok(AGENT.get_or_init(|| Self {
            registry,
            plan,
            counters: Counters::default(),
            memory,
        }))
    }

    /// Where the shared memory is.
    pub fn memory(&self) -> u64 {
        self.memory.address()
    }

    /// The JVM ends in an orderly way.
    pub fn finish(&self) {
        self.registry.goodbye(&self.counters.all());
    }
}

/// What this process runs, for reports: its command line without the JVM.
fn program() -> String {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<String> = bytes
        .split(|&b| b == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        // What `untorn run` added itself.
        .filter(|word| !word.is_empty() && !word.starts_with("-agentpath:"))
        .filter(|word| word != "-XX:-DontCompileHugeMethods")
        .collect();
    words.get(1..).unwrap_or_default().join(" ")
}
