//! What happened in a run, in words that every part of Untorn shares.
//!
//! An [`Event`] is a thread, an [`Op`] and a [`SiteId`].
//! Ids are dense newtypes; the [`Tables`] resolve them to names, classes, files and lines.
//! [`conflict`] says which two events may not be exchanged, and [`overlap`] which locations share storage.
//!
//! *Invariant.* This crate knows no file format, no analysis and no JVM: it is the vocabulary alone.

pub mod conflict;
mod event;
mod ids;
pub mod overlap;
mod strings;
mod tables;

pub use event::{AccessFlags, Event, Kind, Kinds, LockMode, Op};
pub use ids::{
    ClassId, EventIndex, FieldId, LockId, MethodId, ObjectId, RegionId, SiteId, StrId, ThreadId,
    VarId,
};
pub use strings::Strings;
pub use tables::{
    Class, Field, Lock, LockKind, Method, Object, Part, Region, RegionKind, Site, Table, Tables,
    Thread, Var,
};
