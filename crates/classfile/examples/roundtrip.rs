//! Rewrites every class of the given jars and directories without a change and compares the bytes.
//!
//! `cargo run --release -p untorn-classfile --example roundtrip -- JAR|DIR...`
//! Ends with status 1 if a class differs or cannot be read.

#[path = "../tests/it/sources.rs"]
mod sources;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use untorn_classfile::edit::rewrite_unchanged;

fn main() -> ExitCode {
    let (mut count, mut size, mut spent) = (0_usize, 0_usize, Duration::ZERO);
    let (mut different, mut failed) = (0_usize, 0_usize);
    for source in std::env::args_os().skip(1) {
        let walked = sources::each_class(source.as_ref(), &mut |name, bytes| {
            let start = Instant::now();
            let rewritten = rewrite_unchanged(bytes);
            spent += start.elapsed();
            count += 1;
            size += bytes.len();
            match rewritten {
                Ok(rewritten) if rewritten == bytes => {}
                Ok(_) => {
                    different += 1;
                    println!("different: {name}");
                }
                Err(error) => {
                    failed += 1;
                    println!("failed: {name}: {error}");
                }
            }
        });
        if let Err(error) = walked {
            eprintln!("{}: {error}", source.display());
            return ExitCode::FAILURE;
        }
    }
    let seconds = spent.as_secs_f64().max(1e-9);
    println!(
        "{count} classes, {:.1} MB in {seconds:.2} s: {:.0} classes/s, {:.1} MB/s; {different} different, {failed} failed",
        size as f64 / 1e6,
        count as f64 / seconds,
        size as f64 / 1e6 / seconds
    );
    if different + failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
