//! What analyses found, in one model for all of them.
//!
//! Every region (a method or block that ought to be atomic) ends with one verdict.
//! Each analysis contributes [`Finding`]s; [`merge`] unites what several say of one region and what has one cause, and [`Document`] is the whole as it is saved.
//!
//! *Invariant.* This crate knows no trace and no class file: places, threads and locations are names here, so that a saved document can be rendered anywhere.

mod cause;
mod document;
mod evidence;
mod finding;
mod fingerprint;
mod layout;
mod merge;
mod rank;
mod reproduction;
mod shared;

pub use document::{
    Assumed, DEMOTED, Document, ReadError, SCHEMA, Suppressed, SuppressedBy, Tool, schema,
};
pub use evidence::{
    Edge, EdgeKind, Evidence, GuardLoss, Interleaving, LockView, MethodViews, Place, Race,
    Reduction, Step, Transaction, Typing, TypingPart, View, ViewConflict,
};
pub use finding::{Finding, Kind, Region, Verdict};
pub use fingerprint::fingerprint;
pub use merge::merge;
pub use rank::{Executions, Level, Rank};
pub use reproduction::{Replays, Reproduction};
