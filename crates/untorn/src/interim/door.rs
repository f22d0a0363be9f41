//! Where `untorn status` finds the runs that go on: a socket for each, named after its process, in a folder of the user's own.

use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use untorn_findings::Document;

use super::Known;
use crate::failure::Failure;

/// A run has so long to answer: its processes are asked, and their findings judged.
const PATIENCE: Duration = Duration::from_mins(5);

/// The socket of a run; it goes with the value.
#[derive(Debug)]
pub struct Door {
    path: PathBuf,
}

impl Door {
    pub(super) fn open(known: &Arc<Known>) -> io::Result<Self> {
        let path = folder()?.join(std::process::id().to_string());
        // Left by a process that was killed.
        fs::remove_file(&path).ok();
        let listener = UnixListener::bind(&path)?;
        let known = Arc::clone(known);
        thread::Builder::new()
            .name("status".to_owned())
            .spawn(move || {
                for stream in listener.incoming().flatten() {
                    // Whoever asks may go away.
                    serve(stream, &known).ok();
                }
            })?;
        Ok(Self { path })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

/// A folder that nobody else can look into.
fn folder() -> io::Result<PathBuf> {
    let own = fs::metadata("/proc/self")?.uid();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("untorn"),
        None => std::env::temp_dir().join(format!("untorn-{own}")),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    let there = fs::symlink_metadata(&folder)?;
    // No bit is set for group and others.
    if there.uid() == own && there.is_dir() && there.mode().trailing_zeros() >= 6 {
        Ok(folder)
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} is open to others", folder.display()),
        ))
    }
}

fn serve(mut stream: UnixStream, known: &Known) -> io::Result<()> {
    let answer = match known.so_far() {
        Ok(so_far) => json!({
            "command": known.command(),
            "seconds": known.begun.elapsed().as_secs(),
            "notes": so_far.notes,
            "findings": so_far.document.to_json().unwrap_or_default(),
        }),
        Err(failure) => json!({ "error": failure.to_string() }),
    };
    stream.write_all(answer.to_string().as_bytes())
}

/// What a run says.
#[derive(Debug)]
pub struct Answer {
    pub command: String,
    pub running: Duration,
    pub notes: Vec<String>,
    pub document: Document,
}

/// The runs that go on, by their process ids.
pub fn runs() -> Result<Vec<u32>, Failure> {
    let folder = folder().map_err(|error| Failure::Usage(error.to_string()))?;
    let entries = fs::read_dir(&folder).map_err(|source| Failure::file(&folder, source))?;
    let mut runs: Vec<u32> = (entries.flatten())
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            if UnixStream::connect(entry.path()).is_err() {
                // Its process was killed.
                fs::remove_file(entry.path()).ok();
                return None;
            }
            Some(pid)
        })
        .collect();
    runs.sort_unstable();
    Ok(runs)
}

/// Asks a run.
pub fn ask(pid: u32) -> Result<Answer, Failure> {
    let failed = |what: &dyn std::fmt::Display| {
        Failure::Usage(format!("the run of process {pid} does not answer: {what}"))
    };
    let folder = folder().map_err(|error| Failure::Usage(error.to_string()))?;
    let mut stream =
        UnixStream::connect(folder.join(pid.to_string())).map_err(|error| failed(&error))?;
    (stream.set_read_timeout(Some(PATIENCE))).map_err(|error| failed(&error))?;
    let mut text = String::new();
    (stream.read_to_string(&mut text)).map_err(|error| failed(&error))?;
    let answer: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    if let Some(error) = answer["error"].as_str() {
        return Err(failed(&error));
    }
    let notes = answer["notes"].as_array().cloned().unwrap_or_default();
    Ok(Answer {
        command: answer["command"].as_str().unwrap_or_default().to_owned(),
        running: Duration::from_secs(answer["seconds"].as_u64().unwrap_or(0)),
        notes: (notes.iter().filter_map(Value::as_str))
            .map(str::to_owned)
            .collect(),
        document: Document::from_json(answer["findings"].as_str().unwrap_or_default())
            .map_err(|error| failed(&error))?,
    })
}
