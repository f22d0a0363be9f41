//! What a trace is, without analyzing it.

use std::io;
use std::path::Path;

use untorn_model::{Kind, Tables, ThreadId};

use crate::open::{Content, Opened};
use crate::utr::{ChunkKind, Next, TraceFile, VERSION};
use crate::{Compression, Error, Note, OpenOptions, Source, TextOptions, TextSource, UtrSource};

/// A summary of a trace.
#[derive(Clone, Debug)]
pub struct Info {
    pub name: String,
    /// Bytes of the file; unknown for a pipe.
    pub size: Option<u64>,
    pub compression: Compression,
    pub layout: Layout,
    pub events: u64,
    /// Events by kind, those that occur.
    pub kinds: Vec<(Kind, u64)>,
    /// Events by thread, in the order of the tables.
    pub threads: Vec<(String, u64)>,
    pub classes: usize,
    pub methods: usize,
    pub objects: usize,
    pub variables: usize,
    pub locks: usize,
    pub regions: usize,
    pub sites: usize,
    pub notes: Vec<Note>,
}

/// What the bytes of a trace are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    Text,
    Utr {
        version: u16,
        /// Whether the file carries the order of all events, or only edges.
        ordered: bool,
        /// Whether the end marker is there.
        complete: bool,
        /// Kinds of chunks with what they hold.
        chunks: Vec<ChunkInfo>,
    },
}

/// All chunks of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkInfo {
    pub kind: &'static str,
    pub count: u64,
    /// How many are packed.
    pub packed: u64,
    /// Bytes in the file, headers left out.
    pub stored: u64,
    /// Bytes once unpacked.
    pub raw: u64,
}

/// Reads a trace to its end and sums it up; `-` is the standard input.
pub fn summary(path: &Path, options: OpenOptions) -> Result<Info, Error> {
    let opened = if path.as_os_str() == "-" {
        Opened::stream("standard input".to_owned(), io::stdin())?
    } else {
        Opened::file(path)?
    };
    let (size, compression) = (opened.size, opened.compression);
    let (name, layout, mut source): (_, _, Box<dyn Source>) = match opened.content()? {
        (name, Content::Utr(file)) => {
            let again = file.try_clone().map_err(|error| Error::io(&name, error))?;
            let layout = layout_of(&TraceFile::new(name.clone(), again)?)?;
            let source = UtrSource::new(name.clone(), file)?;
            (name, layout, Box::new(source))
        }
        (name, Content::Text(input)) => {
            let text = TextOptions {
                lenient: options.lenient,
            };
            let source = TextSource::new(name.clone(), input, text);
            (name, Layout::Text, Box::new(source))
        }
    };
    let counts = count(source.as_mut())?;
    let tables = source.tables();
    Ok(Info {
        name,
        size,
        compression,
        layout,
        events: counts.kinds.iter().sum(),
        kinds: (Kind::ALL.into_iter().zip(counts.kinds))
            .filter(|&(_, count)| count > 0)
            .collect(),
        threads: threads(tables, &counts.threads),
        classes: tables.classes.len(),
        methods: tables.methods.len(),
        objects: tables.objects.len(),
        variables: tables.vars().len(),
        locks: tables.locks.len(),
        regions: tables.regions.len(),
        sites: tables.sites.len(),
        notes: source.notes(),
    })
}

struct Counts {
    kinds: [u64; Kind::ALL.len()],
    threads: Vec<u64>,
}

fn count(source: &mut dyn Source) -> Result<Counts, Error> {
    let mut counts = Counts {
        kinds: [0; Kind::ALL.len()],
        threads: Vec::new(),
    };
    let mut batch = Vec::new();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(counts);
        }
        counts.threads.resize(source.tables().threads.len(), 0);
        for event in &batch {
            counts.kinds[event.op.kind() as usize] += 1;
            counts.threads[event.thread.index()] += 1;
        }
    }
}

fn threads(tables: &Tables, counts: &[u64]) -> Vec<(String, u64)> {
    (0..tables.threads.len())
        .map(|i| {
            let name = tables.thread_name(ThreadId(i as u32));
            (name, counts.get(i).copied().unwrap_or(0))
        })
        .collect()
}

fn layout_of(file: &TraceFile) -> Result<Layout, Error> {
    let kinds = [
        (ChunkKind::Tables, "tables"),
        (ChunkKind::Events, "events"),
        (ChunkKind::Schedule, "schedule"),
    ];
    let mut chunks = kinds.map(|(_, kind)| ChunkInfo {
        kind,
        count: 0,
        packed: 0,
        stored: 0,
        raw: 0,
    });
    let mut offset = TraceFile::FIRST;
    let mut complete = false;
    while let Next::Chunk(header) = file.next(offset)? {
        let Some(at) = kinds.iter().position(|&(kind, _)| kind == header.kind) else {
            complete = true;
            break;
        };
        chunks[at].count += 1;
        chunks[at].packed += u64::from(header.lz4);
        chunks[at].stored += u64::from(header.stored);
        chunks[at].raw += u64::from(header.raw);
        offset = TraceFile::after(offset, &header);
    }
    Ok(Layout::Utr {
        version: VERSION,
        ordered: file.ordered,
        complete,
        chunks: chunks.into_iter().filter(|c| c.count > 0).collect(),
    })
}
