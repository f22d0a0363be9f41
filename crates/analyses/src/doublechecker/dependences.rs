//! Imprecise cycle detection on the order that a running program itself logs (sections 3.2 and 4 of the paper).
//!
//! The runtime in the program follows ownership as in section 3.2.1 and writes an *edge* wherever an access, a lock or a thread's life depends on another thread: from a position of that thread, to the place of the edge.
//! So there is no ownership to simulate and no access to look at: [`Dependences`] hears of regions and edges alone, keeps the graph of transactions, and says which stretches of which threads lie in its components.
//! Everything else is never taken apart.
//!
//! *Every precise cycle lies in one component.*
//! 1. Of two recorded accesses that conflict, and of two operations on a synchronizer of which the second awaits the first, the later one is preceded by a path of edges and program order from the earlier one: that is what the runtime guarantees, whether an edge leaves from the access itself or, as most do, from where its thread stood when it was asked.
//!    An edge that the runtime leaves out stands behind another one of the same two threads, from the same or a later position, so the path leads there.
//!    What it did not record, as the accesses to objects that one thread alone has touched, no analysis sees in any case.
//! 2. So each conflict of a precise cycle is a path here between the nodes of its two transactions; the cycle is a closed walk, and all nodes on it are in one component, with whatever lies between them in their threads.
//!
//! *Who needs a node.*
//! Threads are heard in an order that respects the edges.
//! In that order every step along an edge goes forward, so on a closed walk some transaction is left before it is entered; it is a region, and open when the edge that leaves it is heard.
//! Hence a node is made for a region that is left while it is open, and for what an edge from another node enters; nothing else can be on a cycle.
//! An edge from a region counts only if the region has done something before that others can depend on: a thread that has merely entered it, and waits for a lock, is not left.
//! A node goes on until its thread is entered or, at the next region, has been left: only the first transaction in it is entered, so what follows in it makes no path that program order does not make.
//!
//! *Which order is best.*
//! All orders that respect the edges find every cycle, but the more regions end before edges leave them, the fewer nodes there are: [`TransactionFilter::is_amid`] tells the reader which thread to hear first.

use std::collections::VecDeque;
use std::ops::Range;

use untorn_model::ThreadId;
use untorn_trace::{Decision, TransactionFilter};

use super::graph::{Graph, Limits, NodeId, Open, Stretch};

/// A position that is never reached.
const NEVER: u64 = u64::MAX;

/// A node of a thread.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// Where its first transaction begins.
    start: u64,
    /// The first thing in it that others can depend on.
    acts: u64,
    node: NodeId,
}

#[derive(Debug)]
struct Thread {
    /// The nodes that may yet be on a cycle, oldest first; each runs to the start of the next.
    nodes: VecDeque<Placed>,
    /// From where on the last node's stretch is not recorded in the graph.
    since: u64,
    /// Where the open region began, and the first thing in it that others can depend on.
    begin: Option<u64>,
    acted: Option<u64>,
    /// The open region is the first transaction of the last node.
    own: bool,
    /// An edge has left the last node.
    left: bool,
    /// Outside of regions: where another edge would still enter the last node.
    joins_at: u64,
}

impl Default for Thread {
    fn default() -> Self {
        Self {
            nodes: VecDeque::new(),
            since: 0,
            begin: None,
            acted: None,
            own: false,
            left: false,
            joins_at: NEVER,
        }
    }
}

impl Thread {
    fn last(&self) -> NodeId {
        self.nodes.back().map_or(NodeId::NONE, |last| last.node)
    }
}

/// Gathers dependences; see the [module](self).
#[derive(Debug)]
pub struct Dependences {
    graph: Graph,
    threads: Vec<Thread>,
    /// Found on cycles since the last search.
    cyclic: Vec<Stretch>,
    nodes: u64,
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependent {
    /// Nodes made for transactions.
    pub nodes: u64,
    /// Dependences between them, each counted once while it is remembered.
    pub edges: u64,
    pub components: u64,
    pub most_nodes: usize,
}

impl Default for Dependences {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl Dependences {
    /// Searches whenever so many nodes were made: a matter of speed and memory alone.
    pub fn searching_after(nodes: usize) -> Self {
        Self::with_limits(Limits {
            collect: nodes,
            condense: nodes,
        })
    }

    fn with_limits(limits: Limits) -> Self {
        Self {
            graph: Graph::new(limits),
            threads: Vec::new(),
            cyclic: Vec::new(),
            nodes: 0,
        }
    }

    pub fn counts(&self) -> Dependent {
        Dependent {
            nodes: self.nodes,
            edges: self.graph.cross_edges,
            components: self.graph.components,
            most_nodes: self.graph.most_nodes,
        }
    }

    #[inline]
    fn thread(&mut self, thread: u32) -> &mut Thread {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        &mut self.threads[index]
    }

    fn start_node(&mut self, thread: u32, start: u64, acts: u64) {
        self.close_node(thread, start);
        let this = &mut self.threads[thread as usize];
        let node = self.graph.add_node(this.last());
        self.nodes += 1;
        this.nodes.push_back(Placed { start, acts, node });
        this.own = this.begin == Some(start);
        this.left = false;
        this.joins_at = NEVER;
    }

