//! Findings of `check` kept by the hash of all they depend on, so that what has not changed is not analyzed again.
//!
//! The key covers the program itself, the options, the specification, every byte of the inputs, of the class path and of the sources, and the JDK.
//! A cache that cannot be read or written is as good as none.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};
use untorn_findings::Document;
use untorn_program::load::Jdk;
use untorn_program::{Assumptions, LoadPlan};

/// How many results are kept.
const MOST: usize = 32;

/// The place of one result.
#[derive(Debug)]
pub struct Entry(PathBuf);

impl Entry {
    /// The place for what depends on a plan, on sources, and on whatever else `options` says.
    pub fn of(
        folder: Option<&Path>,
        plan: &LoadPlan,
        sources: &[PathBuf],
        options: &str,
    ) -> Option<Self> {
        let folder = folder.map_or_else(default_folder, |folder| Some(folder.to_owned()))?;
        let key = key(plan, sources, options).ok()?;
        Some(Self(folder.join(format!("{key}.json"))))
    }

    /// What was kept there: what was said beside the findings, and these.
    pub fn read(&self) -> Option<(Vec<String>, Document)> {
        let text = fs::read_to_string(&self.0).ok()?;
        let (notes, document): (_, String) = serde_json::from_str(&text).ok()?;
        Some((notes, Document::from_json(&document).ok()?))
    }

    /// Keeps a result, and removes the oldest ones.
    pub fn write(&self, notes: &[String], document: &Document) {
        let keep = || -> io::Result<()> {
            let document = document.to_json().map_err(io::Error::other)?;
            let folder = self.0.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let text = serde_json::to_string(&(notes, document)).map_err(io::Error::other)?;
            // Others may be reading or writing the same.
            let unfinished = self.0.with_extension(std::process::id().to_string());
            fs::write(&unfinished, text)?;
            fs::rename(&unfinished, &self.0)?;
            clear(folder)
        };
        // Without a cache the next check takes longer, and that is all.
        let _ = keep();
    }
}

fn clear(folder: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|of| of == "json") {
            all.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    all.sort();
    let too_many = all.len().saturating_sub(MOST);
    for (_, path) in &all[..too_many] {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn default_folder() -> Option<PathBuf> {
    Some(folder()?.join("check"))
}

/// The user's folder for what can be made again.
pub fn folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = of("XDG_CACHE_HOME")
        .or_else(|| of("LOCALAPPDATA"))
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(of("HOME")?).join(".cache")))?;
    Some(base.join("untorn"))
}

fn key(plan: &LoadPlan, sources: &[PathBuf], options: &str) -> io::Result<String> {
    let mut hash = Sha256::new();
    part(&mut hash, env!("CARGO_PKG_VERSION").as_bytes());
    stamp(&mut hash, &std::env::current_exe()?)?;
    part(&mut hash, options.as_bytes());
    let jdk = Jdk::open(&plan.jdk, &plan.limits, &mut Assumptions::default());
    if let Some(jdk) = jdk.map_err(io::Error::other)? {
        part(&mut hash, jdk.home().as_os_str().as_encoded_bytes());
        part(&mut hash, format!("{:?}", jdk.release()).as_bytes());
        let modules = jdk.home().join("lib/modules");
        if modules.exists() {
            stamp(&mut hash, &modules)?;
        }
    }
    for paths in [plan.inputs.as_slice(), &plan.classpath, sources] {
        part(&mut hash, &paths.len().to_le_bytes());
        for path in paths {
            content(&mut hash, path)?;
        }
    }
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// A part of what is hashed, told from its neighbours by its length.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update(bytes.len().to_le_bytes());
    hash.update(bytes);
}

/// A file that is too large to be read for this: its size and the time it was changed.
fn stamp(hash: &mut Sha256, file: &Path) -> io::Result<()> {
    let about = file.metadata()?;
    let changed = about.modified()?.duration_since(UNIX_EPOCH);
    let changed = changed.map_err(io::Error::other)?;
    part(hash, &about.len().to_le_bytes());
    part(hash, &changed.as_nanos().to_le_bytes());
    Ok(())
}

/// All files at a path with their names.
fn content(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    part(hash, path.as_os_str().as_encoded_bytes());
    if path.is_dir() {
        let entries = path.read_dir()?.collect::<io::Result<Vec<_>>>()?;
        let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        paths.sort();
        part(hash, &paths.len().to_le_bytes());
        return paths.iter().try_for_each(|path| content(hash, path));
    }
    let mut file = fs::File::open(path)?;
    hash.update(file.metadata()?.len().to_le_bytes());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            read => hash.update(&buffer[..read]),
        }
    }
}
