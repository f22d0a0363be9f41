//! `cargo xtask bench`: builds and runs the benchmark program, which knows the benchmarks by name.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;

/// Runs benchmarks and prints ratios.
///
/// Without a name it runs them all.
/// Names and options go to the benchmark program as they are.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask bench trace")]
pub struct Arguments {
    /// Which benchmarks to run, and their options
    #[arg(
        value_name = "NAME",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    names: Vec<String>,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    if !workspace.has_crate("bench") {
        return Err(Error::Absent {
            what: "crates/bench",
            needed_for: "its program `untorn-bench` holds the benchmarks",
        });
    }
    let mut setup = Setup::prepare()?;
    Workspace::build(&setup)?;
    let mut bench = Command::new(workspace.program("untorn-bench"));
    bench.args(&arguments.names);
    if arguments.names.is_empty() || arguments.names.iter().any(|name| name == "agent") {
        // Programs are run that stand on the pinned jars.
        bench.env(
            "UNTORN_CORPUS",
            crate::corpus::fetch_slice(&mut setup, workspace)?,
        );
    }
    if arguments.names.iter().any(|name| name == "check") {
        let (folder, names) = crate::corpus::fetch_measured(&mut setup, workspace)?;
        bench.env("UNTORN_CORPUS", folder);
        bench.env("UNTORN_MEASURED", names);
    }
    if arguments.names.iter().any(|name| name == "--ballista") {
        bench.env("UNTORN_BALLISTA", ballista(workspace)?);
    }
    eprintln!("$ {}", shown(&bench));
    process::run(setup.tell(&mut bench))?;
    Ok(ExitCode::SUCCESS)
}

/// The version that stands on the same DataFusion as the archive.
const BALLISTA: &str = "55.0.0";

/// The folder with Ballista's programs: one that is named, or ours, into which they are installed once.
///
/// Building them takes as long as building all of Untorn, so nothing else asks for it.
fn ballista(workspace: &Workspace) -> Result<PathBuf, Error> {
    if let Some(folder) = std::env::var_os("UNTORN_BALLISTA") {
        return Ok(folder.into());
    }
    let folder = workspace.cache("ballista");
    for program in ["ballista-scheduler", "ballista-executor", "ballista-cli"] {
        if folder.join("bin").join(program).is_file() {
            continue;
        }
        let mut install = process::cargo(&["install", "--locked", "--version", BALLISTA, program]);
        install.arg("--root").arg(&folder);
        // Quick to build rather than quick: what is measured is that the answer is the same, and roughly how long it takes.
        install
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_TARGET_DIR", folder.join("build"));
        if program == "ballista-cli" {
            install.args(["--no-default-features", "--features", "cli"]);
        }
        eprintln!("$ {}", shown(&install));
        process::run(&mut install)?;
    }
    Ok(folder)
}
