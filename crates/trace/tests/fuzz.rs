//! A short run of the fuzz targets: the corpus, and mutations of it, through the same entry points.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::fs;
use std::path::PathBuf;

use untorn_trace::generate::random_steps;
use untorn_trace::{Edge, OrderedWriter, Source, StreamWriter, UtrOptions, VecSource, exercise};

const MUTATIONS: usize = 3000;

fn corpus(target: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fuzz/corpus").join(target)
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<_> = (fs::read_dir(corpus(target)).unwrap())
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    seeds
}

/// Changes a few bytes, cuts a piece out, doubles one, or splices another seed in.
fn mutate(bytes: &[u8], other: &[u8], numbers: &[u32]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for pair in numbers.chunks_exact(3) {
        let at = pair[0] as usize % out.len().max(1);
        let len = (pair[1] as usize % 24).min(out.len() - at);
        match pair[2] % 6 {
            0 => out.drain(at..at + len).for_each(drop),
            1 => {
                let piece = out[at..at + len].to_vec();
                out.splice(at..at, piece);
            }
            2 => {
                let from = pair[1] as usize % other.len().max(1);
                let piece = other[from..other.len().min(from + 40)].to_vec();
                out.splice(at..at, piece);
            }
            _ => {
                if let Some(byte) = out.get_mut(at) {
                    *byte = match pair[2] % 4 {
                        0 => pair[1] as u8,
                        1 => *byte ^ (1 << (pair[1] % 8)),
                        2 => byte.wrapping_add(1),
                        _ => [0, 1, 0x7f, 0x80, 0xff][pair[1] as usize % 5],
                    };
                }
            }
        }
    }
    out
}

fn fuzz(target: &str, exercise: fn(&[u8]) -> Result<(), String>) {
    let seeds = seeds(target);
    for (name, seed) in &seeds {
        exercise(seed).unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    for round in 0..MUTATIONS {
        let (name, seed) = &seeds[round % seeds.len()];
        let (_, other) = &seeds[round / 7 % seeds.len()];
        let numbers = random_steps(round as u64, 3 * (1 + round % 4));
        let bytes = mutate(seed, other, &numbers);
        exercise(&bytes).unwrap_or_else(|broken| panic!("{name}, round {round}: {broken}"));
    }
}

#[test]
fn mutated_text_breaks_no_promise() {
    fuzz("text", exercise::text);
}

#[test]
fn mutated_utr_breaks_no_promise() {
    fuzz("utr", exercise::utr);
}

/// The `.utr` seeds are the text seeds, once in order and once as streams; remove one and run this test to write it anew.
#[test]
fn the_utr_corpus_is_the_text_corpus() {
    for (name, text) in seeds("text") {
        let Ok(trace) = VecSource::from_text(&String::from_utf8_lossy(&text)) else {
            continue;
        };
        let mut ordered = OrderedWriter::new(&*name, Vec::new(), UtrOptions::default()).unwrap();
        for piece in trace.events().chunks(10) {
            ordered.write(trace.tables(), piece).unwrap();
            ordered.flush(trace.tables()).unwrap();
        }
        let ordered = ordered.finish(trace.tables()).unwrap();
        let mut streams =
            StreamWriter::new(&*name, Vec::new(), UtrOptions { compress: true }).unwrap();
        let mut last = None;
        for event in trace.events() {
            let before = streams.position(event.thread);
            if let Some(from) = last.filter(|&from| from != event.thread) {
                let (to, passed) = (event.thread, streams.position(from));
                let edge = Edge {
                    from,
                    passed,
                    to,
                    before,
                };
                streams.edge(edge).unwrap();
            }
            streams.append(trace.tables(), &[*event]).unwrap();
            last = Some(event.thread);
        }
        let streams = streams.finish(trace.tables()).unwrap();
        for (kind, bytes) in [("ordered", ordered), ("streams", streams)] {
            let path = corpus("utr").join(format!("{name}-{kind}.utr"));
            if !path.exists() {
                fs::write(&path, &bytes).unwrap();
            }
            assert!(fs::read(&path).unwrap() == bytes, "{}", path.display());
        }
    }
}
