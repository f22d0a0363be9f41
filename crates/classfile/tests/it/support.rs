//! Finds JDKs, unpacks their classes once into the target directory, runs Java.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Java installation with compiler and `jimage`.
#[derive(Debug, Clone)]
pub struct Jdk(untorn_jdk::Jdk);

impl Jdk {
    /// All JDKs to test on, with the tool that unpacks their classes.
    pub fn all() -> Vec<Self> {
        let mut jdks = untorn_jdk::Jdk::for_tests();
        jdks.retain(|jdk| jdk.tool("jimage").is_file());
        jdks.into_iter().map(Self).collect()
    }

    /// The JDK the tests run with.
    pub fn default_one() -> Self {
        Self::all()
            .into_iter()
            .next()
            .expect("a JDK, in JAVA_HOME, on the path or in a usual place")
    }

    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.0.tool(name))
    }

    /// A directory with the classes of one module of this JDK, unpacked on first use.
    pub fn module(&self, module: &str) -> PathBuf {
        let name = (self.0.home())
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let cache = cache_dir().join(name).join(module);
        let done = cache.join(".unpacked");
        if !done.exists() {
            let partial = tempfile::tempdir_in(cache_dir()).unwrap();
            let mut jimage = self.tool("jimage");
            jimage.arg("extract").arg("--dir").arg(partial.path());
            jimage.arg(format!(
                "--include=regex:/{}/.*\\.class",
                module.replace('.', "\\.")
            ));
            succeed(jimage.arg(self.0.home().join("lib/modules")));
            std::fs::create_dir_all(cache.parent().unwrap()).unwrap();
            // Another test may have been faster; its result is the same.
            let _ = std::fs::rename(partial.path().join(module), &cache);
            std::fs::write(&done, "").unwrap();
        }
        cache
    }
}

/// Survives between test runs.
pub fn cache_dir() -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("classes");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs a command that must succeed and gives what it printed.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?} failed:\n{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Every class file below a directory, sorted.
pub fn classes(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|ext| ext == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
