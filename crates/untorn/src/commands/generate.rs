//! `untorn generate`: what packagers need, made from the declared command line.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Generate, GenerateArgs, SchemaOf};
use crate::embedded::agent_library;
use crate::failure::Failure;
use crate::output::print;

pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    match &args.what {
        Generate::Completions { shell } => {
            clap_complete::generate(*shell, &mut command, "untorn", &mut io::stdout());
        }
        Generate::Man { folder } => {
            std::fs::create_dir_all(folder).map_err(|source| Failure::file(folder, source))?;
            clap_mangen::generate_to(command, folder)
                .map_err(|source| Failure::file(folder, source))?;
        }
        Generate::Schema { of } => print(&match of {
            SchemaOf::Findings => untorn_findings::schema()?,
            SchemaOf::Config => untorn_config::schema()?,
            SchemaOf::Plan => untorn_plan::schema()?,
        })?,
        Generate::Agent => print(&format!("{}\n", agent_library()?.display()))?,
    }
    Ok(ExitCode::SUCCESS)
}
