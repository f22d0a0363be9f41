//! What a user installs, made from the program at hand and installed from local files.

#![allow(clippy::unwrap_used)]

mod builds;
mod packages;
#[expect(dead_code, reason = "the agent is inside what is installed here")]
#[path = "../support/mod.rs"]
mod support;
mod workflow;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use support::ROOT;

/// A folder as `cargo xtask dist` fills it, with a local repository for Maven that knows what the user's own does but nothing of ours.
struct Dist {
    folder: tempfile::TempDir,
    repository: PathBuf,
}

impl Dist {
    /// Made once for all tests.
    fn get() -> &'static Self {
        static DIST: OnceLock<Dist> = OnceLock::new();
        DIST.get_or_init(Self::make)
    }

    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repository");
        beside_the_users(&repository);
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let made = Command::new(cargo)
            .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
            .args(["dist", "--no-build", "--level", "1", "--maven-local"])
            .arg(&repository)
            .arg("--output")
            .arg(folder.path().join("dist"))
            .current_dir(ROOT)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        Self { folder, repository }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("dist").join(name)
    }

    /// The one file with this ending.
    fn file(&self, ending: &str) -> PathBuf {
        let files = self.path("").read_dir().unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        files
            .find(|path| path.to_str().unwrap().ends_with(ending))
            .unwrap()
    }

    fn maven(&self) -> Command {
        let settings = self.folder.path().join("settings.xml");
        let repository = format!(
            "<id>untorn</id><url>file:{}</url>",
            self.path("maven").display()
        );
        let text = format!(
            "<settings><profiles><profile><id>untorn</id>\
             <repositories><repository>{repository}</repository></repositories>\
             <pluginRepositories><pluginRepository>{repository}</pluginRepository></pluginRepositories>\
             </profile></profiles><activeProfiles><activeProfile>untorn</activeProfile></activeProfiles></settings>"
        );
        std::fs::write(&settings, text).unwrap();
        let mut maven = Command::new("mvn");
        maven
            .args(["--batch-mode", "--quiet", "--settings"])
            .arg(settings)
            .arg(format!("-Dmaven.repo.local={}", self.repository.display()));
        self.at_home(&mut maven);
        maven
    }

    /// Lets a command unpack programs into a cache of its own.
    fn at_home(&self, command: &mut Command) {
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
    }
}

/// Links to all groups of the user's repository but ours: what is built here must not be taken for a release by anybody, and a release not for what is built here.
fn beside_the_users(repository: &Path) {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let users = home.join(".m2/repository");
    let ours = repository.join("dev");
    std::fs::create_dir_all(&ours).unwrap();
    for (from, to, own) in [
        (users.clone(), repository, "dev"),
        (users.join("dev"), &ours, "untorn"),
    ] {
        for entry in from.read_dir().into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap();
            if name != own {
                std::os::unix::fs::symlink(&path, to.join(name)).unwrap();
            }
        }
    }
}

fn said(output: &std::process::Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
