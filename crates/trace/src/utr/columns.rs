//! The events of one thread in columns: codes, operands, sites, each of one width, then the edges that point to them.
//!
//! Fixed widths make a run of events a loop without jumps; the widths are those of the largest ids in the chunk, so small programs stay small.

use std::ops::Range;

use untorn_model::{Event, Kinds, SiteId, ThreadId};

use super::opcode::{self, Limits};
use super::varint::{Bytes, Flaw, put};

/// Bytes before the columns: two widths, two zeros, the length of the edges.
const PREFIX: usize = 8;

/// Before the position `before` of its thread, thread `from` must have passed so many events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct EdgeIn {
    pub before: u64,
    pub from: ThreadId,
    pub passed: u64,
}

/// A batch that is being filled.
#[derive(Debug)]
pub struct Filling<'a> {
    pub events: &'a mut Vec<Event>,
    pub kinds: Kinds,
    /// How many events make it full.
    pub batch: usize,
}

impl Filling<'_> {
    pub fn room(&self) -> u64 {
        self.batch.saturating_sub(self.events.len()) as u64
    }
}

/// Events of one thread that wait to be written.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    codes: Vec<u8>,
    operands: Vec<u32>,
    sites: Vec<u32>,
}

fn width(values: &[u32]) -> usize {
    let all = values.iter().fold(0, |all, value| all | value);
    (u32::BITS - all.leading_zeros()).div_ceil(8).max(1) as usize
}

impl Columns {
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Adds an event; `false` if the format cannot hold its flags.
    #[inline]
    pub fn push(&mut self, event: &Event) -> bool {
        let Some((code, operand)) = opcode::encode(event.op) else {
            return false;
        };
        self.codes.push(code);
        self.operands.push(operand);
        self.sites.push(event.site.0.wrapping_add(1));
        true
    }

    /// Whether every id stands for an entry of the tables.
    pub fn fits(&self, limits: &Limits) -> bool {
        let operands = (self.codes.iter().zip(&self.operands))
            .all(|(&code, &operand)| operand < limits.operands[code as usize]);
        operands && self.sites.iter().all(|&site| site < limits.sites)
    }

    /// Appends the payload of a chunk whose first event has position `first`, and forgets the events.
    pub fn drain_into(&mut self, out: &mut Vec<u8>, first: u64, edges: &[EdgeIn]) {
        let widths = [width(&self.operands), width(&self.sites)];
        let mut packed = Vec::new();
        let mut last = first;
        for edge in edges {
            put(&mut packed, edge.before - last);
            put(&mut packed, u64::from(edge.from.0));
            put(&mut packed, edge.passed);
            last = edge.before;
        }
        out.extend_from_slice(&[widths[0] as u8, widths[1] as u8, 0, 0]);
        out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.codes);
        for (values, width) in [(&self.operands, widths[0]), (&self.sites, widths[1])] {
            for value in values {
                out.extend_from_slice(&value.to_le_bytes()[..width]);
            }
        }
        out.extend_from_slice(&packed);
        self.codes.clear();
        self.operands.clear();
        self.sites.clear();
    }
}

/// Where the columns of a payload lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    count: usize,
    widths: [usize; 2],
    operands: usize,
    sites: usize,
    edges: usize,
}

impl Layout {
    pub fn of(payload: &[u8], count: u32) -> Result<Self, Flaw> {
        let (prefix, _) = (payload.split_first_chunk::<PREFIX>()).ok_or("ends too early")?;
        let [operand, site, 0, 0, e0, e1, e2, e3] = *prefix else {
            return Err("an unknown layout");
        };
        if !(1..=4).contains(&operand) || !(1..=4).contains(&site) {
            return Err("an impossible width");
        }
        let count = count as usize;
        let widths = [operand as usize, site as usize];
        let operands = PREFIX + count;
        let sites = operands + count * widths[0];
        let edges = sites + count * widths[1];
        let edges_len = u32::from_le_bytes([e0, e1, e2, e3]) as usize;
        if edges + edges_len != payload.len() {
            return Err("columns that do not fill it");
        }
        Ok(Self {
            count,
            widths,
            operands,
            sites,
            edges,
        })
    }

