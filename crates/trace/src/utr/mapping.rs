//! A file as bytes in memory: the one place of this crate that needs `unsafe`.

use std::fs::File;
use std::io;

/// All bytes of a trace: a read-only mapping of its file, or memory.
#[derive(Debug)]
pub enum Mapping {
    File { file: File, map: memmap2::Mmap },
    Memory(Vec<u8>),
}

impl Mapping {
    #[expect(unsafe_code, reason = "a mapping of a file can only be made so")]
    pub fn of(file: File) -> io::Result<Self> {
        // SAFETY: the mapping is read-only and lives as long as its slices, which borrow from it.
        // What the compiler cannot know is that others leave the file alone while it is mapped.
        // Our own writers only append, and never to a file that somebody reads; spooled files have no name and no other user.
        // Should somebody else overwrite bytes all the same, we read other numbers: every id, length and offset is checked at the load that uses it, not before, so no memory outside the slice is touched; the checksum of the chunk, if taken later, fails.
        // Should somebody cut the file short, pages behind its new end are gone and reading them ends the process with SIGBUS.
        // `check` therefore asks for the length before each chunk, which turns all but a race within one chunk into an error.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self::File { file, map })
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::File { map, .. } => map,
            Self::Memory(bytes) => bytes,
        }
    }

    pub fn len(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// An error if the file has become shorter than what is mapped.
    pub fn check(&self) -> io::Result<()> {
        match self {
            Self::File { file, .. } if file.metadata()?.len() < self.len() => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "was cut short while it was read",
            )),
            _ => Ok(()),
        }
    }
}
