//! The archive of many runs, which a program of its own keeps: `untorn-archive`.
//!
//! So `untorn` carries neither columns nor object stores; it finds that program, and hands over what it found.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use untorn_findings::Document;

use crate::failure::Failure;

const PROGRAM: &str = "untorn-archive";

/// Where results are kept, beside being shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Archive")]
pub struct ArchiveArgs {
    /// Keep the results in this archive of many runs: a folder, or a URL s3://, gs:// or az:// with the usual environment.
    #[arg(long, value_name = "URL")]
    pub archive: Option<String>,
    /// The project that the archive files them under; default: the name of this folder.
    #[arg(long, value_name = "NAME", requires = "archive")]
    pub project: Option<String>,
    /// Which program of the project it is.
    #[arg(long, value_name = "NAME", requires = "archive")]
    pub service: Option<String>,
    /// The version of the program.
    #[arg(long, value_name = "VERSION", requires = "archive")]
    pub program_version: Option<String>,
}

/// Ask and keep an archive of many runs.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "What follows goes to untorn-archive as it is: import, query, top, trend, new, flaky, steady, merge-profile, refine, report, info, compact."
)]
pub struct ArchiveCommand {
    /// A command of the archive and its options; --help lists them.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub arguments: Vec<OsString>,
}

/// Runs the archive's program with these arguments.
pub fn run(args: &ArchiveCommand) -> Result<ExitCode, Failure> {
    let help = [OsString::from("--help")];
    let arguments = match args.arguments.as_slice() {
        [] => &help,
        arguments => arguments,
    };
    pass(arguments)
}

/// Writes the page of an archive.
pub fn report(place: &str, output: Option<&PathBuf>) -> Result<ExitCode, Failure> {
    let mut arguments: Vec<OsString> = ["report", "--archive", place].map(Into::into).into();
    if let Some(output) = output {
        arguments.extend(["--output".into(), output.into()]);
    }
    pass(&arguments)
}

fn pass(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let status = program()
        .args(arguments)
        .status()
        .map_err(|error| absent(&error))?;
    Ok(ExitCode::from(
        status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(2),
    ))
}

impl ArchiveArgs {
    /// Keeps what a command found, if that was asked for.
    pub fn keep(&self, document: &Document) -> Result<(), Failure> {
        let Some(mut import) = self.import() else {
            return Ok(());
        };
        let mut child =
            (import.arg("-").stdin(Stdio::piped()).spawn()).map_err(|error| absent(&error))?;
        let text = document.to_json()?;
        let written = child
            .stdin
            .take()
            .map(|mut input| input.write_all(text.as_bytes()));
        let done = child.wait().map_err(|error| absent(&error))?;
        self.said(done.success() && matches!(written, Some(Ok(()))))
    }

    /// Keeps every event of traces, if that was asked for.
    pub fn keep_traces(&self, traces: &[PathBuf]) -> Result<(), Failure> {
        let Some(mut import) = self.import() else {
            return Ok(());
        };
        let done = import.arg("--events").args(traces).status();
        self.said(done.map_err(|error| absent(&error))?.success())
    }

    /// What went wrong was said by the archive's program, on a line of its own.
    fn said(&self, done: bool) -> Result<(), Failure> {
        if done {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "the results are not in the archive {}; saved with -o, they can be put there by untorn archive import",
            self.archive.as_deref().unwrap_or_default()
        )))
    }

    /// The command that puts something into the archive that was asked for.
    fn import(&self) -> Option<Command> {
        let place = self.archive.as_ref()?;
        let mut import = program();
        import.args(["import", "--archive", place]);
        let own: Vec<String> = std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let (command, options) = described(&own);
        import.args(["--by", command, "--options", &options]);
        for (option, value) in [
            ("--project", &self.project),
            ("--service", &self.service),
            ("--program-version", &self.program_version),
        ] {
            if let Some(value) = value {
                import.args([option, value]);
            }
        }
        Some(import)
    }
}

/// The program beside this one, or else the one that the system finds.
fn program() -> Command {
    let beside = std::env::current_exe()
        .ok()
        .map(|own| own.with_file_name(PROGRAM));
    match beside.filter(|path| path.is_file()) {
        Some(path) => Command::new(path),
        None => Command::new(PROGRAM),
    }
}

fn absent(error: &std::io::Error) -> Failure {
    Failure::Usage(format!(
        "{PROGRAM} cannot be started ({error}): the packages have it, and cargo install --locked --path crates/archive installs it beside untorn"
    ))
}

/// The command, and Untorn's own options without the place of the archive; nothing of the program's command line.
fn described(own: &[String]) -> (&str, String) {
    let command = own.first().map_or("untorn", String::as_str);
    let mut options = Vec::new();
    let mut words = own.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => break,
            "--archive" => {
                words.next();
            }
            word if word.starts_with("--archive=") => {}
            word => options.push(word),
        }
    }
    (command, options.join(" "))
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn neither_the_program_nor_the_place_is_told() {
        let own = "run --fast --archive s3://bucket/x --stats -- java -Dpassword=x Main";
        let own: Vec<String> = own.split(' ').map(str::to_owned).collect();
        assert_eq!(described(&own), ("run", "--fast --stats".to_owned()));
    }
}
