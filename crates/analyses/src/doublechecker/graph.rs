//! The imprecise dependence graph (IDG), and what keeps it small.
//!
//! A node stands for a run of one thread's transactions, and holds the stretch of the trace in which they ran: that is the log, and it is never copied.
//! Edges are drawn only into nodes that a thread is still in, so an old node never gets another predecessor.
//! From that follows what [`Graph::collect`] does, whenever the graph has doubled since it was last collected:
//!
//! - *Components.* A component of several nodes is a cycle: its stretches are handed out, once and for good, and it becomes one node.
//!   Growing later costs nothing for what is already in it.
//! - *Collection.* A cycle that does not exist yet must pass through a node that can still get a predecessor.
//!   So a node that no such *open* node reaches can be in no later cycle and is dropped.
//!   (This is tracing, since the graph has cycles; reference counts would keep them.)
//! - *Condensation*, only if more than [`Limits::condense`] nodes are left, or eight times as many edges, as when one long transaction reaches everything after it:
//!   nodes that are reached by the same set of open nodes become one.
//!   Along an edge that set can only grow, so merging nodes of equal sets makes no cycle; and whatever a new edge into an open node closes, it closes for all of them or passes through one of them.
//!   So a cycle is never lost and never made up, but a found one may hand out more stretches than lie on it.
//!   Along the program order of a thread the sets grow too: at most one run of nodes per thread and size of the set is left, however long the trace.
//!
//! Each of the three is linear in the graph, and runs after the graph has doubled: linear in the edges drawn, all in all.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::ThreadId;

use super::scc::{Components, Successors};

/// A node; numbers change with every collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(pub u32);

impl NodeId {
    pub const NONE: Self = Self(u32::MAX);
}

/// A node that can still get a predecessor; those of a thread are side by side, in program order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub thread: u32,
    pub node: NodeId,
}

/// When the graph is made smaller; tests set these low.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Nodes (and four times as many edges) that are not worth a collection.
    pub collect: usize,
    /// Nodes that may stay after a collection before they are condensed.
    pub condense: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            collect: 1 << 15,
            condense: 1 << 18,
        }
    }
}

/// A stretch of the trace in one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(super) struct Stretch {
    pub thread: ThreadId,
    pub start: u64,
    pub end: u64,
}

impl Stretch {
    const EMPTY: Self = Self {
        thread: ThreadId(0),
        start: 0,
        end: 0,
    };

    const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Empty until a thread leaves the node, and for a component that has been handed out.
    stretch: Stretch,
    /// More of them, after a condensation: one more than an index into `more`, or 0.
    more: u32,
    cyclic: bool,
}

/// The graph of what may depend on what.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    /// Stretches of condensed nodes, each with the next of its node as in [`Node::more`].
    more: Vec<(Stretch, u32)>,
    recent: Recent,
    limits: Limits,
    node_limit: usize,
    edge_limit: usize,
    more_limit: usize,
    /// Edges between threads, each counted once while it is remembered.
    pub cross_edges: u64,
    pub components: u64,
    pub most_nodes: usize,
}

/// The last edges drawn, since threads that share data repeat the same edge for each object.
///
/// Forgetting one costs memory until the next collection, nothing else.
#[derive(Clone, Debug)]
struct Recent(Vec<u64>);

const RECENT: usize = 1 << 10;
const NO_EDGE: u64 = u64::MAX;

impl Default for Recent {
    fn default() -> Self {
        Self(vec![NO_EDGE; RECENT])
    }
}

impl Recent {
    #[inline]
    fn is_new(&mut self, from: u32, to: u32) -> bool {
        let key = u64::from(from) << 32 | u64::from(to);
        let slot = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.ilog2());
        std::mem::replace(&mut self.0[slot as usize], key) != key
    }
}

/// What a collection did to the names of nodes.
pub(super) struct Renamed(Vec<u32>);

impl Renamed {
    /// The node's name now; none if it was dropped.
    #[inline]
    pub fn get(&self, node: NodeId) -> NodeId {
        NodeId((self.0.get(node.0 as usize)).map_or(u32::MAX, |new| *new))
    }
}

impl Graph {
    pub fn new(limits: Limits) -> Self {
        Self {
            node_limit: limits.collect,
            edge_limit: limits.collect.saturating_mul(4),
            more_limit: limits.collect.saturating_mul(4),
            limits,
            ..Self::default()
        }
    }

