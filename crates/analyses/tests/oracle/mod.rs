//! The truth about small traces, by brute force: every pair of events is asked whether it conflicts.
//!
//! Nothing is merged, collected or forgotten, and no code is shared with the analyses.
//! Regions that are open at the end are closed there.

mod domestic;

use std::collections::BTreeSet;

use untorn_model::conflict::{accesses_conflict, modes_conflict};
use untorn_model::overlap::parts_overlap;
use untorn_model::{AccessFlags, Event, Op, Tables};

/// A set of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set(Vec<u64>);

impl Set {
    fn new(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    pub fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    fn add(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn add_all(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }
}

/// Why two events of different threads may not be exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    Data,
    /// Overlapping locations, a range, a whole, an interval.
    ApproximateData,
    Sync,
}

/// A transaction: an outermost region, or one event outside of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transaction {
    pub thread: u32,
    pub begin: usize,
    /// Its last event.
    pub end: usize,
    pub regular: bool,
}

/// An execution of a region, nested or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionExecution {
    pub thread: u32,
    pub begin: usize,
    pub end: usize,
}

/// An order of single events and what it tears; regions are named by the event that begins them.
#[derive(Debug)]
pub struct Tearing {
    /// Every region that a path leaves and enters again.
    pub torn: BTreeSet<usize>,
    /// The innermost regions that hold both ends of a path, where no other path enters as early and leaves from as late a part.
    ///
    /// A part is a stretch of a thread in which no region begins or ends.
    pub blamed: BTreeSet<usize>,
}

#[derive(Debug)]
pub struct Oracle {
    pub transactions: Vec<Transaction>,
    pub transaction_of: Vec<usize>,
    pub regions: Vec<RegionExecution>,
    /// The sets of at least two transactions that reach each other.
    pub components: Vec<BTreeSet<usize>>,
    /// The event with which the first cycle is there.
    pub first_violation: Option<usize>,
    /// By all conflicts.
    pub all: Tearing,
    /// By exact data conflicts alone.
    pub data: Tearing,
    /// The regions that exact data conflicts tear by a path that is not domestic to them: what may be called observed.
    pub observed: BTreeSet<usize>,
}

/// All conflicts of a trace, by their second event.
pub fn conflicts(tables: &Tables, events: &[Event]) -> Vec<(usize, usize, Conflict)> {
    (0..events.len())
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .filter_map(|(i, j)| Some((i, j, conflict(tables, events, i, j)?)))
        .collect()
}

impl Oracle {
    pub fn new(tables: &Tables, events: &[Event], sync_edges: bool) -> Self {
        Self::of(events, &conflicts(tables, events), sync_edges)
    }

    /// The truth from conflicts that are known already.
    pub fn of(events: &[Event], conflicts: &[(usize, usize, Conflict)], sync_edges: bool) -> Self {
        let (transactions, transaction_of, regions) = nesting(events);
        let pairs = |wanted: &dyn Fn(Conflict) -> bool| -> Vec<(usize, usize)> {
            (conflicts.iter().filter(|(.., conflict)| wanted(*conflict)))
                .map(|(i, j, _)| (*i, *j))
                .collect()
        };
        let edges = pairs(&|conflict| sync_edges || conflict != Conflict::Sync);
        let exact = pairs(&|conflict| conflict == Conflict::Data);
        let graph = Graph::new(&transactions, &transaction_of, &edges);
        let data = tearing(events, &regions, &exact);
        let observed = (regions.iter().copied())
            .filter(|region| data.torn.contains(&region.begin))
            .filter(|region| domestic::is_torn_by_others(events, *region, &exact))
            .map(|region| region.begin)
            .collect();
        Self {
            components: graph.components(),
            first_violation: graph.first_violation,
            all: tearing(events, &regions, &edges),
            data,
            observed,
            transactions,
            transaction_of,
            regions,
        }
    }

