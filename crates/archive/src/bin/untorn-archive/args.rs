//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
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
    /// Findings saved with --format json, or profiles of first runs; a folder stands for the .json files in it.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
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
