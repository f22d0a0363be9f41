//! Rows as columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray, TimestampMillisecondArray};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use crate::rows::{RegionRow, Rows};
use crate::schema::Table;

/// The rows of a table that some runs leave, or nothing if there are none; events are packed already.
pub fn of(table: Table, runs: &[Rows]) -> Result<Option<RecordBatch>, ArrowError> {
    let columns = match table {
        Table::Runs => of_runs(runs),
        Table::Regions => of_regions(runs),
        Table::Findings => of_findings(runs),
        Table::Profiles => {
            let rows = || {
                runs.iter()
                    .flat_map(|run| run.profile.iter().map(move |row| (run, row)))
            };
            vec![
                text(rows().map(|(run, _)| &run.run.run)),
                text(rows().map(|(_, row)| &row.entry)),
            ]
        }
        Table::Events => Vec::new(),
    };
    if columns.first().is_none_or(|column| column.is_empty()) {
        return Ok(None);
    }
    RecordBatch::try_new(table.columns(), columns).map(Some)
}

fn of_runs(runs: &[Rows]) -> Vec<ArrayRef> {
    let rows = || runs.iter().map(|run| &run.run);
    let at = TimestampMillisecondArray::from_iter_values(rows().map(|row| row.at.0));
    vec![
        text(rows().map(|row| &row.run)),
        Arc::new(at.with_timezone("UTC")),
        text(rows().map(|row| &row.command)),
        maybe(rows().map(|row| row.service.as_ref())),
        maybe(rows().map(|row| row.version.as_ref())),
        text(rows().map(|row| &row.what)),
        text(rows().map(|row| &row.tool)),
        maybe(rows().map(|row| row.jdk.as_ref())),
        maybe(rows().map(|row| row.os.as_ref())),
        maybe(rows().map(|row| row.arch.as_ref())),
        small(rows().map(|row| row.cpus)),
        maybe(rows().map(|row| row.options.as_ref())),
        count(rows().map(|row| row.events)),
        count(rows().map(|row| Some(row.regions))),
        count(rows().map(|row| Some(row.findings))),
        count(rows().map(|row| Some(row.observed))),
        maybe(rows().map(|row| row.stats.as_ref())),
    ]
}

fn of_regions(runs: &[Rows]) -> Vec<ArrayRef> {
    let rows = || (runs.iter()).flat_map(|run| run.regions.iter().map(move |row| (run, row)));
    let names = || rows().map(|(_, row)| &row.name);
    let whole = |row: &RegionRow| {
        let (entered, torn) = row.entered.zip(row.torn)?;
        Some(entered.saturating_sub(torn))
    };
    vec![
        text(rows().map(|(run, _)| &run.run.run)),
        text(rows().map(|(_, row)| &row.region)),
        maybe(names().map(|name| name.class.as_ref())),
        text(names().map(|name| &name.method)),
        maybe(names().map(|name| name.descriptor.as_ref())),
        small(names().map(|name| name.block)),
        maybe(names().map(|name| name.file.as_ref())),
        small(names().map(|name| name.line)),
        text(rows().map(|(_, row)| row.state)),
        count(rows().map(|(_, row)| row.entered)),
        count(rows().map(|(_, row)| whole(row))),
        count(rows().map(|(_, row)| row.torn)),
        count(rows().map(|(_, row)| row.transactions)),
    ]
}

fn of_findings(runs: &[Rows]) -> Vec<ArrayRef> {
    let rows = || (runs.iter()).flat_map(|run| run.findings.iter().map(move |row| (run, row)));
    let own = || rows().map(|(_, row)| row);
    vec![
        text(rows().map(|(run, _)| &run.run.run)),
        text(own().map(|row| &row.fingerprint)),
        text(own().map(|row| &row.region)),
        maybe(own().map(|row| row.name.class.as_ref())),
        text(own().map(|row| &row.name.method)),
        maybe(own().map(|row| row.name.descriptor.as_ref())),
        small(own().map(|row| row.name.block)),
        maybe(own().map(|row| row.name.field.as_ref())),
        maybe(own().map(|row| row.name.file.as_ref())),
        small(own().map(|row| row.name.line)),
        text(own().map(|row| &row.verdict)),
        text(own().map(|row| &row.kind)),
        text(own().map(|row| row.rank)),
        text(own().map(|row| &row.analyses)),
        text(own().map(|row| &row.message)),
        count(own().map(|row| Some(row.occurrences))),
        count(own().map(|row| row.torn)),
        count(own().map(|row| row.entered)),
        text(own().map(|row| &row.finding)),
    ]
}

fn text<T: AsRef<str>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<StringArray>())
}

fn maybe<'a>(values: impl Iterator<Item = Option<&'a String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn small(values: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    let values = values.map(|value| value.and_then(|value| i32::try_from(value).ok()));
    Arc::new(values.collect::<Int32Array>())
}

fn count(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let values = values.map(|value| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    Arc::new(values.collect::<Int64Array>())
}
