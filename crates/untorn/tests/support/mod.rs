//! What tests with real projects need: a copy to work in, and the agent.

use std::path::{Path, PathBuf};
use std::process::Command;

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Folders that builds leave behind.
const BUILT: [&str; 3] = ["target", "build", ".gradle"];

/// Copies a folder, without what a build left in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !path.is_dir() {
            std::fs::copy(&path, &target).unwrap();
        } else if path
            .file_name()
            .is_some_and(|name| !BUILT.iter().any(|built| name == *built))
        {
            copy(&path, &target);
        }
    }
}

/// The agent's library beside the program, built anew if it is older than its sources.
pub fn agent() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "untorn-agent"])
        .current_dir(ROOT)
        .status()
        .unwrap();
    assert!(built.success());
    let programs = Path::new(env!("CARGO_BIN_EXE_untorn")).parent().unwrap();
    let library = programs.join("libuntorn_agent.so");
    library.canonicalize().unwrap()
}
