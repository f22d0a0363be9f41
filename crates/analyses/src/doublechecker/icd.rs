//! Imprecise cycle detection (ICD): which transactions may lie on a cycle (sections 3.2 and 4 of the paper).
//!
//! Every object has an ownership state ([`super::ownership`]); an access that changes it draws edges into the graph of transactions, as Figure 4 of the paper says.
//! Locks and other synchronizers are objects of their own: what is acquire-like reads them, what is release-like writes them.
//! A read-write lock has a second object, which a shared release reads and an exclusive acquisition writes: so readers stay unordered among themselves.
//! A fork writes and the first event of the thread reads; what a join waits for is the thread's last transaction, which is known by then.
//!
//! *Sources.*
//! The paper draws an edge from the owner's current transaction, whenever the access was: a running program cannot afford to remember.
//! A trace has positions for free, so an object remembers when it was last accessed; if the owner's current transaction has begun after that, the edge begins in the one before.
//! A shared object also remembers which threads have read it, so that a write draws edges from these and not from all.
//! That keeps transactions apart which merely run at the same time, so far less is left for the precise analysis.
//!
//! *Every dependence is a path.*
//! Write to read, write to write and read to write by way of an exclusive state: the conflicting transition draws an edge from a transaction of the owner that is its access's, or comes after it in program order.
//! A write to a shared object draws an edge from every thread that may have read it.
//! Write to read of a shared object: the write led to the first reader (conflicting), who by `lastRdEx` led to the transaction that made the object shared; and whoever has seen its count has an edge from that one or a later one of the same thread.
//! A transaction that was dropped on the way can be on no later cycle (see [`super::graph`]), so a path through it closes none.
//!
//! *Nodes.*
//! A transaction without edges needs no node: it joins its thread's node.
//! A regular transaction gets a node at its first edge, beginning where it began, and the next transaction a new one if an edge has left it.
//! A unary transaction joins the one before it unless an edge has left that one: so edges enter a node of unary transactions before any leaves, and merging makes no cycle.
//! That bounds nodes by edges, whatever the number of transactions.

use untorn_model::{Event, LockId, LockMode, Op, Tables, ThreadId, VarId};

use super::graph::{Graph, Limits, NodeId, Open, Stretch};
use super::ownership::{Ownership, Transition};

/// Counts of the imprecise analysis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub regular_transactions: u64,
    pub accesses_inside: u64,
    pub accesses_outside: u64,
}

#[derive(Clone, Debug)]
struct Thread {
    /// The node of its current transaction, or of what came before.
    node: NodeId,
    /// The node before that.
    previous: NodeId,
    /// Where the node begins.
    start: u64,
    /// From where on its events belong to the node and are not recorded there.
    since: u64,
    /// Where the open outermost region began.
    begin: u64,
    /// Regions open.
    depth: u32,
    /// The open transaction is alone in the node.
    own: bool,
    /// An edge has left the node, or the open transaction.
    left: bool,
    /// The next event outside of regions needs a look: it is the first, or the node has been left.
    heed: bool,
    /// The node holds unary transactions only.
    unary: bool,
    started: bool,
    finished: bool,
    /// Who forked it, and when.
    forked_by: Option<(ThreadId, u64)>,
    /// By other thread: how many of the objects that it made shared are known to have been so before: `T.rdShCnt`.
    seen: Vec<u32>,
    /// How many objects it made shared: `gRdShCnt` of the paper, by thread.
    made_shared: u32,
    /// As many of them before its node began.
    shared_before: u32,
    /// The last transaction that made an object shared: `gLastRdSh`, by thread.
    last_rd_sh: NodeId,
    /// The last transaction that made an object `RdEx(T)`: `T.lastRdEx`.
    last_rd_ex: NodeId,
}

