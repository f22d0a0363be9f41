//! Which files make up the archive at this moment.

use std::collections::{BTreeMap, BTreeSet};

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::schema::{SCHEMA, Table};
use crate::store::Archive;
use crate::write::encoded;

/// How the files that unite others are called.
pub(crate) const MERGED: &str = "merged-";
pub(crate) const COMPACTIONS: &str = "compactions";

/// What of the archive is looked at.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    pub project: Option<String>,
    /// The first day, as `2026-03-09`.
    pub since: Option<String>,
    /// The last day.
    pub until: Option<String>,
}

impl Narrow {
    fn takes(&self, file: &File) -> bool {
        (self.project.as_ref()).is_none_or(|project| *project == file.project)
            && self.since.as_ref().is_none_or(|since| file.day >= *since)
            && self.until.as_ref().is_none_or(|until| file.day <= *until)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub meta: ObjectMeta,
    pub project: String,
    pub day: String,
    /// The batch that it is a part of.
    pub id: String,
}

/// The files that hold what is in the archive, by table.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub(crate) of: BTreeMap<Table, Vec<File>>,
}

impl Files {
    pub(crate) fn table(&self, table: Table) -> &[File] {
        self.of.get(&table).map_or(&[], Vec::as_slice)
    }

    /// The projects that have a run in them.
    pub fn projects(&self) -> BTreeSet<String> {
        let runs = self.table(Table::Runs).iter();
        runs.map(|file| file.project.clone()).collect()
    }

    /// How many files and bytes a table has.
    pub fn extent(&self, table: Table) -> (usize, u64) {
        let bytes = self.table(table).iter().map(|file| file.meta.size).sum();
        (self.table(table).len(), bytes)
    }
}

/// What a compaction did, as it stands in its file; from then on the new batch counts and the old ones do not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Compaction {
    pub schema: String,
    pub batch: String,
    pub replaces: Vec<String>,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// The compactions of a project's day, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub done: Vec<(Path, Compaction)>,
}

impl Archive {
    /// The files of some tables; other files than the archive's own are passed over.
    pub fn files(&self, tables: &[Table], narrow: &Narrow) -> Result<Files, Error> {
        let histories = self.histories(narrow)?;
        let merged: BTreeSet<&str> = (histories.values().flat_map(|history| &history.done))
            .map(|(_, compaction)| compaction.batch.as_str())
            .collect();
        let replaced: BTreeSet<&str> = (histories.values().flat_map(|history| &history.done))
            .flat_map(|(_, compaction)| compaction.replaces.iter().map(String::as_str))
            .collect();
        let mut runs = self.list(Table::Runs, narrow)?;
        runs.retain(|file| {
            let id = file.id.as_str();
            !replaced.contains(id) && (!id.starts_with(MERGED) || merged.contains(id))
        });
        let there: BTreeSet<(String, String, String)> = runs.iter().map(key).collect();
        let mut files = Files::default();
        for &table in tables {
            let mut of_table = match table {
                Table::Runs => runs.clone(),
                _ => self.list(table, narrow)?,
            };
            of_table.retain(|file| there.contains(&key(file)));
            files.of.insert(table, of_table);
        }
        Ok(files)
    }

    pub(crate) fn histories(
        &self,
        narrow: &Narrow,
    ) -> Result<BTreeMap<(String, String), History>, Error> {
        let mut histories: BTreeMap<(String, String), History> = BTreeMap::new();
        for file in self.list_under(COMPACTIONS, ".json", narrow)? {
            let place = &file.meta.location;
            let read = async { self.store.get(place).await?.bytes().await };
            let bytes = match self.runtime.block_on(read) {
                Ok(bytes) => bytes,
                Err(error) => return Err(self.failed(place, &error)),
            };
            // One that cannot be read hides rows or doubles them, so that no number would be right.
            let compaction: Compaction =
                serde_json::from_slice(&bytes).map_err(|error| Error::File {
                    file: self.place(place),
                    what: format!("not the note of a compaction: {error}"),
                })?;
            if compaction.schema != SCHEMA {
                return Err(Error::File {
                    file: self.place(place),
                    what: format!("of schema {}: update untorn", compaction.schema),
                });
            }
            let history = histories.entry((file.project, file.day)).or_default();
            history.done.push((place.clone(), compaction));
        }
        for history in histories.values_mut() {
            history.done.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        Ok(histories)
    }

    pub(crate) fn list(&self, table: Table, narrow: &Narrow) -> Result<Vec<File>, Error> {
        self.list_under(table.name(), ".parquet", narrow)
    }

    fn list_under(&self, folder: &str, ending: &str, narrow: &Narrow) -> Result<Vec<File>, Error> {
        let mut prefix = self.root.clone().join(folder);
        if let Some(project) = &narrow.project {
            prefix = prefix.join(format!("project={}", encoded(project)));
        }
        let listed = self.store.list(Some(&prefix)).try_collect::<Vec<_>>();
        let listed = match self.runtime.block_on(listed) {
            Ok(listed) => listed,
            // A folder that nobody has written to yet.
            Err(object_store::Error::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(self.failed(&prefix, &error)),
        };
        let mut files: Vec<File> = (listed.into_iter())
            .filter_map(|meta| parse(meta, ending))
            .filter(|file| narrow.takes(file))
            .collect();
        files.sort_by(|one, other| one.meta.location.cmp(&other.meta.location));
        Ok(files)
    }

    /// Whether there is an archive at all: asking where nobody ever wrote is a slip of the pen.
    pub fn exists(&self) -> Result<bool, Error> {
        if let Some(folder) = &self.folder {
            return match std::fs::metadata(folder) {
                Ok(found) => Ok(found.is_dir()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(Error::Store {
                    place: self.name.clone(),
                    what: error.to_string(),
                }),
            };
        }
        let prefix = self.root.clone().join(Table::Runs.name());
        let mut listed = self.store.list(Some(&prefix));
        match self.runtime.block_on(listed.try_next()) {
            Ok(first) => Ok(first.is_some()),
            Err(error) => Err(self.failed(&prefix, &error)),
        }
    }
}

/// Project, day and batch by a path `TABLE/project=P/day=D/ID.parquet`.
fn parse(meta: ObjectMeta, ending: &str) -> Option<File> {
    let parts: Vec<String> = (meta.location.parts())
        .map(|part| part.as_ref().to_owned())
        .collect();
    let [.., project, day, name] = parts.as_slice() else {
        return None;
    };
    let project = decoded(project.strip_prefix("project=")?);
    let day = day.strip_prefix("day=")?.to_owned();
    let id = name.strip_suffix(ending)?.to_owned();
    Some(File {
        meta,
        project,
        day,
        id,
    })
}

fn key(file: &File) -> (String, String, String) {
    (file.project.clone(), file.day.clone(), file.id.clone())
}

fn decoded(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name
        .strip_prefix('_')
        .filter(|r| r.is_empty() || r.starts_with('.'))
        .unwrap_or(name);
    while let Some(first) = rest.bytes().next() {
        let escape = rest.get(1..3).filter(|_| first == b'~');
        if let Some(byte) = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &rest[3..];
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            bytes.extend_from_slice(&rest.as_bytes()[..length]);
            rest = &rest[length..];
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_projects_survive_paths() {
        for name in ["shop", "a b/c=d", "Ünïcode~", "..", "", ".hidden", "_x"] {
            assert_eq!(decoded(&encoded(name)), name);
            assert!(!encoded(name).contains('/'));
        }
    }
}
