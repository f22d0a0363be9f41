//! The shared memory itself: the one place of this crate that touches raw memory.
//!
//! The reader creates it as an anonymous file, asks the kernel for its pages in advance (a full memory is an error here and not a SIGBUS in the program), forbids resizing, and hands the descriptor over.
//! Both sides see it as atomic integers only, so whatever the other one writes is a value and never undefined behaviour.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::Error;
use crate::layout;

/// A mapping of the log's memory.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<u8>,
    bytes: usize,
    segments: u32,
    file: OwnedFd,
}

// SAFETY: the mapping lives as long as the value, does not move, and is accessed through atomics only.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Creates memory for at most so many segments; none of them is usable before [`SharedMemory::back`].
    pub fn create(segments: u32) -> Result<Self, Error> {
        let bytes = layout::file_bytes(segments);
        let failed = |source| Error::Memory {
            megabytes: (bytes >> 20) as u64,
            source,
        };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file =
            rustix::fs::memfd_create(c"untorn-log", flags).map_err(|error| failed(error.into()))?;
        let file = File::from(file);
        file.set_len(bytes as u64).map_err(failed)?;
        allocate(file.as_fd(), 0, layout::segments_at(segments)).map_err(failed)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(|error| failed(error.into()))?;
        let memory = Self::map(OwnedFd::from(file), segments).map_err(failed)?;
        memory
            .u64(layout::CONTROL_SEGMENTS_AT)
            .store(layout::segments_at(segments) as u64, Ordering::Relaxed);
        memory
            .u64(layout::CONTROL_FREE)
            .store(layout::NONE as u64, Ordering::Relaxed);
        // Ids from 1 where 0 means none.
        for at in [
            layout::CONTROL_NEXT_OBJECT,
            layout::CONTROL_NEXT_CLASS,
            layout::CONTROL_NEXT_KEY,
        ] {
            memory.u64(at).store(1, Ordering::Relaxed);
        }
        memory.set_state(layout::RUNNING);
        memory
            .u64(layout::CONTROL_MAGIC)
            .store(layout::MAGIC, Ordering::Release);
        Ok(memory)
    }

    /// Maps memory that the other side created.
    pub fn open(file: OwnedFd, segments: u32) -> Result<Self, Error> {
        let expected = layout::file_bytes(segments);
        let file = File::from(file);
        let length = file.metadata()?.len();
        if length != expected as u64 {
            return Err(Error::Malformed("shared memory of an unexpected size"));
        }
        let memory = Self::map(OwnedFd::from(file), segments)?;
        if memory.u64(layout::CONTROL_MAGIC).load(Ordering::Acquire) != layout::MAGIC {
            return Err(Error::Malformed("shared memory of an unknown kind"));
        }
        Ok(memory)
    }

    fn map(file: OwnedFd, segments: u32) -> io::Result<Self> {
        let bytes = layout::file_bytes(segments);
        // SAFETY: a new shared mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
                &file,
                0,
            )
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            base,
            bytes,
            segments,
            file,
        })
    }

    /// Asks the kernel for the memory of some segments.
    pub fn back(&self, first: u32, count: u32) -> io::Result<()> {
        let start = self.segment_at(first);
        allocate(
            self.file.as_fd(),
            start,
            count as usize * layout::SEGMENT_BYTES,
        )
    }

    /// How many segments there may be at most.
    pub fn segments(&self) -> u32 {
        self.segments
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where the mapping begins, for the side that writes without this type.
    pub fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    pub fn state(&self) -> u32 {
        self.u32(layout::CONTROL_STATE).load(Ordering::Acquire)
    }

    pub fn set_state(&self, state: u32) {
        self.u32(layout::CONTROL_STATE)
            .store(state, Ordering::Release);
    }

    #[inline]
    pub(crate) fn segment_at(&self, segment: u32) -> usize {
        layout::segments_at(self.segments) + segment as usize * layout::SEGMENT_BYTES
    }

    #[inline]
    pub(crate) fn entry_at(segment: u32) -> usize {
        layout::DIRECTORY + segment as usize * layout::ENTRY_BYTES
    }

    /// The four bytes at an aligned offset inside the mapping.
    #[inline]
    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.bytes);
        // SAFETY: in bounds and aligned, as asserted; mapped as long as `self`; every access anywhere is atomic.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    /// The eight bytes at an aligned offset inside the mapping.
    #[inline]
    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes);
        // SAFETY: as in `u32`.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    /// The records of a segment.
    #[inline]
    pub fn records(&self, segment: u32) -> &[AtomicU64] {
        assert!(segment < self.segments);
        // SAFETY: the segment lies inside the mapping, which is page-aligned and lives as long as `self`; atomics only.
        unsafe {
            std::slice::from_raw_parts(
                self.base.as_ptr().add(self.segment_at(segment)).cast(),
                layout::SEGMENT_RECORDS,
            )
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this size and nothing borrows from it any more.
        // That the kernel refuses to give up a whole mapping cannot happen, and nobody could do anything about it.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

fn allocate(file: BorrowedFd<'_>, offset: usize, bytes: usize) -> io::Result<()> {
    let flags = FallocateFlags::empty();
    rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, flags, offset as u64, bytes as u64))?;
    Ok(())
}
