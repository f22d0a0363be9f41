//! `.utr` files: what is written comes back, in order, whole or cut, and damage is found.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::io::{self, Write};

use proptest::prelude::*;
use untorn_model::{Event, EventIndex, Tables};
use untorn_trace::generate::{Shape, random_trace, trace_of};
use untorn_trace::{
    Error, Note, OrderedWriter, Source, TextWriter, UtrOptions, UtrSource, VecSource,
};

fn utr(tables: &Tables, events: &[Event], every: usize, compress: bool) -> Vec<u8> {
    let options = UtrOptions { compress };
    let mut writer = OrderedWriter::new("t.utr", Vec::new(), options).unwrap();
    for piece in events.chunks(every) {
        writer.write(tables, piece).unwrap();
        writer.flush(tables).unwrap();
    }
    writer.finish(tables).unwrap()
}

fn read(bytes: &[u8]) -> Result<(UtrSource, Vec<Event>), Error> {
    let mut source = UtrSource::from_bytes("t.utr", bytes.to_vec())?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        let kinds = source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok((source, all));
        }
        assert!(batch.iter().all(|event| kinds.contains(event.op.kind())));
        all.append(&mut batch);
    }
}

fn text(tables: &Tables, events: &[Event]) -> String {
    let mut writer = TextWriter::new("out", Vec::new());
    writer.write(tables, events).unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

proptest! {
    #[test]
    fn std_to_utr_to_std_gives_the_same_bytes(
        steps in proptest::collection::vec(any::<u32>(), 1..200),
        every in 1..100usize,
        compress: bool,
    ) {
        let (tables, events) = trace_of(&Shape::full(), &steps);
        prop_assume!(!events.is_empty());
        let std = text(&tables, &events);
        let parsed = VecSource::from_text(&std).unwrap();
        let file = utr(parsed.tables(), parsed.events(), every, compress);
        let (source, again) = read(&file).unwrap();
        prop_assert_eq!(source.notes(), []);
        prop_assert_eq!(text(source.tables(), &again), std);
    }

    #[test]
    fn events_tables_and_every_replayed_range_come_back(
        steps in proptest::collection::vec(any::<u32>(), 1..200),
        every in 1..100usize,
        compress: bool,
        (from, len) in (0..200u64, 0..200u64),
    ) {
        let (tables, events) = trace_of(&Shape::full(), &steps);
        let (source, again) = read(&utr(&tables, &events, every, compress)).unwrap();
        prop_assert_eq!(&again, &events);
        prop_assert_eq!(format!("{:?}", source.tables()), format!("{tables:?}"));
        let (from, to) = (from.min(events.len() as u64), (from + len).min(events.len() as u64));
        let mut replayed = Vec::new();
        let range = EventIndex(from)..EventIndex(to);
        Source::replay(&source).unwrap().replay(range, &mut |batch| {
            assert_eq!(batch.first.0, from + replayed.len() as u64);
            replayed.extend_from_slice(batch.events);
        }).unwrap();
        prop_assert_eq!(&replayed[..], &events[from as usize..to as usize]);
    }
}

#[test]
fn a_long_trace_is_replayed_from_checkpoints() {
    let (tables, _) = random_trace(1, &Shape::default(), 10);
    let (_, few) = random_trace(
        3,
        &Shape {
            threads: 4,
            rich_sync: false,
            ..Shape::default()
        },
        4,
    );
    let accesses: Vec<Event> = few
        .into_iter()
        .filter(|e| e.op.access().is_some())
        .collect();
    let events: Vec<Event> = accesses.iter().copied().cycle().take(400_000).collect();
    let (source, again) = read(&utr(&tables, &events, usize::MAX, false)).unwrap();
    assert_eq!(again, events);
    for from in [0, 1, 65_535, 65_536, 200_001, 399_999] {
        let mut replayed = Vec::new();
        let range = EventIndex(from)..EventIndex(from + 70_000);
        (Source::replay(&source).unwrap())
            .replay(range, &mut |batch| replayed.extend_from_slice(batch.events))
            .unwrap();
        let end = events.len().min(from as usize + 70_000);
        assert!(replayed == events[from as usize..end], "from {from}");
    }
}

#[test]
fn a_file_cut_anywhere_yields_a_prefix_and_says_so() {
    let (tables, events) = random_trace(11, &Shape::full(), 120);
    for compress in [false, true] {
        let file = utr(&tables, &events, 25, compress);
        let mut longest = 0;
        for len in 0..file.len() {
            match read(&file[..len]) {
                Ok((source, prefix)) => {
                    assert!(len >= 16);
                    assert_eq!(prefix, events[..prefix.len()]);
                    assert_eq!(
                        prefix.len() % 25 * usize::from(prefix.len() != events.len()),
                        0
                    );
                    assert!(prefix.len() >= longest, "a longer file shows no less");
                    longest = prefix.len();
                    let cut = |note: &Note| matches!(note, Note::Truncated { offset, .. } if *offset <= len as u64);
                    assert!(source.notes().iter().any(cut), "cut at {len}");
                }
                Err(error) => assert!(len < 16, "cut at {len}: {error}"),
            }
        }
        // All but the end marker.
        assert_eq!(longest, events.len());
        // Blocks that were reserved but never written.
        let mut zeros = file[..file.len() - 40].to_vec();
        zeros.resize(zeros.len() + 500, 0);
        let (source, all) = read(&zeros).unwrap();
        assert_eq!(all, events);
        assert_eq!(source.notes().len(), 1);
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let (tables, events) = random_trace(12, &Shape::full(), 80);
    for compress in [false, true] {
        let file = utr(&tables, &events, 30, compress);
        for at in 0..file.len() {
            let mut bad = file.clone();
            bad[at] ^= 1 << (at % 8);
            let error = read(&bad).expect_err("a flipped bit").to_string();
            assert!(error.starts_with("t.utr"), "{error}");
            assert_eq!(error.lines().count(), 1);
            assert!(at < 16 || error.contains("corrupt"), "{error}");
        }
    }
}

#[test]
fn a_corrupt_chunk_is_named_by_its_offset() {
    let (tables, events) = random_trace(12, &Shape::full(), 80);
    let mut file = utr(&tables, &events, 40, false);
    let second = file
        .windows(4)
        .enumerate()
        .filter(|(_, w)| w == b"chnk")
        .nth(1)
        .unwrap()
        .0;
    file[second + 50] ^= 1;
    let error = read(&file).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("t.utr at offset {second}: corrupt: checksum of the chunk does not match")
    );
    file.truncate(16);
    file.extend_from_slice(b"chnk and so on, but this is no chunk at all, is it");
    let error = read(&file).unwrap_err().to_string();
    assert_eq!(error, "t.utr at offset 16: corrupt: damaged chunk header");
}

#[test]
fn bytes_after_the_end_and_lost_chunks_are_found() {
    let (tables, events) = random_trace(12, &Shape::full(), 80);
    let file = utr(&tables, &events, 20, false);
    let mut more = file.clone();
    more.push(0);
    assert!(
        read(&more)
            .unwrap_err()
            .to_string()
            .contains("after the end")
    );
    // Leave any one chunk out.
    let starts: Vec<usize> = (file.windows(4).enumerate())
        .filter(|(_, w)| w == b"chnk")
        .map(|(at, _)| at)
        .collect();
    for pair in starts.windows(2) {
        let lost = [&file[..pair[0]], &file[pair[1]..]].concat();
        assert!(read(&lost).is_err(), "without the chunk at {}", pair[0]);
    }
}

/// A disk with room for so many bytes.
struct SmallDisk {
    bytes: Vec<u8>,
    room: usize,
}

impl Write for &mut SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room - self.bytes.len());
        if fits == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_and_what_is_there_is_readable() {
    let (tables, events) = random_trace(5, &Shape::full(), 150);
    let whole = utr(&tables, &events, 10, false).len();
    let mut longest = 0;
    for room in (16..whole).step_by(7) {
        let mut disk = SmallDisk {
            bytes: Vec::new(),
            room,
        };
        let mut writer = OrderedWriter::new("t.utr", &mut disk, UtrOptions::default()).unwrap();
        let failure = (events.chunks(10))
            .try_for_each(|piece| {
                writer.write(&tables, piece)?;
                writer.flush(&tables)
            })
            .and_then(|()| writer.finish(&tables).map(|_| ()))
            .unwrap_err();
        assert!(matches!(failure, Error::Io { .. }), "{failure}");
        let (_, prefix) = read(&disk.bytes).unwrap();
        assert_eq!(prefix, events[..prefix.len()]);
        longest = longest.max(prefix.len());
    }
    assert!(longest > events.len() / 2);
}

