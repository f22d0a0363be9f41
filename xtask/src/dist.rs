//! `cargo xtask dist`: what a user installs, in `dist/`.
//!
//! The program describes its own command line: `untorn generate completions SHELL` prints a completion script,
//! and `untorn generate man DIR` writes a page per command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::annotations;
use crate::error::Error;
use crate::process;
use crate::setup::Setup;
use crate::workspace::Workspace;

/// Shells, and the file name under which each looks for a completion script.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "untorn.bash"),
    ("zsh", "_untorn"),
    ("fish", "untorn.fish"),
    ("elvish", "untorn.elv"),
    ("powershell", "_untorn.ps1"),
];

/// Files of the repository that go with the program.
const DOCUMENTS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packs the program, the annotations jar, completions, man pages and licences into dist/.
///
/// What an earlier run left in dist/ is removed first.
#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(workspace: &Workspace) -> Result<ExitCode, Error> {
    let untorn = workspace.untorn()?;
    let setup = Setup::prepare()?;
    Workspace::build(&setup)?;

    let agent = workspace
        .has_crate("agent")
        .then(|| workspace.library("untorn_agent"));
    let jdk = setup.jdk_homes().next().ok_or(Error::Absent {
        what: "JDK",
        needed_for: "it compiles the annotations",
    })?;
    let jar = annotations::build(jdk, workspace.root(), &workspace.cache("annotations"))?;
    let dist = workspace.root().join("dist");
    pack(&untorn, agent.as_deref(), &jar, workspace.root(), &dist)?;
    for file in files_below(&dist)? {
        println!("{}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Fills `dist` anew; what an earlier run left is removed, so that nothing stale is shipped.
fn pack(
    untorn: &Path,
    agent: Option<&Path>,
    annotations: &Path,
    root: &Path,
    dist: &Path,
) -> Result<(), Error> {
    if dist.exists() {
        fs::remove_dir_all(dist).map_err(Error::in_file("remove", dist))?;
    }
    let [programs, libraries, completions, pages] =
        ["bin", "lib", "completions", "man"].map(|folder| dist.join(folder));
    for folder in [&programs, &libraries, &completions, &pages] {
        fs::create_dir_all(folder).map_err(Error::in_file("create", folder))?;
    }
    // The program looks for the agent's library beside itself.
    for built in [untorn].into_iter().chain(agent) {
        copy_into(&programs, built)?;
    }
    copy_into(&libraries, annotations)?;
    for document in DOCUMENTS {
        copy_into(dist, &root.join(document))?;
    }
    for (shell, file) in COMPLETIONS {
        let script =
            process::output(Command::new(untorn).args(["generate", "completions", shell]))?;
        let path = completions.join(file);
        fs::write(&path, script).map_err(Error::in_file("write", &path))?;
    }
    process::run(Command::new(untorn).args(["generate", "man"]).arg(&pages))
}

fn copy_into(folder: &Path, file: &Path) -> Result<(), Error> {
    let to = folder.join(file.file_name().unwrap_or_default());
    fs::copy(file, &to).map_err(Error::in_file("copy", file))?;
    Ok(())
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::in_file("list", &folder))? {
            let path = entry.map_err(Error::in_file("list", &folder))?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    const UNTORN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/untorn");

    fn packed(dist: &Path) -> Vec<String> {
        let files = files_below(dist).unwrap();
        files
            .iter()
            .map(|file| file.strip_prefix(dist).unwrap().display().to_string())
            .collect()
    }

    #[test]
    fn program_library_licences_completions_and_pages_are_packed_and_nothing_stale() {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        fs::create_dir(&dist).unwrap();
        fs::write(dist.join("stale"), "").unwrap();
        let agent = folder.path().join("libuntorn_agent.so");
        fs::write(&agent, "").unwrap();

        let jar = folder.path().join(annotations::JAR);
        fs::write(&jar, "").unwrap();

        pack(
            Path::new(UNTORN),
            Some(&agent),
            &jar,
            Path::new(ROOT),
            &dist,
        )
        .unwrap();

        assert_eq!(
            packed(&dist),
            [
                "LICENSE-APACHE",
                "LICENSE-MIT",
                "README.md",
                "bin/libuntorn_agent.so",
                "bin/untorn",
                "completions/_untorn",
                "completions/_untorn.ps1",
                "completions/untorn.bash",
                "completions/untorn.elv",
                "completions/untorn.fish",
                "lib/untorn-annotations.jar",
                "man/untorn.1",
            ]
        );
        assert_eq!(
            fs::read_to_string(dist.join("completions/_untorn")).unwrap(),
            "completions for zsh\n"
        );
    }

    #[test]
    fn a_library_that_was_not_built_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("libuntorn_agent.so");
        let error = pack(
            Path::new(UNTORN),
            Some(&agent),
            &folder.path().join(annotations::JAR),
            Path::new(ROOT),
            &folder.path().join("dist"),
        )
        .unwrap_err();
        assert!(
            error.to_string().contains("cannot copy")
                && error.to_string().contains("libuntorn_agent.so")
        );
    }
}
