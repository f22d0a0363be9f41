//! How fast traces are read: text beside a count of its lines, `.utr` beside a plain scan of its bytes.
//!
//! The trace is generated: 8 threads, 20 events between thread switches, mostly accesses, with regions and locks.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use untorn_model::{Event, Kind};
use untorn_trace::{
    OpenOptions, OrderedWriter, Source, TextWriter, UtrOptions, VecSource, open, spool,
};

use crate::Outcome;
use crate::clock::{Times, best_of, rate};

const EVENTS: usize = 8_000_000;
const THREADS: usize = 8;
const PER_SWITCH: usize = 20;
const RUNS: usize = 5;

/// A fixed sequence of numbers that looks random.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// One turn of a thread in text: a region that takes the thread's own lock, and accesses to shared and own fields.
fn turn(out: &mut String, noise: &mut Noise, thread: usize) {
    use std::fmt::Write;
    let method = noise.below(40);
    let mut line = |what: std::fmt::Arguments<'_>, at: u64| {
        let _ = writeln!(out, "T{thread}|{what}|Bank.java:{at}");
    };
    line(format_args!("begin(Bank.op{method})"), method);
    line(format_args!("acq(lock{thread})"), method + 1);
    for _ in 0..PER_SWITCH - 4 {
        let object = noise.below(5000);
        let field = ["balance", "limit", "owner"][noise.below(3) as usize];
        let verb = if noise.below(3) == 0 { 'w' } else { 'r' };
        let at = 100 + noise.below(900);
        line(format_args!("{verb}(acct{object}.{field})"), at);
    }
    line(format_args!("rel(lock{thread})"), method + 2);
    line(format_args!("end(Bank.op{method})"), method + 3);
}

fn generate() -> Result<VecSource, untorn_trace::Error> {
    let mut noise = Noise(1);
    let mut text = String::new();
    for _ in 0..EVENTS / PER_SWITCH {
        let thread = noise.below(THREADS as u64) as usize;
        turn(&mut text, &mut noise, thread);
    }
    VecSource::from_text(&text)
}

/// What the `count` analysis does: events by kind.
fn count(source: &mut dyn Source) -> Result<u64, untorn_trace::Error> {
    let mut kinds = [0u64; Kind::ALL.len()];
    let mut batch: Vec<Event> = Vec::new();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(kinds.iter().sum());
        }
        for event in &batch {
            kinds[event.op.kind() as usize] += 1;
        }
    }
}

fn read(path: &Path) -> Result<u64, untorn_trace::Error> {
    count(open(path, OpenOptions::default())?.as_mut())
}

fn row(what: &str, bytes: u64, events: u64, times: Times) {
    println!(
        "  {what:<34} {:>8.1} M events/s {:>9.0} MB/s {:>9.1} ms cpu {:>9.1} ms wall",
        rate(events, times.cpu),
        rate(bytes, times.cpu),
        1e3 * times.cpu.as_secs_f64(),
        1e3 * times.wall.as_secs_f64()
    );
}

fn ratio(what: &str, time: Duration, yardstick: Duration) {
    let ratio = time.as_secs_f64() / yardstick.as_secs_f64();
    println!("  {what:<34} {ratio:>8.1}×");
}

/// What `wc -l` does, in this process.
fn count_lines(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    let mut lines = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(lines),
            read => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
        }
    }
}

pub fn run() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (std, utr, packed) = (
        folder.path().join("t.std"),
        folder.path().join("t.utr"),
        folder.path().join("t.lz4.utr"),
    );
    let trace = generate()?;
    let (tables, events) = (trace.tables(), trace.events());
    let total = events.len() as u64;
    let mut writer = TextWriter::new("t.std", File::create(&std)?);
    writer.write(tables, events)?;
    writer.finish()?;
    for (path, compress) in [(&utr, false), (&packed, true)] {
        let options = UtrOptions { compress };
        let (time, ()) = best_of(1, || -> Result<(), Box<dyn std::error::Error>> {
            let mut writer = OrderedWriter::new("t.utr", File::create(path)?, options)?;
            writer.write(tables, events)?;
            writer.finish(tables)?;
            Ok(())
        })?;
        let what = if compress {
            "write .utr, lz4"
        } else {
            "write .utr"
        };
        row(what, fs::metadata(path)?.len(), total, time);
    }
    drop(trace);

    let size = |path: &Path| fs::metadata(path).map(|metadata| metadata.len());
    println!(
        "  {total} events; bytes per event: text {:.1}, .utr {:.1}, with lz4 {:.1}",
        size(&std)? as f64 / total as f64,
        size(&utr)? as f64 / total as f64,
        size(&packed)? as f64 / total as f64,
    );

    let (wc, _) = best_of(RUNS, || Command::new("wc").arg("-l").arg(&std).output())?;
    println!(
        "  {:<34} {:>58.1} ms wall",
        "wc -l",
        1e3 * wc.wall.as_secs_f64()
    );
    let (lines, counted) = best_of(RUNS, || count_lines(&std))?;
    assert_eq!(counted, total);
    row("count lines in this process", size(&std)?, total, lines);
    let (text, events) = best_of(RUNS, || read(&std))?;
    assert_eq!(events, total);
    row("read text into count", size(&std)?, total, text);
    ratio("text over wc -l, by the wall", text.wall, wc.wall);
    ratio("text over counting lines", text.cpu, lines.cpu);

    // The page cache is warm in both cases: what is compared is work, not the disk.
    let (scan, sum) = best_of(RUNS, || -> std::io::Result<u64> {
        let bytes = fs::read(&utr)?;
        Ok(bytes.iter().map(|&byte| u64::from(byte)).sum())
    })?;
    assert_ne!(sum, 0);
    row("plain scan of the .utr bytes", size(&utr)?, total, scan);
    let (binary, events) = best_of(RUNS, || read(&utr))?;
    assert_eq!(events, total);
    row("read .utr into count", size(&utr)?, total, binary);
    ratio(".utr over a plain scan", binary.cpu, scan.cpu);
    let (unpacked, events) = best_of(RUNS, || read(&packed))?;
    assert_eq!(events, total);
    row("read lz4 .utr into count", size(&packed)?, total, unpacked);
    ratio("text over .utr", text.cpu, binary.cpu);

    let (spooled, _) = best_of(1, || spool(open(&std, OpenOptions::default())?))?;
    row("spool text", size(&std)?, total, spooled);
    Ok(())
}
