//! How long the program model and the consistency check of small programs take, beside the start of a JVM that does nothing.
//!
//! The programs are the bundled example and the threaded programs of the tests, compiled anew.
//! Jars that `UNTORN_CORPUS` names are loaded as libraries as well, to show what size costs.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use untorn_consistency::{Options, check};
use untorn_program::{LoadPlan, Program};
use untorn_spec::Specification;

use crate::Outcome;
use crate::clock::best_of;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const RUNS: usize = 5;

/// A folder of sources, and the main classes of the programs in it.
const SMALL: [(&str, &[&str]); 2] = [
    ("examples/bank/src/bank", &["bank.Main"]),
    (
        "crates/consistency/tests/fixtures/apps",
        &[
            "apps.Updaters",
            "apps.Contexts",
            "apps.Steps",
            "apps.Boxes",
            "apps.ByName",
        ],
    ),
];

pub fn run() -> Outcome {
    let (start, ()) = best_of(RUNS, || {
        let mut java = Command::new(tool("java"));
        let status = (java.arg("-version")).stderr(Stdio::null()).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(Box::<dyn Error>::from("java -version failed"))
        }
    })?;
    println!(
        "  a JVM starts and ends             {:>8.1} ms",
        start.wall.as_secs_f64() * 1e3
    );
    for (sources, mains) in SMALL {
        let classes = compile(&Path::new(ROOT).join(sources))?;
        for main in mains {
            let plan = LoadPlan {
                inputs: vec![classes.path().to_owned()],
                main: Some((*main).to_owned()),
                ..LoadPlan::default()
            };
            measure(main, &plan, RUNS, start.wall.as_secs_f64())?;
        }
    }
    for jar in corpus()? {
        let name = jar
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let plan = LoadPlan {
            inputs: vec![jar],
            ..LoadPlan::default()
        };
        measure(&name, &plan, 1, start.wall.as_secs_f64())?;
    }
    Ok(())
}

fn measure(name: &str, plan: &LoadPlan, runs: usize, start: f64) -> Outcome {
    let (times, (loaded, findings)) = best_of(runs, || {
        let program = Program::load(plan)?;
        let outcome = check(&program, &Options::default(), &Specification::default());
        Ok::<_, Box<dyn Error>>((program.stats().loaded_classes, outcome.findings.len()))
    })?;
    let time = times.wall.as_secs_f64();
    println!(
        "  {name:<32}  {:>8.1} ms  {:>6.2} of a start  {loaded:>6} classes  {findings:>4} findings",
        time * 1e3,
        time / start
    );
    Ok(())
}

fn corpus() -> Result<Vec<PathBuf>, std::io::Error> {
    let Some(folder) = env::var_os("UNTORN_CORPUS") else {
        return Ok(Vec::new());
    };
    let mut jars: Vec<PathBuf> = (fs::read_dir(folder)?)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "jar"))
        .collect();
    jars.sort();
    Ok(jars)
}

fn compile(sources: &Path) -> Result<tempfile::TempDir, Box<dyn Error>> {
    let out = tempfile::tempdir()?;
    let mut javac = Command::new(tool("javac"));
    javac.args(["-nowarn", "-g", "-d"]).arg(out.path());
    for file in fs::read_dir(sources)? {
        javac.arg(file?.path());
    }
    let done = javac.output()?;
    if done.status.success() {
        Ok(out)
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into())
    }
}

fn tool(name: &str) -> OsString {
    match env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(name).into_os_string(),
        None => name.into(),
    }
}
