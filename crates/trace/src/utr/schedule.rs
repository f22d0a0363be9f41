//! The order of a file that carries one: groups of chunks, each closed by the schedule of its events.

use untorn_model::ThreadId;

use super::columns::Filling;
use super::format::{ChunkHeader, ChunkKind};
use super::lanes::Lanes;
use super::reader::Context;
use super::trace_file::{Next, Payload, TraceFile};
use super::varint::Bytes;
use crate::Error;

/// Where a group begins: enough to start reading there.
#[derive(Clone, Copy, Debug)]
pub struct GroupStart {
    pub index: u64,
    pub offset: u64,
}

/// The schedule of the current group.
#[derive(Debug)]
struct Group {
    offset: u64,
    runs: Payload,
    at: usize,
    /// Scheduled events that are still to come.
    left: u64,
    thread: ThreadId,
    /// What is left of the current run.
    run: u64,
}

#[derive(Debug)]
pub struct Schedule {
    lanes: Lanes,
    start: GroupStart,
    group: Option<Group>,
    /// The offset of the next chunk.
    offset: u64,
    /// The index of the next event.
    index: u64,
    resumed: bool,
}

impl Schedule {
    pub fn new() -> Self {
        let start = GroupStart {
            index: 0,
            offset: TraceFile::FIRST,
        };
        Self {
            resumed: false,
            ..Self::resume(start)
        }
    }

    pub fn resume(start: GroupStart) -> Self {
        Self {
            lanes: Lanes::default(),
            start,
            group: None,
            offset: start.offset,
            index: start.index,
            resumed: true,
        }
    }

    pub fn start(&self) -> GroupStart {
        self.start
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Appends events until the batch is full or the trace ends; those before `from` are left out.
    pub fn fill(
        &mut self,
        context: &mut Context<'_>,
        from: u64,
        into: &mut Filling<'_>,
    ) -> Result<(), Error> {
        while into.room() > 0 {
            if self.group.is_none() && !self.next_group(context, from)? {
                break;
            }
            let Some(group) = &mut self.group else { break };
            if group.run == 0 {
                if group.left == 0 {
                    self.close_group(context.file)?;
                    continue;
                }
                next_run(context, group)?;
            }
            let group_offset = group.offset;
            let (thread, run) = (group.thread, group.run);
            let taken = if self.index < from {
                (self.lanes).skip(thread, run.min(from - self.index))
            } else {
                let count = run.min(into.room());
                (self.lanes).take(context.file, thread, count, context.limits(), into)?
            };
            if taken == 0 {
                let what = "a schedule of events that are not there";
                return Err(context.file.corrupt(group_offset, what));
            }
            group.run -= taken;
            group.left -= taken;
            self.index += taken;
        }
        Ok(())
    }

    /// Finds the next group that reaches beyond `from`; `false` at the end of the trace.
    fn next_group(&mut self, context: &mut Context<'_>, from: u64) -> Result<bool, Error> {
        let file = context.file;
        self.start = GroupStart {
            index: self.index,
            offset: self.offset,
        };
        loop {
            let offset = self.offset;
            let Next::Chunk(header) = file.next(offset)? else {
                context.cut(offset, self.lanes.waiting());
                return Ok(false);
            };
            self.offset = TraceFile::after(offset, &header);
            match header.kind {
                ChunkKind::Tables => context.load_tables(offset, &header)?,
                ChunkKind::Events => {
                    let threads = context.tables().threads.len();
                    (self.lanes).add(file, offset, &header, threads, self.resumed)?;
                }
                ChunkKind::Schedule => {
                    if header.first != self.index {
                        return Err(file.corrupt(offset, "a schedule is missing before it"));
                    }
                    let end = self.index.saturating_add(u64::from(header.count));
                    if end <= from {
                        self.skip_group(end);
                        continue;
                    }
                    self.group = Some(open_group(file, offset, &header)?);
                    return Ok(true);
                }
                ChunkKind::End => {
                    // Stay here: whoever asks again hears the same.
                    self.offset = offset;
                    let whole = header.first == self.index && self.lanes.is_drained();
                    return context.end(offset, &header, whole).map(|()| false);
                }
            }
        }
    }

    fn skip_group(&mut self, end: u64) {
        for thread in 0..self.lanes.len() {
            self.lanes.skip(ThreadId(thread as u32), u64::MAX);
        }
        self.index = end;
        self.start = GroupStart {
            index: end,
            offset: self.offset,
        };
    }

    fn close_group(&mut self, file: &TraceFile) -> Result<(), Error> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        if group.at != file.bytes(&group.runs).len() || !self.lanes.is_drained() {
            let what = "a schedule that does not fit its events";
            return Err(file.corrupt(group.offset, what));
        }
        Ok(())
    }
}

fn open_group(file: &TraceFile, offset: u64, header: &ChunkHeader) -> Result<Group, Error> {
    Ok(Group {
        offset,
        runs: file.payload(offset, header)?,
        at: 0,
        left: u64::from(header.count),
        thread: ThreadId::default(),
        run: 0,
    })
}

#[inline]
fn next_run(context: &Context<'_>, group: &mut Group) -> Result<(), Error> {
    let file = context.file;
    let payload = file.bytes(&group.runs);
    let mut bytes = Bytes::new(payload.get(group.at..).unwrap_or(&[]));
    let run = (bytes.number32()).and_then(|thread| Ok((ThreadId(thread), bytes.number()?)));
    let (thread, len) = run.map_err(|flaw| file.corrupt(group.offset, flaw))?;
    group.at = payload.len() - bytes.len();
    if len == 0 || len > group.left || thread.index() >= context.tables().threads.len() {
        return Err(file.corrupt(group.offset, "a schedule that does not fit its events"));
    }
    group.thread = thread;
    group.run = len;
    Ok(())
}
