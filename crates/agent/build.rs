//! Compiles the Java runtime with the JDK at hand and leaves the class files for `include_bytes!`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use untorn_jdk::Jdk;

const NO_JDK: &str = "the agent's Java runtime needs a JDK 17 or later to compile: set JAVA_HOME to one, or install one (Debian, Ubuntu: apt install openjdk-17-jdk-headless)";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    println!("cargo::rerun-if-changed=java");
    let sources = Path::new("java/java/lang");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("java");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    }
    let files = java_files(sources)?;
    let javac = Jdk::to_compile_with(17).ok_or(NO_JDK)?.tool("javac");
    // `--release` would hide jdk.internal.misc, and the classes belong to java.base.
    let run = Command::new(&javac)
        .args([
            "-source",
            "17",
            "-target",
            "17",
            "-Xlint:-options",
            "-g:source,lines",
        ])
        .args(["--patch-module", "java.base=java", "-d"])
        .arg(&out)
        .args(&files)
        .output()
        .map_err(|e| format!("{}: {e}", javac.display()))?;
    if !run.status.success() {
        return Err(format!(
            "{} could not compile the agent's Java runtime:\n{}",
            javac.display(),
            String::from_utf8_lossy(&run.stderr)
        ));
    }
    list_classes(&out, sources)
}

/// Writes the list of classes, superclasses before subclasses, for `include!`.
fn list_classes(out: &Path, sources: &Path) -> Result<(), String> {
    let folder = out.join("java/lang");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".class")?.to_owned()))
        .collect();
    names.sort();
    let mut depths = BTreeMap::new();
    for name in &names {
        depths.insert(name.clone(), depth(name, sources)?);
    }
    names.sort_by_key(|name| depths[name]);
    let mut list = String::from("&[\n");
    for name in names {
        let path = folder.join(format!("{name}.class"));
        list += &format!(
            "    (c\"java/lang/{name}\", include_bytes!({:?})),\n",
            path.display().to_string()
        );
    }
    list += "]\n";
    let file = out.join("classes.rs");
    fs::write(&file, list).map_err(|e| format!("{}: {e}", file.display()))
}

/// How many classes of the runtime a class extends, one over the other.
fn depth(name: &str, sources: &Path) -> Result<usize, String> {
    let file = sources.join(name).with_extension("java");
    // Nested classes extend none.
    let Ok(text) = fs::read_to_string(&file) else {
        return Ok(0);
    };
    let declaration = text
        .lines()
        .find(|line| line.contains("class ") && line.ends_with('{'))
        .ok_or_else(|| format!("{}: no class", file.display()))?;
    let mut words = declaration
        .split_whitespace()
        .skip_while(|&word| word != "extends");
    match words.nth(1) {
        Some(superclass) if superclass.starts_with("Untorn") => Ok(1 + depth(superclass, sources)?),
        _ => Ok(0),
    }
}

fn java_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "java"))
        .collect();
    files.sort();
    Ok(files)
}
