//! `cargo xtask bench`: builds and runs the benchmark program, which knows the benchmarks by name.

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
    eprintln!("$ {}", shown(&bench));
    process::run(setup.tell(&mut bench))?;
    Ok(ExitCode::SUCCESS)
}