impl Default for Thread {
    fn default() -> Self {
        Self {
            node: NodeId::NONE,
            previous: NodeId::NONE,
            start: 0,
            since: 0,
            begin: 0,
            depth: 0,
            own: false,
            left: false,
            heed: true,
            unary: false,
            started: false,
            finished: false,
            forked_by: None,
            seen: Vec::new(),
            made_shared: 0,
            shared_before: 0,
            last_rd_sh: NodeId::NONE,
            last_rd_ex: NodeId::NONE,
        }
    }
}

impl Thread {
    /// It reads nothing any more, so what it has seen, one number for each other thread, is no use.
    fn finish(&mut self) {
        self.finished = true;
        self.seen = Vec::new();
    }

    /// Whether its node can still get a predecessor.
    fn is_open(&self) -> bool {
        self.node != NodeId::NONE
            && !self.finished
            && if self.depth > 0 {
                self.own
            } else {
                self.unary && !self.left
            }
    }
}

/// An object as ownership sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Owned {
    state: Ownership,
    /// When it was last accessed, by whomever.
    last: u64,
    /// Which threads have read it since it is shared, by their number modulo 64.
    readers: u64,
}

/// The bit of a thread in [`Owned::readers`].
#[inline]
const fn bit(thread: ThreadId) -> u64 {
    1 << (thread.0 % 64)
}

/// The objects that stand for one lock.
#[derive(Clone, Copy, Debug, Default)]
struct LockObjects {
    exclusive: Owned,
    /// Read by shared releases, written by exclusive acquisitions; untouched for a lock without readers.
    shared: Owned,
    wait_set: Owned,
    signal: Owned,
}

/// Which object an access concerns.
#[derive(Clone, Copy)]
enum Target {
    Object(u32),
    Exclusive(LockId),
    Shared(LockId),
    WaitSet(LockId),
    Signal(LockId),
}

/// The imprecise analysis; stretches that may lie on cycles go to `S`.
#[derive(Clone, Debug)]
pub(super) struct Icd<S> {
    sync_edges: bool,
    threads: Vec<Thread>,
    objects: Vec<Owned>,
    /// By location: its object.
    object_of: Vec<u32>,
    locks: Vec<LockObjects>,
    pub graph: Graph,
    pub counts: Counts,
    pub suspects: S,
}

/// Takes what may lie on a cycle.
pub(super) trait Suspects {
    fn add(&mut self, stretch: Stretch);
}

impl<S: Suspects> Icd<S> {
    pub fn new(sync_edges: bool, limits: Limits, suspects: S) -> Self {
        Self {
            sync_edges,
            threads: Vec::new(),
            objects: Vec::new(),
            object_of: Vec::new(),
            locks: Vec::new(),
            graph: Graph::new(limits),
            counts: Counts::default(),
            suspects,
        }
    }

    /// Makes room for what the tables have grown by.
    pub fn grow(&mut self, tables: &Tables) {
        let vars = tables.vars();
        let known = self.object_of.len();
        let new = vars.entries_from(known).iter().map(|var| var.object.0);
        self.object_of.extend(new);
        (self.objects).resize(tables.objects.len(), Owned::default());
        (self.locks).resize(tables.locks.len(), LockObjects::default());
        (self.threads).resize(tables.threads.len(), Thread::default());
    }

    /// Objects and locks that are gone leave ids without a past: nothing that comes can depend on them.
    pub fn forget_gone(&mut self, gone: &[Event]) {
        for event in gone {
            match event.op {
                Op::GoneObject(object) => self.objects[object.index()] = Owned::default(),
                Op::GoneLock(lock) => self.locks[lock.index()] = LockObjects::default(),
                _ => {}
            }
        }
    }

    #[inline]
    pub fn event(&mut self, index: u64, event: &Event) {
        let t = event.thread;
        match event.op {
            Op::Read(_, var) => self.access(index, t, var, false),
            Op::Write(_, var) | Op::Update(_, var) => self.access(index, t, var, true),
            Op::Begin(_) => self.begin(index, t),
            Op::End(_) => self.end(t),
            _ if self.sync_edges => self.synchronize(index, t, event.op),
            Op::Join(child) => self.threads[child.index()].finish(),
            _ => {}
        }
    }

