//! Finding JDKs: `JAVA_HOME`, then `PATH`, then the places where systems and tools put them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{find_program, search_path};

/// The oldest release whose class files and internals the agent is built for.
const OLDEST: u32 = 17;

/// The release that tests also want to see, beside whichever is the main one.
pub const NEWER: u32 = 25;

pub const NEEDED: &str = "a JDK 17 or later";

/// Debian packages that bring such a JDK, in the order in which they are tried.
pub const PACKAGES: &[&str] = &[
    "openjdk-17-jdk-headless",
    "openjdk-21-jdk-headless",
    "openjdk-25-jdk-headless",
    "default-jdk-headless",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    pub home: PathBuf,
    /// As the JDK states it, for example `17.0.15`.
    pub version: String,
    /// The first number of the version, for example 17.
    pub feature: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Unusable {
    NoCompiler,
    NoVersion,
    TooOld(String),
}

/// Where to look; a value of its own so that tests can look elsewhere.
#[derive(Debug)]
pub struct Search {
    java_home: Option<PathBuf>,
    path: Vec<PathBuf>,
    /// Folders that each hold JDKs.
    usual_places: Vec<PathBuf>,
}

impl Search {
    pub fn of_this_machine() -> Self {
        let mut usual_places: Vec<PathBuf> = [
            "/usr/lib/jvm",
            "/usr/java",
            "/opt/java",
            "/opt",
            "/Library/Java/JavaVirtualMachines",
        ]
        .map(PathBuf::from)
        .to_vec();
        if let Some(home) = std::env::home_dir() {
            usual_places.push(home.join(".sdkman/candidates/java"));
            usual_places.push(home.join(".jdks"));
        }
        Self {
            java_home: std::env::var_os("JAVA_HOME")
                .filter(|home| !home.is_empty())
                .map(PathBuf::from),
            path: search_path(),
            usual_places,
        }
    }

    /// The JDK to use first, and after it the newest one of another release; empty if there is none at all.
    pub fn jdks(&self) -> Vec<Jdk> {
        let installed = self.in_usual_places();
        let Some(main) = self
            .chosen()
            .or_else(|| self.on_path())
            .or_else(|| installed.first().cloned())
        else {
            return Vec::new();
        };
        let newest_other = installed
            .into_iter()
            .rev()
            .find(|jdk| jdk.feature != main.feature);
        [main].into_iter().chain(newest_other).collect()
    }

    fn chosen(&self) -> Option<Jdk> {
        let home = self.java_home.as_deref()?;
        match examine(home) {
            Ok(jdk) => Some(jdk),
            Err(unusable) => {
                let why = match unusable {
                    Unusable::NoCompiler => "holds no java and javac".to_owned(),
                    Unusable::NoVersion => {
                        "does not say its version in its file `release`".to_owned()
                    }
                    Unusable::TooOld(version) => {
                        format!("is version {version}, older than {OLDEST}")
                    }
                };
                eprintln!("JAVA_HOME={} {why}: looking elsewhere.", home.display());
                None
            }
        }
    }

    fn on_path(&self) -> Option<Jdk> {
        // Links such as /usr/bin/javac lead into the JDK, whose home is two levels up.
        let javac = fs::canonicalize(find_program(&[&program("javac")], &self.path)?).ok()?;
        examine(javac.parent()?.parent()?).ok()
    }

    /// By release, oldest first; the same JDK under two names counts once.
    fn in_usual_places(&self) -> Vec<Jdk> {
        let entries = self
            .usual_places
            .iter()
            .filter_map(|place| fs::read_dir(place).ok())
            .flatten()
            .flatten();
        let mut found: Vec<Jdk> = entries
            .flat_map(|entry| [entry.path(), entry.path().join("Contents/Home")])
            .filter_map(|folder| examine(&folder).ok())
            .collect();
        found.sort_by(|a, b| {
            (a.feature, &a.version, &a.home).cmp(&(b.feature, &b.version, &b.home))
        });
        found.dedup_by(|a, b| a.home == b.home);
        found
    }
}

/// Reads what kind of JDK a folder is, without starting it.
fn examine(folder: &Path) -> Result<Jdk, Unusable> {
    let has = |name| folder.join("bin").join(program(name)).is_file();
    if !has("java") || !has("javac") {
        return Err(Unusable::NoCompiler);
    }
    let version = fs::read_to_string(folder.join("release"))
        .ok()
        .and_then(|release| version_in(&release))
        .ok_or(Unusable::NoVersion)?;
    let feature = feature_of(&version).ok_or(Unusable::NoVersion)?;
    if feature < OLDEST {
        return Err(Unusable::TooOld(version));
    }
    let home = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Ok(Jdk {
        home,
        version,
        feature,
    })
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn version_in(release: &str) -> Option<String> {
    let value = release
        .lines()
        .find_map(|line| line.trim().strip_prefix("JAVA_VERSION="))?;
    Some(value.trim_matches('"').to_owned())
}

/// `17.0.15` is 17, `25` and `25-ea` are 25; `1.8.0_402`, the form of old releases, is 8.
fn feature_of(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A machine in a temporary folder: `jvm` is its usual place, `bin` its PATH.
    struct Machine {
        root: TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("bin")).unwrap();
            Self { root }
        }

        fn jdk(&self, name: &str, version: &str) -> PathBuf {
            let home = fs::canonicalize(self.root.path()).unwrap().join(name);
            fs::create_dir_all(home.join("bin")).unwrap();
            fs::write(home.join("bin").join(program("java")), "").unwrap();
            fs::write(home.join("bin").join(program("javac")), "").unwrap();
            fs::write(
                home.join("release"),
                format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n"),
            )
            .unwrap();
            home
        }

        fn search(&self, java_home: Option<PathBuf>) -> Search {
            Search {
                java_home,
                path: vec![
                    self.root.path().join("nowhere"),
                    self.root.path().join("bin"),
                ],
                usual_places: vec![
                    self.root.path().join("jvm"),
                    self.root.path().join("no-such-folder"),
                ],
            }
        }

        fn homes(&self, java_home: Option<PathBuf>) -> Vec<PathBuf> {
            self.search(java_home)
                .jdks()
                .into_iter()
                .map(|jdk| jdk.home)
                .collect()
        }
    }

    #[test]
    fn nothing_there_is_found_as_nothing() {
        assert!(Machine::new().homes(None).is_empty());
    }

    #[test]
    fn java_home_comes_first_and_the_newest_other_release_second() {
        let machine = Machine::new();
        let chosen = machine.jdk("elsewhere/mine", "21.0.2");
        machine.jdk("jvm/a", "17.0.15");
        let newest = machine.jdk("jvm/b", "25.0.3");
        assert_eq!(machine.homes(Some(chosen.clone())), [chosen, newest]);
    }

    #[test]
    fn a_java_home_that_is_too_old_or_no_jdk_is_passed_over() {
        let machine = Machine::new();
        let old = machine.jdk("elsewhere/old", "11.0.20");
        let runtime_only = machine.jdk("elsewhere/jre", "21");
        fs::remove_file(runtime_only.join("bin").join(program("javac"))).unwrap();
        let good = machine.jdk("jvm/good", "17.0.1");
        for unusable in [old, runtime_only, machine.root.path().join("not-there")] {
            assert_eq!(machine.homes(Some(unusable)), std::slice::from_ref(&good));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_path_leads_to_its_jdk_before_the_usual_places() {
        let machine = Machine::new();
        let linked = machine.jdk("elsewhere/linked", "25");
        let other = machine.jdk("jvm/a", "17.0.15");
        std::os::unix::fs::symlink(
            linked.join("bin/javac"),
            machine.root.path().join("bin/javac"),
        )
        .unwrap();
        assert_eq!(machine.homes(None), [linked, other]);
    }

    #[cfg(unix)]
    #[test]
    fn the_same_jdk_under_two_names_counts_once_and_the_oldest_is_the_main_one() {
        let machine = Machine::new();
        let newer = machine.jdk("jvm/a-newer", "25.0.3");
        let older = machine.jdk("jvm/z-older", "17.0.15");
        std::os::unix::fs::symlink(&older, machine.root.path().join("jvm/a-link")).unwrap();
        assert_eq!(machine.homes(None), [older, newer]);
    }

    #[test]
    fn two_jdks_of_one_release_do_not_make_a_second_one_to_test_on() {
        let machine = Machine::new();
        let first = machine.jdk("jvm/a", "17.0.1");
        machine.jdk("jvm/b", "17.0.2");
        assert_eq!(machine.homes(None), [first]);
    }

    #[test]
    fn a_folder_that_does_not_state_its_version_is_no_jdk() {
        let machine = Machine::new();
        let home = machine.jdk("jvm/a", "17");
        fs::write(home.join("release"), "JAVA_VERSION=\"unknown\"").unwrap();
        assert_eq!(examine(&home), Err(Unusable::NoVersion));
        fs::remove_file(home.join("release")).unwrap();
        assert_eq!(examine(&home), Err(Unusable::NoVersion));
    }

    #[test]
    fn versions_of_all_ages_are_understood() {
        for (version, feature) in [
            ("17.0.15", Some(17)),
            ("25", Some(25)),
            ("26-ea", Some(26)),
            ("1.8.0_402", Some(8)),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(feature_of(version), feature, "{version}");
        }
    }
}
