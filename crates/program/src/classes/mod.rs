//! Classes, fields and methods, and how the JVM finds one from the other.

mod descriptor;
mod dispatch;
mod hierarchy;
mod link;
mod loader;
mod names;
mod parse;
mod serialization;
mod table;

pub use link::{CallSite, Handle, HandleTarget, Link, Links};
pub use loader::Loader;
pub use names::Names;
pub use table::{Class, ClassKind, Classes, Field, Flags, Method, Type, WellKnown};
