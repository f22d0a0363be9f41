//! What tests of the archive need from Python: a query engine that others wrote, and a server that speaks S3.
//!
//! Both come from the package index by version, into an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process;

const PACKAGES: [&str; 4] = [
    "duckdb==2.0.0",
    "moto[s3]==5.2.5",
    "flask==3.1.3",
    "flask-cors==6.0.5",
];

/// Written last, so that an environment without it is one that was not made to its end; it names what is installed.
const COMPLETE: &str = "complete";

/// The interpreter that has them.
pub fn fetch(cache: &Path) -> Result<PathBuf, Error> {
    let python = cache.join("bin/python");
    let complete = cache.join(COMPLETE);
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&complete).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    eprintln!("Fetching DuckDB and an S3 server for tests of the archive …");
    let mut create = Command::new("python3");
    process::run_quietly(create.args(["-m", "venv"]).arg(cache))?;
    let mut install = Command::new(&python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    process::run_quietly(install.args(PACKAGES))?;
    fs::write(&complete, wanted).map_err(Error::in_file("write", &complete))?;
    Ok(python)
}
