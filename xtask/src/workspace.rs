//! What cargo knows of this workspace: its root, where it builds to, and which packages it has so far.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::Error;
use crate::process;

#[derive(Debug, Deserialize)]
pub struct Workspace {
    #[serde(rename = "workspace_root")]
    root: PathBuf,
    #[serde(rename = "target_directory")]
    target: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Workspace {
    pub fn of_current_folder() -> Result<Self, Error> {
        let described = process::output(process::cargo().args([
            "metadata",
            "--no-deps",
            "--format-version=1",
        ]))?;
        Self::from_metadata(&described)
    }

    fn from_metadata(described: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(described).map_err(Error::Metadata)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The build folder; cargo has already applied `CARGO_TARGET_DIR` and its own configuration.
    pub fn target(&self) -> &Path {
        &self.target
    }

    pub fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }

    pub fn has_example(&self, package: &str, example: &str) -> bool {
        self.packages
            .iter()
            .filter(|candidate| candidate.name == package)
            .any(|candidate| candidate.has_target("example", example))
    }

    /// The version of the package that holds the `untorn` program.
    pub fn product_version(&self) -> Option<&str> {
        self.packages
            .iter()
            .find(|package| package.has_target("bin", "untorn"))
            .map(|package| package.version.as_str())
    }

    /// A cargo command that works on this workspace wherever the caller stands.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = process::cargo();
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// The build that `demo`, `bench` and `dist` share.
    ///
    /// It names the whole workspace on purpose: cargo unifies features over the packages it is asked for,
    /// so asking for one package here and for all of them in `test` would compile dependencies twice.
    pub fn build(&self) -> Command {
        self.cargo(&["build", "--workspace", "--release"])
    }

    /// A file that the release build made.
    pub fn built(&self, file: &str) -> PathBuf {
        self.target.join("release").join(file)
    }

    /// The `untorn` program of the release build, if this workspace has one.
    pub fn untorn(&self) -> Result<PathBuf, Error> {
        if self.product_version().is_none() {
            return Err(Error::Absent {
                what: "program `untorn`".to_owned(),
                needed_for: "it is the command line, which this task runs",
            });
        }
        Ok(self.built(&format!("untorn{}", std::env::consts::EXE_SUFFIX)))
    }
}

impl Package {
    fn has_target(&self, kind: &str, name: &str) -> bool {
        self.targets
            .iter()
            .any(|target| target.name == name && target.kind.iter().any(|k| k == kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "workspace_root": "/w", "target_directory": "/t", "version": 1,
        "packages": [
            {"name": "untorn", "version": "0.1.0", "targets": [{"name": "untorn", "kind": ["bin"]}]},
            {"name": "untorn-classfile", "version": "0.1.0", "targets": [
                {"name": "untorn_classfile", "kind": ["lib"]}, {"name": "roundtrip", "kind": ["example"]}]}
        ]}"#;

    #[test]
    fn packages_programs_and_examples_are_told_apart() {
        let workspace = Workspace::from_metadata(METADATA.as_bytes()).unwrap();
        assert!(workspace.has_package("untorn-classfile"));
        assert!(
            !workspace.has_package("untorn_classfile"),
            "a library is not a package"
        );
        assert!(workspace.has_example("untorn-classfile", "roundtrip"));
        assert!(
            !workspace.has_example("untorn", "roundtrip"),
            "the example of another package"
        );
        assert_eq!(workspace.product_version(), Some("0.1.0"));
        assert!(workspace.untorn().unwrap().starts_with("/t/release"));
    }

    #[test]
    fn a_workspace_without_the_program_says_so() {
        let workspace = Workspace::from_metadata(
            br#"{"workspace_root":"/w","target_directory":"/t","packages":[]}"#,
        )
        .unwrap();
        assert!(
            workspace
                .untorn()
                .unwrap_err()
                .to_string()
                .contains("no program `untorn` yet")
        );
    }

    #[test]
    fn children_build_where_cargo_said() {
        let workspace = Workspace::from_metadata(METADATA.as_bytes()).unwrap();
        let command = workspace.build();
        assert_eq!(command.get_current_dir(), Some(Path::new("/w")));
        assert!(command.get_envs().any(|(name, value)| {
            name == "CARGO_TARGET_DIR" && value.is_some_and(|value| value == "/t")
        }));
    }

    #[test]
    fn garbage_from_cargo_is_an_error() {
        assert!(matches!(
            Workspace::from_metadata(b"{"),
            Err(Error::Metadata(_))
        ));
    }
}
