//! Typed SSA form of method bodies.
//!
//! A [`Body`] is a control-flow graph of [`Block`]s; block 0 is the entry.
//! Values are defined once: by a parameter, a phi at the head of a block, or an instruction.
//! Instructions are dense in block order; the last one of a block says how control leaves it.
//!
//! *Exceptions.* A block that can throw inside a protected range has an edge to each handler of the range, in the order of the exception table.
//! Inside a protected range a block ends after each store to a local variable, so the locals at any throwing instruction are those at the entry of its block: phis of handlers are exact.
//! A `monitorexit` is taken not to throw, as structured locking guarantees; javac's handlers that cover their own `monitorexit` would else hide every monitor region.
//! `finally` blocks stand where the compiler copied them; subroutines (`jsr`) of old class files are expanded the same way.

mod body;
mod build;
mod cfg;
mod liveness;
mod path;
mod simplify;
mod stack;
mod translate;

pub use body::{
    Block, Body, Const, Def, Handler, Instr, InvokeKind, Lambda, Op, Operands, Phi, Test, Value,
};
pub(crate) use build::build_bodies;
pub use build::{BodyError, build_body};
pub use path::{AccessPath, Root, Step};
