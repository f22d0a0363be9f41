//! Reads a text trace in one streaming pass.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use untorn_model::{Event, EventIndex, Kinds, Op, Tables};

use super::MAX_LINE;
use super::grammar::{self, Fault, Line, Verb};
use super::names::{Names, Refusal};
use crate::wellformed::{Checker, Violation};
use crate::{Error, Note, Place, Progress, Replay, Source};

/// So many events fit the second-level cache together with the names they look up.
const BATCH: usize = 8192;

/// How a text trace is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextOptions {
    /// Leave out what cannot be read or cannot be true, and count it.
    pub lenient: bool,
}

/// Bytes in whole lines, with bounded memory.
struct Lines {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
}

/// One step of [`Lines`]: where the next line lies in the buffer, without its end.
enum Step {
    Line(usize, usize),
    TooLong,
    End,
}

impl Lines {
    fn new(input: Box<dyn Read + Send>) -> Self {
        Self {
            input,
            buffer: vec![0; 256 << 10],
            start: 0,
            end: 0,
            at_end: false,
        }
    }

    #[inline]
    fn next(&mut self) -> io::Result<Step> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (start, end) = (self.start, searched + at);
                self.start = end + 1;
                return Ok(self.trimmed(start, end));
            }
            searched = self.end;
            if self.at_end {
                let (start, end) = (self.start, self.end);
                self.start = end;
                return Ok(if start == end {
                    Step::End
                } else {
                    self.trimmed(start, end)
                });
            }
            if self.end - self.start > MAX_LINE {
                self.drop_line()?;
                return Ok(Step::TooLong);
            }
            let pending = searched - self.start;
            self.refill()?;
            searched = self.start + pending;
        }
    }

    fn trimmed(&self, start: usize, end: usize) -> Step {
        if end - start > MAX_LINE {
            return Step::TooLong;
        }
        let has_cr = end > start && self.buffer[end - 1] == b'\r';
        Step::Line(start, end - usize::from(has_cr))
    }

    /// Moves what is left to the front and reads more behind it.
    fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Skips to the end of a line that is too long to keep.
    fn drop_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.at_end {
                return Ok(());
            }
            self.refill()?;
        }
    }
}

/// What a lenient reader left out.
#[derive(Debug, Default)]
struct Skipped {
    lines: u64,
    first_line: u64,
    refused: u64,
    first_refused: Option<(u64, String)>,
    /// For each stretch of lines left out: the index of the next event, and how many lines were left out up to there.
    gaps: Vec<(u64, u64)>,
}

impl Skipped {
    fn total(&self) -> u64 {
        self.lines + self.refused
    }

    fn close_gap(&mut self, next_event: u64) {
        let total = self.total();
        match self.gaps.last_mut() {
            Some((event, count)) if *event == next_event => *count = total,
            _ => self.gaps.push((next_event, total)),
        }
    }

    fn line_of(&self, index: u64) -> u64 {
        let after = self.gaps.partition_point(|&(event, _)| event <= index);
        let skipped = after.checked_sub(1).map_or(0, |i| self.gaps[i].1);
        index + skipped + 1
    }
}

/// A text trace as a stream of events.
pub struct TextSource {
    file: String,
    options: TextOptions,
    lines: Lines,
    names: Names,
    checker: Checker,
    next: u64,
    skipped: Skipped,
    /// Bytes of the file taken so far, compressed ones where it is.
    taken: Arc<AtomicU64>,
    size: Option<u64>,
    ended: bool,
}

impl std::fmt::Debug for TextSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextSource")
            .field("file", &self.file)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// Why a line yields no event.
enum Miss {
    Fault(Fault),
    Violation(Violation),
    TooMany(&'static str),
}

impl From<Refusal> for Miss {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Fault(fault) => Self::Fault(fault),
            Refusal::TooMany(what) => Self::TooMany(what),
        }
    }
}

impl TextSource {
    /// Reads from `input`; `file` is what messages call it.
    pub fn new(
        file: impl Into<String>,
        input: impl Read + Send + 'static,
        options: TextOptions,
    ) -> Self {
        Self::with_progress(file, input, options, Arc::default(), None)
    }

    /// As [`TextSource::new`], with progress counted by the caller in bytes of a file of a known size.
    pub(crate) fn with_progress(
        file: impl Into<String>,
        input: impl Read + Send + 'static,
        options: TextOptions,
        taken: Arc<AtomicU64>,
        size: Option<u64>,
    ) -> Self {
        Self {
            file: file.into(),
            options,
            lines: Lines::new(Box::new(input)),
            names: Names::default(),
            checker: Checker::default(),
            next: 0,
            skipped: Skipped::default(),
            taken,
            size,
            ended: false,
        }
    }

