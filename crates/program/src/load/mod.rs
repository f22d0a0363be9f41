//! Where class files come from: folders, jars, nested jars, single files, the JDK's image.

mod archive;
mod class_path;
mod image;
mod jdk;

pub use class_path::{ClassPath, Found, InputFile, Origin};
pub use image::RuntimeImage;
pub use jdk::{Jdk, JdkChoice};

/// Bounds that keep hostile input from exhausting memory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest class file, in bytes.
    pub class_bytes: u64,
    /// The largest nested archive, in bytes.
    pub nested_bytes: u64,
    /// All nested archives together, in bytes.
    pub nested_total_bytes: u64,
    /// Entries of one archive.
    pub entries: u64,
    /// How deep archives may nest.
    pub nesting: u32,
    /// All class files read, in bytes.
    pub class_total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            class_bytes: 16 << 20,
            nested_bytes: 512 << 20,
            nested_total_bytes: 1 << 30,
            entries: 1 << 20,
            nesting: 4,
            class_total_bytes: 2 << 30,
        }
    }
}
