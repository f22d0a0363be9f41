//! The pinned list, `xtask/corpus.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::workspace::Workspace;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The jars that `cargo xtask test` fetches.
    slice: Vec<String>,
    /// The jars that `cargo xtask bench check` checks.
    #[serde(default)]
    measured: Vec<String>,
    jars: BTreeMap<String, Jar>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jar {
    /// The key of the entry; the jar is kept as `NAME.jar`.
    #[serde(skip)]
    pub name: String,
    /// `GROUP:ARTIFACT:VERSION`.
    pub artifact: String,
    /// Of the whole file, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Which of several files of the artifact it is; none for the one that has no such name.
    pub classifier: Option<String>,
    /// The sum of the jar with the sources, where one is to be had.
    sources: Option<String>,
    /// Other entries that must be on the class path with this one.
    #[serde(default)]
    needs: Vec<String>,
}

impl List {
    pub fn of(workspace: &Workspace) -> Result<Self, Error> {
        let path = workspace.root().join("xtask/corpus.toml");
        let text = fs::read_to_string(&path).map_err(Error::in_file("read", &path))?;
        Self::parse(&text, &path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut list: Self = toml::from_str(text).map_err(|source| Error::CorpusSyntax {
            path: path.to_owned(),
            source,
        })?;
        for (name, jar) in &mut list.jars {
            jar.name.clone_from(name);
        }
        list.check().map_err(|problem| Error::CorpusEntry {
            path: path.to_owned(),
            problem,
        })?;
        Ok(list)
    }

    fn check(&self) -> Result<(), String> {
        for jar in self.jars.values() {
            if jar.coordinates().is_none() {
                return Err(format!(
                    "{}: artifact `{}` is not GROUP:ARTIFACT:VERSION",
                    jar.name, jar.artifact
                ));
            }
            if !std::iter::once(&jar.sha256)
                .chain(&jar.sources)
                .all(|sum| is_sum(sum))
            {
                return Err(format!(
                    "{}: sha256 is not 64 lower-case hexadecimal digits",
                    jar.name
                ));
            }
            if !std::iter::once(&jar.name)
                .chain(&jar.classifier)
                .all(|word| plain(word))
            {
                return Err(format!("`{}` cannot be the name of a file", jar.name));
            }
        }
        let named = self
            .jars
            .values()
            .flat_map(|jar| &jar.needs)
            .chain(&self.slice)
            .chain(&self.measured);
        match named
            .into_iter()
            .find(|name| !self.jars.contains_key(*name))
        {
            Some(unknown) => Err(format!("`{unknown}` is needed or sliced, but has no entry")),
            None => Ok(()),
        }
    }

    /// The named jars, each followed by what it needs, none twice; all jars if none is named.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Jar>, Error> {
        if names.is_empty() {
            return Ok(self.jars.values().collect());
        }
        let mut selected: Vec<&Jar> = Vec::new();
        let mut open: Vec<&String> = names.iter().rev().collect();
        while let Some(name) = open.pop() {
            let jar = self.jars.get(name).ok_or_else(|| Error::UnknownJar {
                name: name.clone(),
                known: self
                    .jars
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
            if selected.iter().all(|already| already.name != jar.name) {
                selected.push(jar);
                open.extend(jar.needs.iter().rev());
            }
        }
        Ok(selected)
    }

    pub fn slice(&self) -> Result<Vec<&Jar>, Error> {
        // An empty selection means all, which a slice never does.
        if self.slice.is_empty() {
            Ok(Vec::new())
        } else {
            self.select(&self.slice)
        }
    }

    /// The jars to measure, each followed by what it needs.
    pub fn measured(&self) -> Result<Vec<Vec<&Jar>>, Error> {
        let each = self.measured.iter();
        each.map(|name| self.select(std::slice::from_ref(name)))
            .collect()
    }

    pub fn in_slice(&self, jar: &Jar) -> bool {
        self.slice.contains(&jar.name)
    }
}

impl Jar {
    /// The jar with the sources of this one, where one is to be had.
    pub fn sources(&self) -> Option<Self> {
        Some(Self {
            name: format!("{}-sources", self.name),
            artifact: self.artifact.clone(),
            sha256: self.sources.clone()?,
            classifier: Some("sources".to_owned()),
            sources: None,
            needs: Vec::new(),
        })
    }

    /// Group, artifact and version.
    pub fn coordinates(&self) -> Option<[&str; 3]> {
        let parts: Vec<&str> = self.artifact.split(':').collect();
        let coordinates: [&str; 3] = parts.try_into().ok()?;
        coordinates
            .iter()
            .all(|part| plain(part))
            .then_some(coordinates)
    }
}

fn is_sum(text: &str) -> bool {
    text.len() == 64 && (text.bytes()).all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Safe as a file name and in XML.
fn plain(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('.')
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Sums of `one` and `two`.
    pub const ONE: &str = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    pub const TWO: &str = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";

    pub fn list() -> List {
        parse(&format!(
            "slice = ['two']
            [jars.one]
            artifact = 'g:one:1.0'
            sha256 = '{ONE}'
            [jars.two]
            artifact = 'g:two:2.0-jre'
            sha256 = '{TWO}'
            needs = ['one']"
        ))
        .unwrap()
    }

    fn parse(text: &str) -> Result<List, Error> {
        List::parse(text, Path::new("corpus.toml"))
    }

    fn names(jars: &[&Jar]) -> Vec<String> {
        jars.iter().map(|jar| jar.name.clone()).collect()
    }

    #[test]
    fn a_jar_comes_first_then_what_it_needs_and_none_twice() {
        let list = list();
        assert_eq!(
            names(&list.select(&["two".into()]).unwrap()),
            ["two", "one"]
        );
        assert_eq!(
            names(&list.select(&["one".into(), "two".into()]).unwrap()),
            ["one", "two"]
        );
        assert_eq!(names(&list.select(&[]).unwrap()), ["one", "two"]);
        assert_eq!(names(&list.slice().unwrap()), ["two", "one"]);
    }

    #[test]
    fn sources_have_a_name_and_a_sum_of_their_own() {
        let text = format!(
            "slice = []\n[jars.a]\nartifact = 'g:a:1'\nsha256 = '{ONE}'\nsources = '{TWO}'\n[jars.b]\nartifact = 'g:b:1'\nsha256 = '{ONE}'"
        );
        let list = parse(&text).unwrap();
        let of = |name: &str| list.select(&[name.to_owned()]).unwrap()[0].sources();
        let sources = of("a").unwrap();
        assert_eq!(
            (sources.name.as_str(), sources.sha256.as_str()),
            ("a-sources", TWO)
        );
        assert_eq!(sources.classifier.as_deref(), Some("sources"));
        assert!(of("b").is_none());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = list().select(&["three".into()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the corpus has no jar named `three`; it has: one, two"
        );
    }

    #[test]
    fn bad_entries_are_refused_with_the_file_and_the_reason() {
        for (text, reason) in [
            (
                format!("slice = []\n[jars.a]\nartifact = 'g:a'\nsha256 = '{ONE}'"),
                "not GROUP:ARTIFACT:VERSION",
            ),
            (
                format!("slice = []\n[jars.a]\nartifact = 'g:<a>:1'\nsha256 = '{ONE}'"),
                "not GROUP:ARTIFACT:VERSION",
            ),
            (
                "slice = []\n[jars.a]\nartifact = 'g:a:1'\nsha256 = 'abc'".to_owned(),
                "64 lower-case",
            ),
            (
                format!("slice = []\n[jars.\"../a\"]\nartifact = 'g:a:1'\nsha256 = '{ONE}'"),
                "name of a file",
            ),
            (
                "slice = ['b']\n[jars]".to_owned(),
                "`b` is needed or sliced",
            ),
            (
                "slice = []\n[jars.a]\nartifact = 'g:a:1'".to_owned(),
                "missing field `sha256`",
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(
                error.starts_with("corpus.toml: ") && error.contains(reason),
                "{error}"
            );
        }
    }

    #[test]
    fn the_checked_in_list_is_sound() {
        let list = parse(include_str!("../../corpus.toml")).unwrap();
        assert!(list.jars.len() >= 10);
        assert!(!list.slice().unwrap().is_empty());
    }
}
