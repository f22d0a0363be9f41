//! The driver's class files, which the build script made.

use std::io;
use std::path::Path;

static CLASSES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/java/classes.rs"));

/// The driver's main class; its arguments are the file of a [job](crate::Job), that of its [results](crate::Results), and the folder for tests.
pub const MAIN: &str = "untorn.exercise.Driver";

/// Puts the driver's classes into a folder, which belongs on the class path.
pub fn unpack(folder: &Path) -> io::Result<()> {
    for (name, bytes) in CLASSES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
