//! This workspace as it lies on disk: its root, where cargo builds it to, and which crates it has so far.
//!
//! Nothing here asks cargo, which would cost a dependency for reading its answer.
//! Cargo says where xtask's sources are, and xtask itself lies where cargo puts what it builds,
//! whatever `CARGO_TARGET_DIR` or a configuration file made of that.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::process;
use crate::setup::Setup;

#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// Where release builds go.
    built: PathBuf,
}

impl Workspace {
    pub fn of_this_run() -> Result<Self, Error> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or(Error::NotUnderCargo(
            "cargo did not say where the workspace is",
        ))?;
        let program = env::current_exe()
            .map_err(|_| Error::NotUnderCargo("cannot tell where cargo builds to"))?;
        Self::around(Path::new(&manifest), &program)
    }

    fn around(manifest: &Path, program: &Path) -> Result<Self, Error> {
        match (manifest.parent(), program.parent()) {
            (Some(root), Some(built)) => Ok(Self {
                root: root.to_owned(),
                built: built.to_owned(),
            }),
            _ => Err(Error::NotUnderCargo(
                "xtask lies at the root of the file system",
            )),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A folder of our own in cargo's build folder, which `cargo clean` removes with the rest.
    pub fn cache(&self, name: &str) -> PathBuf {
        self.built.parent().unwrap_or(&self.built).join(name)
    }

    /// Whether the workspace has `crates/NAME` already.
    pub fn has_crate(&self, name: &str) -> bool {
        self.crate_file(name, "Cargo.toml").is_file()
    }

    pub fn has_example(&self, name: &str, example: &str) -> bool {
        self.crate_file(name, "examples")
            .join(example)
            .with_extension("rs")
            .is_file()
    }

    fn crate_file(&self, name: &str, file: &str) -> PathBuf {
        self.root.join("crates").join(name).join(file)
    }

    /// The build that `demo`, `bench` and `dist` share.
    ///
    /// It names the whole workspace on purpose: cargo unifies features over the packages it is asked for,
    /// so asking for one package here and for all of them in `test` would compile dependencies twice.
    pub fn build(setup: &Setup) -> Result<(), Error> {
        let mut build = process::cargo(&["build", "--workspace", "--release"]);
        eprintln!("$ {}", process::shown(&build));
        process::run(setup.tell(&mut build))
    }

    /// A program of the release build.
    pub fn program(&self, name: &str) -> PathBuf {
        self.built
            .join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// A shared library of the release build.
    pub fn library(&self, name: &str) -> PathBuf {
        self.built.join(format!(
            "{}{name}{}",
            env::consts::DLL_PREFIX,
            env::consts::DLL_SUFFIX
        ))
    }

    /// The `untorn` program of the release build, if this workspace has its crate.
    pub fn untorn(&self) -> Result<PathBuf, Error> {
        if !self.has_crate("untorn") {
            return Err(Error::Absent {
                what: "crates/untorn",
                needed_for: "it is the command line, which this task runs",
            });
        }
        Ok(self.program("untorn"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn crates_programs_and_examples_are_found_where_cargo_has_them() {
        let root = tempfile::tempdir().unwrap();
        let manifest = root.path().join("xtask");
        let workspace = Workspace::around(&manifest, Path::new("/build/release/xtask")).unwrap();
        assert!(
            workspace
                .untorn()
                .unwrap_err()
                .to_string()
                .contains("no crates/untorn yet")
        );

        for (name, example) in [("untorn", "other"), ("classfile", "roundtrip")] {
            let folder = root.path().join("crates").join(name);
            fs::create_dir_all(folder.join("examples")).unwrap();
            fs::write(folder.join("Cargo.toml"), "").unwrap();
            fs::write(folder.join("examples").join(format!("{example}.rs")), "").unwrap();
        }
        assert!(workspace.has_crate("classfile") && !workspace.has_crate("report"));
        assert!(workspace.has_example("classfile", "roundtrip"));
        assert!(
            !workspace.has_example("untorn", "roundtrip"),
            "the example of another crate"
        );
        assert!(workspace.untorn().unwrap().starts_with("/build/release"));
        assert_eq!(workspace.cache("corpus"), Path::new("/build/corpus"));
    }
}
