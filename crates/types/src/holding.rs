//! Which locks a method has taken and not given back, at every node of its graph.
//!
//! Counts are relative to the method's entry: a lock that is not listed is held exactly if it was held there.
//! Guaranteed: a lock counted as held is held, on every path.
//! Where paths disagree on a lock, or something may have been released that the method did not take, nothing is assumed of it.
//!
//! A method may leave with locks that it took, or without locks that it found: its [`NetLocks`], which callers apply.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::algebra::{Algebra, Atomicity};
use crate::input::{Effect, Graph, MethodId, Overrides, Program};
use crate::locks::{Lock, Locks, Root};
use crate::substitution::Substitution;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Count {
    /// Taken so many times more than given back.
    Held(u16),
    /// Taken on some paths only; never given back without having been taken, since that blurs the state.
    Unknown,
}

/// The locks of one point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holding {
    counts: Vec<(Lock, Count)>,
    /// Something without a name here was released: nothing is known of any lock.
    blurred: bool,
}

impl Holding {
    /// The locks that are held for certain, because the method took them.
    pub fn held(&self) -> impl Iterator<Item = Lock> {
        let clear = !self.blurred;
        self.counts
            .iter()
            .filter(move |(_, count)| clear && matches!(count, Count::Held(_)))
            .map(|&(lock, _)| lock)
    }

    /// May what callers held have been released?
    pub fn is_blurred(&self) -> bool {
        self.blurred
    }

    fn find(&self, lock: Lock) -> Result<usize, usize> {
        self.counts.binary_search_by_key(&lock, |&(l, _)| l)
    }

    fn acquire(&mut self, lock: Lock, times: u16) {
        match self.find(lock) {
            Ok(at) => {
                if let Count::Held(n) = &mut self.counts[at].1 {
                    *n = n.saturating_add(times);
                }
            }
            Err(at) => self.counts.insert(at, (lock, Count::Held(times))),
        }
    }

    fn release(&mut self, lock: Option<Lock>) {
        let Some(at) = lock.and_then(|lock| self.find(lock).ok()) else {
            // By another name this may be any lock.
            self.blurred = true;
            return;
        };
        match self.counts[at].1 {
            Count::Held(1) => {
                self.counts.remove(at);
            }
            Count::Held(ref mut n) => *n -= 1,
            Count::Unknown => self.blurred = true,
        }
    }

    fn set_unknown(&mut self, lock: Lock) {
        match self.find(lock) {
            Ok(at) => self.counts[at].1 = Count::Unknown,
            Err(at) => self.counts.insert(at, (lock, Count::Unknown)),
        }
    }

    /// Leaves out what is taken on some paths only: whoever held such a lock holds it still, and not to count it as held is the worse for all others.
    fn keep_certain(&mut self) {
        self.counts
            .retain(|(_, count)| matches!(count, Count::Held(_)));
    }

    fn unbind(&mut self, locks: &Locks, local: u32) {
        self.counts
            .retain(|&(lock, _)| locks.root_of(lock) != Root::Local(local));
    }

    fn join(&mut self, other: &Holding) {
        let differing: Vec<Lock> = self
            .counts
            .iter()
            .filter(|entry| !other.counts.contains(entry))
            .chain(
                other
                    .counts
                    .iter()
                    .filter(|entry| !self.counts.contains(entry)),
            )
            .map(|&(lock, _)| lock)
            .collect();
        for lock in differing {
            self.set_unknown(lock);
        }
        self.blurred |= other.blurred;
    }