    /// Records where the thread's last node ran up to now.
    fn close_node(&mut self, thread: u32, at: u64) {
        let this = &mut self.threads[thread as usize];
        let start = std::mem::replace(&mut this.since, at);
        let node = this.last();
        if node != NodeId::NONE && start < at {
            let stretch = Stretch {
                thread: ThreadId(thread),
                start,
                end: at,
            };
            let cyclic = &mut self.cyclic;
            self.graph.ran(node, stretch, &mut |s| cyclic.push(s));
        }
    }

    /// The node of what a thread did last before a position; none if that can be on no cycle.
    fn source(&mut self, thread: u32, before: u64) -> NodeId {
        if self.is_amid(thread, before) {
            let this = &self.threads[thread as usize];
            if let (Some(begin), Some(acted), false) = (this.begin, this.acted, this.own) {
                self.start_node(thread, begin, acted);
            }
        }
        let this = self.thread(thread);
        let until = this.nodes.partition_point(|placed| placed.acts < before);
        let Some(placed) = until.checked_sub(1).map(|at| this.nodes[at]) else {
            return NodeId::NONE;
        };
        this.left |= until == this.nodes.len();
        placed.node
    }

    /// The node that an edge at this position of a thread enters.
    fn sink(&mut self, thread: u32, at: u64) -> NodeId {
        let this = self.thread(thread);
        match this.begin {
            Some(_) if this.own => {
                if let Some(last) = this.nodes.back_mut() {
                    last.acts = last.acts.min(at);
                }
            }
            Some(begin) => {
                let acts = this.acted.unwrap_or(at);
                self.start_node(thread, begin, acts);
            }
            None => {
                if at != this.joins_at {
                    self.start_node(thread, at, at);
                }
                self.threads[thread as usize].joins_at = at + 1;
            }
        }
        self.threads[thread as usize].last()
    }
}

impl TransactionFilter for Dependences {
    #[inline]
    fn begin(&mut self, thread: u32, at: u64) {
        let this = self.thread(thread);
        this.begin = Some(at);
        this.acted = None;
        this.own = false;
        if this.left {
            self.start_node(thread, at, NEVER);
        }
    }

    #[inline]
    fn act(&mut self, thread: u32, at: u64) {
        let this = self.thread(thread);
        this.acted = Some(at);
        if this.own
            && let Some(last) = this.nodes.back_mut()
        {
            last.acts = last.acts.min(at);
        }
    }

    #[inline]
    fn end(&mut self, thread: u32) {
        let this = self.thread(thread);
        if this.own
            && let Some(last) = this.nodes.back_mut()
            && last.acts == NEVER
        {
            // What follows joins the node, and may do what this region did not.
            last.acts = last.start;
        }
        this.begin = None;
        this.acted = None;
        this.own = false;
    }

    fn depend(&mut self, thread: u32, at: u64, on: u32, before: u64) {
        let from = self.source(on, before);
        // What nothing on a later cycle reaches is on none because of it.
        if from != NodeId::NONE {
            let to = self.sink(thread, at);
            self.graph.add_edge(from, to);
        }
    }

    fn is_amid(&self, thread: u32, before: u64) -> bool {
        (self.threads.get(thread as usize))
            .is_some_and(|this| this.acted.is_some_and(|acted| acted < before))
    }

    fn floor(&self, thread: u32, now: u64) -> u64 {
        let Some(this) = self.threads.get(thread as usize) else {
            return now;
        };
        match this.nodes.front() {
            Some(first) => first.start,
            None => this.begin.unwrap_or(now),
        }
    }

    fn is_due(&self) -> bool {
        self.graph.wants_collection()
    }

    fn search(&mut self, now: &[u64], last: bool, tell: &mut dyn FnMut(Decision, u32, Range<u64>)) {
        let mut open = Vec::new();
        for thread in 0..self.threads.len() {
            let this = &mut self.threads[thread];
            // What enters it next outside of regions gets a node of its own.
            this.joins_at = NEVER;
            if this.own && !last {
                open.push(Open {
                    thread: thread as u32,
                    node: this.last(),
                });
                continue;
            }
            let now = now.get(thread).copied().unwrap_or(0);
            // What an open region does that has no node is not the node's.
            let until = match this.begin {
                Some(begin) if !this.own => begin,
                _ => now,
            };
            self.close_node(thread as u32, until);
        }
        let cyclic = &mut self.cyclic;
        let renamed = (self.graph).collect(&open, |stretch| cyclic.push(stretch));
        for stretch in self.cyclic.drain(..) {
            tell(
                Decision::Wanted,
                stretch.thread.0,
                stretch.start..stretch.end,
            );
        }
        self.graph.stretches(|stretch| {
            tell(
                Decision::Undecided,
                stretch.thread.0,
                stretch.start..stretch.end,
            );
        });
        for (thread, this) in self.threads.iter_mut().enumerate() {
            this.nodes.retain_mut(|placed| {
                placed.node = renamed.get(placed.node);
                placed.node != NodeId::NONE
            });
            let mut before = NodeId::NONE;
            this.nodes
                .retain(|placed| std::mem::replace(&mut before, placed.node) != placed.node);
            if this.nodes.is_empty() {
                (this.left, this.own) = (false, false);
            }
            // What goes on has not been told of in full.
            let rest = if this.nodes.is_empty() {
                this.begin
            } else {
                Some(this.begin.unwrap_or(NEVER).min(this.since))
            };
            if let Some(rest) = rest.filter(|_| !last) {
                tell(Decision::Undecided, thread as u32, rest..NEVER);
            }
        }
    }
}
