//! Jars: nested jars, multi-release jars, and the hostile ones.
//!
//! A jar's directory is read when it is opened and each class when it is asked for; nothing trusts a declared size.
//! Of entries with one name the last wins, as in the JVM's own zip reader; of jars on a path the first.
//! Multi-release jars follow the JAR specification: the highest version not above the target release.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use zip::ZipArchive;

use super::Limits;
use crate::assumptions::{Assumption, Assumptions};
use crate::error::LoadError;

/// Where application servers and Spring Boot keep an archive's own classes.
const CLASS_ROOTS: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];
const VERSIONS: &str = "META-INF/versions/";
const MANIFEST: &str = "META-INF/MANIFEST.MF";
const LARGEST_MANIFEST: u64 = 1 << 20;

/// An opened jar with its nested jars.
#[derive(Debug)]
pub struct Archive {
    label: PathBuf,
    zip: ZipArchive<Source>,
    classes: FxHashMap<String, usize>,
    nested: Vec<Archive>,
}

impl Archive {
    /// Opens a jar on disk for programs that run on the given feature release.
    pub fn open(
        path: &Path,
        release: u16,
        limits: &Limits,
        assumptions: &mut Assumptions,
    ) -> Result<Self, LoadError> {
        let io = |source| LoadError::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let source = Source::File {
            file: Arc::new(file),
            length,
            position: 0,
        };
        let mut opening = Opening {
            release,
            limits,
            assumptions,
            nested_bytes: 0,
        };
        opening.archive(source, path.to_owned(), 0)
    }

    /// The internal names of the classes, those of nested jars included.
    pub fn class_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.classes.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.extend(self.nested.iter().flat_map(Archive::class_names));
        names
    }

    /// Every class of the jar and of its nested jars, duplicates included: the place and the name there.
    pub fn entries(&self) -> Vec<(&Archive, &str)> {
        let mut entries: Vec<_> = self
            .classes
            .keys()
            .map(|name| (self, name.as_str()))
            .collect();
        entries.sort_unstable_by_key(|(_, name)| *name);
        entries.extend(self.nested.iter().flat_map(Archive::entries));
        entries
    }

    /// Whether a class of this internal name is in the jar or a nested one.
    pub fn contains(&self, name: &str) -> bool {
        self.classes.contains_key(name) || self.nested.iter().any(|nested| nested.contains(name))
    }

    /// The bytes of a class by its internal name.
    pub fn read(&self, name: &str, limits: &Limits) -> Result<Option<Vec<u8>>, LoadError> {
        if let Some(bytes) = self.read_own(name, limits)? {
            return Ok(Some(bytes));
        }
        self.read_packed(name, limits)
    }

    /// Whether it has classes of its own, with the libraries that these use packed beside them.
    pub fn is_application(&self) -> bool {
        !self.classes.is_empty() && !self.nested.is_empty()
    }

    /// As [`Self::read`], from the nested jars alone.
    pub fn read_packed(&self, name: &str, limits: &Limits) -> Result<Option<Vec<u8>>, LoadError> {
        for nested in &self.nested {
            if let Some(bytes) = nested.read(name, limits)? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// As [`Self::read`], without the nested jars.
    pub fn read_own(&self, name: &str, limits: &Limits) -> Result<Option<Vec<u8>>, LoadError> {
        let Some(index) = self.classes.get(name) else {
            return Ok(None);
        };
        // The directory is shared between clones; only the position is each reader's own.
        let mut zip = self.zip.clone();
        match read_entry(&mut zip, *index, limits.class_bytes) {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => Err(LoadError::TooLarge {
                path: self.place(name),
                limit: limits.class_bytes,
                what: "bytes in one class",
            }),
            Err(reason) => Err(LoadError::BadArchive {
                path: self.place(name),
                reason,
            }),
        }
    }

    /// How messages name a class of this jar.
    pub fn place(&self, name: &str) -> PathBuf {
        inside(&self.label, &format!("{name}.class"))
    }
}

struct Opening<'a> {
    release: u16,
    limits: &'a Limits,
    assumptions: &'a mut Assumptions,
    nested_bytes: u64,
}

