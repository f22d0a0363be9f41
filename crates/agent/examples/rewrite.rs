//! Rewrites every class of jars and writes them below a directory, for a JVM to verify.
//!
//! `cargo run --release -p untorn-agent --example rewrite -- OUT [--everything] JAR...`
//! `--everything` adds arrays, stacks and a region for each method.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use untorn_agent::Registry;
use untorn_agent::instrument::{self, Outcome, Plan};
use untorn_agent::loaders::Loader;
use untorn_channel::Config;

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let before = args.len();
    args.retain(|arg| arg != "--everything");
    let everything = args.len() < before;
    let [out, jars @ ..] = &args[..] else {
        eprintln!("usage: rewrite OUT [--everything] JAR...");
        return ExitCode::FAILURE;
    };
    let config = Config {
        arrays: everything,
        stacks: everything,
        spec: everything.then(|| "include = [\"**\"]".to_owned()),
        ..Config::default()
    };
    match run(Path::new(out), jars, &config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(out: &Path, jars: &[String], config: &Config) -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(config)?;
    let registry = Registry::new(None);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut spent, mut size, mut grown) = (Duration::ZERO, 0, 0);
    for jar in jars {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(jar)?)?;
        for index in 0..archive.len() {
            let mut file = archive.by_index(index)?;
            let name = file.name()?.into_owned();
            let class = Path::new(&name).extension().is_some_and(|e| e == "class");
            if !class || name.starts_with("META-INF/") {
                continue;
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let start = Instant::now();
            let outcome = instrument::rewrite(&bytes, &plan, &registry, Loader::BOOT);
            spent += start.elapsed();
            size += bytes.len();
            match outcome {
                Outcome::Rewritten(rewritten, done) => {
                    bytes = rewritten;
                    for (name, amount) in done.0 {
                        *counts.entry(name.to_owned()).or_default() += amount;
                    }
                }
                Outcome::Untouched(reason) => {
                    *counts
                        .entry(format!("classes untouched: {reason}"))
                        .or_default() += 1;
                }
            }
            grown += bytes.len();
            let target = out.join(&name);
            if let Some(folder) = target.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(target, bytes)?;
        }
    }
    for (name, amount) in counts {
        println!("{amount:>9} {name}");
    }
    println!(
        "{:.1} -> {:.1} MB in {:.2} s",
        f64::from(size as u32) / 1e6,
        f64::from(grown as u32) / 1e6,
        spent.as_secs_f64()
    );
    Ok(())
}
