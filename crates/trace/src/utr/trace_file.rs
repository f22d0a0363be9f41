//! A mapped `.utr` file as a sequence of chunks.

use std::fs::File;

use untorn_model::Tables;

use super::format::{BadHeader, CHUNK_HEADER, ChunkHeader, FILE_HEADER, FileHeader, VERSION};
use super::mapping::Mapping;
use super::tables;
use crate::{Error, Place};

#[derive(Debug)]
pub struct TraceFile {
    pub name: String,
    mapping: Mapping,
    pub ordered: bool,
}

/// What follows at some offset.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    Chunk(ChunkHeader),
    /// The file ends here, or within the chunk that begins here.
    Cut,
}

/// The unpacked bytes of a chunk.
#[derive(Debug)]
pub enum Payload {
    Mapped(std::ops::Range<usize>),
    Unpacked(Vec<u8>),
}

impl TraceFile {
    /// The offset of the first chunk.
    pub const FIRST: u64 = FILE_HEADER as u64;

    pub fn new(name: String, file: File) -> Result<Self, Error> {
        let mapping = Mapping::of(file).map_err(|error| Error::io(&name, error))?;
        Self::with(name, mapping)
    }

    pub fn with(name: String, mapping: Mapping) -> Result<Self, Error> {
        match FileHeader::decode(mapping.bytes()) {
            Ok(FileHeader { ordered }) => Ok(Self {
                name,
                mapping,
                ordered,
            }),
            Err(bad) => Err(header_error(name, bad)),
        }
    }

    pub fn len(&self) -> u64 {
        self.mapping.len()
    }

    pub fn corrupt(&self, offset: u64, what: &str) -> Error {
        Error::Malformed {
            file: self.name.clone(),
            place: Place::Offset(offset),
            what: format!("corrupt: {what}"),
        }
    }

    /// The header of the chunk at an offset.
    pub fn next(&self, offset: u64) -> Result<Next, Error> {
        (self.mapping.check()).map_err(|error| Error::io(&self.name, error))?;
        let rest = self.mapping.bytes().get(offset as usize..).unwrap_or(&[]);
        let Some((bytes, payload)) = rest.split_first_chunk::<CHUNK_HEADER>() else {
            return Ok(Next::Cut);
        };
        match ChunkHeader::decode(bytes) {
            Ok(header) if header.stored as usize > payload.len() => Ok(Next::Cut),
            Ok(header) => Ok(Next::Chunk(header)),
            // A crash of the machine can leave blocks that were reserved but never written.
            Err(_) if rest.iter().all(|&byte| byte == 0) => Ok(Next::Cut),
            Err(what) => Err(self.corrupt(offset, what)),
        }
    }

    /// The offset behind a chunk.
    pub fn after(offset: u64, header: &ChunkHeader) -> u64 {
        offset + CHUNK_HEADER as u64 + u64::from(header.stored)
    }

    /// Checks and unpacks what [`TraceFile::next`] found at an offset.
    pub fn payload(&self, offset: u64, header: &ChunkHeader) -> Result<Payload, Error> {
        let start = offset as usize + CHUNK_HEADER;
        let range = start..start + header.stored as usize;
        let stored = (self.mapping.bytes().get(range.clone()))
            .ok_or_else(|| self.corrupt(offset, "ends too early"))?;
        if crc32fast::hash(stored) != header.payload_crc {
            return Err(self.corrupt(offset, "checksum of the chunk does not match"));
        }
        if !header.lz4 {
            return Ok(Payload::Mapped(range));
        }
        match lz4_flex::block::decompress(stored, header.raw as usize) {
            Ok(raw) if raw.len() == header.raw as usize => Ok(Payload::Unpacked(raw)),
            _ => Err(self.corrupt(offset, "packed data does not unpack")),
        }
    }

    #[inline]
    pub fn bytes<'a>(&'a self, payload: &'a Payload) -> &'a [u8] {
        match payload {
            Payload::Mapped(range) => self.mapping.bytes().get(range.clone()).unwrap_or(&[]),
            Payload::Unpacked(raw) => raw,
        }
    }

    /// Adds the entries of a table chunk.
    pub fn load_tables(
        &self,
        offset: u64,
        header: &ChunkHeader,
        into: &mut Tables,
    ) -> Result<(), Error> {
        let payload = self.payload(offset, header)?;
        tables::load(into, self.bytes(&payload), header.count)
            .map_err(|flaw| self.corrupt(offset, flaw))
    }
}

/// What a user hears about a header that is none.
pub fn header_error(file: String, bad: BadHeader) -> Error {
    let place = Place::Offset(0);
    match bad {
        BadHeader::NotUtr => Error::NotATrace { file },
        BadHeader::Version(version) => Error::Version {
            file,
            version,
            known: VERSION,
        },
        BadHeader::Cut => Error::Malformed {
            file,
            place,
            what: "the file ends within its header".to_owned(),
        },
        BadHeader::Corrupt => Error::Malformed {
            file,
            place,
            what: "corrupt: damaged file header".to_owned(),
        },
    }
}
