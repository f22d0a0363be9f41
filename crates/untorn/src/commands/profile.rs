//! `untorn profile`: works with profiles of first runs.

use std::process::ExitCode;

use untorn_analyses::doublechecker::Profile;

use crate::cli::{ProfileArgs, ProfileCommand};
use crate::failure::Failure;
use crate::output::print;
use crate::selection::{read_profile, write_profile};

pub fn run(args: &ProfileArgs) -> Result<ExitCode, Failure> {
    let ProfileCommand::Merge { profiles, output } = &args.command;
    let mut all = Profile::default();
    for path in profiles {
        all.merge(&read_profile(path)?);
    }
    match output {
        Some(path) => write_profile(path, &all)?,
        None => print(&all.to_string())?,
    }
    Ok(ExitCode::SUCCESS)
}
