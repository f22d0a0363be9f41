//! Strongly connected components of a graph given as a list of edges.
//!
//! Tarjan's algorithm with its own stack, so the depth of a graph is no limit.

/// Successors of each node, in one array.
#[derive(Clone, Debug)]
pub(super) struct Successors {
    /// By node: where its successors begin; one entry more than nodes.
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Successors {
    /// Sorts the edges by their sources, in linear time.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        for &(from, _) in edges {
            offsets[from as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; edges.len()];
        for &(from, to) in edges {
            let slot = &mut next[from as usize];
            targets[*slot as usize] = to;
            *slot += 1;
        }
        Self { offsets, targets }
    }

    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// The components of a graph.
#[derive(Clone, Debug)]
pub(super) struct Components {
    /// By node.
    pub of: Vec<u32>,
    /// The nodes, component by component; a component comes before every one that reaches it.
    pub order: Vec<u32>,
    /// By component: where its nodes begin in `order`; one entry more than components.
    pub starts: Vec<u32>,
}

impl Components {
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn members(&self, component: u32) -> &[u32] {
        let component = component as usize;
        &self.order[self.starts[component] as usize..self.starts[component + 1] as usize]
    }

    pub fn new(nodes: usize, successors: &Successors) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut of = vec![UNSEEN; nodes];
        // Until a node has its component, this is the lowest node on the path that it is known to reach, by time of discovery from 0.
        let mut low = vec![UNSEEN; nodes];
        let mut order = Vec::with_capacity(nodes);
        let mut starts = vec![0];
        let mut open: Vec<u32> = Vec::new();
        // A node on the path, its discovery time, and how many of its successors are done.
        let mut path: Vec<(u32, u32, u32)> = Vec::new();
        let mut time = 0;
        for root in 0..nodes as u32 {
            if low[root as usize] != UNSEEN {
                continue;
            }
            path.push((root, time, 0));
            open.push(root);
            low[root as usize] = time;
            time += 1;
            while let Some((node, found, done)) = path.last_mut() {
                let (node, found) = (*node, *found);
                if let Some(&next) = successors.of(node).get(*done as usize) {
                    *done += 1;
                    if low[next as usize] == UNSEEN {
                        low[next as usize] = time;
                        path.push((next, time, 0));
                        open.push(next);
                        time += 1;
                    } else if of[next as usize] == UNSEEN {
                        low[node as usize] = low[node as usize].min(low[next as usize]);
                    }
                    continue;
                }
                path.pop();
                let lowest = low[node as usize];
                if let Some((parent, ..)) = path.last() {
                    let parent = &mut low[*parent as usize];
                    *parent = (*parent).min(lowest);
                }
                if lowest == found {
                    let component = starts.len() as u32 - 1;
                    while let Some(member) = open.pop() {
                        of[member as usize] = component;
                        order.push(member);
                        if member == node {
                            break;
                        }
                    }
                    starts.push(order.len() as u32);
                }
            }
        }
        Self { of, order, starts }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn two_nodes_share_a_component_exactly_if_each_reaches_the_other(
            edges in prop::collection::vec((0..12u32, 0..12u32), 0..40)
        ) {
            let components = Components::new(12, &Successors::new(12, &edges));
            let mut reaches = [[false; 12]; 12];
            for (i, row) in reaches.iter_mut().enumerate() {
                row[i] = true;
            }
            for &(a, b) in &edges {
                reaches[a as usize][b as usize] = true;
            }
            for k in 0..12 {
                for i in 0..12 {
                    for j in 0..12 {
                        reaches[i][j] |= reaches[i][k] && reaches[k][j];
                    }
                }
            }
            for (i, j) in (0..12).flat_map(|i| (0..12).map(move |j| (i, j))) {
                prop_assert_eq!(
                    components.of[i] == components.of[j],
                    reaches[i][j] && reaches[j][i]
                );
                if reaches[i][j] {
                    prop_assert!(components.of[j] <= components.of[i]);
                }
            }
            for c in 0..components.len() as u32 {
                prop_assert!(!components.members(c).is_empty());
                prop_assert!(components.members(c).iter().all(|m| components.of[*m as usize] == c));
            }
        }
    }

    #[test]
    fn a_path_of_a_million_nodes_needs_no_deep_stack() {
        let n = 1_000_000u32;
        let mut edges: Vec<_> = (0..n - 1).map(|i| (i, i + 1)).collect();
        let components = Components::new(n as usize, &Successors::new(n as usize, &edges));
        assert_eq!(components.len(), n as usize);
        edges.push((n - 1, 0));
        let components = Components::new(n as usize, &Successors::new(n as usize, &edges));
        assert_eq!(components.len(), 1);
    }
}
