//! Call graph and points-to analysis, each driving the other.
//!
//! Andersen's inclusion constraints over the SSA bodies, solved by difference propagation.
//! *Objects* are allocation sites, with the receiver's object as heap context where the allocating method has one.
//! *Contexts*: methods of container classes (by the library model) are analyzed once per receiver object, their static methods once per call site; library methods that are not entered likewise; all other methods once.
//! *Fields* are kept apart per object; an array's elements are one.
//! Virtual calls are bound per receiver object as it is found, and only methods so reached are loaded and built.
//!
//! What cannot be followed is the *unknown* object (`unknown`), which clients and the platform pass to whatever they may call; so a set that is known to be too small holds it, and every body that may run by rapid type analysis (`reach`) is a node.
//!
//! Guarantee: over-approximates what runs, except where an [`Assumption`](crate::Assumption) is counted: reflection, native code, missing classes, library code that is not entered (see the README of the library model for what is taken to happen there).
//! Exceptions are one abstract object per class, thrown from anywhere to every handler that fits.

mod calls;
mod constraints;
mod entries;
mod given;
mod graph;
mod handed;
mod handles;
mod hubs;
mod objects;
mod opaque;
mod precision;
mod put;
mod reach;
mod reflection;
mod result;
mod set;
mod solver;
mod unknown;

pub use handles::{Handle, handles, names_asked_for};
pub use objects::{Context, Object, ObjectKind};
pub use precision::GivenUp;
pub use result::{CallEdge, Heap, HeapField, Node, Root, RootKind, Spawn};
pub use set::ObjectSet;

pub(crate) use entries::Entry;
pub(crate) use precision::Detail;
pub(crate) use solver::{Bodies, Built, Solver};
