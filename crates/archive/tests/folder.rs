//! An archive in a folder: what is written is read back, beside other writers, killed ones, and files that are broken.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::json;
use untorn_archive::{Archive, Batch, ENTERED, Moment, Narrow, Rows, RunFacts, Table};
use untorn_findings::{Document, Evidence, Executions, Finding, Kind, Region, Verdict};

fn region(method: &str) -> Region {
    Region {
        class: Some("shop.Cart".into()),
        method: method.into(),
        descriptor: Some("()V".into()),
        ..Region::default()
    }
}

/// A run in which `add` was torn so often, and `size` never.
fn document(torn: u64) -> Document {
    let mut document = Document::new(vec!["shop.Main --password hush-hush".into()]);
    document.stats.insert("doublechecker".into(), json!({}));
    document
        .stats
        .insert("program".into(), json!("shop.Main --password hush-hush"));
    document.stats.insert(
        ENTERED.into(),
        json!([
            { "region": region("add"), "entered": 100, "transactions": 90 },
            { "region": region("size"), "entered": 50, "transactions": 50 },
        ]),
    );
    if torn > 0 {
        let mut finding = Finding::new(
            "doublechecker",
            Kind::Torn,
            Verdict::Observed,
            region("add"),
            "Cart.add is torn".into(),
            Evidence::default(),
        );
        finding.executions = Some(Executions { torn, of: 100 });
        document.findings.push(finding);
    }
    document
}

fn batch(names: &[&str], torn: u64) -> Batch {
    let at = Moment(1_772_000_000_000);
    let rows = |name: &&str| {
        let facts = RunFacts::of_this_machine("run");
        Rows::of_document(&document(torn), &facts, at, &[name.as_bytes()]).unwrap()
    };
    Batch {
        project: "shop".into(),
        day: at.day(),
        runs: names.iter().map(rows).collect(),
    }
}

/// Runs, and entries and tears of all regions together.
fn totals(archive: &Archive) -> (usize, i64, i64, Vec<String>) {
    let everything = Narrow::default();
    let mut runs = 0;
    let mut complaints = archive
        .read(Table::Runs, &["run"], &everything, &mut |columns, row| {
            runs += usize::from(columns[0].text(row).is_some());
        })
        .unwrap();
    let (mut entered, mut torn) = (0, 0);
    complaints.extend(
        archive
            .read(
                Table::Regions,
                &["entered", "torn"],
                &everything,
                &mut |columns, row| {
                    entered += columns[0].number(row).unwrap();
                    torn += columns[1].number(row).unwrap();
                },
            )
            .unwrap(),
    );
    let complaints = complaints.iter().map(ToString::to_string).collect();
    (runs, entered, torn, complaints)
}

fn open(folder: &Path) -> Archive {
    Archive::open(folder.to_str().unwrap()).unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn of_table(folder: &Path, table: &str) -> Vec<PathBuf> {
    files(&folder.join(table))
}

#[test]
fn what_is_appended_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    archive.append(&batch(&["a", "b"], 3)).unwrap();
    archive.append(&batch(&["c"], 0)).unwrap();
    assert_eq!(totals(&archive), (3, 450, 6, vec![]));
    // Told again, it is there once.
    archive.append(&batch(&["c"], 0)).unwrap();
    assert_eq!(totals(&archive), (3, 450, 6, vec![]));
    let day = folder.path().join("runs/project=shop/day=2026-02-25");
    assert_eq!(files(&day).len(), 2);
}

#[test]
fn arguments_of_programs_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    archive.append(&batch(&["a"], 1)).unwrap();
    let mut said = Vec::new();
    let columns = ["what", "stats", "options"];
    archive
        .read(
            Table::Runs,
            &columns,
            &Narrow::default(),
            &mut |columns, row| {
                said.extend(
                    columns
                        .iter()
                        .filter_map(|c| c.text(row).map(str::to_owned)),
                );
            },
        )
        .unwrap();
    assert_eq!(said[0], "shop.Main");
    assert!(!said.concat().contains("hush"), "{said:?}");
}

#[test]
fn no_tear_is_counted_where_nobody_looked_for_one() {
    let mut document = document(0);
    document.stats.remove("doublechecker");
    let rows = Rows::of_document(&document, &RunFacts::default(), Moment(0), &[]).unwrap();
    assert!(
        rows.regions
            .iter()
            .all(|row| row.torn.is_none() && row.entered.is_some())
    );
}

#[test]
fn a_killed_writer_leaves_nothing_to_be_seen() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    archive.append(&batch(&["a"], 3)).unwrap();
    archive.append(&batch(&["b"], 3)).unwrap();
    // Killed before its last step, which is the table of runs.
    fs::remove_file(&of_table(folder.path(), "runs")[0]).unwrap();
    // Killed in the middle of a file: the rest of a temporary one.
    let half = of_table(folder.path(), "regions")[0].with_extension("parquet#1");
    fs::write(half, b"PAR1 half").unwrap();
    assert_eq!(totals(&archive), (1, 150, 3, vec![]));
}

