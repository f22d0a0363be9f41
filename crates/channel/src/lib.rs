//! The channel between a watched JVM and the process that reads its log.
//!
//! Records of 8 bytes ([`record`]) lie in segments of shared memory ([`layout`], [`memory`], [`pool`]) that the reader owns.
//! What the ids in them stand for goes over a Unix socket ([`protocol`], [`declare`]) before the first record that needs it.
//!
//! *Architecture invariant:* neither side trusts the other's bytes: indices are checked, text is validated, and a broken peer ends the recording, not the process.

pub mod config;
pub mod declare;
mod error;
pub mod layout;
pub mod memory;
pub mod pool;
pub mod protocol;
pub mod record;
pub mod steered;

pub use config::Config;
pub use declare::Declaration;
pub use error::Error;
pub use memory::SharedMemory;
pub use record::Record;
/// What was proved of class files.
pub use untorn_facts as facts;
