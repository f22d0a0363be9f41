//! Traces as files: told apart by content, packed or not, bad in every way, killed while written, cut while read.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::fs::{self, File, OpenOptions as FileOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use untorn_model::{Event, EventIndex, Kinds, Op, RegionId, Tables};
use untorn_trace::generate::{Shape, random_trace};
use untorn_trace::info::{Layout, summary};
use untorn_trace::{
    Compression, Note, OpenOptions, OrderedWriter, Source, TextWriter, UtrOptions, UtrSource, open,
    spool,
};

const STRICT: OpenOptions = OpenOptions { lenient: false };

fn all(source: &mut dyn Source) -> Result<Vec<Event>, String> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch).map_err(|error| error.to_string())?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.append(&mut batch);
    }
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn read(path: &Path) -> Result<Vec<Event>, String> {
    let mut source = open(path, STRICT).map_err(|error| error.to_string())?;
    all(source.as_mut())
}

/// What a user is told, with the folder left out.
fn error(path: &Path) -> String {
    let message = read(path).expect_err("a bad file");
    assert_eq!(message.lines().count(), 1, "{message}");
    let folder = path.parent().unwrap().display().to_string() + "/";
    message.replace(&folder, "")
}

fn sample() -> (Tables, Vec<Event>, Vec<u8>, Vec<u8>) {
    let (tables, events) = random_trace(21, &Shape::full(), 100);
    let mut writer = TextWriter::new("t.std", Vec::new());
    writer.write(&tables, &events).unwrap();
    let text = writer.finish().unwrap();
    let mut writer = OrderedWriter::new("t.utr", Vec::new(), UtrOptions::default()).unwrap();
    writer.write(&tables, &events).unwrap();
    let utr = writer.finish(&tables).unwrap();
    (tables, events, text, utr)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn content_decides_what_a_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let (_, events, text, utr) = sample();
    // Two members in one file, as concatenated gzip files are.
    let halves = text.split_at(text.len() / 2);
    let files = [
        put(folder.path(), "a.utr", &text),
        put(folder.path(), "b.std", &utr),
        put(
            folder.path(),
            "c",
            &[gzip(halves.0), gzip(halves.1)].concat(),
        ),
        put(folder.path(), "d", &zstd::encode_all(&text[..], 1).unwrap()),
        put(folder.path(), "e", &gzip(&utr)),
        put(folder.path(), "f", &zstd::encode_all(&utr[..], 1).unwrap()),
    ];
    for path in files {
        let mut source = open(&path, STRICT).unwrap();
        let read = all(source.as_mut()).unwrap();
        assert_eq!(read.len(), events.len(), "{}", path.display());
        for (a, b) in read.iter().zip(&events) {
            assert_eq!(a.op.kind(), b.op.kind());
        }
        assert_eq!(source.notes(), []);
        let progress = source.progress();
        assert!(progress.done > 0 && Some(progress.done) <= progress.total);
    }
}

#[test]
fn bad_files_give_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| put(folder.path(), name, bytes);
    let (_, _, text, utr) = sample();
    assert_eq!(error(&put("empty", b"")), "empty: is empty");
    assert_eq!(error(&put("empty.gz", &gzip(b""))), "empty.gz: is empty");
    let directory = folder.path().join("dir");
    fs::create_dir(&directory).unwrap();
    assert_eq!(error(&directory), "dir: is a directory; name a trace file");
    assert!(error(&folder.path().join("none")).starts_with("none: No such file"));
    let garbage: Vec<u8> = (0..2000u32).map(|i| ((i * i * 31) >> 3) as u8).collect();
    let binary = "neither a .utr trace nor a text trace (binary data)";
    assert_eq!(
        error(&put("garbage", &garbage)),
        format!("garbage: {binary}")
    );
    assert_eq!(
        error(&put("class", b"\xca\xfe\xba\xbe\0\0\0\x3d")),
        format!("class: {binary}")
    );
    assert_eq!(
        error(&put("cut.utr", &utr[..10])),
        "cut.utr at offset 0: the file ends within its header"
    );
    let mut newer = utr.clone();
    newer[8] = 9;
    assert_eq!(
        error(&put("newer.utr", &newer)),
        "newer.utr: .utr version 9, but this program reads version 1 only"
    );
    let cut_gzip = gzip(&text);
    assert!(error(&put("cut.gz", &cut_gzip[..cut_gzip.len() / 2])).starts_with("cut.gz: "));
    assert!(error(&put("bad.zst", b"\x28\xb5\x2f\xfdnothing")).starts_with("bad.zst: "));
    let mut latin = text.clone();
    latin.extend_from_slice(b"T1|r(stra\xdfe)|1\n");
    let line = latin.split(|&b| b == b'\n').count() - 1;
    assert_eq!(
        error(&put("latin", &latin)),
        format!("latin:{line}: invalid UTF-8")
    );
    assert_eq!(
        error(&put("long", "x".repeat(10 << 20).as_bytes())),
        "long:1: a line of more than 1048576 bytes"
    );
    assert_eq!(
        error(&put("big", b"T4294967296|r(x)|1\n")),
        "big:1: thread number `T4294967296` is out of range (2^32 or more)"
    );
    assert_eq!(
        error(&put("prose", b"Dear reader,\n")),
        "prose:1: 1 field where thread|op|location has 3"
    );
}

