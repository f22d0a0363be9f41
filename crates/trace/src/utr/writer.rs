//! Writes `.utr` files.
//!
//! Events gather in memory and leave as a group of chunks in one write: new table entries first, then the events of each thread, then the schedule.
//! A group is complete or it is not there, so whatever moment ends the process, the reader finds everything up to the last group that was written.

use std::io::Write;

use untorn_model::{Event, Tables, ThreadId};

use super::columns::{Columns, EdgeIn};
use super::format::{ChunkHeader, ChunkKind, FileHeader, MAX_PAYLOAD};
use super::opcode::Limits;
use super::tables::Written;
use super::varint::put;
use crate::Error;
use crate::wellformed::Holds;

/// Events in a group: enough for long columns, few enough to stay in the second-level cache of a reader.
const GROUP: usize = 64 << 10;

/// How a `.utr` file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UtrOptions {
    /// Pack each chunk with LZ4 where that makes it smaller.
    pub compress: bool,
}

/// The order that one event of a thread comes after events of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: ThreadId,
    /// How many events of `from` come before: the position of the last of them, plus one.
    pub passed: u64,
    pub to: ThreadId,
    /// The position in `to` of the first event that comes after.
    pub before: u64,
}

/// The file end of both writers.
#[derive(Debug)]
struct Output<W> {
    out: W,
    file: String,
    options: UtrOptions,
    tables: Written,
    frame: Vec<u8>,
}

impl<W: Write> Output<W> {
    fn new(file: String, out: W, options: UtrOptions, ordered: bool) -> Result<Self, Error> {
        let mut output = Self {
            out,
            file,
            options,
            tables: Written::default(),
            frame: FileHeader { ordered }.encode().to_vec(),
        };
        output.put()?;
        Ok(output)
    }

    fn unwritable(&self, what: &'static str) -> Error {
        let file = self.file.clone();
        Error::Unwritable { file, what }
    }

    fn new_table_entries(&mut self, tables: &Tables) -> Result<(), Error> {
        let mut due = Vec::new();
        let gather = |sections, payload: &[u8]| {
            due.push((sections, payload.to_vec()));
            Ok::<(), Error>(())
        };
        self.tables.new_entries(tables, gather)?;
        for (sections, payload) in due {
            self.chunk(ChunkKind::Tables, 0, sections, 0, &payload)?;
        }
        Ok(())
    }

    /// Adds a chunk to the frame.
    fn chunk(
        &mut self,
        kind: ChunkKind,
        thread: u32,
        count: u32,
        first: u64,
        raw: &[u8],
    ) -> Result<(), Error> {
        if raw.len() > MAX_PAYLOAD {
            return Err(self.unwritable("a name or a set of edges of more than 64 MB"));
        }
        let packed = (self.options.compress && !raw.is_empty())
            .then(|| lz4_flex::block::compress(raw))
            .filter(|packed| packed.len() < raw.len());
        let stored = packed.as_deref().unwrap_or(raw);
        let header = ChunkHeader {
            kind,
            lz4: packed.is_some(),
            thread,
            count,
            stored: stored.len() as u32,
            raw: raw.len() as u32,
            first,
            payload_crc: crc32fast::hash(stored),
        };
        self.frame.extend_from_slice(&header.encode());
        self.frame.extend_from_slice(stored);
        Ok(())
    }

    /// Writes the frame.
    fn put(&mut self) -> Result<(), Error> {
        let written = self.out.write_all(&self.frame);
        self.frame.clear();
        written.map_err(|error| Error::io(&self.file, error))
    }

    fn finish(mut self, events: u64) -> Result<W, Error> {
        self.chunk(ChunkKind::End, 0, 0, events, &[])?;
        self.put()?;
        (self.out.flush()).map_err(|error| Error::io(&self.file, error))?;
        Ok(self.out)
    }
}

/// What one thread has not written yet.
#[derive(Debug, Default)]
struct Log {
    columns: Columns,
    holds: Holds,
    /// The position of the first event in `columns`.
    first: u64,
    edges: Vec<EdgeIn>,
}

impl Log {
    fn end(&self) -> u64 {
        self.first + self.columns.len() as u64
    }
}

/// The threads' logs of both writers.
#[derive(Debug, Default)]
struct Logs {
    by_thread: Vec<Log>,
    gathered: usize,
    total: u64,
    payload: Vec<u8>,
}

impl Logs {
    #[inline]
    fn log(&mut self, thread: ThreadId) -> &mut Log {
        if self.by_thread.len() <= thread.index() {
            self.by_thread.resize_with(thread.index() + 1, Log::default);
        }
        &mut self.by_thread[thread.index()]
    }

    /// Takes an event in, with its lock depth resolved; `false` if the format cannot hold it.
    #[inline]
    fn push(&mut self, event: &Event) -> bool {
        let log = self.log(event.thread);
        let op = log.holds.resolve(event.op);
        if !log.columns.push(&Event { op, ..*event }) {
            return false;
        }
        self.gathered += 1;
        self.total += 1;
        true
    }

