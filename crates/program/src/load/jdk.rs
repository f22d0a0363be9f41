//! Finding a JDK and reading classes from it: the runtime image, or `rt.jar` before Java 9.

use std::path::{Path, PathBuf};

use super::Limits;
use super::archive::Archive;
use super::image::RuntimeImage;
use crate::assumptions::Assumptions;
use crate::error::LoadError;

/// Which JDK's classes to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JdkChoice {
    /// `JAVA_HOME`, then the `java` or `javac` on `PATH`.
    #[default]
    Discover,
    /// The JDK in this folder.
    Home(PathBuf),
    /// None: its classes are missing classes.
    None,
}

/// An opened JDK.
#[derive(Debug)]
pub struct Jdk {
    home: PathBuf,
    release: u16,
    classes: Classes,
}

#[derive(Debug)]
enum Classes {
    Image(RuntimeImage),
    Archives(Vec<Archive>),
}

impl Jdk {
    /// Opens the chosen JDK; `None` if the choice is to do without.
    pub fn open(
        choice: &JdkChoice,
        limits: &Limits,
        assumptions: &mut Assumptions,
    ) -> Result<Option<Self>, LoadError> {
        match choice {
            JdkChoice::None => Ok(None),
            JdkChoice::Home(home) => Self::at(home, limits, assumptions).map(Some),
            JdkChoice::Discover => {
                let found = untorn_jdk::Jdk::named();
                let home = found
                    .iter()
                    .map(untorn_jdk::Jdk::home)
                    .find(|home| is_jdk(home))
                    .ok_or(LoadError::NoJdk)?;
                Self::at(home, limits, assumptions).map(Some)
            }
        }
    }

    fn at(home: &Path, limits: &Limits, assumptions: &mut Assumptions) -> Result<Self, LoadError> {
        let image = home.join("lib/modules");
        let classes = if image.is_file() {
            Classes::Image(RuntimeImage::open(&image)?)
        } else {
            let archives = legacy_archives(home)
                .iter()
                .map(|path| Archive::open(path, 8, limits, assumptions))
                .collect::<Result<Vec<_>, _>>()?;
            if archives.is_empty() {
                return Err(LoadError::NotAJdk {
                    path: home.to_owned(),
                });
            }
            Classes::Archives(archives)
        };
        let mut jdk = Self {
            home: home.to_owned(),
            release: 8,
            classes,
        };
        // The class file version of Object tells the release, whatever files lie beside the image.
        if let Some(object) = jdk.read("java/lang/Object", limits)?
            && let Some(&[high, low]) = object.get(6..8).and_then(|bytes| bytes.first_chunk::<2>())
        {
            jdk.release = u16::from_be_bytes([high, low]).saturating_sub(44);
        }
        Ok(jdk)
    }

    /// The folder of the JDK.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The feature release: 17, 25 and so on.
    pub fn release(&self) -> u16 {
        self.release
    }

    /// The bytes of a class by its internal name.
    pub fn read(&self, name: &str, limits: &Limits) -> Result<Option<Vec<u8>>, LoadError> {
        match &self.classes {
            Classes::Image(image) => image.read(name, limits.class_bytes),
            Classes::Archives(archives) => {
                for archive in archives {
                    if let Some(bytes) = archive.read(name, limits)? {
                        return Ok(Some(bytes));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Whether the JDK has a class of this internal name.
    pub fn contains(&self, name: &str) -> bool {
        match &self.classes {
            Classes::Image(image) => image.contains(name),
            Classes::Archives(archives) => archives.iter().any(|archive| archive.contains(name)),
        }
    }

    /// The internal names of all its classes.
    pub fn class_names(&self) -> Vec<&str> {
        match &self.classes {
            Classes::Image(image) => image.class_names().collect(),
            Classes::Archives(archives) => archives.iter().flat_map(Archive::class_names).collect(),
        }
    }
}

fn legacy_archives(home: &Path) -> Vec<PathBuf> {
    ["jre/lib", "lib"]
        .iter()
        .map(|folder| home.join(folder))
        .find(|folder| folder.join("rt.jar").is_file())
        .map(|folder| {
            ["rt.jar", "jce.jar", "jsse.jar"]
                .iter()
                .map(|name| folder.join(name))
                .filter(|path| path.is_file())
                .collect()
        })
        .unwrap_or_default()
}

fn is_jdk(home: &Path) -> bool {
    home.join("lib/modules").is_file() || !legacy_archives(home).is_empty()
}