    /// A node for the current transaction of a thread, after the thread's previous node.
    pub fn add_node(&mut self, after: NodeId) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            stretch: Stretch::EMPTY,
            more: 0,
            cyclic: false,
        });
        if after != NodeId::NONE {
            self.edges.push((after.0, node.0));
        }
        node
    }

    /// What is done in `from` may come before something done in `to`.
    #[inline]
    pub fn add_edge(&mut self, from: NodeId, to: NodeId) {
        if from != NodeId::NONE && from != to && self.recent.is_new(from.0, to.0) {
            self.edges.push((from.0, to.0));
            self.cross_edges += 1;
        }
    }

    /// One node comes before another in the same thread.
    pub fn add_order(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.edges.push((from.0, to.0));
        }
    }

    /// A thread was in the node for this stretch.
    ///
    /// What belongs to a component that was found earlier goes straight to `cyclic`.
    pub fn ran(&mut self, node: NodeId, stretch: Stretch, cyclic: &mut impl FnMut(Stretch)) {
        let node = &mut self.nodes[node.0 as usize];
        if node.cyclic {
            cyclic(stretch);
        } else if node.stretch.is_empty() {
            node.stretch = stretch;
        } else if node.stretch.thread == stretch.thread && node.stretch.end == stretch.start {
            node.stretch.end = stretch.end;
        } else {
            self.more.push((stretch, node.more));
            node.more = self.more.len() as u32;
        }
    }

    /// The stretches of all nodes that may yet turn out to lie on a cycle.
    pub fn stretches(&self, mut visit: impl FnMut(Stretch)) {
        for node in &self.nodes {
            hand_out(node, &self.more, &mut visit);
        }
    }

    #[cfg(test)]
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    #[cfg(test)]
    pub fn stretch_count(&self) -> usize {
        self.more.len()
    }

    #[inline]
    pub fn wants_collection(&self) -> bool {
        self.nodes.len() >= self.node_limit
            || self.edges.len() >= self.edge_limit
            || self.more.len() >= self.more_limit
    }

    /// Finds components, drops what is in no later one, condenses what is left if that is much.
    ///
    /// `open` are the nodes that can still get a predecessor; the stretches of all others must be known up to now.
    pub fn collect(&mut self, open: &[Open], mut cyclic: impl FnMut(Stretch)) -> Renamed {
        self.most_nodes = self.most_nodes.max(self.nodes.len());
        let successors = Successors::new(self.nodes.len(), &self.edges);
        let components = Components::new(self.nodes.len(), &successors);
        let mut kept = vec![false; components.len()];
        for open in open {
            kept[components.of[open.node.0 as usize] as usize] = true;
        }
        // Backwards, a component comes before what it reaches.
        for &node in components.order.iter().rev() {
            if kept[components.of[node as usize] as usize] {
                for &next in successors.of(node) {
                    kept[components.of[next as usize] as usize] = true;
                }
            }
        }

        let mut name = vec![u32::MAX; components.len()];
        let mut nodes = Vec::new();
        for component in (0..components.len() as u32).rev() {
            let members = components.members(component);
            let several = members.len() > 1;
            if several {
                for &member in members {
                    hand_out(&self.nodes[member as usize], &self.more, &mut cyclic);
                }
            }
            let is_cyclic = several || self.nodes[members[0] as usize].cyclic;
            if kept[component as usize] {
                name[component as usize] = nodes.len() as u32;
                nodes.push(if several {
                    Node {
                        stretch: Stretch::EMPTY,
                        more: 0,
                        cyclic: true,
                    }
                } else {
                    self.nodes[members[0] as usize]
                });
            } else if is_cyclic {
                self.components += 1;
            }
        }
        let mut edges = Vec::new();
        let mut drawn = vec![u32::MAX; nodes.len()];
        for component in (0..components.len() as u32).rev() {
            let from = name[component as usize];
            if from == u32::MAX {
                continue;
            }
            for &member in components.members(component) {
                for &next in successors.of(member) {
                    let to = name[components.of[next as usize] as usize];
                    if to != from && to != u32::MAX && drawn[to as usize] != from {
                        drawn[to as usize] = from;
                        edges.push((from, to));
                    }
                }
            }
        }
        self.nodes = nodes;
        self.edges = edges;
        let mut renamed: Vec<u32> = (components.of.iter())
            .map(|component| name[*component as usize])
            .collect();
        let condense = self.limits.condense;
        if self.nodes.len() > condense || self.edges.len() > condense.saturating_mul(8) {
            let new_name = |open: &Open| Open {
                node: NodeId(renamed[open.node.0 as usize]),
                ..*open
            };
            let open: Vec<Open> = open.iter().map(new_name).collect();
            let classes = self.condense(&open);
            for new in &mut renamed {
                if *new != u32::MAX {
                    *new = classes[*new as usize];
                }
            }
        }
        self.gather_stretches();
        self.recent = Recent::default();
        self.node_limit = self.limits.collect.max(2 * self.nodes.len());
        self.edge_limit = (4 * self.limits.collect).max(2 * self.edges.len());
        self.more_limit = (4 * self.limits.collect).max(2 * self.more.len());
        Renamed(renamed)
    }

    /// Merges nodes that the same open nodes reach; nodes are in topological order here.
    fn condense(&mut self, open: &[Open]) -> Vec<u32> {
        let (classes, count) = self.reached_alike(open);
        let mut merged: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (node, class) in (0..).zip(&classes) {
            merged[*class as usize].push(node);
        }
        let mut nodes = Vec::with_capacity(merged.len());
        for members in &merged {
            if let [only] = members[..] {
                nodes.push(self.nodes[only as usize]);
                continue;
            }
            let mut stretches = Vec::new();
            for &member in members {
                hand_out(&self.nodes[member as usize], &self.more, &mut |stretch| {
                    stretches.push(stretch);
                });
            }
            nodes.push(self.node_of(stretches));
        }
        self.nodes = nodes;
        let mut edges: Vec<(u32, u32)> = (self.edges.iter())
            .map(|(from, to)| (classes[*from as usize], classes[*to as usize]))
            .filter(|(from, to)| from != to)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        self.edges = edges;
        classes
    }

    /// By node a class, from 0, and how many there are: open nodes are alone in theirs, others are with those that the same open nodes reach.
    ///
    /// What an open node of a thread reaches, those before it in the thread reach too: which of them reach a node is told by the last one.
    /// So memory does not grow with how many open nodes there are, nor time with how many a thread has.
    fn reached_alike(&self, open: &[Open]) -> (Vec<u32>, usize) {
        let mut classes = vec![0; self.nodes.len()];
        for (i, open) in (1..).zip(open) {
            classes[open.node.0 as usize] = i;
        }
        let mut reached_by = vec![0u64; self.nodes.len()];
        let mut known: HashMap<(u32, u64), u32, FxBuildHasher> = HashMap::default();
        let mut refine = |classes: &mut [u32], reached_by: &[u64]| {
            known.clear();
            for (class, reached_by) in classes.iter_mut().zip(reached_by) {
                let fresh = known.len() as u32;
                *class = *known.entry((*class, *reached_by)).or_insert(fresh);
            }
        };
        // Edges are sorted by their sources, and the sources topologically.
        let mut alone = Vec::new();
        for thread in open.chunk_by(|a, b| a.thread == b.thread) {
            if let [one] = thread {
                alone.push(one.node);
                continue;
            }
            reached_by.fill(0);
            for (i, open) in (1..).zip(thread) {
                reached_by[open.node.0 as usize] = i;
            }
            for &(from, to) in &self.edges {
                reached_by[to as usize] = reached_by[to as usize].max(reached_by[from as usize]);
            }
            refine(&mut classes, &reached_by);
        }
        // Of threads that have one only, sixty-four at a time.
        for some in alone.chunks(64) {
            reached_by.fill(0);
            for (i, node) in some.iter().enumerate() {
                reached_by[node.0 as usize] |= 1 << i;
            }
            for &(from, to) in &self.edges {
                reached_by[to as usize] |= reached_by[from as usize];
            }
            refine(&mut classes, &reached_by);
        }
        let count = classes.iter().max().map_or(0, |most| *most as usize + 1);
        (classes, count)
    }

    /// A condensed node: stretches that touch are one.
    fn node_of(&mut self, mut stretches: Vec<Stretch>) -> Node {
        join_touching(&mut stretches, 0);
        let mut more = 0;
        for &stretch in stretches.iter().skip(1).rev() {
            self.more.push((stretch, more));
            more = self.more.len() as u32;
        }
        Node {
            stretch: stretches.first().copied().unwrap_or(Stretch::EMPTY),
            more,
            cyclic: false,
        }
    }

    /// Forgets stretches that no node has any more, and joins those of a node that touch.
    fn gather_stretches(&mut self) {
        let old = std::mem::take(&mut self.more);
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            if node.more != 0 {
                let mut stretches = Vec::new();
                hand_out(&node, &old, &mut |stretch| stretches.push(stretch));
                self.nodes[at] = Node {
                    cyclic: node.cyclic,
                    ..self.node_of(stretches)
                };
            }
        }
    }
}

fn hand_out(node: &Node, more: &[(Stretch, u32)], to: &mut impl FnMut(Stretch)) {
    if !node.stretch.is_empty() {
        to(node.stretch);
    }
    let mut next = node.more;
    while let Some((stretch, after)) = more.get((next as usize).wrapping_sub(1)) {
        to(*stretch);
        next = *after;
    }
}

/// Sorts stretches, and joins those of one thread with at most `gap` events between them.
pub(super) fn join_touching(stretches: &mut Vec<Stretch>, gap: u64) {
    stretches.sort_unstable();
    stretches.dedup_by(|next, last| {
        let joins = next.thread == last.thread && next.start <= last.end.saturating_add(gap);
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
}