#[test]
fn a_writer_refuses_what_its_reader_could_not_read() {
    let (tables, mut events) = random_trace(5, &Shape::full(), 20);
    events[7].thread.0 = 99;
    let mut writer = OrderedWriter::new("t.utr", Vec::new(), UtrOptions::default()).unwrap();
    writer.write(&tables, &events).unwrap();
    let error = writer.flush(&tables).unwrap_err().to_string();
    assert_eq!(error, "t.utr: cannot write an id that is in no table");
}

#[test]
fn re_entrant_operations_are_resolved_by_the_writer() {
    let source = VecSource::from_text("T1|acq(l)|1\nT1|acq(l)|1\nT1|rel(l)|1\nT1|rel(l)|1\n");
    let source = source.unwrap();
    let raw: Vec<Event> = (source.events().iter())
        .map(|event| {
            use untorn_model::Op::{Acquire, Reacquire, Release, Rerelease};
            let op = match event.op {
                Reacquire(mode, lock) => Acquire(mode, lock),
                Rerelease(mode, lock) => Release(mode, lock),
                other => other,
            };
            Event { op, ..*event }
        })
        .collect();
    assert_ne!(raw, source.events());
    let (_, again) = read(&utr(source.tables(), &raw, 3, false)).unwrap();
    assert_eq!(again, source.events());
}

#[test]
fn an_ill_formed_recording_is_an_error_with_its_event() {
    let source = VecSource::from_text("T1|begin(a)|1\nT1|r(x)|1\nT1|end(a)|1\n").unwrap();
    let file = utr(source.tables(), &source.events()[1..], 10, false);
    assert_eq!(
        read(&file).unwrap_err().to_string(),
        "t.utr at event 1: T1 ends a region but none is open"
    );
}
