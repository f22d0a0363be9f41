//! `cargo xtask corpus`: programs that nobody here wrote, by pinned coordinates, for tests and measurements.
//!
//! The jars themselves are never in the repository: they are fetched into the build folder and checked against their pins.

pub mod checksum;
mod fetch;
mod list;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;
use list::{Jar, List};
use verify::Verify;

/// Fetches pinned jars and runs checks over them.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask corpus fetch h2 caffeine")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say which jars are pinned
    List,
    /// Fetch jars with what they need, and print their paths, one a line
    Fetch {
        /// Which ones; all without a name
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Fetch one jar if it is missing, and print its path
    Path {
        #[arg(value_name = "NAME")]
        name: String,
        /// Print a class path: the jar and all that it needs
        #[arg(long)]
        class_path: bool,
    },
    /// Read and write back every class of the jars and of the JDKs found, and compare the bytes
    Roundtrip {
        /// Which jars; all of them and the JDKs without a name
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Load and verify every class of the jars and of the JDKs found, rewritten by the agent in every way
    Verify {
        /// Which jars; all of them and the JDKs without a name
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Run drivers over the jars with and without the agent, in every way on every JDK, and compare what they print
    Harmless {
        /// Which drivers, such as h2 or netty; all of them without a name
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    let list = List::of(workspace)?;
    match &arguments.action {
        Action::List => {
            for jar in list.select(&[])? {
                println!(
                    "{:<20} {}{}",
                    jar.name,
                    jar.artifact,
                    if list.in_slice(jar) { "  (tests)" } else { "" }
                );
            }
        }
        Action::Fetch { names } => {
            for path in fetched(&list.select(names)?, &mut Setup::prepare()?, workspace)? {
                println!("{}", path.display());
            }
        }
        Action::Path { name, class_path } => {
            let jars = list.select(std::slice::from_ref(name))?;
            // The named jar stands first, what it needs behind it.
            let wanted = if *class_path { &jars[..] } else { &jars[..1] };
            let paths = fetched(wanted, &mut Setup::prepare()?, workspace)?;
            let shown: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
            println!("{}", shown.join(if cfg!(windows) { ";" } else { ":" }));
        }
        Action::Roundtrip { names } => roundtrip(names, &list, workspace)?,
        Action::Verify { names } => {
            let mut setup = Setup::prepare()?;
            let jars = fetched(&list.select(names)?, &mut setup, workspace)?;
            Workspace::build(&setup)?;
            let verify = Verify {
                setup: &setup,
                workspace,
                folder: workspace.cache("corpus-classes"),
            };
            verify.run(&jars, names.is_empty())?;
        }
        Action::Harmless { names } => harmless(names, workspace)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Fetches the few jars that tests use, and returns the folder they are in.
pub fn fetch_slice(setup: &mut Setup, workspace: &Workspace) -> Result<PathBuf, Error> {
    let list = List::of(workspace)?;
    let jars = list.slice()?;
    fetched(&jars, setup, workspace)?;
    let folder = fetch::folder(workspace);
    eprintln!("{} pinned jars for tests: {}", jars.len(), folder.display());
    Ok(folder)
}

/// Fetches the jars to measure; returns the folder they are in, and their names in order, each followed by `+` and what it needs.
pub fn fetch_measured(
    setup: &mut Setup,
    workspace: &Workspace,
) -> Result<(PathBuf, String), Error> {
    let list = List::of(workspace)?;
    let mut names = Vec::new();
    for jars in list.measured()? {
        fetched(&jars, setup, workspace)?;
        let with: Vec<&str> = jars.iter().map(|jar| jar.name.as_str()).collect();
        names.push(with.join("+"));
    }
    Ok((fetch::folder(workspace), names.join(",")))
}

/// Fetches one jar and what it needs; the jar comes first.
pub fn fetch_with_needs(
    name: &str,
    setup: &mut Setup,
    workspace: &Workspace,
) -> Result<Vec<PathBuf>, Error> {
    let list = List::of(workspace)?;
    let jars = list.select(&[name.to_owned()])?;
    fetched(&jars, setup, workspace)
}

/// Fetches the sources of one jar; nothing if none are pinned.
pub fn fetch_sources(
    name: &str,
    setup: &mut Setup,
    workspace: &Workspace,
) -> Result<Option<PathBuf>, Error> {
    let list = List::of(workspace)?;
    let jars = list.select(&[name.to_owned()])?;
    let Some(sources) = jars.first().and_then(|jar| jar.sources()) else {
        return Ok(None);
    };
    Ok(fetched(&[&sources], setup, workspace)?.pop())
}

fn fetched(jars: &[&Jar], setup: &mut Setup, workspace: &Workspace) -> Result<Vec<PathBuf>, Error> {
    fetch::fetch(jars, &fetch::folder(workspace), |jars, into, attempt| {
        let maven = setup.maven()?;
        fetch::with_maven(&maven, setup, jars, into, attempt)
    })
}

fn roundtrip(names: &[String], list: &List, workspace: &Workspace) -> Result<(), Error> {
    if !workspace.has_example("classfile", "roundtrip") {
        return Err(Error::Absent {
            what: "crates/classfile/examples/roundtrip.rs",
            needed_for: "it reads class files and writes them back",
        });
    }
    let mut setup = Setup::prepare()?;
    let mut inputs = fetched(&list.select(names)?, &mut setup, workspace)?;
    if names.is_empty() {
        let folder = workspace.cache("corpus-classes");
        for (number, home) in setup.jdk_homes().enumerate() {
            inputs.push(verify::image(
                home,
                &folder.join(format!("image-{number}")),
            )?);
        }
    }
    let mut command = process::cargo(&[
        "run",
        "--release",
        "--package",
        "untorn-classfile",
        "--example",
        "roundtrip",
        "--",
    ]);
    command.args(&inputs);
    eprintln!("$ {}", shown(&command));
    process::run(setup.tell(&mut command))
}

/// The tests of harmlessness, with nothing left out.
fn harmless(names: &[String], workspace: &Workspace) -> Result<(), Error> {
    let mut setup = Setup::prepare()?;
    let folder = fetch_slice(&mut setup, workspace)?;
    let mut command = process::cargo(&[
        "test",
        "--release",
        "--package",
        "untorn",
        "--test",
        "harmless",
        "--",
        "--nocapture",
        "drivers",
    ]);
    command.env("UNTORN_CORPUS", folder);
    command.env(
        "UNTORN_HARMLESS",
        if names.is_empty() {
            "all".to_owned()
        } else {
            names.join(",")
        },
    );
    eprintln!("$ {}", shown(&command));
    process::run(setup.tell(&mut command))
}
