//! Why a path is not atomic: the two parts that do not compose, what was released between them, or the guard that was not held.
//!
//! In one fixed situation every node has a basic atomicity, so a shortest offending path is found by breadth-first search over (node, path so far).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Paths;
use crate::algebra::{Algebra, Atomicity, Valuation};
use crate::basic::Basic;
use crate::input::{Effect, Graph, NodeId, RegionId};
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
    let found = explain_in(algebra, graph, paths, None, &situation);
    Some(found.unwrap_or(Fault::Above(situation)))
}

/// Why a region is compound in some situation that keeps the discipline; nothing if it never is.
pub fn explain_region(
    algebra: &mut Algebra,
    graph: &Graph,
    paths: &Paths,
    region: RegionId,
) -> Option<Fault> {
    let inside = *paths.regions.get(&region)?;
    let bound = algebra.excused(Atomicity::ATOMIC, inside);
    let situation = algebra.counterexample(inside, bound)?;
    let found = explain_in(algebra, graph, paths, Some(region), &situation);
    Some(found.unwrap_or(Fault::Above(situation)))
}

/// What is compound or undisciplined in one situation, in the whole graph or in one of its regions; nothing if nothing is.
pub fn explain_in(
    algebra: &Algebra,
    graph: &Graph,
    paths: &Paths,
    region: Option<RegionId>,
    situation: &Valuation,
) -> Option<Fault> {
    let situation = situation.clone();
    let effects: Vec<Basic> = paths
        .effects
        .iter()
        .map(|&a| algebra.eval(a, &situation))
        .collect();
    let trail = search(graph, paths, region, &effects)?;
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

/// The shortest path whose atomicity is compound or an error, from the entry or from where the region begins to where it ends.
fn search(
    graph: &Graph,
    paths: &Paths,
    region: Option<RegionId>,
    effects: &[Basic],
) -> Option<Vec<NodeId>> {
    /// A node, the path before it, and how many regions have begun since the start.
    type State = (NodeId, Basic, u32);
    let begins = |at: &NodeId| match (region, &graph.nodes[at.index()].effect) {
        (None, _) => at.0 == 0,
        (Some(region), Effect::Begin { region: own, .. }) => *own == region,
        _ => false,
    };
    let reached = |at: &NodeId| paths.before.get(at.index()).is_some_and(Option::is_some);
    let mut parent: FxHashMap<State, Option<State>> = FxHashMap::default();
    let mut queue = VecDeque::new();
    let nodes = (0..graph.nodes.len() as u32).map(NodeId);
    for at in nodes.filter(|at| begins(at) && reached(at)) {
        parent.insert((at, Basic::Const, 0), None);
        queue.push_back((at, Basic::Const, 0));
    }
    while let Some(state) = queue.pop_front() {
        let (at, before, depth) = state;
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
        let depth = match (region, &graph.nodes[at.index()].effect) {
            (Some(_), Effect::Begin { .. }) => depth + 1,
            (Some(_), Effect::End) if depth <= 1 => continue,
            (Some(_), Effect::End) => depth - 1,
            _ => depth,
        };
        for &next in &graph.nodes[at.index()].next {
            let next = (next, after, depth);
            if next.0.index() < graph.nodes.len() && !parent.contains_key(&next) {
                parent.insert(next, Some(state));
                queue.push_back(next);
            }
        }
    }
    None
}
