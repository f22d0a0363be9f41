//! Reads and checks the data, and leaves it as tables, so that who uses them parses nothing.

#[path = "build/schema.rs"]
mod schema;
#[path = "build/tables.rs"]
mod tables;
#[path = "src/words.rs"]
mod words;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SCOPE: &str = "scope.toml";
const PLATFORM: &str = "platform.toml";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/words.rs");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let data = Path::new("data");
    let mut files: Vec<PathBuf> = fs::read_dir(data)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut methods = schema::Methods::default();
    for path in files {
        let file = path.display().to_string();
        if path.extension().is_some_and(|of| of == "toml")
            && !path.ends_with(SCOPE)
            && !path.ends_with(PLATFORM)
        {
            methods.read(&file, &fs::read_to_string(&path)?)?;
        }
    }
    // So that the first row that fits is the one that holds.
    (methods.entries).sort_by_key(|method| method.descriptors.is_empty());
    let platform = data.join(PLATFORM);
    let platform = schema::parse(
        &platform.display().to_string(),
        &fs::read_to_string(&platform)?,
    )?;
    let scope = data.join(SCOPE);
    let scope = schema::parse(&scope.display().to_string(), &fs::read_to_string(&scope)?)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    for (name, text) in [
        ("calls.rs", tables::calls(&methods)),
        ("flow.rs", tables::flow(&methods)),
        ("steps.rs", tables::steps(&methods)),
        ("platform.rs", tables::platform(&platform)),
        ("scope.rs", tables::scope(&scope)),
    ] {
        fs::write(out.join(name), text)?;
    }
    Ok(())
}
