//! The transaction graph, contracted to what can still close a cycle.
//!
//! An edge can only close a cycle where it enters an open transaction, since nothing enters one that has ended.
//! So the whole graph serves one question: which open transactions reach this node?
//! Each node that has ended keeps just that set, as it was when it ended; the graph between is gone.
//! When a member of the set ends later, its own set takes its place: lazily, with the paths shortened on the way, as in union-find.
//! Open transactions know the open ones that reach them at any time, transitively closed, as a row of bits.
//!
//! A node that no open transaction reaches can be in no cycle to come and is forgotten.
//! The rest is collected by renumbering what is still referred to, whenever the nodes have doubled.
//! So memory follows the marks that locations and locks keep, not the length of the trace, and an edge costs a few words of bits.

use smallvec::SmallVec;

/// A node of the graph; see [`NodeId::NONE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Everything that no open transaction reaches.
    pub const NONE: Self = Self(0);

    fn index(self) -> usize {
        self.0 as usize
    }
}

const ENDED: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    /// Grows along each thread.
    serial: u64,
    /// Its row while it is open.
    slot: u32,
    /// Transactions that were open when it ended and reach it.
    roots: SmallVec<[NodeId; 4]>,
}

/// What an edge did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    Added,
    /// It comes from what no open transaction reaches, so it can be in no cycle.
    Irrelevant,
    /// It would close a cycle, and was not added.
    Closing,
}

/// A set of open transactions, as bits by slot.
type Slots = SmallVec<[u64; 2]>;

#[derive(Clone, Debug)]
pub struct Ancestry {
    nodes: Vec<Node>,
    serial: u64,
    /// The open transaction of each slot.
    open: Vec<NodeId>,
    unused: Vec<u32>,
    /// By slot, `words` words each: the other open transactions that reach this one.
    rows: Vec<u64>,
    words: usize,
    work: Vec<NodeId>,
    live: usize,
}

impl Default for Ancestry {
    fn default() -> Self {
        let none = Node {
            serial: 0,
            slot: ENDED,
            roots: SmallVec::new(),
        };
        Self {
            nodes: vec![none],
            serial: 0,
            open: Vec::new(),
            unused: Vec::new(),
            rows: Vec::new(),
            words: 1,
            work: Vec::new(),
            live: 0,
        }
    }
}

impl Ancestry {
    /// A number that grows along each thread's nodes.
    #[inline]
    pub fn serial(&self, node: NodeId) -> u64 {
        self.nodes[node.index()].serial
    }

