//! The places classes are looked up in: inputs first, then the JDK, then the class path.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::{Jdk, JdkChoice, Limits};
use crate::assumptions::{Assumption, Assumptions};
use crate::error::LoadError;

/// Whether a class is analyzed, or only used by what is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// An input: its methods are what the analyses speak about.
    Input,
    /// The class path: a library of the program.
    ClassPath,
    /// The JDK.
    Jdk,
}

/// The bytes of a class, and where they were.
#[derive(Debug)]
pub struct Found {
    /// The class file.
    pub bytes: Vec<u8>,
    /// Whose class it is.
    pub origin: Origin,
    /// The file, or the archive and the entry.
    pub place: PathBuf,
}

/// Everything a program's classes can come from.
#[derive(Debug)]
pub struct ClassPath {
    inputs: Vec<Root>,
    path: Vec<Root>,
    jdk: Option<Jdk>,
    limits: Limits,
    /// Whether jars inside of inputs are looked up as the class path is.
    packed_are_libraries: bool,
}

#[derive(Debug)]
enum Root {
    Folder { root: PathBuf, files: Vec<PathBuf> },
    Archive(Archive),
    File(PathBuf),
}

/// One class file of the inputs, not yet read.
#[derive(Debug, Clone, Copy)]
pub struct InputFile<'a>(Place<'a>);

#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    File {
        path: &'a Path,
        root: Option<&'a Path>,
    },
    Entry {
        archive: &'a Archive,
        name: &'a str,
    },
}

impl ClassPath {
    /// Opens all places.
    pub fn open(
        inputs: &[PathBuf],
        path: &[PathBuf],
        jdk: &JdkChoice,
        release: Option<u16>,
        limits: Limits,
        assumptions: &mut Assumptions,
    ) -> Result<Self, LoadError> {
        let jdk = Jdk::open(jdk, &limits, assumptions)?;
        let release = release
            .or_else(|| jdk.as_ref().map(Jdk::release))
            .unwrap_or(u16::MAX);
        let mut open = |place: &Path| open_root(place, release, &limits, assumptions);
        let mut input_roots = Vec::new();
        for input in inputs {
            input_roots.append(&mut open(input)?);
        }
        let mut path_roots = Vec::new();
        let mut absent = Vec::new();
        for place in path.iter().flat_map(|place| expand_wildcard(place)) {
            // As for the JVM, a class path entry that does not exist is no error.
            if place.exists() {
                path_roots.append(&mut open(&place)?);
            } else {
                absent.push(place);
            }
        }
        for place in absent {
            assumptions.add(Assumption::MissingPathEntry, place.display().to_string());
        }
        Ok(Self {
            inputs: input_roots,
            path: path_roots,
            jdk,
            limits,
            packed_are_libraries: false,
        })
    }

    /// Takes jars that are packed into an input beside classes of its own for libraries, as far as these are used.
    pub fn with_packed_libraries(self, packed_are_libraries: bool) -> Self {
        Self {
            packed_are_libraries,
            ..self
        }
    }

    /// The JDK, if the plan has one.
    pub fn jdk(&self) -> Option<&Jdk> {
        self.jdk.as_ref()
    }

    /// Every class file of the inputs, in a fixed order.
    pub fn input_files(&self) -> Vec<InputFile<'_>> {
        let mut files = Vec::new();
        for root in &self.inputs {
            match root {
                Root::Folder { root, files: paths } => files.extend(paths.iter().map(|path| {
                    InputFile(Place::File {
                        path,
                        root: Some(root),
                    })
                })),
                Root::File(path) => files.push(InputFile(Place::File { path, root: None })),
                Root::Archive(archive) => {
                    let mut entries = archive.entries();
                    if self.packed_are_libraries && archive.is_application() {
                        entries.retain(|(of, _)| std::ptr::eq(*of, archive));
                    }
                    files.extend(
                        (entries.into_iter())
                            .map(|(archive, name)| InputFile(Place::Entry { archive, name })),
                    );
                }
            }
        }
        files
    }

    /// Looks a class up by its internal name, in the JDK and then on the class path.
    ///
    /// Inputs are not searched: they are all read at the start, but for libraries that are packed into them.
    pub fn find(&self, name: &str) -> Result<Option<Found>, LoadError> {
        if let Some(jdk) = &self.jdk
            && let Some(bytes) = jdk.read(name, &self.limits)?
        {
            let place = PathBuf::from(format!("jdk!/{name}.class"));
            return Ok(Some(Found {
                bytes,
                origin: Origin::Jdk,
                place,
            }));
        }
        let of_library = |(bytes, place)| Found {
            bytes,
            origin: Origin::ClassPath,
            place,
        };
        if self.packed_are_libraries {
            for root in &self.inputs {
                if let Root::Archive(archive) = root
                    && archive.is_application()
                    && let Some(bytes) = archive.read_packed(name, &self.limits)?
                {
                    return Ok(Some(of_library((bytes, archive.place(name)))));
                }
            }
        }
        for root in &self.path {
            if let Some(found) = root.read(name, &self.limits)? {
                return Ok(Some(of_library(found)));
            }
        }
        Ok(None)
    }

    /// Reads one input file.
    pub fn read_input(&self, file: &InputFile<'_>) -> Result<Found, LoadError> {
        let place = file.place();
        let bytes =
            match file.0 {
                Place::File { path, .. } => read_file(path, self.limits.class_bytes)?,
                Place::Entry { archive, name } => archive
                    .read_own(name, &self.limits)?
                    .ok_or_else(|| LoadError::ClassNotFound {
                        name: name.to_owned(),
                    })?,
            };
        Ok(Found {
            bytes,
            origin: Origin::Input,
            place,
        })
    }
}

