//! Adds up accesses in the scope of methods and locks, called methods before their callers.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use untorn_program::locks::Locks;
use untorn_program::{InstrId, Program, RegionId, ThreadId};

use super::exposure::{Exposure, Exposures};
use super::state::{Execution, LARGEST_CIRCLE, Locked, Section, State, StateId, Summary};
use crate::domain::{Entry, SetId, Sets};
use crate::options::Options;

/// Summaries and critical sections of a thread's states.
pub(super) fn execution(
    program: &Program,
    options: &Options,
    sets: &mut Sets,
    threads: &[ThreadId],
    states: Vec<State>,
) -> Execution {
    let components = components(&states);
    let mut component_of = vec![0; states.len()];
    for (number, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.index()] = number as u32;
        }
    }
    let empty = Summary {
        total: Sets::EMPTY,
        locked: Sets::EMPTY,
        view: Sets::EMPTY,
        view_locked: Sets::EMPTY,
    };
    let exposures = options.escaping_values.then(|| Exposures::new(program));
    let mut adder = Adder {
        program,
        sets,
        states: &states,
        component_of: &component_of,
        summaries: vec![empty; states.len()],
        exposed: vec![Exposed::default(); states.len()],
        exposures,
        locked: Vec::new(),
    };
    for component in &components {
        adder.add(component);
    }
    let Adder {
        summaries, locked, ..
    } = adder;
    Execution {
        thread: threads[0],
        others: threads.len() - 1,
        states,
        summaries,
        components,
        component_of,
        locked,
    }
}

fn components(states: &[State]) -> Vec<Vec<StateId>> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(states.len(), states.len() * 4);
    for _ in states {
        graph.add_node(());
    }
    for (index, state) in states.iter().enumerate() {
        for (_, callee) in &state.calls {
            graph.add_edge(NodeIndex::new(index), NodeIndex::new(callee.index()), ());
        }
    }
    // Kosaraju's order has every component after those it leads to; it does not recurse.
    kosaraju_scc(&graph)
        .into_iter()
        .map(|component| {
            let ids = component
                .into_iter()
                .map(|node| StateId(node.index() as u32));
            ids.collect()
        })
        .collect()
}

/// Reads whose value a method gives away, with all it calls; only if asked for.
#[derive(Debug, Clone, Copy)]
struct Exposed {
    /// To the heap, or to a call.
    stored: SetId,
    /// To its caller.
    returned: SetId,
}

impl Default for Exposed {
    fn default() -> Self {
        Self {
            stored: Sets::EMPTY,
            returned: Sets::EMPTY,
        }
    }
}

struct Adder<'a> {
    program: &'a Program,
    sets: &'a mut Sets,
    states: &'a [State],
    component_of: &'a [u32],
    summaries: Vec<Summary>,
    exposed: Vec<Exposed>,
    exposures: Option<Exposures<'a>>,
    locked: Vec<Locked>,
}

