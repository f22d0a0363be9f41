//! Instruments every class of jars and directories everywhere and writes them below a directory.
//!
//! `cargo run --release -p untorn-classfile --example stress -- OUT JAR|DIR...`
//! What comes out is for a JVM to verify.
//! `--inside-jdk` is for java.base itself: it calls `java.lang.Hook` and adds no fields and methods.

#[path = "../tests/it/sources.rs"]
mod sources;
#[path = "../tests/it/stress.rs"]
mod stress;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().skip(1).collect();
    let before = args.len();
    args.retain(|arg| arg != "--inside-jdk");
    let inside = args.len() < before;
    let hook = if inside {
        "java/lang/Hook"
    } else {
        "untorn/test/Hook"
    };
    let options = stress::Options {
        hook,
        members: !inside,
        small: false,
    };
    let [out, inputs @ ..] = &args[..] else {
        eprintln!("usage: stress [--inside-jdk] OUT JAR|DIR...");
        return ExitCode::FAILURE;
    };
    let (mut classes, mut methods, mut fallbacks, mut failed) = (0_usize, 0, 0, 0_usize);
    let (mut spent, mut size, mut grown) = (Duration::ZERO, 0_usize, 0_usize);
    for input in inputs {
        let root = Path::new(input);
        let walked = sources::each_class(root, &mut |name, bytes| {
            let start = Instant::now();
            let edited = stress::stress(bytes, options);
            spent += start.elapsed();
            let relative = Path::new(name)
                .strip_prefix(root)
                .unwrap_or(Path::new(name));
            let target = Path::new(out).join(relative);
            let written = match edited {
                Ok((edited, counts)) => {
                    classes += 1;
                    methods += counts.methods;
                    fallbacks += counts.fallbacks;
                    size += bytes.len();
                    grown += edited.len();
                    target
                        .parent()
                        .map_or(Ok(()), std::fs::create_dir_all)
                        .and_then(|()| std::fs::write(&target, edited))
                }
                Err(error) => {
                    println!("failed: {name}: {error}");
                    failed += 1;
                    Ok(())
                }
            };
            if let Err(error) = written {
                println!("failed: {}: {error}", target.display());
                failed += 1;
            }
        });
        if let Err(error) = walked {
            eprintln!("{}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    }
    let seconds = spent.as_secs_f64().max(1e-9);
    println!(
        "{classes} classes, {methods} methods ({fallbacks} in the small form), {failed} failed, {:.1} -> {:.1} MB, {:.0} classes/s, {:.1} µs a method",
        size as f64 / 1e6,
        grown as f64 / 1e6,
        classes as f64 / seconds,
        seconds * 1e6 / methods.max(1) as f64
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