#[test]
fn writers_at_once_do_not_collide() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let archive = open(folder);
                for run in 0..5 {
                    let name = format!("{writer} {run}");
                    archive.append(&batch(&[&name], 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(totals(&open(folder.path())), (20, 3_000, 20, vec![]));
}

#[test]
fn compacting_changes_no_number_and_leaves_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    for run in 0..10 {
        archive.append(&batch(&[&run.to_string()], 2)).unwrap();
    }
    let before = totals(&archive);
    let done = archive.compact(&Narrow::default(), i64::MAX).unwrap();
    assert_eq!((done.batches, done.into, done.removed), (10, 1, 0));
    assert_eq!(totals(&archive), before);
    // A writer beside it is seen as well.
    archive.append(&batch(&["later"], 2)).unwrap();
    let with_later = totals(&archive);
    assert_eq!(with_later.0, 11);
    // The next one removes what was replaced, and takes the later one in.
    let done = archive.compact(&Narrow::default(), 0).unwrap();
    assert_eq!((done.batches, done.into, done.removed), (2, 1, 30));
    assert_eq!(totals(&archive), with_later);
    let done = archive.compact(&Narrow::default(), 0).unwrap();
    assert_eq!((done.batches, done.removed), (0, 6));
    assert_eq!(totals(&archive), with_later);
    assert_eq!(of_table(folder.path(), "runs").len(), 1);
}

#[test]
fn of_two_compactions_at_once_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    for run in 0..6 {
        archive.append(&batch(&[&run.to_string()], 1)).unwrap();
    }
    let before = totals(&archive);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let folder = folder.path();
            scope.spawn(move || open(folder).compact(&Narrow::default(), i64::MAX).unwrap());
        }
    });
    assert_eq!(totals(&archive), before);
}

#[test]
fn a_broken_file_is_named_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    for run in ["a", "b", "c"] {
        archive.append(&batch(&[run], 1)).unwrap();
    }
    let regions = of_table(folder.path(), "regions");
    let bytes = fs::read(&regions[0]).unwrap();
    fs::write(&regions[0], &bytes[..bytes.len() / 2]).unwrap();
    let (runs, entered, torn, complaints) = totals(&archive);
    assert_eq!((runs, entered, torn), (3, 300, 2));
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(
        complaints[0].starts_with(regions[0].to_str().unwrap()),
        "{complaints:?}"
    );
    assert!(
        complaints[0].contains("not a whole Parquet file"),
        "{complaints:?}"
    );
    assert!(!complaints[0].contains('\n'));
    // A page that is broken behind a sound footer.
    fs::write(&regions[0], &bytes).unwrap();
    let mut spoilt = bytes;
    spoilt[60..160].fill(0xff);
    fs::write(&regions[1], &spoilt).unwrap();
    let (_, complaints) = archive
        .readable(&[Table::Regions], &Narrow::default())
        .unwrap();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(
        complaints[0]
            .to_string()
            .starts_with(regions[1].to_str().unwrap())
    );
}

/// A file of the table `regions` with other columns or another schema.
fn write_regions(path: &Path, schema: Option<&str>, columns: Vec<(&str, ArrayRef)>) {
    let fields: Vec<Field> = (columns.iter())
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), false))
        .collect();
    let entries = schema.map(|schema| {
        vec![
            KeyValue::new("untorn.schema".to_owned(), schema.to_owned()),
            KeyValue::new("untorn.table".to_owned(), "regions".to_owned()),
        ]
    });
    let properties = WriterProperties::builder()
        .set_key_value_metadata(entries)
        .build();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let rows = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}

fn text(value: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![value]))
}

fn number(value: i64) -> ArrayRef {
    Arc::new(Int64Array::from(vec![value]))
}

#[test]
fn older_files_are_read_and_foreign_ones_named() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    for run in ["a", "b", "c", "d"] {
        archive.append(&batch(&[run], 0)).unwrap();
    }
    let regions = of_table(folder.path(), "regions");
    // As the first version may have been: without the columns that can be absent.
    let older = || {
        vec![
            ("run", text("x")),
            ("region", text("y")),
            ("method", text("m")),
            ("state", text("watched")),
            ("entered", number(7)),
            ("torn", number(1)),
        ]
    };
    write_regions(&regions[0], Some("untorn-archive/0"), older());
    write_regions(&regions[1], Some("untorn-archive/99"), older());
    write_regions(&regions[2], None, vec![("a", number(1))]);
    let (runs, entered, torn, complaints) = totals(&archive);
    assert_eq!((runs, entered, torn), (4, 157, 1));
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints[0].contains("update untorn"), "{complaints:?}");
    assert!(
        complaints[1].contains("does not name its schema"),
        "{complaints:?}"
    );
    // What is older is brought up to date by a compaction.
    let mut other_type = older();
    other_type[4] = ("entered", text("many"));
    write_regions(&regions[2], Some("untorn-archive/1"), other_type);
    let (.., complaints) = totals(&archive);
    assert!(complaints[1].contains("column entered"), "{complaints:?}");
    let done = archive.compact(&Narrow::default(), 0).unwrap();
    assert_eq!((done.batches, done.complaints.len()), (2, 2));
    assert_eq!(totals(&archive).1, 157);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let error = open(&file)
        .append(&batch(&["a"], 0))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with(file.to_str().unwrap()), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn columns_are_those_of_the_page_on_the_archive() {
    let page = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/archive.md"
    ))
    .unwrap();
    for table in Table::ALL {
        let section = page
            .split(&format!("### `{}`", table.name()))
            .nth(1)
            .unwrap();
        let section = section.split("\n### ").next().unwrap();
        for field in table.columns().fields() {
            let kind = match field.data_type() {
                DataType::Utf8 => "text",
                DataType::Int64 | DataType::Int32 => "number",
                _ => "time",
            };
            let row = format!(
                "| `{}` | {kind}{} |",
                field.name(),
                if field.is_nullable() {
                    ", may be absent"
                } else {
                    ""
                }
            );
            assert!(section.contains(&row), "{}: no row {row}", table.name());
        }
    }
}
