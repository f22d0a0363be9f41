//! The archive: many runs as columns, on a folder or an object store, that can be asked.
//!
//! [`Archive::open`] takes a URL, [`Archive::append`] puts runs into it, [`Archive::read`] hands their rows out.
//! Layout and columns are described in docs/archive.md, for they are read by other engines too.
//!
//! *Invariant.* A batch of runs is there when its file of the table `runs` is there, which is written last and in one step; files of other tables without it are not read.
//! *Invariant.* Nothing outside of this crate is asynchronous, and nothing in it prints.

mod ask;
mod columns;
mod compact;
mod error;
mod events;
mod files;
mod questions;
mod read;
mod rows;
mod schema;
mod secrets;
mod store;
mod verify;
mod when;
mod write;

pub use ask::Answer;
pub use compact::Compacted;
pub use error::Error;
pub use events::Events;
pub use files::{Files, Narrow};
pub use questions::Question;
pub use read::Column;
pub use rows::{ENTERED, FindingRow, ProfileRow, RegionRow, Rows, RunFacts, RunRow};
pub use schema::{SCHEMA, Table};
pub use store::Archive;
pub use when::Moment;
pub use write::Batch;
