//! `untorn generate`: what packagers need, made from the declared command line.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Generate, GenerateArgs};
use crate::failure::Failure;

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
    }
    Ok(ExitCode::SUCCESS)
}
