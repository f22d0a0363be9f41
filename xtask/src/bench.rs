//! `cargo xtask bench`: builds and runs the benchmark program, which knows the benchmarks by name.

use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;

const PACKAGE: &str = "untorn-bench";

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
    if !workspace.has_package(PACKAGE) {
        return Err(Error::Absent {
            what: format!("package `{PACKAGE}`"),
            needed_for: "it belongs in crates/bench and holds the benchmarks",
        });
    }
    let setup = Setup::prepare()?;
    process::run(setup.tell(&mut workspace.build()))?;
    let mut bench =
        Command::new(workspace.built(&format!("{PACKAGE}{}", std::env::consts::EXE_SUFFIX)));
    bench.args(&arguments.names).current_dir(workspace.root());
    eprintln!("$ {}", shown(&bench));
    process::run(setup.tell(&mut bench))?;
    Ok(ExitCode::SUCCESS)
}
