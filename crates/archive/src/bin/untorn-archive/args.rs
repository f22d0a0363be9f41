//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use untorn_archive::Narrow;

/// Keep what many runs found, on a folder or an object store.
#[derive(Debug, Parser)]
#[command(
    name = "untorn-archive",
    version,
    after_help = "\
Examples:
  untorn run --format json -o nightly/1.json -- java -jar shop.jar
  untorn-archive import --archive /srv/untorn --project shop nightly/
  untorn-archive info --archive /srv/untorn

An archive is made of Parquet files that DuckDB, Spark, Trino and others read as they are; docs/archive.md has the columns and questions to ask.
Exits with 2 if a file could not be read; the others are used."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Import(Import),
    /// Answer a question in SQL.
    Query(Query),
    /// Show what is torn most, since when, and in which services.
    Top(Listing),
    /// Show what each day or version brought.
    Trend(Trend),
    /// Show what is found in the newest version and in none before it.
    New(New),
    /// Show what is torn in some runs and whole in others.
    Flaky(Listing),
    /// Show what was never torn in very many executions.
    Steady(Steady),
    /// Write the specification that held in all runs.
    Refine(Refine),
    /// Write a page with what is torn, what is new and how it went.
    Report(Report),
    /// Say what an archive holds, and which of its files cannot be read.
    Info(NarrowArgs),
    /// Unite the profiles of all first runs, for a second run.
    MergeProfile(Merge),
    /// Unite small files, safely beside writers and readers.
    Compact(Compact),
}

/// Put saved results into an archive.
#[derive(Debug, Args)]
#[command(after_help = "What is there already is not put there twice.")]
pub struct Import {
    /// Findings saved with --format json, or profiles of first runs; a folder stands for the .json files in it, - for findings on standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Take traces among the files, too, and keep every event of them.
    #[arg(long)]
    pub events: bool,
    /// The archive: a folder, or a URL s3://, gs:// or az:// with the usual environment.
    #[arg(long = "archive", value_name = "URL")]
    pub place: String,
    /// The project that they are filed under; default: the name of this folder.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Which program of the project it is.
    #[arg(long, value_name = "NAME")]
    pub service: Option<String>,
    /// The version of the program.
    #[arg(long, value_name = "VERSION")]
    pub program_version: Option<String>,
    /// The command that found them, where it hands them over itself.
    #[arg(long, value_name = "COMMAND", hide = true, default_value = "import")]
    pub by: String,
    /// Its options.
    #[arg(long, value_name = "OPTIONS", hide = true, allow_hyphen_values = true)]
    pub options: Option<String>,
}

#[derive(Debug, Args)]
pub struct NarrowArgs {
    /// The archive: a folder, or a URL s3://, gs:// or az:// with the usual environment.
    #[arg(long = "archive", value_name = "URL")]
    pub place: String,
    /// Only this project.
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only from this day on, as 2026-03-09.
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Only up to this day.
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
}

impl NarrowArgs {
    pub fn narrow(&self) -> Narrow {
        Narrow {
            project: self.project.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Tables: runs, regions, findings, profiles, events; docs/archive.md has their columns.\nExample: untorn-archive query --archive /srv/untorn \"SELECT verdict, count(*) FROM findings GROUP BY verdict\""
)]
pub struct Query {
    /// The question.
    #[arg(value_name = "SQL")]
    pub sql: String,
    #[command(flatten)]
    pub asking: Asking,
}

/// Where to ask, and in which form to answer.
#[derive(Debug, Args)]
pub struct Asking {
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Print the question in SQL instead of asking it.
    #[arg(long)]
    pub print_sql: bool,
    /// The form of the answer; default: by the ending of the output, else text.
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<Format>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Csv,
    Html,
}

#[derive(Debug, Args)]
pub struct Listing {
    /// How many rows to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    #[command(flatten)]
    pub asking: Asking,
}

#[derive(Debug, Args)]
pub struct Trend {
    /// A row for each version of the program instead of each day.
    #[arg(long)]
    pub by_version: bool,
    #[command(flatten)]
    pub asking: Asking,
}

#[derive(Debug, Args)]
pub struct New {
    /// Compare this version with those before it; default: the newest.
    #[arg(long, value_name = "VERSION")]
    pub program_version: Option<String>,
    #[command(flatten)]
    pub asking: Asking,
}

#[derive(Debug, Args)]
pub struct Steady {
    /// Executions without a tear that are enough.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub executions: u64,
    /// How many rows to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    #[command(flatten)]
    pub asking: Asking,
}

#[derive(Debug, Args)]
pub struct Refine {
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Start from this specification; default: the default rule.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Report {
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// The page.
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "untorn-archive.html"
    )]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Merge {
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Compact {
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Remove files that an earlier compaction replaced at least so many minutes ago.
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub grace: i64,
}
