//! What the symbolic execution of one abstract thread has met.

use smallvec::SmallVec;
use untorn_program::locks::Locks;
use untorn_program::{InstrId, NodeId, RegionId, ThreadId};

use crate::domain::{Entry, SetId};

/// The number of a state of one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    /// Its index in the table of states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A method in an object context: what it does itself.
#[derive(Debug)]
pub struct State {
    /// The method with its call-graph context.
    pub node: NodeId,
    /// Accesses to variables of shared objects, in the order of the code.
    pub accesses: Vec<(InstrId, Entry)>,
    /// Calls, in the order of the code.
    pub calls: Vec<(InstrId, StateId)>,
    /// Regions whose lock is held already when they begin.
    pub reentrant: SmallVec<[RegionId; 2]>,
    /// Those of the accesses that are one step each, such as calls of a concurrent map, and whether they change only what they expect.
    pub steps: SmallVec<[(InstrId, bool); 2]>,
    /// Whether it is a synchronized method whose lock is not held already when it is called.
    pub takes_method_lock: bool,
}

/// What a method does with all it calls.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// Every access in its dynamic scope.
    pub total: SetId,
    /// Every access in a subordinate lock view.
    pub locked: SetId,
    /// The accesses it is judged by: the method view, before r is told from w.
    pub view: SetId,
    /// Those of them in a subordinate lock view.
    pub view_locked: SetId,
}

/// What begins a critical section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The call of a synchronized method.
    Method,
    /// A region of a body.
    Region(RegionId),
    /// What follows after a lock was given up for a while, by the position of the gap.
    Retaken(u32),
    /// A library call that is one step by itself.
    Step(InstrId),
}

/// The accesses in the dynamic scope of a lock.
#[derive(Debug, Clone, Copy)]
pub struct Locked {
    /// Whose critical section it is.
    pub state: StateId,
    /// Which of them.
    pub section: Section,
    /// The accesses, before they are made a view.
    pub accesses: SetId,
}

/// An abstract thread, executed, or several as one.
#[derive(Debug)]
pub struct Execution {
    /// The thread, or the first of them; clients also stand for whoever constructs.
    pub thread: ThreadId,
    /// How many others are executed with it.
    pub others: usize,
    /// All states.
    pub states: Vec<State>,
    /// For each state what it does with all it calls.
    pub summaries: Vec<Summary>,
    /// Groups of states that call each other, called ones before callers.
    pub components: Vec<Vec<StateId>>,
    /// For each state its component.
    pub component_of: Vec<u32>,
    /// All critical sections that begin anew.
    pub locked: Vec<Locked>,
}

/// Methods of which more than these call each other are no recursion that anyone wrote: imprecise dispatch has closed a circle.
///
/// Each of them is judged by what it does itself and calls outside the circle, else all of them would have the view of the whole.
pub const LARGEST_CIRCLE: usize = 32;

impl Execution {
    /// Whether a call stays in a large circle of methods that call each other.
    pub fn goes_round(&self, caller: StateId, callee: StateId) -> bool {
        let component = self.component_of[caller.index()];
        component == self.component_of[callee.index()]
            && self.components[component as usize].len() > LARGEST_CIRCLE
    }

    /// A state by its id.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// The summary of a state.
    pub fn summary(&self, id: StateId) -> Summary {
        self.summaries[id.index()]
    }

    /// Whether an instruction of a state is in a section of it.
    pub fn is_in(locks: &Locks, section: Section, instr: InstrId) -> bool {
        match section {
            Section::Method => locks.is_before_gaps(None, instr),
            Section::Region(region) => locks.is_before_gaps(Some(region), instr),
            Section::Retaken(gap) => locks.is_after_gap(gap as usize, instr),
            Section::Step(step) => step == instr,
        }
    }

    /// All states.
    pub fn ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len() as u32).map(StateId)
    }
}
