//! The jar of annotations that users compile against: `annotations/`, built with the JDK's own javac and jar.
//!
//! The jar is the same whoever builds it, and works from Java 8 on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process;

/// The name under which it is shipped.
pub const JAR: &str = "untorn-annotations.jar";

/// Compiles the sources below `root` and packs them into a jar in `folder`.
pub fn build(jdk: &Path, root: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let sources = root.join("annotations").join("untorn").join("annotations");
    let classes = folder.join("classes");
    if classes.exists() {
        fs::remove_dir_all(&classes).map_err(Error::in_file("remove", &classes))?;
    }
    fs::create_dir_all(&classes).map_err(Error::in_file("create", &classes))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&sources).map_err(Error::in_file("list", &sources))? {
        let path = entry.map_err(Error::in_file("list", &sources))?.path();
        if path.extension().is_some_and(|ending| ending == "java") {
            files.push(path);
        }
    }
    files.sort();
    let mut javac = Command::new(jdk.join("bin").join("javac"));
    javac
        .args(["--release", "8", "-Xlint:all,-options", "-Werror", "-d"])
        .arg(&classes)
        .args(&files);
    process::run_quietly(&mut javac)?;
    let made = folder.join(JAR);
    let mut jar = Command::new(jdk.join("bin").join("jar"));
    jar.args(["--create", "--date=1980-01-01T00:00:02Z", "--file"])
        .arg(&made)
        .arg("-C")
        .arg(&classes)
        .arg(".");
    process::run_quietly(&mut jar)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Setup;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    #[test]
    fn the_jar_holds_every_annotation_and_is_the_same_each_time() {
        let setup = Setup::prepare().unwrap();
        let jdk = setup.jdk_homes().next().unwrap();
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let jars = folders
            .each_ref()
            .map(|folder| build(jdk, Path::new(ROOT), folder.path()).unwrap());
        let listed = process::output(
            Command::new(jdk.join("bin").join("jar"))
                .args(["--list", "--file"])
                .arg(&jars[0]),
        )
        .unwrap();
        let listed = String::from_utf8(listed).unwrap();
        for name in [
            "Atomic",
            "NotAtomic",
            "AssumeAtomic",
            "AssumeMover",
            "AssumeGuarded",
            "GuardedBy",
            "WriteGuardedBy",
        ] {
            let entry = format!("untorn/annotations/{name}.class");
            assert!(listed.lines().any(|line| line == entry), "{listed}");
        }
        assert_eq!(fs::read(&jars[0]).unwrap(), fs::read(&jars[1]).unwrap());
    }
}
