//! Uniting many small files, safely beside writers and readers.
//!
//! The batches of a project's day are written once more as one, under a name that nobody reads yet.
//! Then one note is put there in one step that says which batches the new one replaces; from then on readers take it and leave those.
//! Notes are numbered and never take another's place, so of two compactions at once one fails and leaves everything as it is.
//! What was replaced is removed by a later compaction, when no question that began before can still read it.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use object_store::path::Path;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::files::{COMPACTIONS, Compaction, File, Files, History, MERGED, Narrow};
use crate::schema::{SCHEMA, Table};
use crate::store::{Archive, Put, line};
use crate::verify::Closely;
use crate::when::Moment;
use crate::write::{encode, encoded};

/// Batches of at least so many bytes are large enough to stay as they are.
const LARGE: u64 = 8 << 20;
/// So many bytes are united at most, since their rows are in memory meanwhile, and take some times as much there.
const MOST: u64 = 16 << 20;

/// What a compaction came to.
#[derive(Debug, Default)]
pub struct Compacted {
    pub batches: usize,
    pub into: usize,
    pub removed: usize,
    /// Files that could not be read; their batches stay as they are.
    pub complaints: Vec<Error>,
}

impl Archive {
    /// Unites the small batches of each project and day, and removes what was replaced at least `grace` milliseconds ago.
    pub fn compact(&self, narrow: &Narrow, grace: i64) -> Result<Compacted, Error> {
        let mut done = Compacted::default();
        let histories = self.histories(narrow)?;
        let mut all = self.files(&Table::ALL, narrow)?;
        done.complaints = self.verify(&mut all, Closely::Footer);
        self.remove_replaced(&histories, narrow, grace, &mut done)?;
        let mut days: Vec<(String, String)> = (all.table(Table::Runs).iter())
            .map(|file| (file.project.clone(), file.day.clone()))
            .collect();
        days.dedup();
        for (project, day) in days {
            let number = (histories.get(&(project.clone(), day.clone())))
                .map_or(0, |history| history.done.len());
            self.compact_day(&all, (&project, &day), number, &mut done)?;
        }
        Ok(done)
    }

    fn compact_day(
        &self,
        all: &Files,
        (project, day): (&str, &str),
        number: usize,
        done: &mut Compacted,
    ) -> Result<(), Error> {
        let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
        for file in Table::ALL.iter().flat_map(|table| all.table(*table)) {
            if file.project == project && file.day == day {
                *sizes.entry(&file.id).or_default() += file.meta.size;
            }
        }
        // A batch of which a file is broken stays, so that the file keeps being named.
        let broken = |id: &str| {
            let name = format!("{id}.parquet");
            done.complaints
                .iter()
                .any(|error| error.to_string().contains(&name))
        };
        let mut groups: Vec<(u64, Vec<String>)> = Vec::new();
        for file in all.table(Table::Runs) {
            if file.project != project || file.day != day || broken(&file.id) {
                continue;
            }
            let size = sizes.get(file.id.as_str()).copied().unwrap_or(0);
            if size >= LARGE {
                continue;
            }
            match groups.last_mut() {
                Some((sum, group)) if *sum + size <= MOST => {
                    *sum += size;
                    group.push(file.id.clone());
                }
                _ => groups.push((size, vec![file.id.clone()])),
            }
        }
        groups.retain(|(_, group)| group.len() > 1);
        for (further, (_, group)) in groups.into_iter().enumerate() {
            let note = self.note(project, day, number + further);
            // Where somebody else was faster, theirs counts, and ours is never read.
            if self.unite(all, (project, day), &group, &note)? == Put::There {
                break;
            }
            done.batches += group.len();
            done.into += 1;
        }
        Ok(())
    }

    /// Writes batches once more as one, and notes that it replaces them.
    fn unite(
        &self,
        all: &Files,
        (project, day): (&str, &str),
        small: &[String],
        place_of_note: &Path,
    ) -> Result<Put, Error> {
        let mut hash = Sha256::new();
        for id in small {
            hash.update(id.as_bytes());
        }
        let digits: String = hash.finalize()[..10]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let id = format!("{MERGED}{digits}");
        for table in Table::ALL {
            let mut batches = Vec::new();
            let files = all.table(table).iter();
            for file in
                files.filter(|f| f.project == project && f.day == day && small.contains(&f.id))
            {
                batches.extend(self.rows_of(table, file)?);
            }
            if batches.is_empty() {
                continue;
            }
            let place = self.file(table, project, day, &id);
            let bytes = encode(table, &batches).map_err(|error| Error::Encode {
                place: self.place(&place),
                what: line(&error),
            })?;
            self.put(&place, bytes)?;
        }
        let note = Compaction {
            schema: SCHEMA.to_owned(),
            batch: id,
            replaces: small.to_vec(),
            at: Moment::now().0,
        };
        let bytes = serde_json::to_vec(&note).map_err(|error| Error::Encode {
            place: self.place(place_of_note),
            what: error.to_string(),
        })?;
        self.put(place_of_note, bytes)
    }

    fn note(&self, project: &str, day: &str, number: usize) -> Path {
        self.root
            .clone()
            .join(COMPACTIONS)
            .join(format!("project={}", encoded(project)))
            .join(format!("day={day}"))
            .join(format!("{number:08}.json"))
    }

    /// The rows of a file, with every column of today.
    fn rows_of(&self, table: Table, file: &File) -> Result<Vec<RecordBatch>, Error> {
        let batches = self.batches(file, None)?;
        let columns = table.columns();
        batches
            .map(|batch| {
                let batch = batch.map_err(|error| self.broken(file, &error))?;
                let arrays = (columns.fields().iter())
                    .map(|field| match batch.column_by_name(field.name()) {
                        Some(array) => array.clone(),
                        None => arrow::array::new_null_array(field.data_type(), batch.num_rows()),
                    })
                    .collect();
                RecordBatch::try_new(columns.clone(), arrays)
                    .map_err(|error| self.broken(file, &error))
            })
            .collect()
    }

    fn remove_replaced(
        &self,
        histories: &BTreeMap<(String, String), History>,
        narrow: &Narrow,
        grace: i64,
        done: &mut Compacted,
    ) -> Result<(), Error> {
        let now = Moment::now().0;
        let old = |compaction: &Compaction| now - compaction.at >= grace;
        // The file of the table `runs` goes last: a batch without it is not read, whatever else is there.
        let [runs, rest @ ..] = Table::ALL;
        for table in rest.into_iter().chain([runs]) {
            for file in self.list(table, narrow)? {
                let Some(history) = histories.get(&(file.project.clone(), file.day.clone())) else {
                    continue;
                };
                let replaced = (history.done.iter())
                    .any(|(_, done)| old(done) && done.replaces.contains(&file.id));
                if replaced {
                    self.remove(&file.meta.location)?;
                    done.removed += 1;
                }
            }
        }
        Ok(())
    }
}
