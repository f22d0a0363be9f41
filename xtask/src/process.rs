//! Child processes: shown before they run, checked when they end.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::Error;

/// Cargo as it runs us: the same toolchain, and from the same folder, so that it builds where we were built.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    // What it told us of our own package: build scripts ask for such variables, and would run anew, with all that rests on
    // them, whenever a plain `cargo` comes after us.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(name);
        }
    }
    command
}

fn is_of_package(variable: &str) -> bool {
    [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_",
    ]
    .iter()
    .any(|of| variable.starts_with(of))
        || variable == "CARGO_PRIMARY_PACKAGE"
}

/// The command as one would type it, with programs by their file names.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str())];
    words.extend(command.get_args());
    let words: Vec<_> = words.into_iter().map(quoted).collect();
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty()
        || word.contains(|c: char| c.is_whitespace() || "'\"$\\|&;<>()*?`".contains(c))
    {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.into_owned()
    }
}

/// Runs the command with our own streams.
pub fn status(command: &mut Command) -> Result<ExitStatus, Error> {
    command.status().map_err(|source| Error::Start {
        command: shown(command),
        source,
    })
}

/// Runs the command with our own streams and demands success.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let status = status(command)?;
    demand_success(command, status)
}

/// Runs the command and returns its standard output, demanding success.
pub fn output(command: &mut Command) -> Result<Vec<u8>, Error> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start {
            command: shown(command),
            source,
        })?;
    demand_success(command, output.status)?;
    Ok(output.stdout)
}

/// Runs the command and demands success; what it says is shown, on standard error, only if it fails.
pub fn run_quietly(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(|source| Error::Start {
        command: shown(command),
        source,
    })?;
    if !output.status.success() {
        for said in [output.stdout, output.stderr] {
            eprint!("{}", String::from_utf8_lossy(&said));
        }
    }
    demand_success(command, output.status)
}

fn demand_success(command: &Command, status: ExitStatus) -> Result<(), Error> {
    if status.success() {
        Ok(())
    } else {
        Err(Error::Ended {
            command: shown(command),
            status,
        })
    }
}

/// Runs the command, passing its standard output on to `out` while `see` reads along, line by line.
pub fn follow(
    command: &mut Command,
    out: &mut impl Write,
    mut see: impl FnMut(&str),
) -> Result<ExitStatus, Error> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| Error::Start {
            command: shown(command),
            source,
        })?;
    let passed_on = match child.stdout.take() {
        Some(stdout) => pass_on(BufReader::new(stdout), out, &mut see),
        None => Ok(()),
    };
    if passed_on.is_err() {
        // Nobody reads any more: without this the child would block on a full pipe.
        let _ = child.kill();
    }
    let ended = child.wait();
    passed_on.and(ended).map_err(|source| Error::Stream {
        command: shown(command),
        source,
    })
}

fn pass_on(
    mut from: impl BufRead,
    out: &mut impl Write,
    see: &mut impl FnMut(&str),
) -> io::Result<()> {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&line)?;
        out.flush()?;
        see(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(())
}

/// The first of the named programs that one of the folders holds.
pub fn find_program(names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|candidate| candidate.is_file())
}

/// The folders of `PATH`.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_told_nothing_of_our_own_package() {
        let command = cargo(&["build"]);
        let removed: Vec<_> = (command.get_envs().filter(|(_, value)| value.is_none()))
            .map(|(name, _)| name.to_owned())
            .collect();
        assert!(
            removed.contains(&"CARGO_MANIFEST_DIR".into()),
            "{removed:?}"
        );
        assert!(is_of_package("CARGO_PKG_NAME") && !is_of_package("CARGO_HOME"));
    }

    #[test]
    fn a_shown_command_can_be_typed_again() {
        let mut command = Command::new("/opt/tools/untorn");
        command.args(["analyze", "my trace.std", "it's"]);
        assert_eq!(shown(&command), r"untorn analyze 'my trace.std' 'it'\''s'");
    }

    #[test]
    fn a_failing_child_is_an_error_that_names_it() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c 'exit 3'` ended with exit status: 3"
        );
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_that_names_it() {
        let error = run(&mut Command::new("untorn-no-such-program")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot start `untorn-no-such-program`"),
            "{error}"
        );
    }

    #[test]
    fn following_passes_bytes_on_shows_every_line_and_returns_the_status() {
        let (mut out, mut lines) = (Vec::new(), Vec::new());
        let mut command = Command::new("sh");
        command.args(["-c", r"printf 'one\n\377two\nthree'; exit 4"]);
        let status = follow(&mut command, &mut out, |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(out, b"one\n\xfftwo\nthree");
        assert_eq!(lines, ["one", "\u{fffd}two", "three"]);
        assert_eq!(status.code(), Some(4));
    }

    #[test]
    fn following_ends_with_an_error_when_nobody_takes_the_output() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = follow(&mut Command::new("yes"), &mut Closed, |_| ()).unwrap_err();
        assert!(
            error.to_string().starts_with("lost the output of `yes`"),
            "{error}"
        );
    }

    #[test]
    fn earlier_names_win_over_earlier_folders() {
        let root = tempfile::tempdir().unwrap();
        let folders = [root.path().join("a"), root.path().join("b")];
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(folders[0].join("second"), "").unwrap();
        std::fs::write(folders[1].join("first"), "").unwrap();
        assert_eq!(
            find_program(&["first", "second"], &folders),
            Some(folders[1].join("first"))
        );
        assert_eq!(find_program(&["third"], &folders), None);
    }
}
