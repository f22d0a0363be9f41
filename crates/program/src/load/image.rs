//! The JDK's runtime image, `lib/modules`.
//!
//! The layout is that of jimage 1.x: a header, a redirect table, offsets, location attributes, strings, then resources.
//! We read the index once (two to three megabytes) and each class by a positional read when asked for, so the image itself is never held in memory.
//! The redirect table is a perfect hash over full resource names; since the module of a class is not known beforehand, we index the locations by class name instead.
//! Own reader: the crates found map the file with `unsafe` and either lack compressed resources or transmute untrusted bytes.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use rustc_hash::FxHashMap;

use crate::error::LoadError;

const MAGIC: u32 = 0xCAFE_DADA;
const COMPRESSED_MAGIC: u32 = 0xCAFE_FAFA;
const HEADER: usize = 28;
const COMPRESSED_HEADER: usize = 29;
/// The index of today's largest images is below four megabytes.
const LARGEST_INDEX: u64 = 256 << 20;
/// Compression plug-ins may be stacked; the JDK knows two.
const DEEPEST_COMPRESSION: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Location {
    offset: u64,
    /// Zero if the resource is stored as it is.
    compressed: u64,
    uncompressed: u64,
}

/// An open runtime image.
#[derive(Debug)]
pub struct RuntimeImage {
    path: PathBuf,
    file: File,
    big_endian: bool,
    data_start: u64,
    strings: Vec<u8>,
    classes: FxHashMap<String, Location>,
}

/// The attributes of a location, in the order of their kind.
const MODULE: usize = 1;
const PARENT: usize = 2;
const BASE: usize = 3;
const EXTENSION: usize = 4;
const OFFSET: usize = 5;
const COMPRESSED: usize = 6;
const UNCOMPRESSED: usize = 7;

