//! The program model: what a JVM program is, without running it.
//!
//! [`Program::load`] reads class files as a [`LoadPlan`] says, and gives a model that no longer changes:
//! - [`classes`]: classes, fields and methods with the JVM's resolution and selection ([`classes::Classes`]);
//! - [`ir`]: method bodies in typed SSA form ([`Program::body`]);
//! - [`locks`]: where a body holds which monitors and explicit locks ([`Program::locks`]);
//! - [`heap`]: the call graph with its contexts, abstract objects, and what may point to what ([`Program::heap`]);
//! - [`threads`]: abstract threads, how many of each, and which objects they share ([`Program::threads`], [`Program::sharing`]);
//! - [`library`]: what is known of library methods whose code is not entered;
//! - [`Assumptions`]: what the model took for granted because the input did not say.
//!
//! With a main class the program is an application that starts there; without one it is a library, every exported method of which any number of threads call on one shared instance of each class.
//!
//! *Architecture invariant.* This crate knows no analysis and prints nothing; it does not decide what ought to be atomic.
//! Bad input is a [`LoadError`] if the user named it, an assumption if it is one class of many; never a panic.
//!
//! ```no_run
//! use untorn_program::ir::Op;
//! use untorn_program::{LoadPlan, Program};
//!
//! # fn main() -> Result<(), untorn_program::LoadError> {
//! let plan = LoadPlan { inputs: vec!["app.jar".into()], main: Some("app.Main".into()), ..LoadPlan::default() };
//! let program = Program::load(&plan)?;
//! let (classes, heap) = (program.classes(), program.heap());
//! for thread in program.threads().ids() {
//!     for node in heap.node_ids().filter(|node| program.threads().runs(thread, *node)) {
//!         let method = heap.node(node).method;
//!         let (Some(body), locks) = (program.body(method), program.locks(method)) else { continue };
//!         for (id, instr) in body.all_instrs() {
//!             let Op::PutField { object, field, .. } = instr.op else { continue };
//!             let shared = heap.points_to(node, object).intersects(program.sharing().shared());
//!             if shared && locks.held_at(id).is_empty() && locks.method_lock().is_none() {
//!                 println!("line {}: {} is written without a lock", instr.line, classes.describe_field(field));
//!             }
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod assumptions;
pub mod classes;
mod error;
pub mod heap;
mod ids;
pub mod ir;
pub mod library;
pub mod load;
pub mod locks;
mod plan;
mod program;
pub mod threads;
mod waiting;

pub use assumptions::{Assumption, Assumptions};
pub use error::LoadError;
pub use ids::*;
pub use plan::LoadPlan;
pub use program::{Program, Stats};