#[test]
fn a_spooled_text_can_be_replayed_and_keeps_its_lines_and_notes() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(
        folder.path(),
        "t.std",
        b"# hello\nT1|begin|1\nT1|r(x)|2\n\nT1|w(x)|3\nT1|end|4\n",
    );
    let source = open(&path, OpenOptions { lenient: true }).unwrap();
    assert!(source.replay().is_none());
    let mut source = spool(source).unwrap();
    let events = all(source.as_mut()).unwrap();
    assert_eq!(events.len(), 4);
    assert_eq!(events[0].op, Op::Begin(RegionId::ANONYMOUS));
    let lines: Vec<u64> = (0..4).map(|i| source.line_of(EventIndex(i))).collect();
    assert_eq!(lines, [2, 3, 5, 6]);
    assert!(matches!(
        source.notes()[..],
        [Note::SkippedLines { count: 2, .. }]
    ));
    let mut again = Vec::new();
    (source.replay().unwrap())
        .replay(EventIndex(1)..EventIndex(3), &mut |batch| {
            again.extend_from_slice(batch.events);
            assert!(batch.kinds.intersects(Kinds::ACCESSES));
        })
        .unwrap();
    assert_eq!(again, events[1..3]);
}

#[test]
fn a_summary_counts_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (tables, events, text, utr) = sample();
    let info = summary(&put(folder.path(), "t.std.gz", &gzip(&text)), STRICT).unwrap();
    assert_eq!(
        (info.layout, info.compression),
        (Layout::Text, Compression::Gzip)
    );
    assert_eq!(info.events, events.len() as u64);
    let info = summary(&put(folder.path(), "t.utr", &utr), STRICT).unwrap();
    assert_eq!(info.size, Some(utr.len() as u64));
    assert_eq!(info.threads.len(), tables.threads.len());
    let by_thread: u64 = info.threads.iter().map(|(_, count)| count).sum();
    let by_kind: u64 = info.kinds.iter().map(|(_, count)| count).sum();
    assert_eq!((by_thread, by_kind), (info.events, info.events));
    let Layout::Utr {
        ordered,
        complete,
        chunks,
        ..
    } = info.layout
    else {
        panic!("{:?}", info.layout);
    };
    assert!(ordered && complete);
    let kinds: Vec<&str> = chunks.iter().map(|chunk| chunk.kind).collect();
    assert_eq!(kinds, ["tables", "events", "schedule"]);
    let cut = summary(&put(folder.path(), "c.utr", &utr[..utr.len() - 1]), STRICT).unwrap();
    assert!(matches!(
        cut.layout,
        Layout::Utr {
            complete: false,
            ..
        }
    ));
    assert!(matches!(cut.notes[..], [Note::Truncated { .. }]));
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.utr");
    let (tables, events) = random_trace(21, &Shape::full(), 100);
    let access = events.iter().find(|event| event.op.access().is_some());
    let events = vec![*access.unwrap(); 8192];
    let mut writer =
        OrderedWriter::new("t.utr", File::create(&path).unwrap(), UtrOptions::default()).unwrap();
    for _ in 0..10 {
        writer.write(&tables, &events).unwrap();
        writer.flush(&tables).unwrap();
    }
    writer.finish(&tables).unwrap();
    let mut source = UtrSource::new("t.utr", File::open(&path).unwrap()).unwrap();
    let mut batch = Vec::new();
    source.fill(&mut batch).unwrap();
    assert_eq!(batch.len(), 8192);
    let file = FileOptions::new().write(true).open(&path).unwrap();
    file.set_len(5000).unwrap();
    let error = source.fill(&mut batch).unwrap_err().to_string();
    assert_eq!(error, "t.utr: was cut short while it was read");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let full = FileOptions::new().write(true).open("/dev/full").unwrap();
    let error = OrderedWriter::new("/dev/full", full, UtrOptions::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("/dev/full: No space left"),
        "{error}"
    );
}

const KILL_FILE: &str = "UNTORN_TEST_KILL_FILE";

/// The events the child writes, over and over.
fn pattern() -> (Tables, Vec<Event>) {
    let (tables, events) = random_trace(4, &Shape::default(), 400);
    let accesses = events
        .into_iter()
        .filter(|event| event.op.access().is_some());
    (tables, accesses.collect())
}

/// Writes for ever; a test only when it is started as a child by the next one.
#[test]
fn child_that_is_killed_while_it_writes() {
    let Some(path) = std::env::var_os(KILL_FILE) else {
        return;
    };
    let (tables, events) = pattern();
    let options = UtrOptions::default();
    let mut writer = OrderedWriter::new("child", File::create(path).unwrap(), options).unwrap();
    loop {
        writer.write(&tables, &events).unwrap();
    }
}

#[test]
fn killing_the_writer_loses_at_most_what_was_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (_, pattern) = pattern();
    for round in 0..4u64 {
        let path = folder.path().join(format!("{round}.utr"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_is_killed_while_it_writes"])
            .env(KILL_FILE, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let size = || fs::metadata(&path).map_or(0, |metadata| metadata.len());
        while size() < 500_000 * (round + 1) && start.elapsed() < Duration::from_mins(1) {
            sleep(Duration::from_micros(300));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut source = open(&path, STRICT).unwrap();
        let events = all(source.as_mut()).unwrap();
        assert!(events.len() >= 64 << 10, "{} events", events.len());
        let expected = pattern.iter().cycle();
        assert!(events.iter().zip(expected).all(|(a, b)| a == b));
        assert!(matches!(source.notes()[0], Note::Truncated { .. }));
    }
}