    #[inline]
    fn access(&mut self, index: u64, t: ThreadId, var: VarId, writes: bool) {
        let thread = &mut self.threads[t.index()];
        if thread.depth == 0 {
            self.counts.accesses_outside += 1;
            if thread.heed {
                self.heed(index, t);
            }
        } else {
            self.counts.accesses_inside += 1;
        }
        let seen = &self.threads[t.index()].seen;
        let object = self.object_of[var.index()];
        let owned = &mut self.objects[object as usize];
        let fast = if writes {
            owned.state.writable_by(t)
        } else {
            owned.state.readable_by(t, seen)
        };
        if fast {
            owned.last = index;
            owned.readers |= bit(t);
        } else {
            let owned = *owned;
            self.change(index, t, Target::Object(object), owned, writes);
        }
    }

    fn begin(&mut self, index: u64, t: ThreadId) {
        let thread = &mut self.threads[t.index()];
        thread.depth += 1;
        if thread.depth > 1 {
            return;
        }
        self.counts.regular_transactions += 1;
        thread.begin = index;
        thread.own = false;
        if thread.heed {
            self.heed(index, t);
        }
    }

    fn end(&mut self, t: ThreadId) {
        let thread = &mut self.threads[t.index()];
        if thread.depth == 1 {
            if thread.left && !thread.own {
                // The node of what came before has been left, so this is not to join it.
                let begin = thread.begin;
                self.start_node(begin, t);
            }
            let thread = &mut self.threads[t.index()];
            thread.depth = 0;
            thread.heed |= thread.left;
            thread.unary = false;
            thread.own = false;
        } else {
            thread.depth = thread.depth.saturating_sub(1);
        }
    }

    /// The first event of a thread, or the first of a transaction after the thread's node was left.
    #[cold]
    fn heed(&mut self, index: u64, t: ThreadId) {
        let thread = &mut self.threads[t.index()];
        thread.heed = false;
        if thread.left {
            self.start_node(index, t);
        }
        let thread = &mut self.threads[t.index()];
        if !std::mem::replace(&mut thread.started, true)
            && let Some((parent, when)) = thread.forked_by
        {
            let from = self.source(parent, when);
            let to = self.sink(index, t);
            self.graph.add_edge(from, to);
        }
    }

    /// A node that begins here, or where the open transaction began.
    fn start_node(&mut self, at: u64, t: ThreadId) {
        self.close_node(at, t);
        let thread = &mut self.threads[t.index()];
        thread.previous = thread.node;
        thread.node = self.graph.add_node(thread.node);
        thread.start = at;
        thread.shared_before = thread.made_shared;
        thread.own = thread.depth > 0;
        thread.unary = thread.depth == 0;
        thread.left = false;
        thread.heed = false;
    }

    /// Records where the thread's node ran up to now.
    fn close_node(&mut self, at: u64, t: ThreadId) {
        let thread = &mut self.threads[t.index()];
        let start = std::mem::replace(&mut thread.since, at);
        if thread.node != NodeId::NONE && start < at {
            let stretch = Stretch {
                thread: t,
                start,
                end: at,
            };
            let suspects = &mut self.suspects;
            (self.graph).ran(thread.node, stretch, &mut |s| suspects.add(s));
        }
    }

    /// Where an edge begins: a transaction of the thread that is not before the one in which it was at event `last`.
    ///
    /// The current one if that has begun by then, else the one before.
    fn source(&mut self, t: ThreadId, last: u64) -> NodeId {
        let thread = &mut self.threads[t.index()];
        if thread.depth > 0 && !thread.own && last >= thread.begin {
            let begin = thread.begin;
            self.start_node(begin, t);
        }
        let thread = &mut self.threads[t.index()];
        if last < thread.start {
            return thread.previous;
        }
        if thread.node != NodeId::NONE {
            thread.left = true;
            thread.heed |= thread.depth == 0;
        }
        // None: what it did had no predecessor, or one that is in no later cycle.
        thread.node
    }

