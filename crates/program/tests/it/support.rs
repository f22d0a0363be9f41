//! Compiles the Java fixtures with the real javac, once per test binary.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The folder of class files compiled from `tests/fixtures`.
pub fn fixtures() -> &'static Path {
    static COMPILED: OnceLock<TempDir> = OnceLock::new();
    COMPILED
        .get_or_init(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
            let mut sources: Vec<PathBuf> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            sources.retain(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "java")
            });
            sources.sort();
            let out = TempDir::new().unwrap();
            compile(&sources, out.path());
            out
        })
        .path()
}

/// Compiles sources into a folder.
pub fn compile(sources: &[PathBuf], out: &Path) {
    let result = Command::new(untorn_jdk::tool("javac"))
        .args(["-nowarn", "-g", "-d"])
        .arg(out)
        .args(sources)
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "javac failed: {}",
        String::from_utf8_lossy(&result.stderr)
    );
}

/// Compiles one source text into a fresh folder.
pub fn compile_text(file: &str, text: &str) -> TempDir {
    let out = TempDir::new().unwrap();
    let source = out.path().join(file);
    fs::write(&source, text).unwrap();
    compile(&[source], out.path());
    out
}

/// Writes a jar of stored or deflated entries.
pub fn jar(path: &Path, entries: &[(&str, &[u8])]) {
    fs::write(path, jar_bytes(entries)).unwrap();
}

/// The bytes of a jar.
pub fn jar_bytes(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