    pub fn cyclic(&self) -> bool {
        self.first_violation.is_some()
    }
}

/// How event `i` conflicts with the later event `j`.
pub fn conflict(tables: &Tables, events: &[Event], i: usize, j: usize) -> Option<Conflict> {
    let (a, b) = (&events[i], &events[j]);
    if a.thread == b.thread {
        return None;
    }
    if let (Some((x, x_flags)), Some((y, y_flags))) = (a.op.access(), b.op.access()) {
        let (u, v) = (tables.vars()[x], tables.vars()[y]);
        let touch = u.object == v.object && parts_overlap(u.part, v.part);
        let kinds = a.op.access_kind().zip(b.op.access_kind());
        if !touch || !kinds.is_some_and(|(k, l)| accesses_conflict(k, l)) {
            return None;
        }
        let approximate = x != y
            || u.part.is_approximate()
            || x_flags.with(y_flags).contains(AccessFlags::APPROXIMATE);
        return Some(if approximate {
            Conflict::ApproximateData
        } else {
            Conflict::Data
        });
    }
    let by_synchronizer = a.op.releases().is_some_and(|released| {
        b.op.acquires().into_iter().flatten().any(|acquired| {
            released.on == acquired.on && modes_conflict(released.mode, acquired.mode)
        })
    });
    let first = |t| events.iter().position(|e| e.thread == t);
    let starts = a.op == Op::Fork(b.thread) && first(b.thread) == Some(j);
    let last = |t| events[..j].iter().rposition(|e| e.thread == t);
    let finishes = b.op == Op::Join(a.thread) && last(a.thread) == Some(i);
    (by_synchronizer || starts || finishes).then_some(Conflict::Sync)
}

fn nesting(events: &[Event]) -> (Vec<Transaction>, Vec<usize>, Vec<RegionExecution>) {
    let threads = events
        .iter()
        .map(|e| e.thread.index() + 1)
        .max()
        .unwrap_or(0);
    let mut transactions: Vec<Transaction> = Vec::new();
    let mut transaction_of = Vec::new();
    let mut regions: Vec<RegionExecution> = Vec::new();
    let mut stacks: Vec<Vec<usize>> = vec![Vec::new(); threads];
    let mut current = vec![usize::MAX; threads];
    for (i, event) in events.iter().enumerate() {
        let stack = &mut stacks[event.thread.index()];
        let own = &mut current[event.thread.index()];
        if stack.is_empty() {
            *own = transactions.len();
            transactions.push(Transaction {
                thread: event.thread.0,
                begin: i,
                end: i,
                regular: matches!(event.op, Op::Begin(_)),
            });
        }
        transactions[*own].end = i;
        transaction_of.push(*own);
        match event.op {
            Op::Begin(_) => {
                stack.push(regions.len());
                regions.push(RegionExecution {
                    thread: event.thread.0,
                    begin: i,
                    end: events.len() - 1,
                });
            }
            Op::End(_) => {
                if let Some(region) = stack.pop() {
                    regions[region].end = i;
                }
            }
            _ => {}
        }
    }
    (transactions, transaction_of, regions)
}

