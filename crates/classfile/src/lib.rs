//! JVM class files: reading ([`read`]), instructions ([`insn`]) and editing ([`edit`]).
//!
//! # Reading
//!
//! The reader borrows from the bytes, parses attributes when asked for them, and answers malformed
//! input with a typed [`Error`] that carries the byte offset: it never panics, never recurses
//! without bound, and never allocates more than a small multiple of its input.
//!
//! ```
//! # fn demo(bytes: &[u8]) -> Result<(), untorn_classfile::Error> {
//! use untorn_classfile::{ClassFile, Insn, Op};
//!
//! let class = ClassFile::parse(bytes)?;
//! for method in &class.methods {
//!     let Some(code) = method.code(&class.pool)? else { continue };
//!     for (offset, insn) in code.decode()? {
//!         if let Insn::Field { op: Op::Putfield, field } = insn {
//!             let field = class.pool.field_ref(field)?;
//!             println!("{}.{} +{offset} writes {}.{}", class.name, method.name, field.class, field.name);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Editing
//!
//! A [`ClassEditor`] hands out a [`MethodEditor`] for each body and takes it back.
//! Positions are the instructions of the file and never shift; inserted code names labels and its
//! frames, jumps and tables follow; what is not touched keeps its bytes.
//! Here every method calls a hook before each field read whose receiver is not null, and on every
//! way out:
//!
//! ```
//! # fn demo(bytes: &[u8]) -> Result<Vec<u8>, untorn_classfile::EditError> {
//! use untorn_classfile::read::VType;
//! use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, Op, PoolIndex};
//!
//! let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
//! let read = editor.pool.method_ref("my/Hooks", "read", "(Ljava/lang/Object;)V")?;
//! let leave = editor.pool.method_ref("my/Hooks", "leave", "()V")?;
//! for index in 0..editor.class().methods.len() {
//!     let Some(mut method) = editor.method(index)? else { continue };
//!
//!     // Where is the receiver an object, and not still under construction?
//!     let mut reads = Vec::new();
//!     let mut states = method.states(&editor.pool)?;
//!     for at in 0..states.len() {
//!         if states.insn(at).op() == Op::Getfield
//!             && let Some(state) = states.at(at)?
//!             && matches!(state.peek(0), Some(VType::Object(_)))
//!         {
//!             reads.push(at);
//!         }
//!     }
//!     for at in reads {
//!         let skip = method.new_label();
//!         method
//!             .before(at)
//!             .op(Op::Dup)
//!             .jump(Op::Ifnull, skip)
//!             .op(Op::Dup)
//!             .invoke(Op::Invokestatic, read)
//!             .bind(skip);
//!     }
//!
//!     // Every return, and every exception that leaves the method.
//!     for at in 0..method.insns().len() {
//!         if method.insns()[at].is_return() {
//!             method.before(at).invoke(Op::Invokestatic, leave);
//!         }
//!     }
//!     if let Some(first) = method.after_super(&editor.pool)? {
//!         let (start, end) = (method.boundary(first), method.boundary(method.insns().len()));
//!         method
//!             .handler(start, end, PoolIndex::NONE, &[], &mut editor.pool)?
//!             .invoke(Op::Invokestatic, leave)
//!             .op(Op::Athrow);
//!     }
//!     match editor.put(method) {
//!         Err(EditError::MethodTooLarge { .. }) => {} // Left as it was; a smaller form could follow.
//!         other => other?,
//!     }
//! }
//! editor.finish()
//! # }
//! ```
//!
//! How the agent's other needs are met:
//! a value that all code of a method may use is set [at entry](MethodEditor::at_entry) into a
//! [kept local](MethodEditor::new_kept_local);
//! a call is redirected by [replacing](MethodEditor::replace) an invoke with an `invokestatic` whose
//! first parameter is the receiver;
//! a monitor is seen by code [after](MethodEditor::after) `monitorenter` and before `monitorexit`, and
//! that of a synchronized method, whose flag stays, by code at entry and on every way out, which runs
//! while the monitor is held;
//! fields and methods are added with [`ClassEditor::add_field`] and [`ClassEditor::new_method`].

mod candidates;
pub mod edit;
mod error;
mod facts;
pub mod insn;
mod monitors;
pub mod read;
mod spinning;

pub use edit::{ClassEditor, EditError, MethodEditor};
pub use error::{Error, ErrorKind, Result};
pub use facts::facts_of;
pub use insn::{Insn, Op};
pub use monitors::{Held, Monitors, Protected, catches_all};
pub use read::{ClassFile, PoolIndex};
pub use spinning::spins;
