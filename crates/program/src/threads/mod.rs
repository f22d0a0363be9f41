//! Abstract threads, and which abstract objects several of them can reach.

mod multiplicity;
mod sharing;

pub use sharing::Sharing;

use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::heap::{Heap, RootKind, Spawn};
use crate::ids::{InstrId, NodeId, ObjectId, ThreadId};
use crate::library::Library;

/// A set of threads that start alike.
#[derive(Debug, Clone)]
pub struct AbstractThread {
    /// What it is.
    pub kind: ThreadKind,
    /// What it runs.
    pub roots: Vec<NodeId>,
    /// How many run at once.
    pub multiplicity: Multiplicity,
    /// The calls that start it.
    pub start_sites: Vec<(NodeId, InstrId)>,
}

/// What an abstract thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadKind {
    /// The main thread.
    Main,
    /// Library mode: any number of threads that call exported methods.
    Clients,
    /// A thread or task that the program starts, by its abstract object.
    Started(ObjectId),
    /// Whoever initializes classes: each initializer runs once and before what it initializes is used.
    Initializers,
    /// Library mode: whoever makes the shared instances, before they are shared.
    Constructors,
}

/// How many instances of an abstract thread can exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Multiplicity {
    /// At most one.
    One,
    /// Any number.
    Many,
}

/// All abstract threads, and which nodes each runs.
#[derive(Debug)]
pub struct Threads {
    threads: Vec<AbstractThread>,
    /// For each thread a bit for each node.
    runs: Vec<Vec<u64>>,
}

impl Threads {
    pub(crate) fn find(
        heap: &Heap,
        classes: &Classes,
        library: &Library,
        in_loop: &dyn Fn(NodeId, InstrId) -> bool,
    ) -> Self {
        let mut threads = Vec::new();
        for (kind, root_kind, multiplicity) in [
            (ThreadKind::Main, RootKind::Main, Multiplicity::One),
            (ThreadKind::Clients, RootKind::Client, Multiplicity::Many),
            (
                ThreadKind::Initializers,
                RootKind::Initializer,
                Multiplicity::One,
            ),
            (
                ThreadKind::Constructors,
                RootKind::Constructor,
                Multiplicity::One,
            ),
        ] {
            let roots: Vec<NodeId> = heap
                .roots()
                .iter()
                .filter(|root| root.kind == root_kind)
                .map(|root| root.node)
                .collect();
            if !roots.is_empty() {
                threads.push(AbstractThread {
                    kind,
                    roots,
                    multiplicity,
                    start_sites: Vec::new(),
                });
            }
        }
        let mut started: FxHashMap<ObjectId, Vec<Spawn>> = FxHashMap::default();
        for spawn in heap.spawns() {
            started.entry(spawn.task).or_default().push(*spawn);
        }
        let mut started: Vec<(ObjectId, Vec<Spawn>)> = started.into_iter().collect();
        started.sort_unstable_by_key(|(task, _)| *task);
        let first_started = threads.len();
        for (task, spawns) in &started {
            let mut roots: Vec<NodeId> = spawns.iter().map(|spawn| spawn.root).collect();
            roots.sort_unstable();
            roots.dedup();
            let start_sites = multiplicity::start_sites(heap, spawns);
            threads.push(AbstractThread {
                kind: ThreadKind::Started(*task),
                roots,
                multiplicity: Multiplicity::Many,
                start_sites,
            });
        }
        multiplicity::find(
            heap,
            classes,
            library,
            in_loop,
            &mut threads[first_started..],
            &started,
        );
        let runs = threads
            .iter()
            .map(|thread| reached(heap, &thread.roots))
            .collect();
        Self { threads, runs }
    }

    /// A thread by its id.
    pub fn thread(&self, id: ThreadId) -> &AbstractThread {
        &self.threads[id.index()]
    }

    /// All threads.
    pub fn ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::new)
    }

    /// Whether a thread may run a node.
    pub fn runs(&self, thread: ThreadId, node: NodeId) -> bool {
        self.runs[thread.index()][node.index() / 64] & (1 << (node.index() % 64)) != 0
    }

    /// The threads that may run a node.
    pub fn running(&self, node: NodeId) -> impl Iterator<Item = ThreadId> + '_ {
        self.ids().filter(move |thread| self.runs(*thread, node))
    }

    /// Whether two threads can run at the same time; one thread that exists once is not concurrent to itself.
    pub fn are_concurrent(&self, left: ThreadId, right: ThreadId) -> bool {
        let before_sharing = |id: ThreadId| {
            matches!(
                self.thread(id).kind,
                ThreadKind::Initializers | ThreadKind::Constructors
            )
        };
        if before_sharing(left) || before_sharing(right) {
            return false;
        }
        left != right || self.thread(left).multiplicity == Multiplicity::Many
    }
}

/// The nodes reachable by calls, as bits; starting a thread is no call.
fn reached(heap: &Heap, roots: &[NodeId]) -> Vec<u64> {
    let mut bits = vec![0u64; heap.node_ids().len().div_ceil(64)];
    let mut pending = roots.to_vec();
    while let Some(node) = pending.pop() {
        let (word, bit) = (node.index() / 64, 1 << (node.index() % 64));
        if bits[word] & bit == 0 {
            bits[word] |= bit;
            pending.extend(heap.calls_from(node).iter().map(|edge| edge.callee));
        }
    }
    bits
}