impl RuntimeImage {
    /// Opens an image and reads its index.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let io = |source| LoadError::Io {
            path: path.to_owned(),
            source,
        };
        let bad = |offset: u64, reason: &str| LoadError::BadImage {
            path: path.to_owned(),
            offset,
            reason: reason.to_owned(),
        };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)
            .map_err(|_| bad(0, "shorter than an image header"))?;
        let big_endian = match (u32_at(&header, 0, false), u32_at(&header, 0, true)) {
            (Some(MAGIC), _) => false,
            (_, Some(MAGIC)) => true,
            _ => return Err(bad(0, "not a runtime image")),
        };
        let word = |index: usize| u64::from(u32_at(&header, index * 4, big_endian).unwrap_or(0));
        if word(1) >> 16 != 1 {
            return Err(bad(4, "a version of the image format that is not known"));
        }
        let (table, locations, strings) = (word(4), word(5), word(6));
        let locations_start = HEADER as u64 + table * 8;
        let strings_start = locations_start + locations;
        let data_start = strings_start + strings;
        if data_start > length || data_start > LARGEST_INDEX {
            return Err(bad(16, "the index is larger than the file"));
        }
        let mut index = vec![0; data_start as usize];
        file.read_exact_at(&mut index, 0).map_err(io)?;
        let strings = index.split_off(strings_start as usize);
        let mut image = Self {
            path: path.to_owned(),
            file,
            big_endian,
            data_start,
            strings,
            classes: FxHashMap::default(),
        };
        let offsets_start = HEADER + table as usize * 4;
        for entry in 0..table as usize {
            let at = offsets_start + entry * 4;
            let offset =
                u32_at(&index, at, big_endian).ok_or_else(|| bad(at as u64, "offset table cut"))?;
            let start = locations_start as usize + offset as usize;
            let attributes = location_attributes(&index, start)
                .ok_or_else(|| bad(start as u64, "location attributes cut"))?;
            image.index_location(&attributes);
        }
        Ok(image)
    }

    fn index_location(&mut self, attributes: &[u64; 8]) {
        let (Some(module), Some(parent), Some(base), Some(extension)) = (
            self.string(attributes[MODULE]),
            self.string(attributes[PARENT]),
            self.string(attributes[BASE]),
            self.string(attributes[EXTENSION]),
        ) else {
            return;
        };
        if extension != "class"
            || base == "module-info"
            || matches!(module, "" | "modules" | "packages")
        {
            return;
        }
        let name = if parent.is_empty() {
            base.to_owned()
        } else {
            format!("{parent}/{base}")
        };
        let location = Location {
            offset: attributes[OFFSET],
            compressed: attributes[COMPRESSED],
            uncompressed: attributes[UNCOMPRESSED],
        };
        self.classes.entry(name).or_insert(location);
    }

    fn string(&self, offset: u64) -> Option<&str> {
        let rest = self.strings.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    }

    /// Whether the image has a class of this internal name.
    pub fn contains(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }

    /// The internal names of all classes, in no order.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }

    /// The bytes of a class by its internal name.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, LoadError> {
        let Some(location) = self.classes.get(name) else {
            return Ok(None);
        };
        let stored = if location.compressed == 0 {
            location.uncompressed
        } else {
            location.compressed
        };
        let start = self.data_start.saturating_add(location.offset);
        if stored > limit || location.uncompressed > limit {
            return Err(LoadError::TooLarge {
                path: self.path.clone(),
                limit,
                what: "bytes in one class",
            });
        }
        let mut bytes = vec![0; stored as usize];
        self.file
            .read_exact_at(&mut bytes, start)
            .map_err(|_| self.bad(start, "resource reaches past the end"))?;
        if location.compressed == 0 {
            Ok(Some(bytes))
        } else {
            self.decompress(bytes, start, limit).map(Some)
        }
    }

    /// Undoes the stacked compressions of a resource, outermost first.
    fn decompress(&self, mut bytes: Vec<u8>, start: u64, limit: u64) -> Result<Vec<u8>, LoadError> {
        for _ in 0..DEEPEST_COMPRESSION {
            if u32_at(&bytes, 0, self.big_endian) != Some(COMPRESSED_MAGIC) {
                return Ok(bytes);
            }
            let size = u64_at(&bytes, 12, self.big_endian).unwrap_or(u64::MAX);
            let plugin = u32_at(&bytes, 20, self.big_endian)
                .and_then(|offset| self.string(u64::from(offset)));
            let body = bytes
                .get(COMPRESSED_HEADER..)
                .ok_or_else(|| self.bad(start, "compressed resource cut"))?;
            if plugin != Some("zip") {
                return Err(self.bad(start, "resource compressed in a way that is not known"));
            }
            if size > limit {
                return Err(self.bad(start, "compressed resource too large"));
            }
            let mut plain = Vec::new();
            ZlibDecoder::new(body)
                .take(size)
                .read_to_end(&mut plain)
                .map_err(|_| self.bad(start, "compressed resource does not inflate"))?;
            bytes = plain;
        }
        Err(self.bad(start, "resource compressed too many times"))
    }

    fn bad(&self, offset: u64, reason: &str) -> LoadError {
        LoadError::BadImage {
            path: self.path.clone(),
            offset,
            reason: reason.to_owned(),
        }
    }
}

/// Each attribute is a byte of kind and length, then its value, big-endian whatever the image is.
fn location_attributes(index: &[u8], start: usize) -> Option<[u64; 8]> {
    let mut attributes = [0; 8];
    let mut at = start;
    loop {
        let head = *index.get(at)?;
        let (kind, length) = (usize::from(head >> 3), usize::from(head & 7) + 1);
        if kind == 0 {
            return Some(attributes);
        }
        let value = index.get(at + 1..at + 1 + length)?;
        // Kinds of later minor versions are skipped.
        if let Some(slot) = attributes.get_mut(kind) {
            *slot = value
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        }
        at += 1 + length;
    }
}

fn u32_at(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let chunk = *bytes.get(at..)?.first_chunk::<4>()?;
    Some(if big_endian {
        u32::from_be_bytes(chunk)
    } else {
        u32::from_le_bytes(chunk)
    })
}

fn u64_at(bytes: &[u8], at: usize, big_endian: bool) -> Option<u64> {
    let chunk = *bytes.get(at..)?.first_chunk::<8>()?;
    Some(if big_endian {
        u64::from_be_bytes(chunk)
    } else {
        u64::from_le_bytes(chunk)
    })
}
