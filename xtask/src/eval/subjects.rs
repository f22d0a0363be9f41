//! The subjects of the evaluation: documented bugs, and scenario programs.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

pub struct Subjects {
    pub bugs: Vec<Bug>,
    pub scenarios: Vec<Scenario>,
}

/// A documented bug of a released library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bug {
    pub name: String,
    /// What trackers call it.
    pub tracker: String,
    pub kind: String,
    /// The pinned jar that has it.
    pub torn: String,
    /// The pinned jar that has it no more.
    pub repaired: String,
    driver: String,
    repaired_driver: Option<String>,
    package: String,
    repaired_package: Option<String>,
    at_fault: Vec<String>,
    repaired_at_fault: Option<Vec<String>>,
    pub what: String,
    #[serde(skip)]
    drivers: PathBuf,
}

/// What is to be looked at of a library, with the bug or without it.
pub struct Side<'s> {
    /// The driver's class.
    pub driver: &'s str,
    pub sources: [PathBuf; 2],
    /// The classes to watch.
    pub package: &'s str,
    pub at_fault: &'s [String],
}

impl Bug {
    pub fn torn_side(&self) -> Side<'_> {
        self.side(&self.driver, &self.package, &self.at_fault)
    }

    pub fn repaired_side(&self) -> Side<'_> {
        self.side(
            self.repaired_driver.as_ref().unwrap_or(&self.driver),
            self.repaired_package.as_ref().unwrap_or(&self.package),
            self.repaired_at_fault.as_ref().unwrap_or(&self.at_fault),
        )
    }

    fn side<'s>(&self, driver: &'s str, package: &'s str, at_fault: &'s [String]) -> Side<'s> {
        Side {
            driver,
            sources: ["Rounds", driver]
                .map(|class| self.drivers.join(class).with_extension("java")),
            package,
            at_fault,
        }
    }

    pub fn methods(&self) -> &[String] {
        &self.at_fault
    }
}

/// A program written after the structure of one that a paper measured.
pub struct Scenario {
    pub name: String,
    pub class: String,
    pub source: PathBuf,
    /// What it is, from the first line of its comment.
    pub what: String,
    /// The methods that are torn, from the lines `torn: Class.method` of its comment.
    pub torn: Vec<String>,
}

impl Subjects {
    pub fn of(root: &Path) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Bugs {
            bug: Vec<Bug>,
        }
        let folder = root.join("evaluation");
        let drivers = folder.join("bugs");
        let list = folder.join("bugs.toml");
        let text = fs::read_to_string(&list).map_err(Error::in_file("read", &list))?;
        let mut bugs = toml::from_str::<Bugs>(&text)
            .map_err(|source| Error::CorpusSyntax { path: list, source })?
            .bug;
        for bug in &mut bugs {
            bug.drivers.clone_from(&drivers);
        }
        let mut scenarios = Vec::new();
        let programs = folder.join("scenarios");
        let files = fs::read_dir(&programs).map_err(Error::in_file("read", &programs))?;
        for file in files {
            let source = file.map_err(Error::in_file("read", &programs))?.path();
            if source.extension().is_some_and(|ending| ending == "java") {
                let text = fs::read_to_string(&source).map_err(Error::in_file("read", &source))?;
                scenarios.push(Scenario::of(source, &text));
            }
        }
        scenarios.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { bugs, scenarios })
    }
}

impl Scenario {
    fn of(source: PathBuf, text: &str) -> Self {
        let class = source
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let comment = |line: &str| {
            let line = line.trim_start().strip_prefix('*')?;
            Some(line.trim().to_owned())
        };
        let lines: Vec<String> = text.lines().map_while_comment(comment);
        let torn = lines
            .iter()
            .filter_map(|line| line.strip_prefix("torn: "))
            .map(|method| method.split(',').next().unwrap_or(method).trim().to_owned())
            .collect();
        Self {
            name: class.to_lowercase(),
            class,
            source,
            what: lines.first().cloned().unwrap_or_default(),
            torn,
        }
    }
}

/// The lines of the first block comment.
trait Comment {
    fn map_while_comment(self, line: impl Fn(&str) -> Option<String>) -> Vec<String>;
}

impl<'t, I: Iterator<Item = &'t str>> Comment for I {
    fn map_while_comment(self, line: impl Fn(&str) -> Option<String>) -> Vec<String> {
        self.skip_while(|text| !text.starts_with("/**"))
            .skip(1)
            .take_while(|text| !text.trim_start().starts_with("*/"))
            .filter_map(line)
            .collect()
    }
}

/// Whether a method is the one that is meant: `Class.method`, by the class's name without its package; `*` stands for all methods.
pub fn is_meant(class: &str, method: &str, meant: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or(class);
    match meant.rsplit_once('.') {
        Some((wanted, "*")) => simple == wanted,
        Some((wanted, name)) => simple == wanted && method == name,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects() -> Subjects {
        Subjects::of(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap()
    }

    #[test]
    fn every_bug_has_its_drivers_and_methods_at_fault() {
        let subjects = subjects();
        assert!(subjects.bugs.len() >= 20);
        for bug in &subjects.bugs {
            for side in [bug.torn_side(), bug.repaired_side()] {
                for source in &side.sources {
                    assert!(source.is_file(), "{}: {}", bug.name, source.display());
                }
                assert!(!side.at_fault.is_empty(), "{}", bug.name);
            }
            assert_ne!(bug.torn, bug.repaired, "{}", bug.name);
        }
    }

    #[test]
    fn every_scenario_says_what_is_torn_in_it() {
        for scenario in subjects().scenarios {
            assert!(!scenario.what.is_empty(), "{}", scenario.name);
            for torn in &scenario.torn {
                assert!(torn.contains('.'), "{}: {torn}", scenario.name);
            }
        }
    }

    #[test]
    fn a_method_is_meant_by_class_and_name() {
        assert!(is_meant("a.b.C", "m", "C.m"));
        assert!(is_meant("a.b.C$D", "m", "C$D.*"));
        assert!(!is_meant("a.b.C", "m", "D.m"));
        assert!(!is_meant("a.b.C", "n", "C.m"));
    }
}
