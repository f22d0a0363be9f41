//! Segments between writers and a reader in one process: nothing is lost, doubled or mixed up.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use untorn_channel::pool::{self, Writer};
use untorn_channel::{SharedMemory, layout};

/// Reads every thread's records in order until all writers are done.
fn drain(memory: &SharedMemory, segments: u32, done: impl Fn() -> bool) -> HashMap<u32, Vec<u64>> {
    let mut streams: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut next_sequence: HashMap<u32, u64> = HashMap::new();
    let mut read_to = vec![0usize; segments as usize];
    loop {
        let last = done();
        let mut progress = false;
        for segment in 0..segments {
            let entry = pool::entry(memory, segment);
            if entry.state == layout::FREE {
                continue;
            }
            let expected = next_sequence.entry(entry.thread).or_default();
            if entry.sequence != *expected {
                continue;
            }
            let from = read_to[segment as usize];
            let stream = streams.entry(entry.thread).or_default();
            let to = pool::read(memory, segment, from, stream);
            progress |= to != from;
            read_to[segment as usize] = to;
            if entry.state == layout::FULL {
                *expected += 1;
                read_to[segment as usize] = 0;
                pool::recycle(memory, segment, to);
                progress = true;
            }
        }
        if last && !progress {
            return streams;
        }
    }
}

#[test]
fn many_writers_through_few_segments_lose_nothing() {
    const THREADS: u32 = 6;
    const RECORDS: u64 = 20_000;
    let memory = Arc::new(SharedMemory::create(16).unwrap());
    pool::grow(&memory, 0, 8).unwrap();
    let writers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                let mut writer = Writer::new(memory, thread);
                for i in 1..=RECORDS {
                    assert!(writer.write(i << 8 | thread as u64));
                }
                writer.finish();
            })
        })
        .collect();
    let streams = drain(&memory, 8, || {
        writers.iter().all(thread::JoinHandle::is_finished)
    });
    for thread in 0..THREADS {
        let expected: Vec<u64> = (1..=RECORDS).map(|i| i << 8 | thread as u64).collect();
        assert!(streams[&thread] == expected, "stream of {thread} differs");
    }
    // All eight are free again, and not one more.
    let free: Vec<u32> = std::iter::from_fn(|| pool::take(&memory)).collect();
    assert_eq!(free.len(), 8);
}

#[test]
fn a_writer_without_segments_gives_up_when_recording_stops() {
    let memory = Arc::new(SharedMemory::create(4).unwrap());
    let waiting = thread::spawn({
        let memory = Arc::clone(&memory);
        move || Writer::new(memory, 0).write(1)
    });
    memory.set_state(layout::STOPPED);
    assert!(!waiting.join().unwrap());
}

#[test]
fn a_segment_that_was_never_finished_can_still_be_read() {
    let memory = Arc::new(SharedMemory::create(4).unwrap());
    pool::grow(&memory, 0, 2).unwrap();
    let mut writer = Writer::new(Arc::clone(&memory), 3);
    writer.write(7);
    writer.write(8);
    let streams = drain(&memory, 4, || true);
    assert_eq!(streams[&3], [7, 8]);
}