    /// The atomicity that something has at this point, in terms of the locks held at the method's entry.
    pub fn resolve(&self, algebra: &mut Algebra, a: Atomicity) -> Atomicity {
        if a.basic().is_some() {
            return a;
        }
        if self.blurred {
            return algebra.lift(a, |_| false);
        }
        self.counts.iter().fold(a, |a, &(lock, count)| match count {
            Count::Held(_) => {
                let a = algebra.assume_held(a, lock);
                // Who holds the write side holds the read side.
                match algebra.locks.known_shared(lock) {
                    Some(shared) => algebra.assume_held(a, shared),
                    None => a,
                }
            }
            Count::Unknown => {
                let a = algebra.forget(a, lock);
                match algebra.locks.known_shared(lock) {
                    Some(shared) => algebra.forget(a, shared),
                    None => a,
                }
            }
        })
    }

    fn call(&mut self, locks: &mut Locks, net: &NetLocks, theta: &Substitution) {
        for &(lock, count) in &net.0.counts {
            match (theta.apply(locks, lock), count) {
                (Some(lock), Count::Held(n)) => self.acquire(lock, n),
                (Some(lock), Count::Unknown) => self.set_unknown(lock),
                // A lock that was perhaps taken and has no name here can only help.
                (None, _) => {}
            }
        }
        self.blurred |= net.0.blurred;
    }
}

/// How the locks held at a method's exits differ from those at its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetLocks(Holding);

impl NetLocks {
    /// The method gives back exactly what it takes.
    pub fn is_balanced(&self) -> bool {
        self.0 == Holding::default()
    }
}

/// The state before every node that control can reach.
pub type Holdings = Vec<Option<Holding>>;

/// After the node.
pub fn after(
    locks: &mut Locks,
    effect: &Effect,
    before: &Holding,
    nets: &[NetLocks],
    slots: &[Lock],
) -> Holding {
    let mut state = before.clone();
    match effect {
        Effect::Acquire {
            lock: Some(lock), ..
        } => state.acquire(*lock, 1),
        Effect::Release { lock, .. } => state.release(*lock),
        Effect::Assume { lock, held: true } => state.acquire(*lock, 1),
        Effect::Assume { lock, held: false } => state.release(Some(*lock)),
        Effect::Bind(local) => state.unbind(locks, *local),
        Effect::Call(targets) => {
            let mut joined: Option<Holding> = None;
            let mut balanced = false;
            for target in targets {
                let Some(net) = nets.get(target.method.index()) else {
                    continue;
                };
                // Nearly all of what a call may run gives back what it takes, and that may be hundreds of methods.
                if net.is_balanced() {
                    balanced = true;
                    continue;
                }
                let mut one = before.clone();
                one.call(locks, net, &target.actuals.substitution(slots));
                match &mut joined {
                    Some(joined) => joined.join(&one),
                    None => joined = Some(one),
                }
            }
            if let Some(mut joined) = joined {
                if balanced {
                    joined.join(before);
                }
                state = joined;
            }
        }
        _ => {}
    }
    state
}

/// The states of one graph, and how it leaves.
pub fn holdings(
    locks: &mut Locks,
    graph: &Graph,
    nets: &[NetLocks],
    slots: &[Lock],
) -> (Holdings, NetLocks) {
    let mut states: Holdings = vec![None; graph.nodes.len()];
    let mut exits: Option<Holding> = None;
    let mut work = Vec::new();
    if let Some(entry) = states.first_mut() {
        *entry = Some(Holding::default());
        work.push(0usize);
    }
    while let Some(at) = work.pop() {
        let Some(before) = &states[at] else { continue };
        let node = &graph.nodes[at];
        let out = after(locks, &node.effect, before, nets, slots);
        for next in &node.next {
            let Some(slot) = states.get_mut(next.index()) else {
                continue;
            };
            match slot {
                None => *slot = Some(out.clone()),
                Some(known) if *known == out => continue,
                Some(known) => {
                    let mut joined = known.clone();
                    joined.join(&out);
                    if *known == joined {
                        continue;
                    }
                    *known = joined;
                }
            }
            work.push(next.index());
        }
    }
    for (node, state) in graph.nodes.iter().zip(&states) {
        if let (true, Some(before)) = (node.next.is_empty(), state) {
            let out = after(locks, &node.effect, before, nets, slots);
            match &mut exits {
                Some(exits) => exits.join(&out),
                None => exits = Some(out),
            }
        }
    }
    let mut net = exits.unwrap_or_default();
    net.counts
        .retain(|&(lock, _)| !matches!(locks.root_of(lock), Root::Local(_)));
    net.keep_certain();
    (states, NetLocks(net))
}

