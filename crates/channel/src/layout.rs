//! Where things are in the shared memory.
//!
//! A control page, a directory with an entry per segment, the segments.
//! The file is as large as the log may ever get, but only what the control page counts is backed by memory.
//! The Java runtime uses the same numbers; a test compares them.

pub const MAGIC: u64 = u64::from_le_bytes(*b"untornL1");

pub const CONTROL_MAGIC: usize = 0;
/// [`RUNNING`] while records are wanted.
pub const CONTROL_STATE: usize = 64;
/// Head of the list of free segments: a change counter above, an index or [`NONE`] below.
pub const CONTROL_FREE: usize = 128;
pub const CONTROL_NEXT_THREAD: usize = 192;
pub const CONTROL_NEXT_OBJECT: usize = 200;
pub const CONTROL_NEXT_LOCK: usize = 208;
pub const CONTROL_NEXT_CLASS: usize = 216;
pub const CONTROL_NEXT_KEY: usize = 224;
/// How often a thread found no free segment.
pub const CONTROL_WAITS: usize = 232;
/// Where the segments begin.
pub const CONTROL_SEGMENTS_AT: usize = 240;
/// How many regions were entered, each counted once, and how many threads entered any.
pub const CONTROL_REGIONS: usize = 248;
pub const CONTROL_REGION_THREADS: usize = 256;
/// How many regions were demoted, and of the first [`DEMOTIONS`] the number, below, and for how long it was open.
pub const CONTROL_DEMOTED: usize = 264;
pub const CONTROL_DEMOTIONS: usize = 512;
pub const DEMOTIONS: usize = (DIRECTORY - CONTROL_DEMOTIONS) / 8;

pub const RUNNING: u32 = 1;
pub const STOPPED: u32 = 2;

pub const DIRECTORY: usize = 4096;
pub const ENTRY_BYTES: usize = 32;
pub const ENTRY_STATE: usize = 0;
pub const ENTRY_THREAD: usize = 4;
pub const ENTRY_SEQUENCE: usize = 8;
pub const ENTRY_NEXT: usize = 16;

/// In the free list, or just taken from it.
pub const FREE: u32 = 0;
/// A thread writes into it.
pub const ACTIVE: u32 = 1;
/// The thread is done with it; the reader may empty and free it.
pub const FULL: u32 = 2;

/// Small, since every living thread pins one.
pub const SEGMENT_BYTES: usize = 8192;
pub const SEGMENT_RECORDS: usize = SEGMENT_BYTES / 8;

/// Ends the free list.
pub const NONE: u32 = u32::MAX;

/// Names and values as they stand in the Java runtime.
pub const JAVA_CONSTANTS: [(&str, u64); 26] = [
    ("CONTROL_STATE", CONTROL_STATE as u64),
    ("CONTROL_FREE", CONTROL_FREE as u64),
    ("CONTROL_NEXT_THREAD", CONTROL_NEXT_THREAD as u64),
    ("CONTROL_NEXT_OBJECT", CONTROL_NEXT_OBJECT as u64),
    ("CONTROL_NEXT_LOCK", CONTROL_NEXT_LOCK as u64),
    ("CONTROL_NEXT_CLASS", CONTROL_NEXT_CLASS as u64),
    ("CONTROL_NEXT_KEY", CONTROL_NEXT_KEY as u64),
    ("CONTROL_WAITS", CONTROL_WAITS as u64),
    ("CONTROL_SEGMENTS_AT", CONTROL_SEGMENTS_AT as u64),
    ("CONTROL_REGIONS", CONTROL_REGIONS as u64),
    ("CONTROL_REGION_THREADS", CONTROL_REGION_THREADS as u64),
    ("CONTROL_DEMOTED", CONTROL_DEMOTED as u64),
    ("CONTROL_DEMOTIONS", CONTROL_DEMOTIONS as u64),
    ("DEMOTIONS", DEMOTIONS as u64),
    ("RUNNING", RUNNING as u64),
    ("DIRECTORY", DIRECTORY as u64),
    ("ENTRY_BYTES", ENTRY_BYTES as u64),
    ("ENTRY_STATE", ENTRY_STATE as u64),
    ("ENTRY_THREAD", ENTRY_THREAD as u64),
    ("ENTRY_SEQUENCE", ENTRY_SEQUENCE as u64),
    ("ENTRY_NEXT", ENTRY_NEXT as u64),
    ("ACTIVE", ACTIVE as u64),
    ("FULL", FULL as u64),
    ("SEGMENT_BYTES", SEGMENT_BYTES as u64),
    ("OBJECT_BITS", crate::record::OBJECT_BITS as u64),
    ("OP_SHIFT", crate::record::OP_SHIFT as u64),
];

/// The size of the directory and all before it, for so many segments.
pub const fn segments_at(segments: u32) -> usize {
    (DIRECTORY + segments as usize * ENTRY_BYTES).next_multiple_of(4096)
}

/// The size of the whole file.
pub const fn file_bytes(segments: u32) -> usize {
    segments_at(segments) + segments as usize * SEGMENT_BYTES
}
