//! The reader's side of a live run: starts the program with the agent, drains what its JVMs log, and yields their events in order.
//!
//! ```text
//! JVM threads ──► segments ──► drain (a thread) ──► order, decode (LiveSource) ──► analyses or a file
//!      └───────── socket ────► declarations ───────────────┘
//! ```
//!
//! The drain only copies and frees, so it never waits for the program; a slow analysis makes it wait, then segments run out, and then the program's threads wait for the analysis.
//! Nothing the program's processes send can make this side fail: ids are checked, events that cannot follow each other are dropped and counted.
//!
//! *Architecture invariant:* no analysis, no terminal.

mod decode;
mod drain;
mod error;
mod first;
pub mod interim;
pub mod interrupt;
mod launch;
mod linearize;
mod lives;
mod names;
mod objects;
mod record;
mod repair;
mod replay;
mod session;
pub mod signals;
mod source;
mod standalone;
mod transactions;
mod watch;

pub use drain::{Drained, Limits};
pub use error::Error;
pub use first::Told;
pub use launch::{Launch, agent_library};
pub use record::record;
pub use session::Process;
pub use source::{Demoted, LiveSource, Tally};
pub use standalone::Standalone;
pub use transactions::{Filtered, Room, Scanned};
pub use watch::{Options, Ran, Watched, watch, watch_all};
