//! The JDKs of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Java installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jdk {
    home: PathBuf,
}

impl Jdk {
    /// Those that `UNTORN_TEST_JDKS` names, else the one in `JAVA_HOME` and those in the usual places; 17 or later, the oldest first.
    pub fn all() -> Vec<Self> {
        let mut homes: Vec<PathBuf> = std::env::var_os("UNTORN_TEST_JDKS")
            .map(|list| std::env::split_paths(&list).collect())
            .unwrap_or_default();
        if homes.is_empty() {
            homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
            for usual in ["/usr/lib/jvm", "/opt/java", "/usr/java"] {
                let folder = std::fs::read_dir(usual).into_iter().flatten().flatten();
                homes.extend(folder.map(|entry| entry.path()));
            }
        }
        let mut jdks: Vec<Self> = homes
            .iter()
            .filter_map(|home| home.canonicalize().ok())
            .map(|home| Self { home })
            .filter(|jdk| jdk.home.join("bin/javac").is_file() && jdk.major() >= 17)
            .collect();
        jdks.sort_by_key(|jdk| (jdk.major(), jdk.home.clone()));
        jdks.dedup();
        jdks
    }

    pub fn major(&self) -> u32 {
        let release = std::fs::read_to_string(self.home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        version
            .and_then(|text| text.split(['.', '"', '-', '+']).next()?.parse().ok())
            .unwrap_or(0)
    }

    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Compiles for the oldest JDK that there is to test.
    pub fn compile(&self, sources: &[PathBuf], class_path: &str, into: &Path) -> io::Result<()> {
        let run = Command::new(self.tool("javac"))
            .args(["--release", "17", "-g", "-nowarn", "-cp", class_path, "-d"])
            .arg(into)
            .args(sources)
            .output()?;
        if run.status.success() {
            Ok(())
        } else {
            Err(io::Error::other(
                String::from_utf8_lossy(&run.stderr).into_owned(),
            ))
        }
    }
}