    /// The current transaction of a thread, at this event, as the target of an edge.
    fn sink(&mut self, index: u64, t: ThreadId) -> NodeId {
        let thread = &self.threads[t.index()];
        let fits = if thread.depth > 0 {
            thread.own
        } else {
            thread.unary && !thread.left && thread.node != NodeId::NONE
        };
        if !fits {
            let at = if thread.depth > 0 {
                thread.begin
            } else {
                index
            };
            self.start_node(at, t);
        }
        self.threads[t.index()].node
    }

    fn owned(&mut self, target: Target) -> &mut Owned {
        match target {
            Target::Object(object) => &mut self.objects[object as usize],
            Target::Exclusive(lock) => &mut self.locks[lock.index()].exclusive,
            Target::Shared(lock) => &mut self.locks[lock.index()].shared,
            Target::WaitSet(lock) => &mut self.locks[lock.index()].wait_set,
            Target::Signal(lock) => &mut self.locks[lock.index()].signal,
        }
    }

    /// The slow path of Table 1 with the edges of Figure 4.
    fn change(&mut self, index: u64, t: ThreadId, target: Target, owned: Owned, writes: bool) {
        let Owned {
            state: old, last, ..
        } = owned;
        let mut readers = bit(t);
        let transition = if writes {
            old.on_write(t)
        } else {
            old.on_read()
        };
        let mut new = if writes {
            Ownership::write_exclusive(t)
        } else {
            Ownership::read_exclusive(t)
        };
        match transition {
            Transition::First | Transition::OwnUpgrade => {}
            Transition::Conflicting { responder } => {
                let from = self.source(responder, last);
                let to = self.sink(index, t);
                self.graph.add_edge(from, to);
                if !writes {
                    self.threads[t.index()].last_rd_ex = to;
                }
            }
            Transition::ConflictingWithAll => {
                let to = self.sink(index, t);
                let mut left = owned.readers;
                while left != 0 {
                    let first = left.trailing_zeros();
                    left &= left - 1;
                    for u in (first..self.threads.len() as u32).step_by(64) {
                        if u != t.0 {
                            let from = self.source(ThreadId(u), last);
                            self.graph.add_edge(from, to);
                        }
                    }
                }
            }
            Transition::Upgrading { reader } => {
                let to = self.sink(index, t);
                let from = self.reader_source(reader, last);
                self.graph.add_edge(from, to);
                let thread = &mut self.threads[t.index()];
                thread.last_rd_sh = to;
                thread.made_shared = thread.made_shared.saturating_add(1);
                new = Ownership::read_shared(t, thread.made_shared);
                readers |= bit(reader);
            }
            Transition::Fence { by, count } => {
                let to = self.sink(index, t);
                let maker = &self.threads[by.index()];
                // As for other sources: not from what runs now if the transition was before it.
                let (from, count) = if count <= maker.shared_before {
                    let earlier = if maker.last_rd_sh == maker.node {
                        maker.previous
                    } else {
                        maker.last_rd_sh
                    };
                    (earlier, maker.shared_before)
                } else {
                    (maker.last_rd_sh, maker.made_shared)
                };
                self.graph.add_edge(from, to);
                let seen = &mut self.threads[t.index()].seen;
                if seen.len() <= by.index() {
                    seen.resize(by.index() + 1, 0);
                }
                seen[by.index()] = count;
                new = old;
                readers |= owned.readers;
            }
        }
        *self.owned(target) = Owned {
            state: new,
            last: index,
            readers,
        };
        self.collect_if_due(index);
    }

