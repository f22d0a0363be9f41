//! The agent's library inside the program, for installations of a single file.
//!
//! A JVM loads files only, so the library is unpacked into the user's cache under the hash of its bytes:
//! programs of different builds never share one, and one that was cut short or changed is written anew.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::failure::Failure;

const LIBRARY: &str = "libuntorn_agent.so";
static BYTES: &[u8] = untorn_embed::agent_library!();

/// The agent's library: where the environment says, or beside the program, or else the one inside it.
pub fn agent_library() -> Result<PathBuf, Failure> {
    match untorn_live::agent_library() {
        Err(untorn_live::Error::NoAgent { .. }) if !BYTES.is_empty() => unpack(BYTES, &homes()),
        found => Ok(found?),
    }
}

/// Where the library may be kept: the user's cache, else the folder for temporary files.
fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = crate::cache::folder().into_iter().collect();
    homes.push(std::env::temp_dir().join("untorn"));
    homes
}

/// The library with these bytes below the first of the folders that can be written to.
fn unpack(bytes: &[u8], homes: &[PathBuf]) -> Result<PathBuf, Failure> {
    let sum = Sha256::digest(bytes);
    let name: String = sum
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut refused = None;
    for home in homes {
        let folder = home.join("agent").join(&name);
        match written(&folder, bytes) {
            Ok(path) => return Ok(path),
            Err(error) => refused = Some((folder, error)),
        }
    }
    let (folder, error) =
        refused.unwrap_or_else(|| (PathBuf::new(), io::Error::other("no folder")));
    Err(Failure::Usage(format!(
        "the agent's library cannot be unpacked to {}: {error}; set XDG_CACHE_HOME to a folder that can be written to, or UNTORN_AGENT to the library",
        folder.display()
    )))
}

fn written(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(LIBRARY);
    // It is read whole: nobody else's bytes get into the user's programs by this name.
    if fs::read(&path).is_ok_and(|there| there == bytes) {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    // Another untorn may unpack at the same time: the file appears whole or not at all.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(&path)?;
    Ok(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_unpacked_once_and_again_if_it_was_changed() {
        let home = tempfile::tempdir().unwrap();
        let homes = [home.path().to_owned()];
        let path = unpack(b"library", &homes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"library");
        let first = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(unpack(b"library", &homes).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), first);

        fs::write(&path, b"lib").unwrap();
        unpack(b"library", &homes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"library");
        assert_ne!(unpack(b"other", &homes).unwrap(), path);
    }

    #[test]
    fn a_cache_that_cannot_be_written_to_is_passed_over_and_named_if_there_is_no_other() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let other = home.path().join("other");
        let path = unpack(b"library", &[file.clone(), other.clone()]).unwrap();
        assert!(path.starts_with(&other));
        let error = unpack(b"library", &[file]).unwrap_err().to_string();
        assert!(
            error.contains("XDG_CACHE_HOME") && error.contains("UNTORN_AGENT"),
            "{error}"
        );
    }
}
