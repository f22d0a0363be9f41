//! From suspicions to plans, and from what steered runs did to what is said of a finding.
//!
//! *Invariant.* Findings and counts in, plans and words out: no program is started here, and no verdict is given but for what an exact checker observed.

mod outcome;
mod plans;

pub use outcome::{Outcomes, shows};
pub use plans::{can_be_planned, plan};
