//! The tables and their columns.
//!
//! Counts are signed and dictionaries are left to Parquet, since not every engine that reads the files knows more.
//! A later version may add columns that can be absent; a reader takes a column that a file does not have for absent in all its rows.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The name and version of the layout; a change that old readers cannot take raises the number.
pub const SCHEMA: &str = "untorn-archive/1";

/// The entry of a file's metadata that holds [`SCHEMA`].
pub const SCHEMA_KEY: &str = "untorn.schema";
/// The entry of a file's metadata that holds the name of the table.
pub const TABLE_KEY: &str = "untorn.table";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Table {
    Runs,
    Regions,
    Findings,
    Profiles,
    Events,
}

impl Table {
    pub const ALL: [Self; 5] = [
        Self::Runs,
        Self::Regions,
        Self::Findings,
        Self::Profiles,
        Self::Events,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Regions => "regions",
            Self::Findings => "findings",
            Self::Profiles => "profiles",
            Self::Events => "events",
        }
    }

    /// The columns within a file; `project` and `day` stand in its path.
    pub fn columns(self) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let maybe = |name: &str| Field::new(name, DataType::Utf8, true);
        let count = |name: &str| Field::new(name, DataType::Int64, false);
        let maybe_count = |name: &str| Field::new(name, DataType::Int64, true);
        let maybe_small = |name: &str| Field::new(name, DataType::Int32, true);
        let at = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let fields = match self {
            Self::Runs => vec![
                text("run"),
                Field::new("at", at, false),
                text("command"),
                maybe("service"),
                maybe("version"),
                text("what"),
                text("tool"),
                maybe("jdk"),
                maybe("os"),
                maybe("arch"),
                maybe_small("cpus"),
                maybe("options"),
                maybe_count("events"),
                count("regions"),
                count("findings"),
                count("observed"),
                maybe("stats"),
            ],
            Self::Regions => vec![
                text("run"),
                text("region"),
                maybe("class"),
                text("method"),
                maybe("descriptor"),
                maybe_small("block"),
                maybe("file"),
                maybe_small("line"),
                text("state"),
                maybe_count("entered"),
                maybe_count("whole"),
                maybe_count("torn"),
                maybe_count("transactions"),
            ],
            Self::Findings => vec![
                text("run"),
                text("fingerprint"),
                text("region"),
                maybe("class"),
                text("method"),
                maybe("descriptor"),
                maybe_small("block"),
                maybe("field"),
                maybe("file"),
                maybe_small("line"),
                text("verdict"),
                text("kind"),
                text("rank"),
                text("analyses"),
                text("message"),
                count("occurrences"),
                maybe_count("torn"),
                maybe_count("entered"),
                text("finding"),
            ],
            Self::Profiles => vec![text("run"), text("entry")],
            Self::Events => vec![
                text("run"),
                count("number"),
                text("thread"),
                text("operation"),
                maybe("operand"),
                text("place"),
            ],
        };
        Arc::new(Schema::new(fields))
    }
}
