//! Which files can be read: a broken or foreign one must neither end a question nor add empty rows to its answer.

use arrow::datatypes::DataType;
use futures::{StreamExt, stream};
use object_store::ObjectStoreExt;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::error::Error;
use crate::files::{File, Files, Narrow};
use crate::schema::{SCHEMA, SCHEMA_KEY, TABLE_KEY, Table};
use crate::secrets;
use crate::store::{Archive, line};

/// So many files are looked at at once.
const AT_ONCE: usize = 16;
/// Footers are at most so long in most files, so that one request is enough.
const TAIL: u64 = 16 * 1024;

/// How closely files are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closely {
    /// The footer alone, which names the schema and where everything is.
    Footer,
    /// Every page.
    Pages,
}

impl Archive {
    /// The files of some tables that can be read, and what is wrong with the others.
    pub fn readable(
        &self,
        tables: &[Table],
        narrow: &Narrow,
    ) -> Result<(Files, Vec<Error>), Error> {
        let mut files = self.files(tables, narrow)?;
        let complaints = self.verify(&mut files, Closely::Pages);
        Ok((files, complaints))
    }

    /// Takes out what cannot be read, and says of each file what is wrong with it.
    pub(crate) fn verify(&self, files: &mut Files, closely: Closely) -> Vec<Error> {
        let mut complaints = Vec::new();
        for (&table, of_table) in &mut files.of {
            let checks = stream::iter(std::mem::take(of_table))
                .map(|file| async move {
                    let wrong = self.wrong_with(table, &file).await;
                    (file, wrong)
                })
                .buffered(AT_ONCE)
                .collect::<Vec<_>>();
            for (file, wrong) in self.runtime.block_on(checks) {
                let named = |what: String| Error::File {
                    file: self.place(&file.meta.location),
                    what: secrets::without(&what),
                };
                let wrong = match (wrong, closely) {
                    (None, Closely::Pages) => self.read_through(&file).err(),
                    (wrong, _) => wrong.map(named),
                };
                match wrong {
                    None => of_table.push(file),
                    Some(error) => complaints.push(error),
                }
            }
        }
        complaints
    }

    fn read_through(&self, file: &File) -> Result<(), Error> {
        for batch in self.batches(file, None)? {
            batch.map_err(|error| self.broken(file, &error))?;
        }
        Ok(())
    }

    async fn wrong_with(&self, table: Table, file: &File) -> Option<String> {
        match self.metadata(file).await {
            Ok(metadata) => foreign(table, &metadata),
            Err(what) => Some(what),
        }
    }

    async fn metadata(&self, file: &File) -> Result<ParquetMetaData, String> {
        let size = file.meta.size;
        let mut tail = TAIL.min(size);
        let mut reader = ParquetMetaDataReader::new();
        loop {
            let range = size - tail..size;
            let bytes = self.store.get_range(&file.meta.location, range).await;
            let bytes = bytes.map_err(|error| format!("cannot be read: {}", line(&error)))?;
            match reader.try_parse_sized(&bytes, size) {
                Ok(()) => break,
                Err(parquet::errors::ParquetError::NeedMoreData(needed))
                    if needed as u64 <= size && needed as u64 > tail =>
                {
                    tail = needed as u64;
                }
                Err(error) => {
                    return Err(format!("not a whole Parquet file: {}", line(&error)));
                }
            }
        }
        reader
            .finish()
            .map_err(|error| format!("not a whole Parquet file: {}", line(&error)))
    }
}

/// Why a whole Parquet file is none of this table, or of a later version.
fn foreign(table: Table, metadata: &ParquetMetaData) -> Option<String> {
    let about = metadata.file_metadata();
    let entry = |key: &str| {
        let entries = about.key_value_metadata()?.iter();
        entries
            .filter(|entry| entry.key == key)
            .find_map(|entry| entry.value.clone())
    };
    let Some(schema) = entry(SCHEMA_KEY) else {
        return Some(format!(
            "no file of an archive: it does not name its schema ({SCHEMA})"
        ));
    };
    let version =
        |schema: &str| -> Option<u32> { schema.strip_prefix("untorn-archive/")?.parse().ok() };
    match (version(&schema), version(SCHEMA)) {
        (Some(found), Some(own)) if found <= own => {}
        _ => {
            return Some(format!(
                "of schema {schema}, this version reads up to {SCHEMA}: update untorn"
            ));
        }
    }
    if let Some(other) = entry(TABLE_KEY).filter(|name| name != table.name()) {
        return Some(format!("belongs to the table {other}"));
    }
    let found = match parquet_to_arrow_schema(about.schema_descr(), None) {
        Ok(found) => found,
        Err(error) => return Some(format!("its columns cannot be read: {}", line(&error))),
    };
    for wanted in table.columns().fields() {
        match found.field_with_name(wanted.name()) {
            Ok(field) if same(field.data_type(), wanted.data_type()) => {}
            Ok(field) => {
                return Some(format!(
                    "its column {} is of type {}, not {}",
                    wanted.name(),
                    field.data_type(),
                    wanted.data_type()
                ));
            }
            // An older version did not have it yet.
            Err(_) if wanted.is_nullable() => {}
            Err(_) => return Some(format!("it has no column {}", wanted.name())),
        }
    }
    None
}

/// Whether a reader takes one for the other.
fn same(found: &DataType, wanted: &DataType) -> bool {
    let text = |of: &DataType| {
        matches!(
            of,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
    };
    found == wanted || (text(found) && text(wanted))
}