    /// A transaction not before the one that made an object `RdEx(T)` which was last accessed then.
    fn reader_source(&self, reader: ThreadId, last: u64) -> NodeId {
        let thread = &self.threads[reader.index()];
        if thread.last_rd_ex == thread.node && last < thread.start {
            thread.previous
        } else {
            thread.last_rd_ex
        }
    }

    #[inline]
    fn collect_if_due(&mut self, index: u64) {
        if self.graph.wants_collection() {
            self.collect(index + 1);
        }
    }

    fn synchronize(&mut self, index: u64, t: ThreadId, op: Op) {
        let thread = &self.threads[t.index()];
        if thread.heed && thread.depth == 0 {
            self.heed(index, t);
        }
        match op {
            Op::Acquire(mode, lock) => self.acquire(index, t, mode, lock),
            Op::Release(LockMode::Shared, lock) => {
                self.touch(index, t, Target::Shared(lock), false);
            }
            Op::Release(LockMode::Exclusive, lock) | Op::Wait(lock) => {
                self.touch(index, t, Target::Exclusive(lock), true);
            }
            Op::Wake(lock) => {
                self.acquire(index, t, LockMode::Exclusive, lock);
                self.touch(index, t, Target::WaitSet(lock), false);
            }
            Op::Notify(lock) => self.touch(index, t, Target::WaitSet(lock), true),
            Op::Signal(lock) => self.touch(index, t, Target::Signal(lock), true),
            Op::Await(lock) => self.touch(index, t, Target::Signal(lock), false),
            Op::Fork(child) => self.threads[child.index()].forked_by = Some((t, index)),
            Op::Join(child) => {
                self.threads[child.index()].finish();
                let from = self.source(child, u64::MAX);
                let to = self.sink(index, t);
                self.graph.add_edge(from, to);
                self.collect_if_due(index);
            }
            _ => {}
        }
    }

    fn acquire(&mut self, index: u64, t: ThreadId, mode: LockMode, lock: LockId) {
        self.touch(index, t, Target::Exclusive(lock), false);
        if mode == LockMode::Exclusive
            && self.locks[lock.index()].shared.state != Ownership::UNTOUCHED
        {
            self.touch(index, t, Target::Shared(lock), true);
        }
    }

    fn touch(&mut self, index: u64, t: ThreadId, target: Target, writes: bool) {
        let state = self.owned(target).state;
        let fast = if writes {
            state.writable_by(t)
        } else {
            state.readable_by(t, &self.threads[t.index()].seen)
        };
        let owned = self.owned(target);
        if fast {
            owned.last = index;
            owned.readers |= bit(t);
        } else {
            let owned = *owned;
            self.change(index, t, target, owned, writes);
        }
    }

    /// Searches the graph and makes it smaller; `now` is the index of the next event.
    #[cold]
    fn collect(&mut self, now: u64) {
        let mut open = Vec::new();
        for t in 0..self.threads.len() {
            let thread = &self.threads[t];
            if thread.is_open() {
                open.push(Open {
                    thread: t as u32,
                    node: thread.node,
                });
            } else {
                // What an open region without edges does is not the node's.
                let until = if thread.depth > 0 && !thread.own {
                    thread.begin
                } else {
                    now
                };
                self.close_node(until, ThreadId(t as u32));
            }
        }
        let suspects = &mut self.suspects;
        let renamed = self.graph.collect(&open, |stretch| suspects.add(stretch));
        for thread in &mut self.threads {
            thread.node = renamed.get(thread.node);
            thread.previous = renamed.get(thread.previous);
            thread.last_rd_ex = renamed.get(thread.last_rd_ex);
            thread.last_rd_sh = renamed.get(thread.last_rd_sh);
        }
    }

    /// Closes all regions at the end of the trace and searches what is left.
    pub fn finish(&mut self, end: u64) {
        for thread in &mut self.threads {
            thread.finished = true;
            thread.own = true;
        }
        self.collect(end);
    }
}

#[cfg(test)]
mod tests;
