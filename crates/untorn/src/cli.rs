//! The command line, declared once: help, completions and the manual page come from here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::archive::{ArchiveArgs, ArchiveCommand};
use crate::commands::check::CheckArgs;
use crate::commands::exercise::{ExerciseArgs, SandboxArgs};
use crate::commands::infer::InferArgs;
use crate::commands::reproduce::ReproduceArgs;
use crate::duration;
use crate::lsp::LspArgs;
use crate::selection::{SelectionArgs, Switch};

/// Finds operations that other threads can tear apart.
#[derive(Debug, Parser)]
#[command(
    name = "untorn",
    version,
    about,
    after_help = "Exit status: 0 nothing to repair, 1 findings (see --fail-on), 2 the tool failed or its input was bad."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Status(StatusArgs),
    Reproduce(ReproduceArgs),
    Record(RecordArgs),
    Check(CheckArgs),
    Exercise(ExerciseArgs),
    Infer(InferArgs),
    Analyze(AnalyzeArgs),
    Trace(TraceArgs),
    Refine(RefineArgs),
    Spec(SpecArgs),
    Profile(ProfileArgs),
    Report(ReportArgs),
    Lsp(LspArgs),
    Archive(ArchiveCommand),
    #[command(hide = true)]
    Generate(GenerateArgs),
    #[command(hide = true)]
    Sandbox(SandboxArgs),
}

/// Run analyses over recorded traces.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn analyze run.utr
  untorn analyze trace.std --with velodrome,atomizer --format json -o findings.json
  zcat trace.std.gz | untorn analyze -

Runs aerodrome, atomizer and views unless --with says otherwise.")]
pub struct AnalyzeArgs {
    /// Traces to analyze, .utr or STD text (also gz or zst), told apart by their content; - is standard input.
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Class files of the program, a folder or a jar; may be repeated. A trace has none, and findings are ranked by what their code does.
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<PathBuf>,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub input: InputArgs,
    /// Leave out regions that stay open for long, from then on, as a run does with those that only its default rule proposes.
    #[arg(long)]
    pub demote: bool,
    /// Read each trace for at most so long, such as 5m, and report of what was read; so does Ctrl-C.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub budget: Option<Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct InputArgs {
    /// Skip and count lines of a text trace that cannot be understood, instead of failing.
    #[arg(long)]
    pub lenient: bool,
}

#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// The form of the findings; default: by the ending of the output file, else text.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the findings to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print counts of what was seen and done.
    #[arg(long)]
    pub stats: bool,
    /// Exit with 0 also when there are findings: --fail-on none.
    #[arg(long)]
    pub exit_zero: bool,
    /// Print headlines only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print all the evidence.
    #[arg(short, long)]
    pub verbose: bool,
    /// What is shown; default: what is ranked high or medium, and one line for the rest.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub show: Option<ShowArg>,
    /// Which findings make the status 1.
    #[arg(long, value_enum, default_value_t = FailOn::Worth, value_name = "WHAT")]
    pub fail_on: FailOn,
    /// Show at most so many findings.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Show source lines from this folder, and honour @SuppressWarnings("untorn") and /*# no_warn */ in it.
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Report only what these saved findings do not have.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Append a summary in Markdown to this file, such as $GITHUB_STEP_SUMMARY.
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// The project's file; default: the first untorn.toml from here upward.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveArgs,
}

/// What of the findings is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ShowArg {
    /// Every finding.
    All,
    /// Only what a run showed torn.
    Observed,
    /// What types could not prove and nobody suspects, instead of findings.
    Unproved,
}

/// Which findings make the status 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FailOn {
    /// What is ranked high, and what was observed and is not ranked low.
    Worth,
    /// What a run showed torn, whatever its rank.
    Observed,
    /// What is ranked high.
    High,
    /// Every finding.
    Any,
    /// Nothing.
    None,
    /// As worth, and what has a stronger verdict than in the baseline.
    Stronger,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
    /// One page for a browser, complete in itself.
    Html,
    /// The code quality report of GitLab.
    Gitlab,
    /// JUnit's XML, for build servers.
    Junit,
}

/// Show saved findings in any form, united, or what changed between two of them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn report findings.json -o report.html --source src/main/java
  untorn report monday.json tuesday.json --format sarif -o all.sarif
  untorn report --diff before.json after.json
  untorn report --archive /srv/untorn -o trends.html")]
pub struct ReportArgs {
    /// Findings that were saved with --format json; - is standard input.
    ///
    /// Without them, --archive names an archive of many runs, of which a page is written.
    #[arg(required_unless_present = "archive", value_name = "FINDINGS")]
    pub findings: Vec<PathBuf>,
    /// Say what the second file has that the first has not, and the other way round.
    #[arg(long)]
    pub diff: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Run a program and watch its JVMs; report at its end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn run -- java -jar app.jar
  untorn run --include 'com.acme.**' -- mvn test
  untorn run --fast --exit-code program -- ./start.sh

Runs doublechecker, atomizer and views unless --with or --fast says otherwise.
Exits with 1 if there are findings, else with the program's own status (128 + n if signal n killed it).
The agent goes into the command line of java; any other command gets it through JAVA_TOOL_OPTIONS,
and then each JVM says \"Picked up JAVA_TOOL_OPTIONS\" on standard error.")]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Only what can be seen torn in this run, as fast as possible: --with doublechecker.
    #[arg(long, conflicts_with = "with")]
    pub fast: bool,
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Run the program again, steered, until what is suspected was observed or 60 s have passed: as untorn reproduce.
    #[arg(long, conflicts_with_all = ["plan", "mode"])]
    pub reproduce: bool,
    /// Hold threads up as these plans say (see untorn reproduce), and look only for what can be seen torn: --fast.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["with", "mode"])]
    pub plan: Option<PathBuf>,
    /// Report what is torn in libraries, build tools, test frameworks and language runtimes, too.
    #[arg(long)]
    pub all_code: bool,
    /// Write what was found so far every so often, such as 5m, where the last report will be; so does the signal USR1, once.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, conflicts_with = "mode")]
    pub report_every: Option<Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Whose status to exit with: untorn's if there are findings and else the program's, or always that of one of them.
    #[arg(long, value_enum, default_value_t = StatusOf::Both, value_name = "both|untorn|program")]
    pub exit_code: StatusOf,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Show what an untorn run that goes on has found so far; its program is not stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn status
  untorn status 4711 -o so-far.html --source src/main/java

