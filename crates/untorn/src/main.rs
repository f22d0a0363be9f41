//! `untorn`: finds operations of JVM programs that other threads can tear apart.
//!
//! *Invariant.* Only this crate knows flags, files and terminals, and only it prints.

mod archive;
mod budget;
mod cache;
mod cli;
mod code;
mod commands;
mod declared;
mod duration;
mod embedded;
mod failure;
mod interim;
mod library;
mod lsp;
mod output;
mod partial;
mod progress;
mod project;
mod properties;
mod selection;
mod whose;

use std::process::ExitCode;

use cli::Command;
use failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let result = project::parse().and_then(|cli| {
        if matches!(cli.command, Command::Check(_) | Command::Analyze(_)) {
            // Without it, Ctrl-C ends the command as it ends others.
            untorn_live::interrupt::catch_first().ok();
        }
        run(cli.command)
    });
    match result {
        Ok(status) => status,
        // Whoever reads our output may stop early; that is no failure of ours.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("untorn: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Record(args) => commands::record::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Exercise(args) => commands::exercise::run(&args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Trace(args) => commands::trace::run(&args),
        Command::Refine(args) => commands::refine::run(&args),
        Command::Spec(args) => commands::spec::run(&args),
        Command::Profile(args) => commands::profile::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Archive(args) => archive::run(&args),
        Command::Sandbox(args) => commands::exercise::sandbox(&args),
        Command::Generate(args) => commands::generate::run(&args),
    }
}