    /// The edges, in the order of their positions, for a chunk whose first event has position `first`.
    pub fn edges(&self, payload: &[u8], first: u64, threads: usize) -> Result<Vec<EdgeIn>, Flaw> {
        let mut bytes = Bytes::new(payload.get(self.edges..).unwrap_or(&[]));
        let mut edges = Vec::new();
        let mut before = first;
        while !bytes.is_empty() {
            before = (before.checked_add(bytes.number()?)).ok_or("a number too large")?;
            let from = bytes.number32()?;
            let passed = bytes.number()?;
            if from as usize >= threads || before >= first + self.count as u64 {
                return Err("an edge to or from nowhere");
            }
            edges.push(EdgeIn {
                before,
                from: ThreadId(from),
                passed,
            });
        }
        Ok(edges)
    }

    /// Appends a range of the events, and the kinds that occur.
    #[inline]
    pub fn decode(
        &self,
        payload: &[u8],
        thread: ThreadId,
        range: Range<usize>,
        limits: &Limits,
        into: &mut Filling<'_>,
    ) -> Result<(), Flaw> {
        let column = |start: usize, width: usize| {
            payload.get(start + range.start * width..start + range.end * width)
        };
        let codes = column(PREFIX, 1);
        let operands = column(self.operands, self.widths[0]);
        let sites = column(self.sites, self.widths[1]);
        let (Some(codes), Some(operands), Some(sites)) = (codes, operands, sites) else {
            return Err("ends too early");
        };
        let run = Run {
            thread,
            codes,
            operands,
            sites,
        };
        match self.widths {
            [1, site] => run.decode::<1>(site, limits, into),
            [2, site] => run.decode::<2>(site, limits, into),
            [3, site] => run.decode::<3>(site, limits, into),
            [_, site] => run.decode::<4>(site, limits, into),
        }
    }
}

/// Neighbours of one thread, in columns.
struct Run<'a> {
    thread: ThreadId,
    codes: &'a [u8],
    operands: &'a [u8],
    sites: &'a [u8],
}

#[inline]
fn number<const WIDTH: usize>(bytes: [u8; WIDTH]) -> u32 {
    let mut word = [0; 4];
    word[..WIDTH].copy_from_slice(&bytes);
    u32::from_le_bytes(word)
}

impl Run<'_> {
    #[inline]
    fn decode<const OPERAND: usize>(
        &self,
        site: usize,
        limits: &Limits,
        into: &mut Filling<'_>,
    ) -> Result<(), Flaw> {
        match site {
            1 => self.decode_at::<OPERAND, 1>(limits, into),
            2 => self.decode_at::<OPERAND, 2>(limits, into),
            3 => self.decode_at::<OPERAND, 3>(limits, into),
            _ => self.decode_at::<OPERAND, 4>(limits, into),
        }
    }

    /// One loop per pair of widths, without jumps: whether an id was too high is asked once, at the end.
    fn decode_at<const OPERAND: usize, const SITE: usize>(
        &self,
        limits: &Limits,
        into: &mut Filling<'_>,
    ) -> Result<(), Flaw> {
        const BLANK: Event = Event {
            thread: ThreadId(0),
            site: SiteId::UNKNOWN,
            op: opcode::OPS[0],
        };
        let start = into.events.len();
        into.events.resize(start + self.codes.len(), BLANK);
        let (operands, _) = self.operands.as_chunks::<OPERAND>();
        let (sites, _) = self.sites.as_chunks::<SITE>();
        let columns = self.codes.iter().zip(operands).zip(sites);
        let (mut bad, mut kinds) = (false, into.kinds);
        let thread = self.thread;
        let site_limit = limits.sites;
        for (event, ((&code, &operand), &site)) in into.events[start..].iter_mut().zip(columns) {
            let (operand, site) = (number(operand), number(site));
            bad |= operand >= limits.operands[code as usize];
            bad |= site >= site_limit;
            let op = opcode::decode(code, operand);
            kinds.insert(op.kind());
            *event = Event {
                thread,
                site: SiteId(site.wrapping_sub(1)),
                op,
            };
        }
        into.kinds = kinds;
        if bad {
            return Err("an id that is in no table");
        }
        Ok(())
    }
}
