//! The events of a trace as a table, in the words of STD text.
//!
//! Rows are packed while they are read, so that a long trace takes as much memory as its file.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use untorn_trace::{Source, TextWriter};

use crate::error::Error;
use crate::schema::Table;
use crate::store::line;
use crate::write::Encoder;

/// So many events are packed at once.
const AT_ONCE: usize = 64 * 1024;

/// All events of one run, packed as the file of the table that they will be.
#[derive(Clone, Debug)]
pub struct Events {
    pub count: u64,
    pub(crate) file: Vec<u8>,
}

impl Events {
    /// Reads a trace to its end; `name` is what messages call it, and `run` stands in every row.
    pub fn of_trace(source: &mut dyn Source, name: &str, run: &str) -> Result<Self, Error> {
        let bad = |error: &dyn std::error::Error| Error::File {
            file: name.to_owned(),
            what: line(error),
        };
        let mut encoder = Encoder::new(Table::Events).map_err(|error| bad(&error))?;
        let mut text = TextWriter::new(name, Lines::default());
        let mut batch = Vec::new();
        let mut pending = Rows::default();
        let mut count = 0;
        loop {
            source.fill(&mut batch).map_err(|error| bad(&error))?;
            if batch.is_empty() {
                break;
            }
            text.write(source.tables(), &batch)
                .map_err(|error| bad(&error))?;
            for written in text.output().take() {
                pending.add(count, &written);
                count += 1;
            }
            if pending.numbers.len() >= AT_ONCE {
                let rows = pending.take(run).map_err(|error| bad(&error))?;
                encoder.write(&rows).map_err(|error| bad(&error))?;
            }
        }
        if !pending.numbers.is_empty() {
            let rows = pending.take(run).map_err(|error| bad(&error))?;
            encoder.write(&rows).map_err(|error| bad(&error))?;
        }
        let file = encoder.finish().map_err(|error| bad(&error))?;
        Ok(Self {
            count: count.unsigned_abs(),
            file,
        })
    }
}

/// Keeps what is written to it as whole lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn take(&mut self) -> Vec<String> {
        let bytes = std::mem::take(&mut self.0);
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::to_owned).collect()
    }
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Rows {
    numbers: Vec<i64>,
    threads: Vec<String>,
    operations: Vec<String>,
    operands: Vec<Option<String>>,
    places: Vec<String>,
}

impl Rows {
    /// Adds a line of STD text: `thread|operation(operand)|place`.
    fn add(&mut self, number: i64, written: &str) {
        let mut parts = written.splitn(3, '|');
        let [thread, operation, place] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let (word, operand) = match operation.split_once('(') {
            Some((word, rest)) => (word, Some(rest.strip_suffix(')').unwrap_or(rest))),
            None => (operation, None),
        };
        self.numbers.push(number);
        self.threads.push(thread.to_owned());
        self.operations.push(word.to_owned());
        self.operands.push(operand.map(str::to_owned));
        self.places.push(place.to_owned());
    }

    fn take(&mut self, run: &str) -> Result<RecordBatch, arrow::error::ArrowError> {
        let rows = std::mem::take(self);
        let runs = vec![run; rows.numbers.len()];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(runs)),
            Arc::new(Int64Array::from(rows.numbers)),
            Arc::new(StringArray::from(rows.threads)),
            Arc::new(StringArray::from(rows.operations)),
            Arc::new(StringArray::from(rows.operands)),
            Arc::new(StringArray::from(rows.places)),
        ];
        RecordBatch::try_new(Table::Events.columns(), columns)
    }
}