The signal USR1 to the run does the same where its report goes: kill -USR1 4711.")]
pub struct StatusArgs {
    /// The process of the run; needed only if several go on.
    #[arg(value_name = "PID")]
    pub pid: Option<u32>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Whose exit status counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StatusOf {
    /// 1 if there are findings, else the program's, so that a failing program fails the command.
    Both,
    /// Untorn's own, whatever became of the program.
    Untorn,
    /// The program's, whatever was found.
    Program,
}

/// Run a program and keep what its JVMs do as a trace.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn record -o run.utr -- java -jar app.jar
  untorn analyze run.utr

A second JVM of the same command is kept beside the first, with its process id in the name: run.4711.utr.
Exits with the program's status.")]
pub struct RecordArgs {
    /// The trace to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Do not compress the chunks of the trace.
    #[arg(long)]
    pub no_compress: bool,
    #[command(flatten)]
    pub watch: WatchArgs,
    /// What ought to be atomic: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Print counts of what was seen and done.
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub archive: ArchiveArgs,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// What of a program is watched.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Watch only these classes (a.b.C, a.b.*, a.**); default: every class outside the platform.
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Do not watch these classes.
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Watch array elements too.
    #[arg(long)]
    pub arrays: bool,
    /// How accesses are ordered: a lock per object, or threads that own objects until others ask (faster, and silent about objects that one thread alone uses).
    #[arg(long, value_enum, default_value_t = TrackingArg::Optimistic)]
    pub tracking: TrackingArg,
    /// Do not watch what these facts show to be of no matter: fields that never change, fields and locks of one thread (see untorn check --facts).
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    /// Do not watch JVMs that the program itself starts.
    #[arg(long)]
    pub no_children: bool,
    /// Record entry and exit of every watched method, so that reports have full call stacks.
    #[arg(long)]
    pub stacks: bool,
}

/// The two stages of tracking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TrackingArg {
    Pessimistic,
    Optimistic,
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

/// Find out by repeated runs which regions are really atomic.
///
/// Each trial runs the program and takes every region that was torn, or that completed a cycle of regions, out of the specification, until nothing is in so many trials.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  untorn refine -o atomic.toml -- java -jar app.jar
  untorn refine --trials 5 --jobs 2 -o atomic.toml -- java -cp classes app.Main
  untorn refine --resume -o atomic.toml -- java -jar app.jar
  untorn refine --from-all-methods --first-runs 10 --include 'com.acme.**' -o atomic.toml -- java -jar app.jar

FILE is written after every trial, so nothing is lost by an interrupt.
Beside it, FILE.findings.json holds the evidence of each region taken out.")]
pub struct RefineArgs {
    /// The refined specification.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The specification to begin with.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub spec: Option<PathBuf>,
    /// Begin with every method but thread entries and those that wait: heuristic = "all-methods".
    #[arg(long, conflicts_with = "resume")]
    pub from_all_methods: bool,
    /// Go on with the specification that an earlier refinement left in FILE.
    #[arg(long)]
    pub resume: bool,
    /// How many trials in a row must find nothing torn.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// How many trials run at a time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: u32,
    /// The exact analysis that blames.
    #[arg(long, value_enum, default_value_t = Blamer::Doublechecker)]
    pub with: Blamer,
    /// Make of each trial so many first runs, and a second one that looks only at what they suspect.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub first_runs: u32,
    /// Whether locks, forks, joins and other synchronization order transactions, or data alone does.
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "on|off")]
    pub sync_edges: Switch,
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Refine what is in libraries, build tools, test frameworks and language runtimes, too.
    #[arg(long)]
    pub all_code: bool,
    /// Show what the program prints.
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    pub archive: ArchiveArgs,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Blamer {
    Doublechecker,
    Velodrome,
    Aerodrome,
}

/// See and combine specifications of what ought to be atomic.
#[derive(Debug, Args)]
pub struct SpecArgs {
    #[command(subcommand)]
    pub command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub enum SpecCommand {
    /// List the regions of classes, and the rule that made each one.
    #[command(after_help = "Example:\n  untorn spec show app.jar --spec untorn.toml")]
    Show {
        /// Jars, folders and class files.
        #[arg(required = true, value_name = "CLASSES")]
        classes: Vec<PathBuf>,
        /// The specification; without one, the heuristic auto.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        /// List also what is no region, and why.
        #[arg(long)]
        all: bool,
        /// List what a check looks at instead of a run: the heuristic auto proposes less there.
        #[arg(long)]
        check: bool,
    },
    /// Print the specification whose regions are in all of the given ones.
    #[command(after_help = "Example:\n  untorn spec intersect a.toml b.toml > both.toml")]
    Intersect {
        #[arg(required = true, value_name = "SPEC")]
        specs: Vec<PathBuf>,
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
    /// Print the JSON schema of saved findings, of untorn.toml or of plans.
    Schema { of: SchemaOf },
    /// Print where the agent's library is, for -agentpath; it is unpacked first if need be.
    Agent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SchemaOf {
    Findings,
    Config,
    Plan,
}
