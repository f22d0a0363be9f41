//! The JDKs of this machine: where they are, how new they are, and their tools.
//!
//! Build scripts, the command line, benchmarks and tests all look here, so that they mean the same JDK.
//!
//! *Invariant.* It reads no class file and knows nothing of what its callers want of a JDK.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where systems put JDKs, a folder each.
const USUAL: [&str; 3] = ["/usr/lib/jvm", "/opt/java", "/usr/java"];

/// A folder that holds a Java installation, perhaps without a compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jdk {
    home: PathBuf,
}

impl Jdk {
    /// All that are found: by `JAVA_HOME`, by `PATH`, and in the usual places, in this order and without doubles.
    pub fn all() -> Vec<Self> {
        Self::among(named().chain(usual()))
    }

    /// Those that somebody chose: by `JAVA_HOME`, then by `PATH`.
    pub fn named() -> Vec<Self> {
        Self::among(named())
    }

    /// The first one that is found, of at least this release and with a compiler.
    pub fn to_compile_with(oldest: u32) -> Option<Self> {
        Self::all()
            .into_iter()
            .find(|jdk| jdk.tool("javac").is_file() && jdk.major() >= oldest)
    }

    /// Those that tests run on: what `UNTORN_TEST_JDKS` names, else all with a compiler; 17 or later, the oldest first.
    pub fn for_tests() -> Vec<Self> {
        let mut jdks = match env::var_os("UNTORN_TEST_JDKS") {
            Some(list) => Self::among(env::split_paths(&list)),
            None => Self::all(),
        };
        jdks.retain(|jdk| jdk.tool("javac").is_file() && jdk.major() >= 17);
        jdks.sort_by_key(Self::major);
        jdks
    }

    fn among(homes: impl Iterator<Item = PathBuf>) -> Vec<Self> {
        let mut jdks: Vec<Self> = Vec::new();
        for home in homes.filter_map(|home| home.canonicalize().ok()) {
            let jdk = Self { home };
            if jdk.tool("java").is_file() && !jdks.contains(&jdk) {
                jdks.push(jdk);
            }
        }
        jdks
    }

    /// The one in this folder, if it is one.
    pub fn at(home: &Path) -> Option<Self> {
        Self::among(std::iter::once(home.to_owned())).pop()
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// The feature release, such as 17 or 25; 0 if neither its file `release` nor its `java` says so.
    pub fn major(&self) -> u32 {
        let file = fs::read_to_string(self.home.join("release")).ok();
        file.as_deref()
            .and_then(|text| quoted(text, "JAVA_VERSION=\""))
            .or_else(|| {
                let run = Command::new(self.tool("java")).arg("-version").output();
                quoted(&String::from_utf8_lossy(&run.ok()?.stderr), "version \"")
            })
            .unwrap_or(0)
    }
}

/// A tool of the JDK in `JAVA_HOME`, else what `PATH` finds.
pub fn tool(name: &str) -> PathBuf {
    match env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(name),
        None => name.into(),
    }
}

/// What `JAVA_HOME` names, and the homes of `java` and `javac` on `PATH`.
fn named() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let on_path = folders.into_iter().flat_map(|folder| {
        ["java", "javac"].into_iter().filter_map(move |tool| {
            // It is usually a chain of links that ends in the JDK's bin folder.
            let tool = folder.join(tool).canonicalize().ok()?;
            Some(tool.parent()?.parent()?.to_owned())
        })
    });
    let java_home = env::var_os("JAVA_HOME").map(PathBuf::from);
    java_home.into_iter().chain(on_path)
}

fn usual() -> impl Iterator<Item = PathBuf> {
    USUAL.iter().flat_map(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut homes: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        homes.sort();
        homes
    })
}

/// The feature release of the version that stands behind a word: `17.0.15`, `25-ea`, and `1.8.0` of old.
fn quoted(text: &str, before: &str) -> Option<u32> {
    let version = text.split_once(before)?.1.split('"').next()?;
    let mut numbers = version.split(['.', '-', '+', '_']).map(str::parse::<u32>);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        major => Some(major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_in_every_form() {
        for (text, expected) in [
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n", Some(17)),
            ("JAVA_VERSION=\"25\"", Some(25)),
            ("JAVA_VERSION=\"26-ea\"", Some(26)),
            ("JAVA_VERSION=\"1.8.0_402\"", Some(8)),
            ("JAVA_VERSION=\"new\"", None),
            ("", None),
        ] {
            assert_eq!(quoted(text, "JAVA_VERSION=\""), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_without_java_is_no_jdk_and_one_is_found_once() {
        let empty = tempfile::tempdir().unwrap();
        let jdk = tempfile::tempdir().unwrap();
        fs::create_dir(jdk.path().join("bin")).unwrap();
        fs::write(jdk.path().join("bin/java"), "").unwrap();
        fs::write(jdk.path().join("release"), "JAVA_VERSION=\"21.0.2\"\n").unwrap();
        let again = jdk.path().join("bin/..");
        let homes = [empty.path().to_owned(), jdk.path().to_owned(), again];
        let found = Jdk::among(homes.into_iter());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].major(), 21);
    }
}
