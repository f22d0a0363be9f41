//! Finds the source of a class in folders of sources.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Language, SourceFile};

/// How deep folders may nest: a link that leads back up must not hold us forever.
const DEEPEST: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
}

impl Error {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }
}

/// The sources below some folders, by their file names.
#[derive(Debug, Default)]
pub struct Folder {
    by_name: HashMap<String, Vec<PathBuf>>,
}

impl Folder {
    /// Looks for sources in all folders, and takes single files as they are.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut folder = Self::default();
        for path in paths {
            let kind = std::fs::metadata(path).map_err(|source| Error::io(path, source))?;
            if kind.is_dir() {
                folder.walk(path, 0)?;
            } else {
                folder.add(path);
            }
        }
        for files in folder.by_name.values_mut() {
            files.sort();
        }
        Ok(folder)
    }

    fn walk(&mut self, path: &Path, depth: usize) -> Result<(), Error> {
        for entry in std::fs::read_dir(path).map_err(|source| Error::io(path, source))? {
            let path = entry.map_err(|source| Error::io(path, source))?.path();
            if path.is_dir() {
                if depth < DEEPEST {
                    self.walk(&path, depth + 1)?;
                }
            } else if Language::of(&path).is_some() {
                self.add(&path);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) {
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            let files = self.by_name.entry(name.to_owned()).or_default();
            files.push(path.to_owned());
        }
    }

    /// Every file of Java, in the order of its path: others declare nothing but suppressions.
    pub fn java(&self) -> Vec<&Path> {
        let mut files = self.files();
        let other =
            |path: &Path| matches!(Language::of(path), Some(Language::Kotlin | Language::Scala));
        files.retain(|path| !other(path));
        files
    }

    /// Every file, in the order of its path.
    pub fn files(&self) -> Vec<&Path> {
        let mut files: Vec<_> = self
            .by_name
            .values()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        files.sort();
        files
    }

    /// The file that a class with this binary name comes from, given the file name that its class file names.
    ///
    /// The package must fit the folders, so that two files of one name are told apart.
    pub fn find(&self, class: &str, file_name: &str) -> Option<&Path> {
        let files = self.by_name.get(file_name)?;
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        let fits = |path: &&PathBuf| {
            let mut folders = path.parent().into_iter().flat_map(Path::components).rev();
            package
                .rsplit('.')
                .filter(|part| !part.is_empty())
                .all(|part| {
                    folders
                        .next()
                        .is_some_and(|folder| folder.as_os_str() == part)
                })
        };
        // A file outside of its package's folder is legal, and in Kotlin usual below a common package; take it if there is no choice.
        (files.iter().find(fits))
            .or_else(|| (files.len() == 1).then(|| &files[0]))
            .map(PathBuf::as_path)
    }

    /// Reads and parses a file; bytes that are no UTF-8 are replaced.
    pub fn read(path: &Path) -> Result<SourceFile, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let name = path.file_name().and_then(|name| name.to_str());
        let language = Language::of(path).unwrap_or(Language::Java);
        Ok(SourceFile::parse_as(language, name.unwrap_or(""), text))
    }
}
