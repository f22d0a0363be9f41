//! `cargo xtask test`: set-up, format, lints and every test, closed by the counts.

mod counts;

use std::io;
use std::process::ExitCode;

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;
use counts::Counts;

/// Checks format and lints, runs every test, and closes with the counts.
///
/// Sets up what is missing first (see `cargo xtask setup`).
/// The last line is `N passed, N failed, N skipped`, summed over all test programs.
/// A skipped test must state its reason, as in `#[ignore = "reason"]`, or the run fails.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask test --package untorn-trace --quick")]
pub struct Arguments {
    /// Check and test only this package; may be given several times
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,

    /// Run only the tests: leave out format and lints
    #[arg(long)]
    quick: bool,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    let mut setup = Setup::prepare()?;
    setup.prepare_tests(workspace)?;

    let mut complaints = Vec::new();
    if !arguments.quick {
        let clippy = [
            &["clippy", "--release", "--all-targets"],
            &*arguments.selection(),
            &["--", "-D", "warnings"],
        ];
        for (name, check) in [
            ("format", vec!["fmt", "--all", "--check"]),
            ("lints", clippy.concat()),
        ] {
            let mut command = process::cargo(&check);
            eprintln!("$ {}", shown(&command));
            if !process::status(setup.tell(&mut command))?.success() {
                complaints.push(format!("{name}: `{}` failed", shown(&command)));
            }
        }
    }

    let mut counts = Counts::default();
    let mut tests = process::cargo(
        &[
            &["test", "--release", "--no-fail-fast"],
            &*arguments.selection(),
        ]
        .concat(),
    );
    eprintln!("$ {}", shown(&tests));
    let status = process::follow(setup.tell(&mut tests), &mut io::stdout(), |line| {
        counts.see(line);
    })?;
    let counts = counts.finish();
    complaints.extend(counts.complaints());
    if !status.success() && counts.failed == 0 {
        complaints.push(format!("tests: `{}` ended with {status}", shown(&tests)));
    }

    for skip in &counts.skips {
        eprintln!("skipped: {skip}");
    }
    for complaint in &complaints {
        eprintln!("failed: {complaint}");
    }
    println!("{counts}");
    Ok(if complaints.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Arguments {
    fn selection(&self) -> Vec<&str> {
        if self.package.is_empty() {
            vec!["--workspace"]
        } else {
            self.package
                .iter()
                .flat_map(|name| ["--package", name])
                .collect()
        }
    }
}