    fn add(&mut self, slot: u32, roots: SmallVec<[NodeId; 4]>) -> NodeId {
        self.serial += 1;
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            serial: self.serial,
            slot,
            roots,
        });
        id
    }

    /// Opens a transaction after `previous` of the same thread.
    pub fn begin(&mut self, previous: NodeId) -> NodeId {
        let slot = self.unused.pop().unwrap_or_else(|| self.add_slot());
        let node = self.add(slot, SmallVec::new());
        self.open[slot as usize] = node;
        let above = self.ancestors(previous);
        let row = slot as usize * self.words;
        self.rows[row..row + self.words].copy_from_slice(&above[..self.words]);
        node
    }

    fn add_slot(&mut self) -> u32 {
        let slot = self.open.len();
        self.open.push(NodeId::NONE);
        let words = self.open.len().div_ceil(64);
        if words > self.words {
            let mut rows = Vec::with_capacity(self.open.len() * words);
            for row in self.rows.chunks(self.words) {
                rows.extend_from_slice(row);
                rows.resize(rows.len() + words - self.words, 0);
            }
            self.rows = rows;
            self.words = words;
        }
        self.rows.resize(self.open.len() * self.words, 0);
        slot as u32
    }

    /// Ends an open transaction; yields the node that stands for its end.
    pub fn end(&mut self, node: NodeId) -> NodeId {
        let slot = self.nodes[node.index()].slot as usize;
        if slot >= self.open.len() {
            return node;
        }
        let row = slot * self.words;
        let above: Slots = self.rows[row..row + self.words].into();
        let roots = self.members(&above);
        let reached = !roots.is_empty();
        let ended = &mut self.nodes[node.index()];
        ended.slot = ENDED;
        ended.roots = roots;
        self.open[slot] = NodeId::NONE;
        self.unused.push(slot as u32);
        for row in self.rows.chunks_mut(self.words) {
            row[slot / 64] &= !(1 << (slot % 64));
        }
        if reached { node } else { NodeId::NONE }
    }

    /// Adds an edge into an open transaction, unless it closes a cycle.
    pub fn edge(&mut self, from: NodeId, to: NodeId) -> Edge {
        let above = self.ancestors(from);
        let slot = self.nodes[to.index()].slot as usize;
        if above.iter().all(|word| *word == 0) || slot >= self.open.len() {
            return Edge::Irrelevant;
        }
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if above[word] & bit != 0 {
            return Edge::Closing;
        }
        let words = self.words;
        for (other, row) in self.rows.chunks_mut(words).enumerate() {
            if other == slot || row[word] & bit != 0 {
                for (bits, more) in row.iter_mut().zip(&above) {
                    *bits |= more;
                }
            }
        }
        Edge::Added
    }

    /// The node of a single event after `previous` of the same thread and after `sources`.
    ///
    /// Only a source that brings new ancestors needs a node of its own: an event that nothing new enters is reached as its predecessor is.
    pub fn single(&mut self, previous: NodeId, sources: &[NodeId]) -> NodeId {
        let own = self.ancestors(previous);
        let mut all = own.clone();
        for &source in sources {
            let above = self.ancestors(source);
            all.iter_mut().zip(&above).for_each(|(a, b)| *a |= b);
        }
        if all == own {
            return previous;
        }
        let roots = self.members(&all);
        self.add(ENDED, roots)
    }

    /// The open transactions that reach the node, itself included if it is open.
    fn ancestors(&mut self, node: NodeId) -> Slots {
        let mut above: Slots = SmallVec::from_elem(0, self.words);
        let slot = self.nodes[node.index()].slot;
        if slot != ENDED {
            self.add_open(slot as usize, &mut above);
            return above;
        }
        self.resolve(node);
        for i in 0..self.nodes[node.index()].roots.len() {
            let root = self.nodes[node.index()].roots[i];
            let slot = self.nodes[root.index()].slot as usize;
            self.add_open(slot, &mut above);
        }
        above
    }

    fn add_open(&self, slot: usize, above: &mut Slots) {
        above[slot / 64] |= 1 << (slot % 64);
        let row = slot * self.words;
        for (bits, more) in above.iter_mut().zip(&self.rows[row..row + self.words]) {
            *bits |= more;
        }
    }

    fn members(&self, slots: &Slots) -> SmallVec<[NodeId; 4]> {
        let mut members = SmallVec::new();
        for (i, &word) in slots.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                members.push(self.open[i * 64 + rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
        members
    }

    fn is_open(&self, node: NodeId) -> bool {
        self.nodes[node.index()].slot != ENDED
    }

    /// Puts in place of each ended root of an ended node what reaches that root.
    ///
    /// A root ends after the node that names it, so the chain is finite; it may be long, hence the work list.
    fn resolve(&mut self, node: NodeId) {
        let roots = &self.nodes[node.index()].roots;
        if roots.iter().all(|root| self.is_open(*root)) {
            return;
        }
        let mut work = std::mem::take(&mut self.work);
        work.push(node);
        while let Some(&top) = work.last() {
            let roots = &self.nodes[top.index()].roots;
            let stale = roots.iter().copied().find(|root| {
                !self.is_open(*root)
                    && (self.nodes[root.index()].roots.iter()).any(|above| !self.is_open(*above))
            });
            if let Some(stale) = stale {
                work.push(stale);
                continue;
            }
            work.pop();
            let mut fresh: SmallVec<[NodeId; 4]> = SmallVec::new();
            for root in &self.nodes[top.index()].roots {
                if self.is_open(*root) {
                    fresh.push(*root);
                } else {
                    fresh.extend_from_slice(&self.nodes[root.index()].roots);
                }
            }
            fresh.sort_unstable();
            fresh.dedup();
            self.nodes[top.index()].roots = fresh;
        }
        self.work = work;
    }

    /// Whether collecting is worth its cost, given how many marks must be renamed for it and how much may be wasted in any case.
    #[inline]
    pub fn is_crowded(&self, marks: usize, slack: usize) -> bool {
        self.nodes.len() > self.live + slack && self.nodes.len() > self.live * 2 + marks / 2
    }

    /// Begins to collect: every mark that is to survive must pass through [`Collection::rename`].
    pub fn collect(&mut self) -> Collection<'_> {
        let mut collection = Collection {
            renamed: vec![NodeId::NONE; self.nodes.len()],
            kept: vec![self.nodes[0].clone()],
            ancestry: self,
        };
        for slot in 0..collection.ancestry.open.len() {
            let node = collection.ancestry.open[slot];
            if let Some(renamed) = collection.rename(node) {
                collection.ancestry.open[slot] = renamed;
            }
        }
        collection
    }
}

