//! `cargo xtask model`: searches the model of the agent's tracking protocol beyond what the tests do.

use std::process::ExitCode;

use crate::error::Error;
use crate::process::{self, shown};
use crate::workspace::Workspace;

/// Searches every state of the model of the tracking protocol.
///
/// The tests search the small scenarios; this searches the large ones too, which takes minutes and some gigabytes.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask model --without SeeFence")]
pub struct Arguments {
    /// Parts of the names of scenarios, and checks to leave out
    #[arg(
        value_name = "NAME",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    names: Vec<String>,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    if !workspace.has_crate("protocol") {
        return Err(Error::Absent {
            what: "crates/protocol",
            needed_for: "its program `untorn-protocol` holds the model",
        });
    }
    let mut model = process::cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "untorn-protocol",
        "--",
    ]);
    model.args(&arguments.names);
    eprintln!("$ {}", shown(&model));
    process::run(&mut model)?;
    Ok(ExitCode::SUCCESS)
}
