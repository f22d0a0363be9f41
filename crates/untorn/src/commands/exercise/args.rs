//! The options of `untorn exercise`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::OutputArgs;
use crate::commands::reproduce::duration;

/// Make clients for a library, and show which of its methods are visibly torn.
///
/// Objects are made and brought into states by random calls; then two threads call a method each, one within the other.
/// An outcome that neither order of the two calls gives is a visible tear.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn exercise library.jar
  untorn exercise library.jar --classpath lib/a.jar --tests src/test/java
  untorn exercise --jdk-class java.lang.StringBuffer --budget 20s
  untorn check app.jar --exercise

What is called runs in a JVM of its own, which can change files only in a temporary folder and has no TCP, as far as the kernel allows.")]
pub struct ExerciseArgs {
    /// Folders, jars and class files to exercise.
    #[arg(required_unless_present = "jdk_class", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folders and jars of classes that are used but not exercised.
    #[arg(long, value_name = "CP")]
    pub classpath: Option<String>,
    /// The JDK to use; otherwise that of JAVA_HOME or on the PATH.
    #[arg(long, value_name = "DIR")]
    pub jdk: Option<PathBuf>,
    /// A class of the JDK to exercise; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub jdk_class: Vec<String>,
    /// Findings that were saved with --format json, instead of those of a check.
    #[arg(long, value_name = "FILE")]
    pub findings: Vec<PathBuf>,
    /// Exercise only methods whose name, as Class.method, contains this; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Also methods that nobody suspects, of classes that expect threads; so anyway if nothing is suspected.
    #[arg(long)]
    pub all: bool,
    /// What ought to be atomic: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// End earlier than the number of tries does: 60s, 5m, or seconds.
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    pub budget: Duration,
    #[command(flatten)]
    pub effort: EffortArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What to write, and what it depends on.
#[derive(Clone, Debug, Args)]
pub struct EffortArgs {
    /// Write a JUnit 5 test for every visible tear to this folder.
    #[arg(long, value_name = "DIR")]
    pub tests: Option<PathBuf>,
    /// What random choices depend on.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How often to go through all pairs of methods, from more states and at more points each time.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub rounds: u32,
}

/// Limit a process, and become a command.
#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// The folder that may be written to.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The command.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}
