//! The first run of multi-run mode, when the program itself tells which transactions may depend on which (section 3.1 of the paper).
//!
//! The program follows ownership as in section 3.2 and logs its transitions as dependences between transactions, so there is no event to look at: [`FirstRun`] only keeps the graph, and says in the end which regions were on a cycle.
//! Transactions are numbered in each thread, in program order; those without dependences are not told of.
//!
//! *Order of arrival.*
//! Each thread tells of what depends on others in program order, but threads are heard one after the other, so a source may lie before or after what is known of its thread.
//! It is then put between its neighbours, which adds no way that was not there along the thread's order.
//! Only the latest transaction that a thread has told of, and later ones, can still get a predecessor, which is what [`super::graph`] wants to know.
//!
//! *Guarantee.*
//! If every dependence is told, or one from a later transaction of the same thread, each cycle of the run lies in a component here, with all that its threads did between where it enters and where it leaves them (section 3.2.5).
//! What of this was told is in the profile: the regions that a told dependence of the component enters or leaves, and those that their threads told of in between.
//! Most components hold no such cycle: that is for the second run to see.
//!
//! *What can be missed.*
//! A dependence that is told from a later transaction than the one that made the access has its true source somewhere before, and of that one nothing may have been told.
//! Its region is then not in the profile, unless another execution of it is, and a second run of the same schedule does not see the conflict.
//! So it is enough if a thread tells ([`FirstRun::enter`]) of each region that it passes, and of being outside, once since the last dependence that entered it: what it does after that is in the component together with what it told of.
//! The agent's runtime does so.
//! A program that told of dependences alone could miss a cycle; the paper's first run, which has a node for each transaction, cannot.

use std::collections::{BTreeMap, BTreeSet};

use untorn_model::ThreadId;

use super::graph::{Graph, Limits, NodeId, Renamed, Stretch};

/// Outside of all regions; regions count from 1.
const UNARY: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Known {
    node: NodeId,
    /// Whether its region has been told.
    named: bool,
}

#[derive(Debug, Default)]
struct Thread {
    /// By number.
    transactions: BTreeMap<u64, Known>,
    /// The latest that it has told of.
    current: u64,
}

/// What a first run found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suspicious {
    /// The regions on imprecise cycles, by the numbers that the program gave them.
    pub regions: BTreeSet<u32>,
    /// Events outside of regions were on one.
    pub unary: bool,
    pub dependences: u64,
    pub components: u64,
    pub most_nodes: usize,
}

/// Gathers dependences; see the [module](self).
#[derive(Debug)]
pub struct FirstRun {
    graph: Graph,
    threads: Vec<Thread>,
    /// Places in the cycles so far: 0 is outside of regions, and a region one more than its number.
    cyclic: BTreeSet<u64>,
}

impl Default for FirstRun {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl FirstRun {
    /// Searches whenever so many transactions were told of: a matter of speed and memory alone.
    pub fn searching_after(transactions: usize) -> Self {
        Self::with_limits(Limits {
            collect: transactions,
            condense: transactions,
        })
    }

    fn with_limits(limits: Limits) -> Self {
        Self {
            graph: Graph::new(limits),
            threads: Vec::new(),
            cyclic: BTreeSet::new(),
        }
    }

    /// A thread is in this transaction now; the region is none outside of all.
    pub fn enter(&mut self, thread: u32, number: u64, region: Option<u32>) {
        self.name(thread, number, region);
        let thread = self.thread(thread);
        thread.current = thread.current.max(number);
        self.collect_if_due();
    }

    /// The transaction of a thread has this region.
    pub fn name(&mut self, thread: u32, number: u64, region: Option<u32>) {
        let node = self.node(thread, number);
        let Some(known) = self.thread(thread).transactions.get_mut(&number) else {
            return;
        };
        if std::mem::replace(&mut known.named, true) {
            return;
        }
        let place = region.map_or(UNARY, |region| u64::from(region) + 1);
        // Stretches of regions in place of the trace: they are handed out in the same way.
        let stretch = Stretch {
            thread: ThreadId(0),
            start: place,
            end: place + 1,
        };
        let cyclic = &mut self.cyclic;
        (self.graph).ran(node, stretch, &mut |s| cyclic.extend(s.start..s.end));
    }

    /// The current transaction of a thread may depend on that one of another.
    pub fn depend(&mut self, thread: u32, on: u32, number: u64) {
        let current = self.thread(thread).current;
        let (from, to) = (self.node(on, number), self.node(thread, current));
        self.graph.add_edge(from, to);
        self.collect_if_due();
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        &mut self.threads[index]
    }

    /// The node of a transaction, between its neighbours.
    fn node(&mut self, thread: u32, number: u64) -> NodeId {
        let transactions = &self.thread(thread).transactions;
        if let Some(known) = transactions.get(&number) {
            return known.node;
        }
        let before = transactions.range(..number).next_back();
        let before = before.map_or(NodeId::NONE, |(_, known)| known.node);
        let after = transactions.range(number..).next();
        let after = after.map(|(_, known)| known.node);
        let node = self.graph.add_node(before);
        if let Some(after) = after {
            self.graph.add_order(node, after);
        }
        let known = Known { node, named: false };
        self.thread(thread).transactions.insert(number, known);
        node
    }

