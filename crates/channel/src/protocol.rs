//! Messages over the Unix socket.
//!
//! The agent says [`Hello`]; the reader answers with a [`Welcome`] that carries the shared memory.
//! From then on the agent alone speaks: declarations, and at the end what it counted.
//! At any time it may say instead why its process runs unwatched.
//! Either side knows that the other is gone when the socket closes.
//!
//! A message is its length (4 bytes, little-endian), a kind byte, and a payload.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Config, Declaration, Error, SharedMemory};

mod descriptor;

/// What this side was built from: the release, and a sum that changes whenever records, declarations or messages do.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("UNTORN_CHANNEL_SUM"));

/// No message is longer; what claims to be is not one of ours.
const LONGEST: u32 = 64 << 20;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const DECLARE: u8 = 3;
const GOODBYE: u8 = 4;
const REFUSAL: u8 = 5;

/// The first message of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The agent's [`BUILD`]; empty if it is older than builds that tell.
    ///
    /// All has a default, as an agent of another build may say other things.
    #[serde(default)]
    pub build: String,
    #[serde(default)]
    pub pid: u32,
    /// What the process runs, as far as the agent can tell.
    #[serde(default)]
    pub program: String,
}

/// What an agent says that cannot do its work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    pub pid: u32,
    pub program: String,
    /// What is in the way.
    pub why: String,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Welcome {
    pub config: Config,
    /// The size of the memory that comes with it.
    pub segments: u32,
}

/// Counters by name, for people.
pub type Counts = BTreeMap<String, u64>;

/// What an agent says once it is welcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    Declare(Vec<Declaration>),
    Goodbye(Counts),
    /// Why the process runs unwatched.
    GaveUp(String),
}

fn send(stream: &mut impl Write, kind: u8, payload: &[u8]) -> io::Result<()> {
    let mut message = Vec::with_capacity(payload.len() + 5);
    message.extend_from_slice(&(payload.len() as u32 + 1).to_le_bytes());
    message.push(kind);
    message.extend_from_slice(payload);
    stream.write_all(&message)
}

/// The next message, or `None` at the end; one that is cut off counts as the end, since its sender was killed.
fn receive(stream: &mut impl Read) -> Result<Option<(u8, Vec<u8>)>, Error> {
    let mut length = [0; 4];
    if !fill(stream, &mut length)? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length);
    if length == 0 || length > LONGEST {
        return Err(Error::Malformed("a message of an impossible length"));
    }
    let mut message = vec![0; length as usize];
    if !fill(stream, &mut message)? {
        return Ok(None);
    }
    let kind = message.remove(0);
    Ok(Some((kind, message)))
}

/// Reads exactly so much; `false` if the stream ends before.
fn fill(stream: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match stream.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|_| Error::Malformed("a message that cannot be written"))
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|_| Error::Malformed("a message with a broken payload"))
}

/// The agent's end.
#[derive(Debug)]
pub struct AgentEnd {
    stream: UnixStream,
}

impl AgentEnd {
    /// Says, instead of a greeting, why this process is not going to be watched.
    pub fn refuse(mut stream: UnixStream, program: &str, why: &str) -> Result<(), Error> {
        let refusal = Refusal {
            pid: std::process::id(),
            program: program.to_owned(),
            why: why.to_owned(),
        };
        Ok(send(&mut stream, REFUSAL, &json(&refusal)?)?)
    }

    /// Says, after the greeting, why this process runs unwatched all the same.
    pub fn give_up(&mut self, why: &str) -> Result<(), Error> {
        Ok(send(&mut self.stream, REFUSAL, &json(&why)?)?)
    }

    /// Introduces this process and receives the memory to write into.
    pub fn greet(
        mut stream: UnixStream,
        program: &str,
    ) -> Result<(Self, Config, SharedMemory), Error> {
        let hello = Hello {
            build: BUILD.to_owned(),
            pid: std::process::id(),
            program: program.to_owned(),
        };
        send(&mut stream, HELLO, &json(&hello)?)?;
        // The descriptor travels with a byte of its own, so that plain reads before and after do not swallow it.
        let memory: OwnedFd = descriptor::receive(&stream).map_err(Error::Refused)?;
        match receive(&mut stream)? {
            Some((WELCOME, payload)) => {
                let welcome: Welcome = from_json(&payload)?;
                let memory = SharedMemory::open(memory, welcome.segments)?;
                Ok((Self { stream }, welcome.config, memory))
            }
            _ => Err(Error::Malformed("something else than a welcome")),
        }
    }

