//! Appending runs.

use object_store::path::Path;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use sha2::{Digest, Sha256};

use arrow::record_batch::RecordBatch;

use crate::columns;
use crate::error::Error;
use crate::rows::Rows;
use crate::schema::{SCHEMA, SCHEMA_KEY, TABLE_KEY, Table};
use crate::store::{Archive, Put};

/// Runs of one project and day that go into the archive together; one with events is alone.
#[derive(Clone, Debug)]
pub struct Batch {
    pub project: String,
    /// As `2026-03-09`.
    pub day: String,
    pub runs: Vec<Rows>,
}

impl Archive {
    /// Puts a batch there; when this returns, all of it is there, and before, nothing of it is seen.
    ///
    /// The file of the table `runs` is the last one, and the others are not read without it.
    pub fn append(&self, batch: &Batch) -> Result<(), Error> {
        if batch.runs.is_empty() {
            return Ok(());
        }
        let id = identify(&batch.runs);
        let [runs, rest @ ..] = Table::ALL;
        for table in rest.into_iter().chain([runs]) {
            let file = self.file(table, &batch.project, &batch.day, &id);
            let unwritable = |what: String| Error::Encode {
                place: self.place(&file),
                what,
            };
            let bytes = match (table, batch.runs.as_slice()) {
                (Table::Events, [only]) => match &only.events {
                    Some(events) => events.file.clone(),
                    None => continue,
                },
                _ => {
                    let rows = columns::of(table, &batch.runs);
                    let rows = rows.map_err(|e| unwritable(e.to_string()))?;
                    let Some(rows) = rows else { continue };
                    encode(table, &[rows]).map_err(|e| unwritable(e.to_string()))?
                }
            };
            // The name says what is in the file, so one that is there already is this one.
            match self.put(&file, bytes)? {
                Put::Done | Put::There => {}
            }
        }
        Ok(())
    }

    /// Where a table's part of a batch is.
    pub(crate) fn file(&self, table: Table, project: &str, day: &str, id: &str) -> Path {
        let mut parts: Vec<String> = self
            .root
            .parts()
            .map(|part| part.as_ref().to_owned())
            .collect();
        parts.extend([
            table.name().to_owned(),
            format!("project={}", encoded(project)),
            format!("day={day}"),
            format!("{id}.parquet"),
        ]);
        Path::from(parts.join("/"))
    }
}

/// A name that can stand in a path of every store: other letters than these are written as their bytes, as `~20`.
pub(crate) fn encoded(project: &str) -> String {
    let mut name = String::new();
    for byte in project.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("~{byte:02X}"));
        }
    }
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '_');
    }
    name
}

fn identify(runs: &[Rows]) -> String {
    let mut hash = Sha256::new();
    for run in runs {
        hash.update(run.run.run.as_bytes());
    }
    hash.finalize()[..10]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Rows as the bytes of a Parquet file.
pub(crate) fn encode(
    table: Table,
    batches: &[RecordBatch],
) -> Result<Vec<u8>, parquet::errors::ParquetError> {
    let mut encoder = Encoder::new(table)?;
    for batch in batches {
        encoder.write(batch)?;
    }
    encoder.finish()
}

/// Packs rows as they come.
pub(crate) struct Encoder(ArrowWriter<Vec<u8>>);

impl Encoder {
    pub fn new(table: Table) -> Result<Self, parquet::errors::ParquetError> {
        let entry = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_statistics_truncate_length(Some(32))
            .set_key_value_metadata(Some(vec![
                entry(SCHEMA_KEY, SCHEMA),
                entry(TABLE_KEY, table.name()),
            ]))
            .build();
        // Every column has a type that Parquet names itself; small files would consist of the schema otherwise.
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), table.columns(), options)?;
        Ok(Self(writer))
    }

    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), parquet::errors::ParquetError> {
        self.0.write(rows)
    }

    pub fn finish(self) -> Result<Vec<u8>, parquet::errors::ParquetError> {
        self.0.into_inner()
    }
}
