//! Reading rows: the few questions that are a union and no matter of a query engine.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type};
use object_store::ObjectStoreExt;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::error::Error;
use crate::files::{File, Narrow};
use crate::schema::Table;
use crate::store::{Archive, line};
use crate::verify::Closely;

/// A column of some rows.
#[derive(Debug)]
pub struct Column<'a>(&'a dyn Array);

impl Column<'_> {
    /// The text of a row, if it has one.
    pub fn text(&self, row: usize) -> Option<&str> {
        let texts = self.0.as_string_opt::<i32>()?;
        texts.is_valid(row).then(|| texts.value(row))
    }

    /// The number of a row, if it has one.
    pub fn number(&self, row: usize) -> Option<i64> {
        if self.0.is_null(row) {
            return None;
        }
        let large = self.0.as_primitive_opt::<Int64Type>();
        let small = self.0.as_primitive_opt::<Int32Type>();
        (large.map(|all| all.value(row))).or_else(|| small.map(|all| i64::from(all.value(row))))
    }
}

impl Archive {
    /// Calls `visit` with the named columns of every row of a table, and says which files could not be read.
    ///
    /// A file that is broken behind a sound footer is named as well; what was visited of it counts.
    pub fn read(
        &self,
        table: Table,
        columns: &[&str],
        narrow: &Narrow,
        visit: &mut dyn FnMut(&[Column<'_>], usize),
    ) -> Result<Vec<Error>, Error> {
        let mut files = self.files(&[table], narrow)?;
        let mut complaints = self.verify(&mut files, Closely::Footer);
        for file in files.table(table) {
            let visited = self.each_batch(file, columns, &mut |batch| {
                let found = columns.iter().map(|name| batch.column_by_name(name));
                let absent = arrow::array::new_null_array(
                    &arrow::datatypes::DataType::Utf8,
                    batch.num_rows(),
                );
                let found: Vec<Column<'_>> = found
                    .map(|column| Column(column.map_or(absent.as_ref(), |column| column.as_ref())))
                    .collect();
                for row in 0..batch.num_rows() {
                    visit(&found, row);
                }
            });
            complaints.extend(visited.err());
        }
        Ok(complaints)
    }

    fn each_batch(
        &self,
        file: &File,
        columns: &[&str],
        visit: &mut dyn FnMut(&RecordBatch),
    ) -> Result<(), Error> {
        for batch in self.batches(file, Some(columns))? {
            visit(&batch.map_err(|error| self.broken(file, &error))?);
        }
        Ok(())
    }

    /// The rows of a file, some thousands at a time.
    ///
    /// Files are small enough to be fetched whole, in one request.
    pub(crate) fn batches(
        &self,
        file: &File,
        columns: Option<&[&str]>,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let place = &file.meta.location;
        let fetch = async { self.store.get(place).await?.bytes().await };
        let bytes = (self.runtime.block_on(fetch)).map_err(|error| self.failed(place, &error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)
            .map_err(|error| self.broken(file, &error))?;
        let builder = match columns {
            Some(columns) => {
                let names = columns.iter().copied();
                let mask = ProjectionMask::columns(builder.parquet_schema(), names);
                builder.with_projection(mask)
            }
            None => builder,
        };
        builder.build().map_err(|error| self.broken(file, &error))
    }

    pub(crate) fn broken(&self, file: &File, error: &dyn std::error::Error) -> Error {
        Error::File {
            file: self.place(&file.meta.location),
            what: format!("broken: {}", line(error)),
        }
    }
}
