//! The commands of a contributor: `cargo xtask demo`, `test`, `bench`, `corpus`, `eval`, `model`, `dist`, `setup`.
//!
//! xtask uses none of the product's crates: it has to start on a machine where nothing is set up yet.
//! It looks at the machine once, tells its children what it found by environment variables, and runs cargo.
//! What it says itself goes to standard error; standard output carries what was asked for.

mod annotations;
mod bench;
mod corpus;
mod demo;
mod dist;
mod error;
mod eval;
mod model;
mod process;
mod setup;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Builds, shows, tests, measures and packs Untorn.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Demo(demo::Arguments),
    Test(test::Arguments),
    Bench(bench::Arguments),
    Corpus(corpus::Arguments),
    Eval(eval::Arguments),
    Model(model::Arguments),
    Dist(dist::Arguments),
    Setup(setup::Arguments),
}

fn main() -> ExitCode {
    let task = Arguments::parse().task;
    match run(&task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> Result<ExitCode, Error> {
    let workspace = workspace::Workspace::of_this_run()?;
    match task {
        Task::Demo(_) => demo::run(&workspace),
        Task::Test(arguments) => test::run(arguments, &workspace),
        Task::Bench(arguments) => bench::run(arguments, &workspace),
        Task::Corpus(arguments) => corpus::run(arguments, &workspace),
        Task::Eval(arguments) => eval::run(arguments, &workspace),
        Task::Model(arguments) => model::run(arguments, &workspace),
        Task::Dist(arguments) => dist::run(arguments, &workspace),
        Task::Setup(arguments) => setup::run(arguments, &workspace),
    }
}
