//! JVM class files: reading ([`read`]) and instructions ([`insn`]).
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

pub mod edit;
mod error;
mod facts;
pub mod insn;
pub mod read;

pub use edit::{ClassEditor, EditError, MethodEditor};
pub use error::{Error, ErrorKind, Result};
pub use facts::facts_of;
pub use insn::{Insn, Op};
pub use read::{ClassFile, PoolIndex};
