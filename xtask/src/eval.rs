//! `cargo xtask eval`: what Untorn finds in programs whose bugs are known, as a page with tables and charts.
//!
//! Subjects, and what is expected of them, are data in the folder `evaluation`; jars come from the pinned corpus.
//! What was measured of a subject is kept in `evaluation/measured`, so that `--only` renews its rows and leaves the others, on any machine.

mod bugs;
mod chart;
mod page;
mod papers;
mod peers;
mod scenarios;
mod subjects;
mod tables;
mod untorn;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus;
use crate::error::Error;
use crate::setup::Setup;
use crate::workspace::Workspace;
use subjects::Subjects;
use untorn::Untorn;

/// Looks for known bugs in released libraries and in programs written for this, and writes docs/evaluation-runs.md.
///
/// Every subject is looked at in a bounded time.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask eval --only netty-constants elevator")]
pub struct Arguments {
    /// Renew what is known of these subjects only
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// One run instead of three, and none that is steered
    #[arg(long)]
    quick: bool,
    /// Use what is built already
    #[arg(long)]
    no_build: bool,
    /// Look at nothing; write the page from what is known
    #[arg(long)]
    page: bool,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    let subjects = Subjects::of(workspace.root())?;
    let kept = Kept {
        folder: workspace.root().join("evaluation/measured"),
    };
    if !arguments.page {
        let mut setup = Setup::prepare()?;
        if !arguments.no_build {
            Workspace::build(&setup)?;
        }
        let wanted = |name: &str| {
            arguments.only.is_empty() || arguments.only.iter().any(|only| only == name)
        };
        for bug in subjects.bugs.iter().filter(|bug| wanted(&bug.name)) {
            let mut fetch = |name| corpus::fetch_with_needs(name, &mut setup, workspace);
            let (torn, repaired) = (fetch(&bug.torn)?, fetch(&bug.repaired)?);
            let (spotbugs, error_prone) = (
                fetch(peers::spotbugs::JAR)?,
                fetch(peers::error_prone::JAR)?,
            );
            let jars = bugs::Jars {
                torn,
                repaired,
                sources: corpus::fetch_sources(&bug.torn, &mut setup, workspace)?,
                spotbugs,
                error_prone,
            };
            let untorn = Untorn::new(workspace, &setup, arguments.quick)?;
            eprintln!("{}", bug.name);
            let outcome = bugs::look_at(bug, &jars, &untorn)?;
            eprintln!("  {}", bugs::in_short(&outcome));
            kept.put(&bug.name, &outcome)?;
        }
        for scenario in subjects.scenarios.iter().filter(|s| wanted(&s.name)) {
            let untorn = Untorn::new(workspace, &setup, arguments.quick)?;
            eprintln!("{}", scenario.name);
            let outcome = scenarios::look_at(scenario, &untorn)?;
            eprintln!("  {}", scenarios::in_short(scenario, &outcome));
            kept.put(&scenario.name, &outcome)?;
        }
    }
    page::write(&subjects, &kept, &workspace.root().join("docs"))?;
    Ok(ExitCode::SUCCESS)
}

/// What was measured, a file for each subject.
struct Kept {
    folder: PathBuf,
}

impl Kept {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name).with_extension("json")
    }

    fn put(&self, name: &str, outcome: &impl Serialize) -> Result<(), Error> {
        fs::create_dir_all(&self.folder).map_err(Error::in_file("create", &self.folder))?;
        let file = self.file(name);
        let mut text = serde_json::to_vec_pretty(outcome).map_err(|source| Error::Answer {
            command: format!("cargo xtask eval --only {name}"),
            source,
        })?;
        text.push(b'\n');
        fs::write(&file, text).map_err(Error::in_file("write", &file))
    }

    /// What is known of a subject; nothing if it was not looked at, or by another version of this command.
    fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.file(name)).ok()?).ok()
    }
}

/// A folder that is empty.
fn fresh(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::in_file("remove", folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::in_file("create", folder))
}