    fn fill_batch(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        let mut kinds = Kinds::NONE;
        while into.len() < BATCH {
            let step = (self.lines.next()).map_err(|error| Error::io(&self.file, error))?;
            let outcome = match step {
                Step::End => {
                    self.ended = true;
                    if self.next == 0 && into.is_empty() && self.skipped.total() == 0 {
                        let file = self.file.clone();
                        return Err(Error::Empty { file });
                    }
                    break;
                }
                Step::TooLong => Err(Miss::Fault(Fault::TooLong)),
                Step::Line(start, end) => event_of(
                    &self.lines.buffer[start..end],
                    &mut self.names,
                    &mut self.checker,
                ),
            };
            match outcome {
                Ok(event) => {
                    kinds.insert(event.op.kind());
                    into.push(event);
                }
                Err(miss) => self.miss(miss, self.next + into.len() as u64)?,
            }
        }
        self.next += into.len() as u64;
        Ok(kinds)
    }

    #[cold]
    fn miss(&mut self, miss: Miss, next_event: u64) -> Result<(), Error> {
        let line = next_event + self.skipped.total() + 1;
        let file = self.file.clone();
        let place = Place::Line(line);
        match miss {
            Miss::TooMany(what) => return Err(Error::TooMany { file, what }),
            Miss::Fault(fault) if !self.options.lenient => {
                let what = fault.to_string();
                return Err(Error::Malformed { file, place, what });
            }
            Miss::Violation(violation) if !self.options.lenient => {
                let what = violation.describe(&self.names.tables);
                return Err(Error::IllFormed { file, place, what });
            }
            Miss::Fault(_) => {
                if self.skipped.lines == 0 {
                    self.skipped.first_line = line;
                }
                self.skipped.lines += 1;
            }
            Miss::Violation(violation) => {
                self.skipped.refused += 1;
                let tables = &self.names.tables;
                let skipped = &mut self.skipped;
                (skipped.first_refused).get_or_insert_with(|| (line, violation.describe(tables)));
            }
        }
        self.skipped.close_gap(next_event);
        Ok(())
    }
}

#[inline]
fn event_of(line: &[u8], names: &mut Names, checker: &mut Checker) -> Result<Event, Miss> {
    let Line {
        thread,
        verb,
        operand,
        location,
    } = grammar::parse(line).map_err(Miss::Fault)?;
    let thread = names.running_thread(thread)?;
    let op = match verb {
        Verb::Read(flags) => Op::Read(flags, names.var(operand)?),
        Verb::Write(flags) => Op::Write(flags, names.var(operand)?),
        Verb::Update(flags) => Op::Update(flags, names.var(operand)?),
        Verb::Acquire(mode) => Op::Acquire(mode, names.lock(operand)?),
        Verb::Release(mode) => Op::Release(mode, names.lock(operand)?),
        Verb::Wait => Op::Wait(names.lock(operand)?),
        Verb::Wake => Op::Wake(names.lock(operand)?),
        Verb::Notify => Op::Notify(names.lock(operand)?),
        Verb::Signal => Op::Signal(names.signal(operand)?),
        Verb::Await => Op::Await(names.signal(operand)?),
        Verb::Fork => Op::Fork(names.thread(operand)?),
        Verb::Join => Op::Join(names.thread(operand)?),
        Verb::Begin => Op::Begin(names.region(operand)?),
        Verb::End => Op::End(names.region(operand)?),
        Verb::Enter => Op::Enter(names.method(operand)?),
        Verb::Exit => Op::Exit(names.method(operand)?),
    };
    let site = names.site(location)?;
    let mut event = Event { thread, site, op };
    checker.admit(&mut event).map_err(Miss::Violation)?;
    Ok(event)
}

impl Source for TextSource {
    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        into.clear();
        if self.ended {
            return Ok(Kinds::NONE);
        }
        let filled = self.fill_batch(into);
        if filled.is_err() {
            self.ended = true;
            into.clear();
        }
        filled
    }

    fn replay(&self) -> Option<&dyn Replay> {
        None
    }

    fn line_of(&self, index: EventIndex) -> u64 {
        self.skipped.line_of(index.0)
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.taken.load(Ordering::Relaxed),
            total: self.size,
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let skipped = &self.skipped;
        if skipped.lines > 0 {
            notes.push(Note::SkippedLines {
                file: self.file.clone(),
                count: skipped.lines,
                first_line: skipped.first_line,
            });
        }
        if let Some((first_line, first)) = &skipped.first_refused {
            notes.push(Note::RefusedEvents {
                file: self.file.clone(),
                count: skipped.refused,
                first_line: *first_line,
                first: first.clone(),
            });
        }
        notes
    }
}
