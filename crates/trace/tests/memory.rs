//! Reading a mapped trace takes memory that does not grow with its length; alone in its process, so that no other test allocates.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]
#![cfg(target_os = "linux")]

use std::fs;

use untorn_model::Event;
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::{OpenOptions, OrderedWriter, StreamWriter, UtrOptions, open};

/// Memory of this process that is no mapping of a file, in kilobytes.
fn own_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn memory_is_constant_in_the_length_of_a_mapped_trace() {
    const ROUNDS: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let (tables, events) = random_trace(9, &Shape::default(), 400);
    let accesses = events
        .into_iter()
        .filter(|event| event.op.access().is_some());
    let some: Vec<Event> = accesses.collect::<Vec<_>>().repeat(400);
    for (name, ordered) in [("ordered.utr", true), ("streams.utr", false)] {
        let path = folder.path().join(name);
        let file = fs::File::create(&path).unwrap();
        let options = UtrOptions::default();
        if ordered {
            let mut writer = OrderedWriter::new(name, file, options).unwrap();
            (0..ROUNDS).for_each(|_| writer.write(&tables, &some).unwrap());
            writer.finish(&tables).unwrap();
        } else {
            let mut writer = StreamWriter::new(name, file, options).unwrap();
            (0..ROUNDS).for_each(|_| writer.append(&tables, &some).unwrap());
            writer.finish(&tables).unwrap();
        }
        let mut source = open(&path, OpenOptions::default()).unwrap();
        let mut batch = Vec::new();
        let (mut total, mut early) = (0, None);
        loop {
            source.fill(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            total += batch.len();
            if total > some.len() && early.is_none() {
                early = Some(own_memory());
            }
        }
        assert_eq!(total, ROUNDS * some.len());
        let grown = own_memory().saturating_sub(early.unwrap());
        // The trace is sixty times longer than when we first looked, and its events alone would take 16 bytes each.
        assert!(grown < 1024, "{name}: {grown} kB more for {total} events");
    }
}