impl Opening<'_> {
    fn archive(
        &mut self,
        source: Source,
        label: PathBuf,
        depth: u32,
    ) -> Result<Archive, LoadError> {
        let bad = |reason: String| LoadError::BadArchive {
            path: label.clone(),
            reason,
        };
        let mut zip = ZipArchive::new(source).map_err(|error| bad(error.to_string()))?;
        if zip.len() as u64 > self.limits.entries {
            return Err(LoadError::TooLarge {
                path: label,
                limit: self.limits.entries,
                what: "entries",
            });
        }
        if zip.has_duplicate_names() {
            self.assumptions
                .add(Assumption::DuplicateClass, label.display().to_string());
        }
        let multi_release = is_multi_release(&mut zip);
        let mut versions: FxHashMap<String, (u16, usize)> = FxHashMap::default();
        let mut archives = Vec::new();
        for index in 0..zip.len() {
            let Some(Ok(name)) = zip.name_for_index(index) else {
                continue;
            };
            if name.ends_with('/') {
                continue;
            }
            let is_class = name.ends_with(".class");
            let is_archive = name.ends_with(".jar") || name.ends_with(".war");
            if !is_class && !is_archive {
                continue;
            }
            if !is_safe(&name) {
                let entry = inside(&label, &name).display().to_string();
                self.assumptions.add(Assumption::UnsafeEntryName, entry);
                continue;
            }
            if is_archive {
                archives.push((index, name.into_owned()));
            } else if let Some((class, version)) =
                class_of_entry(&name, multi_release, self.release)
            {
                let best = versions.entry(class.to_owned()).or_insert((version, index));
                if version > best.0 {
                    *best = (version, index);
                }
            }
        }
        let classes = versions
            .into_iter()
            .map(|(name, (_, index))| (name, index))
            .collect();
        let mut nested = Vec::new();
        for (index, name) in archives {
            let place = inside(&label, &name);
            match self.nested(&mut zip, index, place.clone(), depth) {
                Ok(archive) => nested.push(archive),
                Err(kind) => self.assumptions.add(kind, place.display().to_string()),
            }
        }
        Ok(Archive {
            label,
            zip,
            classes,
            nested,
        })
    }

    fn nested(
        &mut self,
        zip: &mut ZipArchive<Source>,
        index: usize,
        place: PathBuf,
        depth: u32,
    ) -> Result<Archive, Assumption> {
        if depth + 1 >= self.limits.nesting {
            return Err(Assumption::EntryTooLarge);
        }
        let budget = self
            .limits
            .nested_total_bytes
            .saturating_sub(self.nested_bytes);
        let limit = self.limits.nested_bytes.min(budget);
        let bytes = read_entry(zip, index, limit)
            .map_err(|_| Assumption::UnreadableArchive)?
            .ok_or(Assumption::EntryTooLarge)?;
        self.nested_bytes += bytes.len() as u64;
        let source = Source::Memory(Cursor::new(bytes.into()));
        self.archive(source, place, depth + 1)
            .map_err(|_| Assumption::UnreadableArchive)
    }
}

/// The class an entry stands for and the release from which it does; `None` if it stands for none here.
fn class_of_entry(name: &str, multi_release: bool, release: u16) -> Option<(&str, u16)> {
    let path = name.strip_suffix(".class")?;
    let (path, version) = match path.strip_prefix(VERSIONS) {
        Some(versioned) => {
            let (version, path) = versioned.split_once('/')?;
            let version: u16 = version.parse().ok()?;
            if !multi_release || version < 9 || version > release {
                return None;
            }
            (path, version)
        }
        None if path.starts_with("META-INF/") => return None,
        None => (path, 0),
    };
    let path = CLASS_ROOTS
        .iter()
        .find_map(|root| path.strip_prefix(root))
        .unwrap_or(path);
    if path == "module-info" || path.is_empty() {
        None
    } else {
        Some((path, version))
    }
}

fn is_safe(name: &str) -> bool {
    !name.starts_with('/')
        && !name.contains(['\\', '\0', ':'])
        && name
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

fn is_multi_release(zip: &mut ZipArchive<Source>) -> bool {
    let Some(index) = zip.index_for_name(MANIFEST) else {
        return false;
    };
    let Ok(Some(manifest)) = read_entry(zip, index, LARGEST_MANIFEST) else {
        return false;
    };
    String::from_utf8_lossy(&manifest)
        .lines()
        .take_while(|line| !line.is_empty())
        .any(|line| {
            line.split_once(':').is_some_and(|(key, value)| {
                key.eq_ignore_ascii_case("Multi-Release")
                    && value.trim().eq_ignore_ascii_case("true")
            })
        })
}

/// The content of an entry, or `None` if it is larger than `limit`.
fn read_entry(
    zip: &mut ZipArchive<Source>,
    index: usize,
    limit: u64,
) -> Result<Option<Vec<u8>>, String> {
    let entry = zip.by_index(index).map_err(|error| error.to_string())?;
    // The declared size is only a hint for the first allocation.
    let mut bytes = Vec::with_capacity(entry.size().min(limit).min(1 << 20) as usize);
    entry
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

fn inside(archive: &Path, entry: &str) -> PathBuf {
    PathBuf::from(format!("{}!/{entry}", archive.display()))
}

/// What a zip archive is read from: a file by position, or a nested archive in memory.
#[derive(Debug, Clone)]
enum Source {
    File {
        file: Arc<File>,
        length: u64,
        position: u64,
    },
    Memory(Cursor<Arc<[u8]>>),
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File { file, position, .. } => {
                let count = file.read_at(buffer, *position)?;
                *position += count as u64;
                Ok(count)
            }
            Source::Memory(cursor) => cursor.read(buffer),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File {
                length, position, ..
            } => {
                let next = match target {
                    SeekFrom::Start(offset) => Some(offset),
                    SeekFrom::End(offset) => length.checked_add_signed(offset),
                    SeekFrom::Current(offset) => position.checked_add_signed(offset),
                };
                *position = next.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                Ok(*position)
            }
            Source::Memory(cursor) => cursor.seek(target),
        }
    }
}
