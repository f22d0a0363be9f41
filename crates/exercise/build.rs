//! Compiles the driver with the JDK at hand and leaves the class files for `include_bytes!`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use untorn_jdk::Jdk;

const NO_JDK: &str = "the driver of `untorn exercise` needs a JDK 17 or later to compile: set JAVA_HOME to one, or install one (Debian, Ubuntu: apt install openjdk-17-jdk-headless)";
const PACKAGE: &str = "untorn/exercise";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    println!("cargo::rerun-if-changed=java");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("java");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    }
    let javac = Jdk::to_compile_with(17).ok_or(NO_JDK)?.tool("javac");
    let run = Command::new(&javac)
        .args(["--release", "17", "-g:source,lines", "-d"])
        .arg(&out)
        .args(files(&Path::new("java").join(PACKAGE), "java")?)
        .output()
        .map_err(|e| format!("{}: {e}", javac.display()))?;
    if !run.status.success() {
        return Err(format!(
            "{} could not compile the driver:\n{}",
            javac.display(),
            String::from_utf8_lossy(&run.stderr)
        ));
    }
    let mut list = String::from("&[\n");
    for file in files(&out.join(PACKAGE), "class")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        list += &format!(
            "    (\"{PACKAGE}/{name}\", include_bytes!({:?})),\n",
            file.display().to_string()
        );
    }
    list += "]\n";
    let file = out.join("classes.rs");
    fs::write(&file, list).map_err(|e| format!("{}: {e}", file.display()))
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == extension))
        .collect();
    files.sort();
    Ok(files)
}