    fn collect_if_due(&mut self) {
        if self.graph.wants_collection() {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let open = (self.threads.iter())
            .flat_map(|thread| thread.transactions.range(thread.current..))
            .map(|(_, known)| known.node);
        let mut open: Vec<NodeId> = open.collect();
        open.sort_unstable_by_key(|node| node.0);
        open.dedup();
        let renamed = self.search(&open);
        for thread in &mut self.threads {
            thread.transactions.retain(|_, known| {
                known.node = renamed.get(known.node);
                known.node != NodeId::NONE
            });
        }
    }

    fn search(&mut self, open: &[NodeId]) -> Renamed {
        let cyclic = &mut self.cyclic;
        (self.graph).collect(open, |s| cyclic.extend(s.start..s.end))
    }

    /// All has been told.
    pub fn finish(mut self) -> Suspicious {
        self.search(&[]);
        Suspicious {
            unary: self.cyclic.contains(&UNARY),
            regions: (self.cyclic.iter())
                .filter_map(|place| u32::try_from(place.checked_sub(1)?).ok())
                .collect(),
            dependences: self.graph.cross_edges,
            components: self.graph.components,
            most_nodes: self.graph.most_nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thread, its transaction, the thread that it depends on and the transaction there.
    type Told = (u32, u64, u32, u64);

    fn found(told: &[Told], limits: Limits) -> Suspicious {
        let mut first = FirstRun::with_limits(limits);
        for &(thread, number, on, source) in told {
            first.enter(thread, number, region(thread, number));
            first.name(on, source, region(on, source));
            first.depend(thread, on, source);
        }
        first.finish()
    }

    /// Every third transaction is outside of regions; all others have one of their own.
    fn region(thread: u32, number: u64) -> Option<u32> {
        (!number.is_multiple_of(3)).then_some(thread * 100 + number as u32)
    }

    /// Regions, and whether there are events outside of them.
    type Places = (BTreeSet<u32>, bool);

    /// What is on cycles, by brute force: what dependences of a cycle enter or leave, and that with what lies between.
    fn expected(told: &[Told]) -> (Places, Places) {
        let mut nodes: Vec<(u32, u64)> = (told.iter())
            .flat_map(|&(t, n, u, m)| [(t, n), (u, m)])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let at = |node: (u32, u64)| nodes.binary_search(&node).unwrap();
        let mut reaches = vec![vec![false; nodes.len()]; nodes.len()];
        for (i, pair) in nodes.windows(2).enumerate() {
            reaches[i][i + 1] = pair[0].0 == pair[1].0;
        }
        for &(t, n, u, m) in told {
            reaches[at((u, m))][at((t, n))] = true;
        }
        for k in 0..nodes.len() {
            for i in 0..nodes.len() {
                for j in 0..nodes.len() {
                    reaches[i][j] |= reaches[i][k] && reaches[k][j];
                }
            }
        }
        let places = |of: &mut dyn Iterator<Item = (u32, u64)>| -> Places {
            let regions: Vec<Option<u32>> = of.map(|(t, n)| region(t, n)).collect();
            (
                regions.iter().flatten().copied().collect(),
                regions.contains(&None),
            )
        };
        let on_cycles = (told.iter()).filter(|&&(t, n, u, m)| reaches[at((t, n))][at((u, m))]);
        let all = nodes.iter().enumerate().filter(|(i, _)| reaches[*i][*i]);
        (
            places(&mut on_cycles.flat_map(|&(t, n, u, m)| [(t, n), (u, m)])),
            places(&mut all.map(|(_, node)| *node)),
        )
    }

    #[test]
    fn a_region_that_is_left_and_entered_again_is_found_and_one_in_between_is_not() {
        let all = found(
            &[(1, 1, 0, 1), (0, 1, 1, 1), (2, 1, 0, 1)],
            Limits::default(),
        );
        assert_eq!(all.regions, BTreeSet::from([1, 101]));
        assert!(!all.unary);
        assert_eq!((all.dependences, all.components), (3, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Threads run through their transactions and depend on what others are in or were in before.
        /// However the streams are told one after the other, and however often the graph is made smaller, every region that a cycle enters or leaves is found, and others that are on none only if the graph was condensed.
        #[test]
        fn every_cycle_is_found_whatever_the_order_of_telling(
            steps in proptest::collection::vec((0u32..4, 0u32..4, 0u64..3, any::<bool>()), 1..120),
            collect in 2usize..40,
            order in any::<u64>(),
        ) {
            let mut now = [1u64; 4];
            let mut streams: Vec<Vec<Told>> = vec![Vec::new(); 4];
            for (thread, on, back, goes_on) in steps {
                now[thread as usize] += u64::from(goes_on);
                if thread != on {
                    let source = now[on as usize].saturating_sub(back).max(1);
                    streams[thread as usize].push((thread, now[thread as usize], on, source));
                }
            }
            let mut told = Vec::new();
            let mut heard = [0usize; 4];
            let mut random = order;
            while told.len() < streams.iter().map(Vec::len).sum() {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let thread = (random >> 33) as usize % 4;
                if let Some(&next) = streams[thread].get(heard[thread]) {
                    heard[thread] += 1;
                    told.push(next);
                }
            }
            let ((regions, unary), (most, most_unary)) = expected(&told);
            let exact = found(&told, Limits { collect, condense: usize::MAX });
            prop_assert!(exact.regions.is_superset(&regions) && exact.regions.is_subset(&most));
            prop_assert!((exact.unary || !unary) && (most_unary || !exact.unary));
            let condensed = found(&told, Limits { collect, condense: collect });
            prop_assert!(condensed.regions.is_superset(&regions));
            prop_assert!(condensed.unary || !unary);
        }
    }
}