impl Adder<'_> {
    fn add(&mut self, component: &[StateId]) {
        let circle = component.len() > LARGEST_CIRCLE;
        let mut parts: Vec<SetId> = Vec::new();
        for id in component {
            let state = &self.states[id.index()];
            let own = state.accesses.iter().map(|(_, entry)| *entry).collect();
            let own = self.sets.intern(own);
            // What the component itself adds is empty so far.
            let called =
                (state.calls.iter()).map(|(_, callee)| self.summaries[callee.index()].total);
            let from = parts.len();
            parts.push(own);
            parts.extend(called);
            if circle {
                let view = self.sets.union_all(parts.split_off(from));
                self.summaries[id.index()].view = view;
                parts.push(view);
            }
        }
        let total = self.sets.union_all(parts);
        for id in component {
            let summary = &mut self.summaries[id.index()];
            summary.total = total;
            if !circle {
                summary.view = total;
            }
        }
        if self.exposures.is_some() {
            self.add_exposed(component);
        }
        let mut parts: Vec<SetId> = Vec::new();
        for id in component {
            let from = parts.len();
            parts.push(self.add_sections(*id));
            for (_, callee) in &self.states[id.index()].calls {
                if circle && self.component_of[id.index()] == self.component_of[callee.index()] {
                    continue;
                }
                parts.push(self.summaries[callee.index()].locked);
                // A synchronized method's own lock is subordinate to its callers only, recursive ones included.
                if self.states[callee.index()].takes_method_lock {
                    parts.push(self.scope(*callee, Section::Method));
                }
            }
            if circle {
                let own = self.sets.union_all(parts.split_off(from));
                self.summaries[id.index()].view_locked = own;
                parts.push(own);
            }
        }
        let subordinate = self.sets.union_all(parts);
        for id in component {
            let summary = &mut self.summaries[id.index()];
            summary.locked = subordinate;
            if !circle {
                summary.view_locked = subordinate;
            }
        }
    }

    /// Records the critical sections of a state; gives what its regions access.
    fn add_sections(&mut self, id: StateId) -> SetId {
        let state = &self.states[id.index()];
        if state.takes_method_lock {
            let accesses = self.scope(id, Section::Method);
            self.locked.push(Locked {
                state: id,
                section: Section::Method,
                accesses,
            });
        }
        let method = self.program.heap().node(state.node).method;
        let locks = self.program.locks(method);
        let anew = |region: &RegionId| !state.reentrant.contains(region);
        let regions = (0..locks.regions().len())
            .map(RegionId::new)
            .filter(anew)
            .map(Section::Region);
        // A lock that was held before the call is taken again by the caller, as far as anyone can see.
        let gaps = (locks.gaps().iter().enumerate()).filter(|(_, gap)| match &gap.of {
            Some(region) => anew(region),
            None => state.takes_method_lock,
        });
        let gaps = gaps.map(|(number, _)| Section::Retaken(number as u32));
        let steps = state.steps.iter().map(|(instr, _)| Section::Step(*instr));
        let mut all = Vec::new();
        for section in regions.chain(gaps).chain(steps) {
            let accesses = self.scope(id, section);
            self.locked.push(Locked {
                state: id,
                section,
                accesses,
            });
            all.push(accesses);
        }
        self.sets.union_all(all)
    }

    /// What is accessed in the dynamic scope of a section.
    fn scope(&mut self, id: StateId, section: Section) -> SetId {
        let state = &self.states[id.index()];
        let method = self.program.heap().node(state.node).method;
        let locks = self.program.locks(method);
        let exposure = match &mut self.exposures {
            Some(exposures) => Some(exposures.of(method)),
            None if section == Section::Method && locks.gaps().is_empty() => {
                return self.summaries[id.index()].view;
            }
            None => None,
        };
        let leaves = |instr: InstrId| {
            exposure
                .as_deref()
                .is_none_or(|exposure| leaves(exposure, locks, section, instr))
        };
        let mut entries: Vec<Entry> = Vec::new();
        for (instr, entry) in &state.accesses {
            if Execution::is_in(locks, section, *instr) && (entry.is_write() || leaves(*instr)) {
                entries.push(*entry);
            }
        }
        let mut parts = vec![self.sets.intern(entries)];
        for (instr, callee) in &state.calls {
            if !Execution::is_in(locks, section, *instr) {
                continue;
            }
            let summary = self.summaries[callee.index()];
            let total = if self.component_of[id.index()] == self.component_of[callee.index()] {
                summary.view
            } else {
                summary.total
            };
            if exposure.is_none() {
                parts.push(total);
                continue;
            }
            let writes = self.sets.get(total).iter().filter(|entry| entry.is_write());
            let writes = writes.copied().collect();
            let Exposed { stored, returned } = self.exposed[callee.index()];
            parts.extend([self.sets.intern(writes), stored]);
            if leaves(*instr) {
                parts.push(returned);
            }
        }
        self.sets.union_all(parts)
    }

    fn add_exposed(&mut self, component: &[StateId]) {
        loop {
            let mut changed = false;
            for id in component {
                let state = &self.states[id.index()];
                let method = self.program.heap().node(state.node).method;
                let Some(exposures) = &mut self.exposures else {
                    return;
                };
                let exposure = exposures.of(method);
                let before = self.exposed[id.index()];
                let mut now = before;
                for (instr, entry) in &state.accesses {
                    if !entry.is_write() {
                        let read = self.sets.intern(vec![*entry]);
                        now = self.passed_on(now, &exposure, *instr, read);
                    }
                }
                for (instr, callee) in &state.calls {
                    let of_callee = self.exposed[callee.index()];
                    now.stored = self.sets.union(now.stored, of_callee.stored);
                    now = self.passed_on(now, &exposure, *instr, of_callee.returned);
                }
                changed |= (now.stored, now.returned) != (before.stored, before.returned);
                self.exposed[id.index()] = now;
            }
            if !changed || component.len() == 1 {
                return;
            }
        }
    }

    /// Adds reads whose value an instruction defines.
    fn passed_on(
        &mut self,
        mut exposed: Exposed,
        exposure: &Exposure,
        instr: InstrId,
        reads: SetId,
    ) -> Exposed {
        let flow = exposure.flow(instr);
        if flow.is_some_and(|flow| flow.stored) {
            exposed.stored = self.sets.union(exposed.stored, reads);
        }
        if flow.is_some_and(|flow| flow.returned) {
            exposed.returned = self.sets.union(exposed.returned, reads);
        }
        exposed
    }
}

/// Whether the value of an instruction is stored, returned, or used where the section has ended.
fn leaves(exposure: &Exposure, locks: &Locks, section: Section, instr: InstrId) -> bool {
    exposure.flow(instr).is_some_and(|flow| {
        flow.stored
            || flow.returned
            || flow
                .uses
                .iter()
                .any(|user| !Execution::is_in(locks, section, *user))
    })
}