    /// Sends declarations that are encoded already.
    pub fn declare(&mut self, encoded: &[u8]) -> Result<(), Error> {
        // A single class can declare more than one message holds only if it is hostile; declarations are not split.
        Ok(send(&mut self.stream, DECLARE, encoded)?)
    }

    pub fn goodbye(&mut self, counts: &Counts) -> Result<(), Error> {
        Ok(send(&mut self.stream, GOODBYE, &json(counts)?)?)
    }

    /// Closes this end: the reader takes what is there as all.
    pub fn close(&self) {
        // Already closed is as good.
        self.stream.shutdown(std::net::Shutdown::Both).ok();
    }

    /// A second handle, on which a thread can wait for the reader's end.
    pub fn watch(&self) -> io::Result<ReaderGone> {
        Ok(ReaderGone {
            stream: self.stream.try_clone()?,
        })
    }
}

/// Tells when the reader is gone.
#[derive(Debug)]
pub struct ReaderGone {
    stream: UnixStream,
}

impl ReaderGone {
    /// Returns when the reader has closed its end, however that came about.
    pub fn wait(mut self) {
        let mut byte = [0];
        while let Ok(1..) = self.stream.read(&mut byte) {}
    }
}

/// The reader's end.
#[derive(Debug)]
pub struct ReaderEnd {
    stream: UnixStream,
}

impl ReaderEnd {
    /// Hears the agent's introduction.
    pub fn meet(mut stream: UnixStream) -> Result<(Self, Hello), Error> {
        match receive(&mut stream)? {
            Some((HELLO, payload)) => {
                let hello: Hello = from_json(&payload)?;
                if hello.build != BUILD {
                    let told = (!hello.build.is_empty()).then_some(hello.build);
                    let theirs = told.unwrap_or_else(|| "of an older build".to_owned());
                    return Err(Error::OtherBuild { theirs });
                }
                Ok((Self { stream }, hello))
            }
            Some((REFUSAL, payload)) => {
                let Refusal { pid, program, why } = from_json(&payload)?;
                Err(Error::Unwatched { pid, program, why })
            }
            _ => Err(Error::Malformed("something else than a hello")),
        }
    }

    /// Hands the memory over, and says what is wanted.
    pub fn welcome(&mut self, config: &Config, memory: &SharedMemory) -> Result<(), Error> {
        descriptor::send(&self.stream, memory.file())?;
        let welcome = Welcome {
            config: config.clone(),
            segments: memory.segments(),
        };
        Ok(send(&mut self.stream, WELCOME, &json(&welcome)?)?)
    }

    /// The next message; `None` when the agent is gone.
    pub fn listen(&mut self) -> Result<Option<Message>, Error> {
        match receive(&mut self.stream)? {
            None => Ok(None),
            Some((DECLARE, payload)) => {
                let (mut rest, mut all) = (&payload[..], Vec::new());
                while !rest.is_empty() {
                    all.push(Declaration::decode(&mut rest)?);
                }
                Ok(Some(Message::Declare(all)))
            }
            Some((GOODBYE, payload)) => Ok(Some(Message::Goodbye(from_json(&payload)?))),
            Some((REFUSAL, payload)) => Ok(Some(Message::GaveUp(from_json(&payload)?))),
            Some(_) => Err(Error::Malformed("a message of an unknown kind")),
        }
    }

    /// A second handle, with which the connection can be ended while a thread waits in [`ReaderEnd::listen`].
    pub fn hang_up_handle(&self) -> io::Result<HangUp> {
        Ok(HangUp {
            stream: self.stream.try_clone()?,
        })
    }
}

/// Ends a connection.
#[derive(Debug)]
pub struct HangUp {
    stream: UnixStream,
}

impl HangUp {
    pub fn hang_up(&self) {
        // Already closed is as good.
        self.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}
