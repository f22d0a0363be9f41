//! The frame of a `.utr` file: its header and the headers of its chunks, as FORMAT.md describes them.

/// Not text, and broken by every transfer that changes line ends.
pub const MAGIC: [u8; 8] = *b"\x89UTR\r\n\x1a\n";
pub const VERSION: u16 = 1;
pub const FILE_HEADER: usize = 16;
pub const CHUNK_HEADER: usize = 40;
/// No chunk holds more, stored or unpacked, so a damaged length cannot ask for all memory.
pub const MAX_PAYLOAD: usize = 64 << 20;

const MARKER: [u8; 4] = *b"chnk";
const ORDERED: u16 = 1;
const LZ4: u8 = 1;

/// The first bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileHeader {
    /// The order of all events is in schedule chunks; otherwise it follows from edges.
    pub ordered: bool,
}

/// Why a header is no header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadHeader {
    /// The file ends inside it.
    Cut,
    NotUtr,
    Version(u16),
    Corrupt,
}

impl FileHeader {
    pub fn encode(self) -> [u8; FILE_HEADER] {
        let mut bytes = [0; FILE_HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10..12].copy_from_slice(&(u16::from(self.ordered) * ORDERED).to_le_bytes());
        let crc = crc32fast::hash(&bytes[..12]);
        bytes[12..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, BadHeader> {
        let magic = bytes.get(..8).unwrap_or(bytes);
        if !MAGIC.starts_with(magic) || magic.is_empty() {
            return Err(BadHeader::NotUtr);
        }
        let Some((header, _)) = bytes.split_first_chunk::<FILE_HEADER>() else {
            return Err(BadHeader::Cut);
        };
        let version = u16::from_le_bytes([header[8], header[9]]);
        // Before the checksum: another version may have another header.
        if version != VERSION {
            return Err(BadHeader::Version(version));
        }
        let flags = u16::from_le_bytes([header[10], header[11]]);
        let crc = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
        if crc != crc32fast::hash(&header[..12]) || flags & !ORDERED != 0 {
            return Err(BadHeader::Corrupt);
        }
        Ok(Self {
            ordered: flags & ORDERED != 0,
        })
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum ChunkKind {
    Tables = 1,
    Events = 2,
    Schedule = 3,
    End = 4,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkHeader {
    pub kind: ChunkKind,
    pub lz4: bool,
    /// Whose events; 0 for the other kinds.
    pub thread: u32,
    /// Events, or scheduled events, or table sections.
    pub count: u32,
    /// Bytes in the file after the header.
    pub stored: u32,
    /// Bytes once unpacked.
    pub raw: u32,
    /// The position of the first event in its thread, or of the first scheduled event in the order; at the end, how many events there are.
    pub first: u64,
    pub payload_crc: u32,
}

impl ChunkHeader {
    pub fn encode(self) -> [u8; CHUNK_HEADER] {
        let mut bytes = [0; CHUNK_HEADER];
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4] = self.kind as u8;
        bytes[5] = u8::from(self.lz4) * LZ4;
        bytes[8..12].copy_from_slice(&self.thread.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.count.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.stored.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.raw.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..36]);
        bytes[36..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header; what it says can be trusted to be what was written.
    pub fn decode(bytes: &[u8; CHUNK_HEADER]) -> Result<Self, &'static str> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if word(36) != crc32fast::hash(&bytes[..36]) || bytes[..4] != MARKER {
            return Err("damaged chunk header");
        }
        let kind = match bytes[4] {
            1 => ChunkKind::Tables,
            2 => ChunkKind::Events,
            3 => ChunkKind::Schedule,
            4 => ChunkKind::End,
            _ => return Err("unknown kind of chunk"),
        };
        let header = Self {
            kind,
            lz4: bytes[5] & LZ4 != 0,
            thread: word(8),
            count: word(12),
            stored: word(16),
            raw: word(20),
            first: u64::from(word(24)) | u64::from(word(28)) << 32,
            payload_crc: word(32),
        };
        let largest = header.stored.max(header.raw) as usize;
        if bytes[5] & !LZ4 != 0
            || largest > MAX_PAYLOAD
            || !header.lz4 && header.stored != header.raw
        {
            return Err("impossible chunk header");
        }
        Ok(header)
    }
}

/// Makes every checksum of a damaged file right, so that fuzzing reaches what lies behind them.
pub fn repair(bytes: &mut [u8]) {
    let Some((header, mut rest)) = bytes.split_at_mut_checked(FILE_HEADER) else {
        return;
    };
    let crc = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&crc.to_le_bytes());
    while let Some((header, payload)) = rest.split_at_mut_checked(CHUNK_HEADER) {
        let stored = u32::from_le_bytes([header[16], header[17], header[18], header[19]]) as usize;
        let Some((payload, next)) = payload.split_at_mut_checked(stored) else {
            return;
        };
        header[32..36].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        let crc = crc32fast::hash(&header[..36]);
        header[36..].copy_from_slice(&crc.to_le_bytes());
        rest = next;
    }
}
