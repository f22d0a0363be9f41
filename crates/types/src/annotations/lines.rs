//! Lines of a source as parts of a graph: what a comment says of a stretch of lines is said on the edges that lead in and out.

use crate::front::Sites;
use crate::input::{Effect, Graph, Node, NodeId, RegionId};

/// Which nodes lie on these lines; the entry lies on none.
pub fn within(graph: &Graph, sites: &Sites, from: u32, to: u32) -> Vec<bool> {
    let line = |node: &Node| sites.get(node.site).map_or(0, |info| u32::from(info.line));
    let mut inside: Vec<bool> = (graph.nodes.iter())
        .map(|node| (from..=to).contains(&line(node)))
        .collect();
    // Nodes without a line go with what follows.
    for _ in 0..2 {
        for (at, node) in graph.nodes.iter().enumerate().rev() {
            if line(node) == 0 {
                inside[at] = !node.next.is_empty() && node.next.iter().all(|n| inside[n.index()]);
            }
        }
    }
    if let Some(entry) = inside.first_mut() {
        *entry = false;
    }
    inside
}

/// Puts one effect on every edge that leads in, and the other on every edge that leads out.
pub fn wrap(graph: &mut Graph, inside: &[bool], enter: &Effect, leave: &Effect) {
    for crossing_in in [true, false] {
        for target in 0..inside.len() {
            if inside[target] != crossing_in {
                continue;
            }
            let sources: Vec<usize> = (0..inside.len())
                .filter(|&from| {
                    inside[from] != crossing_in
                        && graph.nodes[from].next.contains(&NodeId(target as u32))
                })
                .collect();
            if sources.is_empty() {
                continue;
            }
            let between = NodeId(graph.nodes.len() as u32);
            let effect = if crossing_in { enter } else { leave };
            graph.nodes.push(Node {
                effect: effect.clone(),
                next: vec![NodeId(target as u32)],
                site: graph.nodes[target].site,
            });
            for from in sources {
                for next in &mut graph.nodes[from].next {
                    if next.index() == target {
                        *next = between;
                    }
                }
            }
        }
    }
}

/// Whether a region that was put in from this node on neither ends another one nor is ended by it.
pub fn is_nested(graph: &Graph, region: RegionId, added_from: usize) -> bool {
    let mut stacks: Vec<Option<Vec<RegionId>>> = vec![None; graph.nodes.len()];
    let mut pending = vec![0usize];
    if let Some(entry) = stacks.first_mut() {
        *entry = Some(Vec::new());
    }
    while let Some(at) = pending.pop() {
        let Some(mut stack) = stacks.get(at).cloned().flatten() else {
            continue;
        };
        match graph.nodes[at].effect {
            Effect::Begin { region, .. } => stack.push(region),
            Effect::End => {
                let ended = stack.pop();
                if (ended == Some(region)) != (at >= added_from) {
                    return false;
                }
            }
            _ => {}
        }
        for next in &graph.nodes[at].next {
            // Where paths disagree, what they have in common counts, as in the analysis.
            let joined = match &stacks[next.index()] {
                None => stack.clone(),
                Some(known) => (known.iter().zip(&stack))
                    .take_while(|(a, b)| a == b)
                    .map(|(a, _)| *a)
                    .collect(),
            };
            if stacks[next.index()].as_ref() != Some(&joined) {
                stacks[next.index()] = Some(joined);
                pending.push(next.index());
            }
        }
    }
    true
}
