//! A process that speaks as an agent does, so that the reader can be tested without a JVM.

#![allow(dead_code, reason = "each test uses some of it")]

use std::env;
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use untorn_channel::pool::Writer;
use untorn_channel::protocol::AgentEnd;
use untorn_channel::{Declaration, Record, SharedMemory};

pub const SCENARIO: &str = "UNTORN_TEST_SCENARIO";

/// This program again, in another part.
pub fn part(name: &str) -> Vec<OsString> {
    let mut command = vec![env::current_exe().unwrap().into_os_string()];
    command.extend([name, "--exact", "--nocapture"].map(Into::into));
    command
}

/// Connects to the reader, as the environment says.
pub fn connect() -> UnixStream {
    let options = env::var("JAVA_TOOL_OPTIONS").unwrap();
    let (_, socket) = options.split_once("=socket=").unwrap();
    UnixStream::connect(socket.split_whitespace().next().unwrap()).unwrap()
}

/// Threads that write what they do, all in this process.
pub struct Agent {
    pub end: AgentEnd,
    pub memory: Arc<SharedMemory>,
    writers: Vec<(Writer, u64)>,
}

impl Agent {
    pub fn greet(stream: UnixStream) -> Self {
        let (end, _, memory) = AgentEnd::greet(stream, "test").unwrap();
        Self {
            end,
            memory: Arc::new(memory),
            writers: Vec::new(),
        }
    }

    pub fn declare(&mut self, all: &[Declaration]) {
        let mut bytes = Vec::new();
        for one in all {
            one.encode(&mut bytes);
        }
        self.end.declare(&bytes).unwrap();
    }

    /// Writes a record of a thread; how many the thread has written.
    pub fn write(&mut self, thread: u32, record: Record) -> u64 {
        assert!(self.try_write(thread, record));
        self.position(thread)
    }

    /// The same; whether anybody reads it.
    pub fn try_write(&mut self, thread: u32, record: Record) -> bool {
        while self.writers.len() <= thread as usize {
            let next = self.writers.len() as u32;
            let writer = Writer::new(Arc::clone(&self.memory), next);
            self.writers.push((writer, 0));
        }
        let (writer, position) = &mut self.writers[thread as usize];
        *position += 1;
        writer.write(record.encode())
    }

    pub fn position(&self, thread: u32) -> u64 {
        self.writers[thread as usize].1
    }

    pub fn end(&mut self, thread: u32) {
        self.writers[thread as usize].0.finish();
    }

    /// All threads end, and the process.
    pub fn finish(mut self) {
        for (writer, _) in &mut self.writers {
            writer.finish();
        }
        self.end.close();
    }
}