/// A collection under way.
#[derive(Debug)]
pub struct Collection<'a> {
    ancestry: &'a mut Ancestry,
    renamed: Vec<NodeId>,
    kept: Vec<Node>,
}

impl Collection<'_> {
    /// The new name of a node; `None` if no open transaction reaches it.
    pub fn rename(&mut self, node: NodeId) -> Option<NodeId> {
        let known = self.renamed[node.index()];
        if known != NodeId::NONE {
            return Some(known);
        }
        self.ancestry.resolve(node);
        let old = &self.ancestry.nodes[node.index()];
        if old.slot == ENDED && old.roots.is_empty() {
            return None;
        }
        // Roots are open after resolving, and the open ones were renamed first.
        let roots = (old.roots.iter())
            .map(|root| self.renamed[root.index()])
            .collect();
        let new = NodeId(self.kept.len() as u32);
        self.kept.push(Node { roots, ..*old });
        self.renamed[node.index()] = new;
        Some(new)
    }

    /// Forgets what was not renamed.
    pub fn finish(self) {
        self.ancestry.live = self.kept.len();
        self.ancestry.nodes = self.kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_root_is_replaced_by_what_reaches_it_however_long_the_chain() {
        let mut graph = Ancestry::default();
        let first = graph.begin(NodeId::NONE);
        let mut from = first;
        let mut ended = Vec::new();
        let mut open = first;
        for _ in 0..10_000 {
            let next = graph.begin(NodeId::NONE);
            assert_eq!(graph.edge(open, next), Edge::Added);
            if open != first {
                from = graph.end(open);
                ended.push(from);
            }
            open = next;
        }
        assert_ne!(from, NodeId::NONE);
        assert_eq!(graph.edge(from, first), Edge::Closing);
        assert_eq!(graph.edge(ended[0], first), Edge::Closing);
        assert_eq!(graph.end(first), NodeId::NONE);
        let later = graph.begin(NodeId::NONE);
        assert_eq!(graph.edge(ended[0], later), Edge::Irrelevant);
    }

    #[test]
    fn more_open_transactions_than_a_word_has_bits() {
        let mut graph = Ancestry::default();
        let open: Vec<NodeId> = (0..200).map(|_| graph.begin(NodeId::NONE)).collect();
        for pair in open.windows(2) {
            assert_eq!(graph.edge(pair[0], pair[1]), Edge::Added);
        }
        assert_eq!(graph.edge(open[199], open[0]), Edge::Closing);
        let middle = graph.end(open[100]);
        assert_eq!(graph.edge(middle, open[99]), Edge::Closing);
        assert_eq!(graph.edge(middle, open[101]), Edge::Added);
    }

    #[test]
    fn collecting_keeps_what_open_transactions_reach_and_nothing_else() {
        let mut graph = Ancestry::default();
        let long = graph.begin(NodeId::NONE);
        let single = graph.single(NodeId::NONE, &[long]);
        let short = graph.begin(NodeId::NONE);
        let lost = graph.single(NodeId::NONE, &[short]);
        assert_eq!(graph.end(short), NodeId::NONE);
        let mut collection = graph.collect();
        let long_renamed = collection.rename(long).unwrap();
        let single = collection.rename(single).unwrap();
        assert_eq!(collection.rename(lost), None);
        assert_eq!(collection.rename(short), None);
        collection.finish();
        assert_eq!(graph.edge(single, long_renamed), Edge::Closing);
    }
}
