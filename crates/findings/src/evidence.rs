//! Why an analysis says what it says, in a form that can be drawn, printed and replayed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Region;

/// Everything that speaks for a finding, by the sort of argument.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Recorded orders of events that tear the region (velodrome, doublechecker, aerodrome).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub interleavings: Vec<Interleaving>,
    /// Steps that do not reduce (atomizer).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reductions: Vec<Reduction>,
    /// Views that divide what another thread holds as one (views).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub views: Vec<ViewConflict>,
    /// Fields without a lock common to all accesses (lockset).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub races: Vec<Race>,
    /// Method views that lock views divide (consistency).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub method_views: Vec<MethodViews>,
    /// Parts that do not compose (types).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub typings: Vec<Typing>,
    /// Regions around the blamed one that are torn with it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub enclosing: Vec<Region>,
    /// The region starts or awaits other threads: holding a lock over all of it would hold them up.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub awaits_threads: bool,
    /// What the reader should know of how sure this is.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// A place in the program text, or the location token of a text trace in `file`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

/// One event in a recorded order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number in this evidence, from 1, in the order of the run.
    pub n: u32,
    pub thread: String,
    /// Its position in the trace, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<u64>,
    /// `read`, `write`, `update`, `acquire`, `release`, `begin`, …
    pub op: String,
    /// The location, lock, thread or region it concerns.
    pub target: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<Place>,
    /// Where in the text of the torn region it is called, if it lies in something that the region calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<Place>,
    /// The transaction it belongs to, as an index into the interleaving's transactions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transaction: Option<u32>,
    /// Locks held, if known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub locks: Vec<String>,
    /// Innermost first, if recorded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stack: Vec<Place>,
}

/// Why one step must come before another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// The same thread.
    Program,
    /// The same location, and one of them writes.
    Data,
    /// Release-like, then acquire-like.
    Sync,
}

/// An order between two steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub kind: EdgeKind,
    /// Rests on a range, a whole collection or an interval, so the program may not have conflicted here.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub approximate: bool,
}

/// An execution of a region, or a single event outside of all.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Transaction {
    pub thread: String,
    /// Absent for an event outside of all regions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub region: Option<Region>,
    /// The events in which it begins and ends, if it did.
    pub begin: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<u64>,
}

/// A recorded order of events that no serial execution has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Interleaving {
    pub analysis: String,
    /// The cycle, in its order.
    pub transactions: Vec<Transaction>,
    /// In the order of the run.
    pub steps: Vec<Step>,
    pub edges: Vec<Edge>,
    /// The steps at which the path leaves the blamed region and enters it again; absent when nobody is blamed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub torn: Option<(u32, u32)>,
}

impl Interleaving {
    /// Whether data conflicts alone, and exact ones, show the region torn.
    pub fn is_observation(&self) -> bool {
        let exact = |edge: &Edge| edge.kind != EdgeKind::Sync && !edge.approximate;
        self.torn.is_some() && self.edges.iter().all(exact)
    }
}

/// Steps of one region that do not reduce to one: after the commit point came a step that cannot move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reduction {
    pub entry: Step,
    /// Where the region had to have taken effect.
    pub commit: Step,
    /// What came after and cannot be moved before it.
    pub violation: Step,
    /// Why the commit commits and the violation violates.
    pub why: String,
}

/// What one thread accessed under one execution of a lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct View {
    pub thread: String,
    pub lock: String,
    pub fields: Vec<String>,
    pub places: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub region: Option<Region>,
}

/// Views of one thread that divide a maximal view of another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ViewConflict {
    /// The fields treated as one by one thread and apart by the other.
    pub fields: Vec<String>,
    pub maximal: View,
    pub diverging: Vec<View>,
}

/// A field that no lock protects in all its accesses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Race {
    pub variable: String,
    /// Writes are protected and only reads are not.
    pub benign_candidate: bool,
    pub accesses: Vec<Step>,
}

/// What a method accesses under one lock, statically.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LockView {
    pub method: Region,
    pub lock: String,
    /// `balance: read`, `balance: write`.
    pub accesses: Vec<String>,
    pub places: Vec<Place>,
    /// The abstract thread.
    pub thread: String,
}

/// A method whose lock views divide what another lock view treats as one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodViews {
    /// The class whose fields these are.
    pub class: String,
    /// Whether the class is of the analyzed application or of a library.
    pub library: bool,
    /// The method's view: `balance: read`, `balance: write`.
    pub view: Vec<String>,
    pub thread: String,
    /// The critical sections of the method itself, in the order of its code; the lock is empty where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sections: Vec<LockView>,
    pub interfering: Vec<LockView>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub allocated_at: Vec<Place>,
}

/// A part of a region with its atomicity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TypingPart {
    pub what: String,
    pub atomicity: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<Place>,
}

impl TypingPart {
    /// Whether this is a call of the method in which the other part is, so that the two are one.
    pub fn leads_to(&self, other: &Self) -> bool {
        let called = (self.what.strip_prefix("calls "))
            .and_then(|words| words.split('(').next()?.rsplit('.').next());
        let (Some(called), Some(own), Some(inner)) = (called, &self.place, &other.place) else {
            return false;
        };
        let is_elsewhere = (&own.class, &own.method) != (&inner.class, &inner.method);
        is_elsewhere && inner.method.as_deref() == Some(called)
    }
}

/// A guard that was lost, and the access that lost it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GuardLoss {
    pub field: String,
    /// The guard that most accesses have.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub candidate: Option<String>,
    /// How many accesses have it, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<Place>,
    pub why: String,
}

/// Why the types do not show a region atomic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Typing {
    /// The inferred type, in the notation of annotations.
    pub atomicity: String,
    /// The parts that do not compose, in order.
    pub parts: Vec<TypingPart>,
    /// A lock given up between them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub released: Option<TypingPart>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub guards_lost: Vec<GuardLoss>,
}
