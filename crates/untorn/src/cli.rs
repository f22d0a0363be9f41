//! The command line, declared once: help, completions and the manual page come from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::check::CheckArgs;
use crate::selection::SelectionArgs;

/// Finds operations that other threads can tear apart.
#[derive(Debug, Parser)]
#[command(
    name = "untorn",
    version,
    about,
    after_help = "Exit status: 0 nothing found, 1 findings, 2 the tool failed or its input was bad."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Check(CheckArgs),
    Analyze(AnalyzeArgs),
    Trace(TraceArgs),
    Profile(ProfileArgs),
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Run analyses over recorded traces.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn analyze run.utr
  untorn analyze trace.std --with velodrome,atomizer --format json -o findings.json
  zcat trace.std.gz | untorn analyze -")]
pub struct AnalyzeArgs {
    /// Traces to analyze, .utr or STD text (also gz or zst), told apart by their content; - is standard input.
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct InputArgs {
    /// Skip and count lines of a text trace that cannot be understood, instead of failing.
    #[arg(long)]
    pub lenient: bool,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// The form of the findings.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the findings to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print counts of what was seen and done.
    #[arg(long)]
    pub stats: bool,
    /// Exit with 0 also when there are findings.
    #[arg(long)]
    pub exit_zero: bool,
    /// Print headlines only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print all the evidence.
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Look into a trace, or change its form.
#[derive(Debug, Args)]
pub struct TraceArgs {
    #[command(subcommand)]
    pub command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Say what a trace holds.
    #[command(after_help = "Example:\n  untorn trace info run.utr")]
    Info {
        #[arg(value_name = "TRACE", default_value = "-")]
        trace: PathBuf,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Print a trace as STD text.
    #[command(after_help = "Example:\n  untorn trace cat run.utr | head")]
    Cat {
        #[arg(value_name = "TRACE", default_value = "-")]
        trace: PathBuf,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Write a trace in another form, chosen by the ending of OUT: .utr, or .std for text.
    #[command(after_help = "Example:\n  untorn trace convert trace.std run.utr")]
    Convert {
        #[arg(value_name = "TRACE")]
        trace: PathBuf,
        #[arg(value_name = "OUT")]
        out: PathBuf,
        /// Do not compress the chunks of a .utr file.
        #[arg(long)]
        no_compress: bool,
        #[command(flatten)]
        input: InputArgs,
    },
}

/// Work with profiles of first runs.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    #[command(subcommand)]
    pub command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Unite the profiles of several first runs, in any order.
    #[command(after_help = "Example:\n  untorn profile merge a.prof b.prof -o all.prof")]
    Merge {
        #[arg(required = true, value_name = "PROFILE")]
        profiles: Vec<PathBuf>,
        /// Write the united profile to this file instead of standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Generate shell completions and manual pages.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(subcommand)]
    pub what: Generate,
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Print a completion script.
    Completions { shell: clap_complete::Shell },
    /// Write manual pages into a folder.
    Man { folder: PathBuf },
}
