//! Pause plans: where a steered run holds threads up, so that a suspected tear happens if it can.
//!
//! A plan is about one region.
//! The thread that executes the region makes its first steps, and then waits at a *pause point* for another thread, the *partner*, to come to a conflicting access of an object that the region has accessed.
//! A partner that comes first waits likewise, if it is at one of the plan's [`partners`](Plan::partners).
//! Every wait is bounded, ends early where nobody can come, and is given up where the partner needs a lock that the waiting thread holds; `docs/reproduce.md` says how.
//!
//! A plan claims nothing: it only makes an order of events likely, and the exact checker that watches the run says what happened.
//!
//! The saved form is `untorn-plan/1`, a JSON object: see [`PlanFile`].
//!

mod file;

pub use file::{PlanFile, ReadError, SCHEMA, schema};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many plans one run can follow: the agent has six bits for them.
pub const MOST_PLANS: usize = 63;
/// How many places all plans of a run can name.
pub const MOST_PLACES: usize = 65_535;
/// How long one pause lasts at most, unless the plan says otherwise.
pub const PATIENCE_MS: u32 = 400;
/// How long all pauses of a process last at most, unless somebody says otherwise.
pub const ALL_PAUSES_MS: u32 = 4000;

/// What a steered run does to one region.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The fingerprint of the finding that it is made for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fingerprint: Option<String>,
    /// The region that is to be torn.
    pub region: PlannedRegion,
    /// Where its thread pauses; an execution of the region pauses at one of them, and the next that gets that far at the following one.
    pub pause: Vec<PausePoint>,
    /// Accesses before which a thread waits that comes before the region's thread pauses; none: accesses, in other methods, to the fields that the region's own text accesses.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub partners: Vec<Place>,
    /// Patterns of the classes whose accesses count as steps of the region and of partners, and which alone get code for pauses; `*` stands for any text without a dot, `**` for any text.
    pub classes: Vec<String>,
    /// How long one pause lasts at most, in milliseconds; halved whenever nobody came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub patience_ms: Option<u32>,
    /// Pause in every execution of the region, however often nobody came: for clients that are made for the plan.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub every_execution: bool,
}

/// The region of a plan.
#[derive(
    Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct PlannedRegion {
    /// With dots.
    pub class: String,
    pub method: String,
    /// Absent: every method of that name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub descriptor: Option<String>,
    /// The number of a synchronized block in its method, from 1; absent for the method itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<u32>,
}

/// Where the thread of a region pauses: before the next access, call or `monitorenter` that follows what is named here.
///
/// Where a partner turns out to need a lock that the thread holds, the thread goes on and pauses once it holds that lock no more, if that is still in the region.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PausePoint {
    /// An access at this place, in the region's text or in what it calls.
    After(Place),
    /// The region's access of this number, from 1, as counted in [`Plan::classes`].
    AfterAccess(u32),
}

/// Instructions of a method.
#[derive(
    Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// With dots.
    pub class: String,
    pub method: String,
    /// From 1; absent for the whole method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// Absent for all accesses there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub access: Option<Access>,
}

/// What an instruction does to what it accesses.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads a field, or calls what reads a collection or another modelled object of the platform.
    Read,
    /// Writes it, or calls what changes it.
    Write,
}

/// What the agent of a steered run is told.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    pub plans: Vec<Plan>,
    /// How long all pauses of the process last at most, in milliseconds.
    pub all_pauses_ms: u32,
}

impl Steering {
    /// The first so many plans that one run can follow.
    pub fn new(plans: Vec<Plan>) -> Self {
        let mut plans = plans;
        plans.truncate(MOST_PLANS);
        Self {
            plans,
            all_pauses_ms: ALL_PAUSES_MS,
        }
    }
}

impl Place {
    /// Whether an instruction of that method and line, which writes or does not, is meant.
    pub fn covers(&self, class: &str, method: &str, line: u32, writes: bool) -> bool {
        self.class == class
            && self.method == method
            && self.line.is_none_or(|wanted| wanted == line)
            && self
                .access
                .is_none_or(|access| (access == Access::Write) == writes)
    }
}
