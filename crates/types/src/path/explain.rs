//! Why a path is not atomic: the two parts that do not compose, what was released between them, or the guard that was not held.
//!
//! In one fixed situation every node has a basic atomicity, so a shortest offending path is found by breadth-first search over (node, path so far).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Paths;
use crate::algebra::{Algebra, Atomicity, Valuation};
use crate::basic::Basic;
use crate::input::{Effect, Graph, NodeId};
use crate::locks::Lock;

/// One node on the offending path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The node.
    pub node: NodeId,
    /// What it is in the situation at hand.
    pub atomicity: Basic,
}

/// Two parts with a point between them at which others can come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tear {
    /// The part after which nothing may be taken any more.
    pub first: Part,
    /// The part that does not compose with it; the same node if that node alone is compound.
    pub second: Part,
    /// The last release between them, with its lock.
    pub released: Option<(NodeId, Option<Lock>)>,
    /// All nodes from the entry to the second part.
    pub trail: Vec<NodeId>,
    /// The locks held at the method's entry.
    pub situation: Valuation,
}

/// Why the bound fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not atomic.
    Torn(Tear),
    /// The discipline is broken at a node: the locks tested there that are not held.
    Undisciplined {
        /// The node.
        node: NodeId,
        /// What it wanted held.
        wanted: Vec<Lock>,
        /// All nodes from the entry.
        trail: Vec<NodeId>,
        /// The locks held at the method's entry.
        situation: Valuation,
    },
    /// Atomic, but not as harmless as the bound wants: no single place is to blame.
    Above(Valuation),
}

/// Why `paths` is not below `bound`; nothing if it is.
///
/// Regions that must be atomic are looked through: the first compound or undisciplined path is reported.
pub fn explain(
    algebra: &mut Algebra,
    graph: &Graph,
    paths: &Paths,
    bound: Atomicity,
) -> Option<Fault> {
    let situation = algebra.counterexample(paths.whole, bound)?;
    let effects: Vec<Basic> = paths
        .effects
        .iter()
        .map(|&a| algebra.eval(a, &situation))
        .collect();
    let Some(trail) = search(graph, paths, &effects) else {
        return Some(Fault::Above(situation));
    };
    let last = *trail.last()?;
    let atomicity = effects[last.index()];
    if atomicity == Basic::Error {
        let wanted = algebra
            .support(paths.effects[last.index()])
            .into_iter()
            .filter(|lock| !situation.held().contains(lock))
            .collect();
        return Some(Fault::Undisciplined {
            node: last,
            wanted,
            trail,
            situation,
        });
    }
    let second = Part {
        node: last,
        atomicity,
    };
    let commit = commit_point(&trail, &effects);
    let first_at = trail[commit];
    let first = Part {
        node: first_at,
        atomicity: effects[first_at.index()],
    };
    let released =
        trail[commit..]
            .iter()
            .rev()
            .find_map(|&at| match graph.nodes[at.index()].effect {
                Effect::Release { lock, .. } if effects[at.index()] == Basic::Left => {
                    Some((at, lock))
                }
                _ => None,
            });
    Some(Fault::Torn(Tear {
        first,
        second,
        released,
        trail,
        situation,
    }))
}

/// Where the path leaves its phase of right movers.
fn commit_point(trail: &[NodeId], effects: &[Basic]) -> usize {
    let committed = |b: Basic| !b.leq(Basic::Right);
    trail
        .iter()
        .position(|at| committed(effects[at.index()]))
        .unwrap_or(trail.len() - 1)
}

/// The shortest path whose atomicity is compound or an error.
fn search(graph: &Graph, paths: &Paths, effects: &[Basic]) -> Option<Vec<NodeId>> {
    type State = (NodeId, Basic);
    let start: State = (NodeId(0), Basic::Const);
    paths.before.first()?.as_ref()?;
    let mut parent: FxHashMap<State, Option<State>> = FxHashMap::default();
    parent.insert(start, None);
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        let (at, before) = state;
        let after = before.then(effects[at.index()]);
        if matches!(after, Basic::Cmpd | Basic::Error) {
            let mut trail = vec![at];
            let mut from = parent[&state];
            while let Some(previous) = from {
                trail.push(previous.0);
                from = parent[&previous];
            }
            trail.reverse();
            return Some(trail);
        }
        for &next in &graph.nodes[at.index()].next {
            let next = (next, after);
            if next.0.index() < graph.nodes.len() && !parent.contains_key(&next) {
                parent.insert(next, Some(state));
                queue.push_back(next);
            }
        }
    }
    None
}
