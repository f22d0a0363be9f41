//! Clients for libraries: which pairs of methods to call in two threads, the driver that calls them, and what it says of them.
//!
//! The idea is that of ConTeGe (Pradel and Gross, PLDI 2012) and Intruder (Samak and Ramanathan, PLDI 2015): random sequences of calls bring an object into a state, two threads call a method each, and an outcome that no serial order of the two calls has shows that they are not atomic.
//! We differ in that the pairs come from the program model and from what analyses suspect, and that the second call is not left to luck: the driver (`java/`) stops the first thread before each of its accesses in turn, in the platform's own code too (`crates/agent/src/steps.rs`), and makes the second call as a whole there.
//!
//! *Guarantee.* An outcome counts as visible only if it is that of neither order from the same state and comes again, where both orders were tried two dozen times, as slowly as the try itself, and parts that vary among these (times, identities, random numbers) were left out (`java/untorn/exercise/Confirmation.java`).
//! The search is bounded by numbers and depends on its seed and the pair alone; time only ends it.
//! What is missed: tears that need more than one switch between the threads, states that random calls do not reach, and classes whose objects cannot be made.
//!
//! *Architecture invariant:* it starts no process; a job goes in as text, results come out of text.

mod driver;
mod job;
mod pairs;
mod results;
mod sandbox;

pub use driver::{MAIN, unpack};
pub use job::{Job, Way};
pub use pairs::{Pair, Pairs, choose};
pub use results::{Part, Results, Tried, Visible};
pub use sandbox::{Restricted, SandboxError, restrict};