    /// Moves everything gathered into chunks.
    fn drain<W: Write>(&mut self, tables: &Tables, output: &mut Output<W>) -> Result<(), Error> {
        let limits = Limits::of(tables);
        let known = |log: &Log| {
            let threads = tables.threads.len();
            log.columns.fits(&limits) && log.edges.iter().all(|e| e.from.index() < threads)
        };
        if self.by_thread.len() > tables.threads.len() || !self.by_thread.iter().all(known) {
            return Err(output.unwritable("an id that is in no table"));
        }
        output.new_table_entries(tables)?;
        for (thread, log) in self.by_thread.iter_mut().enumerate() {
            let count = log.columns.len();
            if count == 0 {
                continue;
            }
            let end = log.end();
            log.edges.sort_unstable();
            let due = log.edges.partition_point(|edge| edge.before < end);
            self.payload.clear();
            (log.columns).drain_into(&mut self.payload, log.first, &log.edges[..due]);
            log.edges.drain(..due);
            let (thread, count) = (thread as u32, count as u32);
            output.chunk(ChunkKind::Events, thread, count, log.first, &self.payload)?;
            log.first = end;
        }
        self.gathered = 0;
        Ok(())
    }
}

/// Writes events in a total order, which the file keeps.
#[derive(Debug)]
pub struct OrderedWriter<W: Write> {
    output: Output<W>,
    logs: Logs,
    /// Thread and length of each run since the last group.
    runs: Vec<(u32, u32)>,
    /// The index of the first event of the group.
    first: u64,
}

impl<W: Write> OrderedWriter<W> {
    /// Writes to `out`, unbuffered; `file` is what messages call it.
    pub fn new(file: impl Into<String>, out: W, options: UtrOptions) -> Result<Self, Error> {
        Ok(Self {
            output: Output::new(file.into(), out, options, true)?,
            logs: Logs::default(),
            runs: Vec::new(),
            first: 0,
        })
    }

    /// Appends events, whose ids are in the tables.
    pub fn write(&mut self, tables: &Tables, events: &[Event]) -> Result<(), Error> {
        for event in events {
            if !self.logs.push(event) {
                return Err(self.output.unwritable("an access with unknown flags"));
            }
            match self.runs.last_mut() {
                Some((thread, len)) if *thread == event.thread.0 => *len += 1,
                _ => self.runs.push((event.thread.0, 1)),
            }
            if self.logs.gathered >= GROUP {
                self.flush(tables)?;
            }
        }
        Ok(())
    }

    /// Writes what has gathered, so that it survives the process.
    pub fn flush(&mut self, tables: &Tables) -> Result<(), Error> {
        let count = self.logs.gathered;
        if count == 0 {
            return Ok(());
        }
        self.logs.drain(tables, &mut self.output)?;
        let mut payload = Vec::with_capacity(3 * self.runs.len());
        for (thread, len) in self.runs.drain(..) {
            put(&mut payload, u64::from(thread));
            put(&mut payload, u64::from(len));
        }
        let kind = ChunkKind::Schedule;
        (self.output).chunk(kind, 0, count as u32, self.first, &payload)?;
        self.first += count as u64;
        self.output.put()
    }

    /// Writes the rest and the end marker, and gives the output back.
    pub fn finish(mut self, tables: &Tables) -> Result<W, Error> {
        self.flush(tables)?;
        self.output.new_table_entries(tables)?;
        self.output.finish(self.logs.total)
    }
}

/// Writes per-thread streams and the edges between them; the order across threads is left to the reader.
#[derive(Debug)]
pub struct StreamWriter<W: Write> {
    output: Output<W>,
    logs: Logs,
}

impl<W: Write> StreamWriter<W> {
    /// Writes to `out`, unbuffered; `file` is what messages call it.
    pub fn new(file: impl Into<String>, out: W, options: UtrOptions) -> Result<Self, Error> {
        Ok(Self {
            output: Output::new(file.into(), out, options, false)?,
            logs: Logs::default(),
        })
    }

    /// Appends events, each to the stream of its thread; their ids are in the tables.
    pub fn append(&mut self, tables: &Tables, events: &[Event]) -> Result<(), Error> {
        for event in events {
            if !self.logs.push(event) {
                return Err(self.output.unwritable("an access with unknown flags"));
            }
            if self.logs.gathered >= GROUP {
                self.flush(tables)?;
            }
        }
        Ok(())
    }

    /// How many events of a thread have been appended: the position of its next.
    pub fn position(&self, thread: ThreadId) -> u64 {
        self.logs.by_thread.get(thread.index()).map_or(0, Log::end)
    }

    /// Adds an edge; the event it points to must not have been appended yet, since it may be written already.
    pub fn edge(&mut self, edge: Edge) -> Result<(), Error> {
        if edge.before < self.position(edge.to) {
            return Err((self.output).unwritable("an edge to an event that was written before it"));
        }
        self.logs.log(edge.to).edges.push(EdgeIn {
            before: edge.before,
            from: edge.from,
            passed: edge.passed,
        });
        Ok(())
    }

    /// Writes what has gathered, so that it survives the process.
    pub fn flush(&mut self, tables: &Tables) -> Result<(), Error> {
        self.logs.drain(tables, &mut self.output)?;
        self.output.put()
    }

    /// Writes the rest and the end marker, and gives the output back.
    pub fn finish(mut self, tables: &Tables) -> Result<W, Error> {
        self.flush(tables)?;
        self.output.new_table_entries(tables)?;
        self.output.finish(self.logs.total)
    }
}