impl InputFile<'_> {
    /// The file, or the archive and the entry.
    pub fn place(&self) -> PathBuf {
        match self.0 {
            Place::File { path, .. } => path.to_owned(),
            Place::Entry { archive, name } => archive.place(name),
        }
    }

    /// The class name the place suggests; `None` for a file named alone.
    pub fn expected_name(&self) -> Option<String> {
        match self.0 {
            Place::File { path, root } => {
                let relative = path.strip_prefix(root?).ok()?.to_str()?;
                relative.strip_suffix(".class").map(str::to_owned)
            }
            Place::Entry { name, .. } => Some(name.to_owned()),
        }
    }

    /// Whether the user named this very file.
    pub fn is_named_alone(&self) -> bool {
        matches!(self.0, Place::File { root: None, .. })
    }
}

impl Root {
    fn read(&self, name: &str, limits: &Limits) -> Result<Option<(Vec<u8>, PathBuf)>, LoadError> {
        match self {
            Root::Archive(archive) => Ok(archive
                .read(name, limits)?
                .map(|bytes| (bytes, archive.place(name)))),
            Root::Folder { root, .. } => {
                let path = root.join(format!("{name}.class"));
                let leaves = name
                    .split('/')
                    .any(|part| part.is_empty() || part == "." || part == "..");
                if leaves || !path.is_file() {
                    return Ok(None);
                }
                Ok(Some((read_file(&path, limits.class_bytes)?, path)))
            }
            Root::File(path) => {
                let simple = name.rsplit('/').next().unwrap_or(name);
                if path.file_stem().is_some_and(|stem| stem == simple) {
                    Ok(Some((read_file(path, limits.class_bytes)?, path.clone())))
                } else {
                    Ok(None)
                }
            }
        }
    }
}

/// A folder may hold jars beside classes, so one place can be several roots.
fn open_root(
    place: &Path,
    release: u16,
    limits: &Limits,
    assumptions: &mut Assumptions,
) -> Result<Vec<Root>, LoadError> {
    let io = |source| LoadError::Io {
        path: place.to_owned(),
        source,
    };
    let kind = fs::metadata(place).map_err(io)?;
    if kind.is_dir() {
        let (mut files, mut jars) = (Vec::new(), Vec::new());
        walk(place, limits, &mut files, &mut jars)?;
        let mut roots = vec![Root::Folder {
            root: place.to_owned(),
            files,
        }];
        for jar in jars {
            match Archive::open(&jar, release, limits, assumptions) {
                Ok(archive) => roots.push(Root::Archive(archive)),
                Err(_) => assumptions.add(Assumption::UnreadableArchive, jar.display().to_string()),
            }
        }
        return Ok(roots);
    }
    let mut magic = [0; 4];
    let file = fs::File::open(place).map_err(io)?;
    let got = std::io::Read::read(&mut &file, &mut magic).map_err(io)?;
    let extension = place
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("");
    if magic == [0xCA, 0xFE, 0xBA, 0xBE] || extension == "class" {
        Ok(vec![Root::File(place.to_owned())])
    } else if magic.starts_with(b"PK") && got == 4 || matches!(extension, "jar" | "zip" | "war") {
        Ok(vec![Root::Archive(Archive::open(
            place,
            release,
            limits,
            assumptions,
        )?)])
    } else {
        Err(LoadError::UnknownInput {
            path: place.to_owned(),
        })
    }
}

/// Collects class files and jars below a folder, in order; links to folders are not followed, so this ends.
fn walk(
    folder: &Path,
    limits: &Limits,
    files: &mut Vec<PathBuf>,
    jars: &mut Vec<PathBuf>,
) -> Result<(), LoadError> {
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let io = |source| LoadError::Io {
            path: folder.clone(),
            source,
        };
        let mut entries = fs::read_dir(&folder)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(io)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if entry.file_type().map_err(io)?.is_dir() {
                pending.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "class")
            {
                if path.file_stem().is_none_or(|stem| stem != "module-info") {
                    files.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "jar") {
                jars.push(path);
            }
        }
        if files.len() as u64 > limits.entries {
            return Err(LoadError::TooLarge {
                path: folder,
                limit: limits.entries,
                what: "class files",
            });
        }
    }
    files.sort();
    jars.sort();
    Ok(())
}

fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
    let io = |source| LoadError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(io)?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, limit + 1), &mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > limit {
        return Err(LoadError::TooLarge {
            path: path.to_owned(),
            limit,
            what: "bytes in one class",
        });
    }
    Ok(bytes)
}

/// `folder/*` means every jar in the folder, as for the JVM.
fn expand_wildcard(place: &Path) -> Vec<PathBuf> {
    if place.file_name().is_none_or(|name| name != "*") {
        return vec![place.to_owned()];
    }
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut jars: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    jars.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
    });
    jars.sort();
    jars
}
