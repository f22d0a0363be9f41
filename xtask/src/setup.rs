//! `cargo xtask setup`: finds or installs what the other tasks need, and tells their children by environment variables.
//!
//! | variable           | meaning                                                         |
//! |--------------------|-----------------------------------------------------------------|
//! | `JAVA_HOME`        | the JDK that builds and runs use                                |
//! | `UNTORN_TEST_JDKS` | every JDK that tests run on, the one above first, as in `PATH`  |
//! | `UNTORN_TEST_RUNTIMES` | Java runtimes of other releases, as in `PATH`               |
//! | `UNTORN_TEST_PYTHON` | a Python with DuckDB and an S3 server, for tests of the archive |
//! | `UNTORN_CORPUS`    | folder of pinned jars, `NAME.jar` each                          |
//! | `UNTORN_CHROMIUM`  | the browser that tests of the HTML report drive                 |

mod apt;
mod jdk;
mod python;
mod runtimes;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process::{find_program, search_path};
use crate::workspace::Workspace;
use apt::Apt;
use jdk::{Jdk, Search};

/// Finds a JDK (17 or later), or installs one with apt where it may.
///
/// Looks at `JAVA_HOME`, then `PATH`, then the usual places, and says what it found.
/// The other tasks do this by themselves; run it to see what they would use.
#[derive(clap::Args)]
#[command(
    after_help = "Example: eval \"$(cargo xtask setup --export)\" gives plain `cargo test` what `cargo xtask test` has."
)]
pub struct Arguments {
    /// Also print the variables as shell commands, with the small set of pinned jars fetched
    #[arg(long)]
    export: bool,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    let mut setup = Setup::prepare()?;
    if arguments.export {
        setup.prepare_tests(workspace)?;
        for (name, value) in &setup.variables {
            println!(
                "export {name}='{}'",
                value.to_string_lossy().replace('\'', r"'\''")
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What was found on this machine, and the means to add to it.
#[derive(Debug)]
pub struct Setup {
    apt: Apt,
    jdks: Vec<Jdk>,
    variables: Vec<(&'static str, OsString)>,
}

impl Setup {
    /// Finds the JDKs, installing one if there is none.
    pub fn prepare() -> Result<Self, Error> {
        let mut apt = Apt::of_this_machine();
        let jdks = find_or_install_jdks(&mut apt)?;
        eprintln!(
            "JDK {} for builds and runs: {}",
            jdks[0].version,
            jdks[0].home.display()
        );
        for other in &jdks[1..] {
            eprintln!(
                "JDK {} for tests as well: {}",
                other.version,
                other.home.display()
            );
        }
        if jdks.iter().all(|jdk| jdk.feature < jdk::NEWER) {
            eprintln!("JDK {} or later not found: tests leave it out.", jdk::NEWER);
        }
        let mut setup = Self {
            apt,
            variables: Vec::new(),
            jdks,
        };
        setup.export("JAVA_HOME", setup.jdks[0].home.clone());
        let homes: Vec<_> = setup.jdks.iter().map(|jdk| jdk.home.as_os_str()).collect();
        setup.export("UNTORN_TEST_JDKS", homes.join(path_separator()));
        Ok(setup)
    }

    /// Adds what tests need beyond the JDKs: Maven and Gradle for their example projects, what reads packages, pinned jars, and a browser once there are reports to open.
    pub fn prepare_tests(&mut self, workspace: &Workspace) -> Result<(), Error> {
        self.maven()?;
        self.gradle()?;
        self.program("dpkg-deb", &["dpkg-deb"], "dpkg")?;
        self.program("skopeo", &["skopeo"], "skopeo")?;
        let folder = crate::corpus::fetch_slice(self, workspace)?;
        self.export("UNTORN_CORPUS", folder);
        let runtimes = runtimes::fetch(&workspace.cache("runtimes"));
        let homes: Vec<_> = runtimes.iter().map(|home| home.as_os_str()).collect();
        self.export("UNTORN_TEST_RUNTIMES", homes.join(path_separator()));
        let python = python::fetch(&workspace.cache("python"))?;
        self.export("UNTORN_TEST_PYTHON", python);
        if workspace.has_crate("report") {
            let chromium = self.chromium()?;
            eprintln!("Chromium for tests of the report: {}", chromium.display());
            self.export("UNTORN_CHROMIUM", chromium);
        }
        Ok(())
    }

    fn export(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    /// Gives the command all that was found.
    pub fn tell<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }

    /// The JDKs to use, the main one first.
    pub fn jdk_homes(&self) -> impl Iterator<Item = &Path> {
        self.jdks.iter().map(|jdk| jdk.home.as_path())
    }

    pub fn maven(&mut self) -> Result<PathBuf, Error> {
        self.program("Maven", &["mvn"], "maven")
    }

    fn gradle(&mut self) -> Result<PathBuf, Error> {
        self.program("Gradle", &["gradle"], "gradle")
    }

    fn chromium(&mut self) -> Result<PathBuf, Error> {
        if let Some(chosen) = std::env::var_os("UNTORN_CHROMIUM").map(PathBuf::from)
            && chosen.is_file()
        {
            return Ok(chosen);
        }
        self.program(
            "Chromium",
            &["chromium", "chromium-browser", "google-chrome"],
            "chromium",
        )
    }

    fn program(
        &mut self,
        what: &'static str,
        names: &[&str],
        package: &str,
    ) -> Result<PathBuf, Error> {
        if let Some(found) = find_program(names, &search_path()) {
            return Ok(found);
        }
        let missing = |refusal| Error::Missing {
            what,
            refusal,
            remedy: format!(
                "Install it with `sudo apt-get install {package}` or put `{}` on PATH.",
                names[0]
            ),
        };
        self.apt
            .install(what, &[package])
            .map_err(|refusal| missing(refusal.to_string()))?;
        find_program(names, &search_path()).ok_or_else(|| {
            missing(format!(
                "apt installed {package}, but `{}` is not on PATH",
                names[0]
            ))
        })
    }
}

fn find_or_install_jdks(apt: &mut Apt) -> Result<Vec<Jdk>, Error> {
    let search = Search::of_this_machine();
    let found = search.jdks();
    if !found.is_empty() {
        return Ok(found);
    }
    let missing = |refusal| Error::Missing {
        what: jdk::NEEDED,
        refusal,
        remedy: format!(
            "Install one, for example with `sudo apt-get install {}`, or set JAVA_HOME to the folder of one.",
            jdk::PACKAGES[0]
        ),
    };
    apt.install(jdk::NEEDED, jdk::PACKAGES)
        .map_err(|refusal| missing(refusal.to_string()))?;
    let found = search.jdks();
    if found.is_empty() {
        return Err(missing("what apt installed holds no such JDK".to_owned()));
    }
    Ok(found)
}

fn path_separator() -> &'static std::ffi::OsStr {
    if cfg!(windows) { ";" } else { ":" }.as_ref()
}
