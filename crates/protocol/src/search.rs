//! Goes through every state once, and asks whether each can still come to a good end.
//!
//! Fair scheduling brings every thread on that can go on.
//! If from every state some way leads to the end of all programs, then under fair scheduling with chance none is waited for in vain; a request that got lost, or two threads that wait for each other, are states from which no way leads there.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::Model;
use crate::log::Wrong;
use crate::state::{State, Word};
use crate::steps::Step;

/// What is wrong with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Wrong(Wrong),
    /// An object was given up though nobody was lost, or a thread that has ended holds a word.
    Lost,
    /// From here not all threads can come to their end.
    Stuck,
}

/// A way from the start to a fault.
#[derive(Debug, Clone)]
pub struct Counterexample {
    pub fault: Fault,
    pub steps: Vec<Step>,
}

impl std::fmt::Display for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:?}:", self.fault)?;
        for step in &self.steps {
            writeln!(
                f,
                "  {}{}",
                "                            ".repeat(step.thread),
                step.what
            )?;
        }
        Ok(())
    }
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub states: usize,
    /// Not everything was looked at.
    pub cut: bool,
    pub counterexample: Option<Counterexample>,
}

/// A state is known by its number, with the one that it was first reached from.
struct Graph {
    came: Vec<(u32, Step)>,
    before: Vec<(u32, u32)>,
    ends: Vec<u32>,
}

impl Graph {
    fn path(&self, mut at: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        while at != 0 {
            let (from, step) = self.came[at as usize];
            steps.push(step);
            at = from;
        }
        steps.reverse();
        steps
    }

    /// The first state that cannot come to an end.
    fn stuck(&self) -> Option<u32> {
        let count = self.came.len();
        let mut first = vec![0u32; count + 1];
        for &(_, to) in &self.before {
            first[to as usize + 1] += 1;
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        let mut place = first.clone();
        let mut sources = vec![0u32; self.before.len()];
        for &(from, to) in &self.before {
            sources[place[to as usize] as usize] = from;
            place[to as usize] += 1;
        }
        let mut good = vec![false; count];
        let mut work = self.ends.clone();
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut good[at as usize], true) {
                continue;
            }
            let (from, to) = (first[at as usize], first[at as usize + 1]);
            work.extend(&sources[from as usize..to as usize]);
        }
        good.iter().position(|good| !good).map(|at| at as u32)
    }
}

/// What a state shows to be wrong.
pub fn fault(model: &Model, state: &State) -> Option<Fault> {
    if let Some(wrong) = state.log.wrong {
        return Some(Fault::Wrong(wrong));
    }
    let lost = state.words.iter().any(|word| match *word {
        Word::Untracked => !model.scenario.gives_up(),
        Word::Locked { by, .. } => state.threads[by as usize].at == crate::state::At::Gone,
        _ => false,
    });
    lost.then_some(Fault::Lost)
}

/// Searches breadth first, so that a counterexample is as short as can be.
pub fn search(model: &Model, limit: usize) -> Outcome {
    let start = State::new(&model.scenario);
    let origin = Step {
        thread: 0,
        what: "the start",
    };
    let mut graph = Graph {
        came: vec![(0, origin)],
        before: Vec::new(),
        ends: Vec::new(),
    };
    let mut known: FxHashMap<u64, u32> = FxHashMap::default();
    known.insert(digest(&start), 0);
    let mut queue = VecDeque::from([(0u32, start)]);
    let mut next = Vec::new();
    while let Some((at, state)) = queue.pop_front() {
        if let Some(fault) = fault(model, &state) {
            return Outcome {
                states: graph.came.len(),
                cut: false,
                counterexample: Some(Counterexample {
                    fault,
                    steps: graph.path(at),
                }),
            };
        }
        if state.is_final() {
            graph.ends.push(at);
        }
        if graph.came.len() >= limit {
            return Outcome {
                states: graph.came.len(),
                cut: true,
                counterexample: None,
            };
        }
        model.successors(&state, &mut next);
        for (step, after) in next.drain(..) {
            let fresh = graph.came.len() as u32;
            let to = *known.entry(digest(&after)).or_insert(fresh);
            if to == fresh {
                graph.came.push((at, step));
                queue.push_back((to, after));
            }
            graph.before.push((at, to));
        }
    }
    let counterexample = graph.stuck().map(|at| Counterexample {
        fault: Fault::Stuck,
        steps: graph.path(at),
    });
    Outcome {
        states: graph.came.len(),
        cut: false,
        counterexample,
    }
}

/// Two states that have the same one are taken for the same.
/// An ideal hash does that to a million states once in thirty million searches; that this one is good enough shows in the counts of Stateright, which hashes in another way.
fn digest(state: &State) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    state.hash(&mut hasher);
    hasher.finish()
}
