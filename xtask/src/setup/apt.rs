//! Installing Debian packages, where that is allowed: as root, with apt-get present.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::{find_program, search_path, shown};

#[derive(Debug)]
pub struct Apt {
    program: Option<PathBuf>,
    root: bool,
    /// The package lists are fetched once in a run, however much is installed.
    updated: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    NoApt,
    NotRoot,
    NoPackage(String),
    Failed(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoApt => write!(
                f,
                "it cannot be installed from here, since this system has no apt-get"
            ),
            Self::NotRoot => write!(
                f,
                "it cannot be installed from here, since apt-get needs root"
            ),
            Self::NoPackage(packages) => {
                write!(f, "apt knows no package that brings it (tried {packages})")
            }
            Self::Failed(command) => write!(f, "`{command}` failed"),
        }
    }
}

impl Apt {
    pub fn of_this_machine() -> Self {
        let user = Command::new("id").arg("-u").stderr(Stdio::null()).output();
        Self {
            program: find_program(&["apt-get"], &search_path()),
            root: user.is_ok_and(|output| output.stdout.trim_ascii() == b"0"),
            updated: false,
        }
    }

    /// Installs the first of the packages that apt can offer.
    pub fn install(&mut self, what: &str, packages: &[&str]) -> Result<(), Refusal> {
        let program = self.program.clone().ok_or(Refusal::NoApt)?;
        if !self.root {
            return Err(Refusal::NotRoot);
        }
        let apt_get = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command
                .args(arguments)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .stdin(Stdio::null());
            command
        };
        if !self.updated {
            // A source that cannot be reached need not be the one that has the package, so the status does not decide.
            let _ = apt_get(&["update", "-qq"]).stdout(io::stderr()).status();
            self.updated = true;
        }
        let offered = packages.iter().find(|package| {
            apt_get(&["install", "--simulate", "-qq", package])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        });
        let package = offered.ok_or_else(|| Refusal::NoPackage(packages.join(", ")))?;
        eprintln!("Installing {package} for {what} …");
        let mut install = apt_get(&[
            "install",
            "-qq",
            "--yes",
            "--no-install-recommends",
            package,
        ]);
        match install.stdout(io::stderr()).status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Refusal::Failed(shown(&install))),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// An apt-get that only pretends.
    /// It is linked, not written: a file just written may still be open for writing in a child of another test,
    /// and then the system refuses to run it.
    fn fake_apt() -> (TempDir, Apt) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("apt-get");
        symlink(
            concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/apt-get"),
            &program,
        )
        .unwrap();
        let apt = Apt {
            program: Some(program),
            root: true,
            updated: false,
        };
        (folder, apt)
    }

    fn log(folder: &TempDir) -> Vec<String> {
        fs::read_to_string(folder.path().join("log"))
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn the_first_package_on_offer_is_installed_after_one_update_even_if_that_fails() {
        let (folder, mut apt) = fake_apt();
        assert_eq!(apt.install("a thing", &["unknown", "good"]), Ok(()));
        assert_eq!(apt.install("a thing", &["good"]), Ok(()));
        let install = "install -qq --yes --no-install-recommends good";
        let simulate = "install --simulate -qq good";
        assert_eq!(
            log(&folder),
            [
                "update -qq",
                "install --simulate -qq unknown",
                simulate,
                install,
                simulate,
                install
            ]
        );
    }

    #[test]
    fn what_apt_does_not_offer_or_cannot_install_is_refused_with_the_reason() {
        let (_folder, mut apt) = fake_apt();
        assert_eq!(
            apt.install("a thing", &["x", "y"]),
            Err(Refusal::NoPackage("x, y".to_owned()))
        );
        let refusal = apt.install("a thing", &["broken"]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "`apt-get install -qq --yes --no-install-recommends broken` failed"
        );
    }

    #[test]
    fn without_root_or_without_apt_nothing_is_started() {
        let (folder, apt) = fake_apt();
        let mut not_root = Apt { root: false, ..apt };
        assert_eq!(
            not_root.install("a thing", &["good"]),
            Err(Refusal::NotRoot)
        );
        assert!(!folder.path().join("log").exists());
        let mut no_apt = Apt {
            program: None,
            root: true,
            updated: false,
        };
        assert_eq!(no_apt.install("a thing", &["good"]), Err(Refusal::NoApt));
    }
}