/// Which regions an order of single events tears.
fn tearing(events: &[Event], regions: &[RegionExecution], edges: &[(usize, usize)]) -> Tearing {
    let n = events.len();
    let mut before: Vec<Set> = Vec::with_capacity(n);
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(i, j) in edges {
        incoming[j].push(i);
    }
    for j in 0..n {
        let previous = (0..j).rev().find(|&i| events[i].thread == events[j].thread);
        let mut set = Set::new(n);
        incoming[j].sort_unstable();
        for &i in previous.iter().chain(incoming[j].iter().rev()) {
            if !set.has(i) {
                set.add(i);
                set.add_all(&before[i]);
            }
        }
        before.push(set);
    }
    let mut tearing = Tearing {
        torn: BTreeSet::new(),
        blamed: BTreeSet::new(),
    };
    let parts = parts(events);
    let threads = events.iter().map(|e| e.thread.index() + 1).max();
    let mut latest = vec![None; threads.unwrap_or(0)];
    for j in 0..n {
        let thread = events[j].thread;
        if !(regions.iter()).any(|r| r.thread == thread.0 && r.begin < j && j <= r.end) {
            continue;
        }
        let mut left = Set::new(n);
        for f in (0..j).rev() {
            if before[j].has(f) && events[f].thread != thread && !left.has(f) {
                left.add_all(&before[f]);
            }
        }
        let leaves = (0..j)
            .rev()
            .find(|&i| left.has(i) && events[i].thread == thread);
        let Some(leaves) = leaves else { continue };
        let holding = regions
            .iter()
            .filter(|r| r.thread == thread.0 && r.begin <= leaves && j <= r.end);
        let innermost = holding.clone().map(|r| r.begin).max();
        tearing.torn.extend(holding.map(|r| r.begin));
        let newest = &mut latest[thread.index()];
        if newest.is_none_or(|known| known < parts[leaves]) {
            *newest = Some(parts[leaves]);
            tearing.blamed.extend(innermost);
        }
    }
    tearing
}

/// For each event, the latest event of its thread at which a region begins or ends.
fn parts(events: &[Event]) -> Vec<usize> {
    let bounds = |i: usize| matches!(events[i].op, Op::Begin(_) | Op::End(_));
    (0..events.len())
        .map(|j| {
            let own = |&i: &usize| events[i].thread == events[j].thread && bounds(i);
            (0..=j).rev().find(own).unwrap_or(0)
        })
        .collect()
}

struct Graph {
    successors: Vec<Set>,
    first_violation: Option<usize>,
}

impl Graph {
    fn new(transactions: &[Transaction], of: &[usize], edges: &[(usize, usize)]) -> Self {
        let n = transactions.len();
        let mut graph = Self {
            successors: vec![Set::new(n); n],
            first_violation: None,
        };
        for later in 0..n {
            let earlier = (0..later)
                .rev()
                .find(|&i| transactions[i].thread == transactions[later].thread);
            if let Some(earlier) = earlier {
                graph.successors[earlier].add(later);
            }
        }
        // Edges come in the order of their second event, so the first that closes a cycle ends the shortest cyclic prefix.
        // Program order to transactions that have not begun yet leads nowhere, since they have no edges.
        for &(i, j) in edges {
            let (from, to) = (of[i], of[j]);
            if from == to || graph.successors[from].has(to) {
                continue;
            }
            if graph.first_violation.is_none() && graph.reachable(to).has(from) {
                graph.first_violation = Some(j);
            }
            graph.successors[from].add(to);
        }
        graph
    }

    fn reachable(&self, from: usize) -> Set {
        let mut seen = Set::new(self.successors.len());
        let mut work = vec![from];
        while let Some(node) = work.pop() {
            for (i, &word) in self.successors[node].0.iter().enumerate() {
                let mut fresh = word & !seen.0[i];
                seen.0[i] |= word;
                while fresh != 0 {
                    work.push(i * 64 + fresh.trailing_zeros() as usize);
                    fresh &= fresh - 1;
                }
            }
        }
        seen
    }

    fn components(&self) -> Vec<BTreeSet<usize>> {
        if self.first_violation.is_none() {
            return Vec::new();
        }
        let n = self.successors.len();
        let reachable: Vec<Set> = (0..n).map(|node| self.reachable(node)).collect();
        let mut placed = Set::new(n);
        let mut components = Vec::new();
        for a in 0..n {
            if placed.has(a) || !reachable[a].has(a) {
                continue;
            }
            let component: BTreeSet<usize> = (0..n)
                .filter(|&b| reachable[a].has(b) && reachable[b].has(a))
                .collect();
            for &b in &component {
                placed.add(b);
            }
            components.push(component);
        }
        components
    }
}