/// The strongly connected components of the call graph, callees first.
pub(crate) fn components(
    size: usize,
    edges: impl Iterator<Item = (MethodId, MethodId)>,
) -> Vec<Vec<MethodId>> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(size, size);
    for _ in 0..size {
        graph.add_node(());
    }
    for (user, used) in edges {
        if user.index() < size && used.index() < size {
            graph.add_edge(
                NodeIndex::new(user.index()),
                NodeIndex::new(used.index()),
                (),
            );
        }
    }
    kosaraju_scc(&graph)
        .into_iter()
        .map(|scc| {
            let mut methods: Vec<_> = scc
                .into_iter()
                .map(|n| MethodId(n.index() as u32))
                .collect();
            methods.sort_unstable();
            methods
        })
        .collect()
}

/// Who overrides each method, and how.
pub(crate) type Overriders<'a> = Vec<Vec<(MethodId, &'a Overrides)>>;

pub(crate) fn overriders(program: &Program) -> Overriders<'_> {
    let mut table: Overriders<'_> = vec![Vec::new(); program.methods.len()];
    for (index, method) in program.methods.iter().enumerate() {
        for overrides in &method.overrides {
            if let Some(list) = table.get_mut(overrides.method.index()) {
                list.push((MethodId(index as u32), overrides));
            }
        }
    }
    table
}

/// What each method's summary is made of: its callees and its overriders.
pub(crate) fn dependencies(program: &Program) -> Vec<(MethodId, MethodId)> {
    let overriding = program
        .methods
        .iter()
        .enumerate()
        .flat_map(|(index, method)| {
            method
                .overrides
                .iter()
                .map(move |o| (o.method, MethodId(index as u32)))
        });
    calls(program).chain(overriding).collect()
}

/// All calls of the program, caller first.
fn calls(program: &Program) -> impl Iterator<Item = (MethodId, MethodId)> {
    program
        .methods
        .iter()
        .enumerate()
        .flat_map(|(index, method)| {
            let caller = MethodId(index as u32);
            method
                .body
                .iter()
                .flat_map(|graph| &graph.nodes)
                .flat_map(|node| match &node.effect {
                    Effect::Call(targets) => targets.as_slice(),
                    _ => &[],
                })
                .map(move |target| (caller, target.method))
        })
}

/// The states of all methods.
///
/// `slots` only matters where a callee leaves with locks named by its ghosts.
pub fn program_holdings(
    locks: &mut Locks,
    program: &Program,
    slots: &[Lock],
) -> (Vec<Holdings>, Vec<NetLocks>) {
    let overriders = overriders(program);
    let mut nets = vec![NetLocks::default(); program.methods.len()];
    let mut states: Vec<Holdings> = vec![Vec::new(); program.methods.len()];
    for component in components(program.methods.len(), dependencies(program).into_iter()) {
        loop {
            let mut changed = false;
            for &method in &component {
                let mut net = NetLocks::default();
                if let Some(graph) = &program.methods[method.index()].body {
                    (states[method.index()], net) = holdings(locks, graph, &nets, slots);
                }
                for (by, _) in &overriders[method.index()] {
                    // Names may differ between the two, but what is taken more than this only helps.
                    net.0.join(&nets[by.index()].0);
                }
                let known = &mut nets[method.index()];
                // Joined with what was believed before, so that recursion ends.
                if component.len() > 1 || !known.is_balanced() {
                    net.0.join(&known.0);
                }
                net.0.keep_certain();
                changed |= *known != net;
                *known = net;
            }
            if !changed {
                break;
            }
        }
    }
    (states, nets)
}
