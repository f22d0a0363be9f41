//! The first run of multi-run mode, when the program itself tells which transactions may depend on which (section 3.1 of the paper).
//!
//! The program follows ownership as in section 3.2 and logs its transitions as dependences between transactions, so there is no event to look at: [`FirstRun`] only keeps the graph, and says in the end which regions were on a cycle.
//! Transactions are numbered in each thread, in program order; those without dependences are not told of.
//!
//! *Order of arrival.*
//! Each thread tells of what depends on others in program order, but threads are heard one after the other, so a source may lie before or after what is known of its thread.
//! It is then put between its neighbours, which adds no way that was not there along the thread's order.
//!
//! *What can still get a predecessor*, which [`super::graph`] wants to know, is the transaction that a thread will tell of next, or a later one.
//! A thread tells of transactions in their order, so it is none before the latest that it has told of.
//! Nor is it one before the latest that others have named: when they did, the thread had come that far, and had told of all before.
//! That is known once all that was told by then has been heard, two [rounds](FirstRun::round) later; without it, a thread on which others depend and which depends on none would have ever more transactions that might get a predecessor.
//! One exception: what the start of a thread depends on is told late, with the first dependence of the thread itself, and leads to its first transaction.
//! A thread that has [ended](FirstRun::ended) tells nothing more.
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

use std::collections::BTreeSet;

use untorn_model::ThreadId;

use super::graph::{Graph, Limits, NodeId, Open, Renamed, Stretch};

/// Outside of all regions; regions count from 1.
const UNARY: u64 = 0;

/// The transaction in which a thread starts.
const START: u64 = 1;

/// After so many rounds all has been heard that was told before something that was heard in the first of them.
const SETTLED: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Known {
    node: NodeId,
    /// Whether its region has been told.
    named: bool,
}

#[derive(Debug, Default)]
struct Thread {
    /// By number, sorted; of those in a row that have one node, the first and the last.
    transactions: Vec<(u64, Known)>,
    /// The latest that it has told of; none before its first dependence.
    current: Option<u64>,
    /// The latest that anybody named, and in which round; and before that round.
    latest: Latest,
    before: Latest,
    /// The thread will tell of none before this one.
    settled: u64,
    /// In which round it was heard that it has ended.
    ended: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    number: u64,
    round: u64,
}

impl Latest {
    fn is_settled(self, round: u64) -> bool {
        round >= self.round + SETTLED
    }
}

impl Thread {
    /// Whether it will tell nothing more.
    fn is_over(&self, round: u64) -> bool {
        self.ended.is_some_and(|ended| round >= ended + SETTLED)
    }

    fn named(&mut self, number: u64, round: u64) {
        self.settle(round);
        if self.latest.round != round {
            self.before = self.latest;
            self.latest.round = round;
        }
        self.latest.number = self.latest.number.max(number);
    }

    fn settle(&mut self, round: u64) {
        for known in [self.before, self.latest] {
            if known.is_settled(round) {
                self.settled = self.settled.max(known.number);
            }
        }
    }

    /// The nodes that can still get a predecessor.
    fn open(&mut self, round: u64) -> impl Iterator<Item = NodeId> {
        self.settle(round);
        let from = match self.current {
            _ if self.is_over(round) => u64::MAX,
            Some(current) => current.max(self.settled),
            None => self.settled,
        };
        let all = &self.transactions;
        let start = all.first().filter(|_| self.current.is_none());
        let later = &all[all.partition_point(|(number, _)| *number < from)..];
        start.into_iter().chain(later).map(|(_, known)| known.node)
    }

    /// Takes the new names of nodes, and forgets transactions that stand between two of the same node.
    fn rename(&mut self, renamed: &Renamed) {
        let mut kept: Vec<(u64, Known)> = Vec::new();
        for (number, mut known) in std::mem::take(&mut self.transactions) {
            known.node = renamed.get(known.node);
            if known.node == NodeId::NONE {
                continue;
            }
            if let [.., (_, one), (_, other)] = kept[..]
                && one.node == known.node
                && other.node == known.node
            {
                kept.pop();
            }
            kept.push((number, known));
        }
        kept.shrink_to_fit();
        self.transactions = kept;
    }
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
    round: u64,
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
            round: 0,
            cyclic: BTreeSet::new(),
        }
    }

    /// A thread is in this transaction now; the region is none outside of all.
    pub fn enter(&mut self, thread: u32, number: u64, region: Option<u32>) {
        self.name(thread, number, region);
        let thread = self.thread(thread);
        thread.current = thread.current.max(Some(number));
        self.collect_if_due();
    }

    /// Whatever was told before the last round ended, and was not heard then, has been heard now.
    pub fn round(&mut self) {
        self.round += 1;
    }

    /// The thread has ended.
    pub fn ended(&mut self, thread: u32) {
        let round = self.round;
        self.thread(thread).ended.get_or_insert(round);
    }

    /// The transaction of a thread has this region.
    pub fn name(&mut self, thread: u32, number: u64, region: Option<u32>) {
        let node = self.node(thread, number);
        let transactions = &mut self.thread(thread).transactions;
        if let Ok(at) = transactions.binary_search_by_key(&number, |(number, _)| *number)
            && std::mem::replace(&mut transactions[at].1.named, true)
        {
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
        let current = self.thread(thread).current.unwrap_or(START);
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
        let round = self.round;
        let this = self.thread(thread);
        this.named(number, round);
        if this.transactions.is_empty() && this.current.is_none() && number > START {
            // What the thread's start depends on is still to be told.
            self.insert(thread, START);
        }
        self.insert(thread, number)
    }

    fn insert(&mut self, thread: u32, number: u64) -> NodeId {
        let transactions = &self.thread(thread).transactions;
        let at = match transactions.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => return transactions[at].1.node,
            Err(at) => at,
        };
        let before = at.checked_sub(1).map(|before| transactions[before]);
        let before = before.map_or(NodeId::NONE, |(_, known)| known.node);
        let after = transactions.get(at).map(|(_, known)| known.node);
        if after == Some(before) {
            return before;
        }
        let node = self.graph.add_node(before);
        if let Some(after) = after {
            self.graph.add_order(node, after);
        }
        let known = Known { node, named: false };
        self.thread(thread).transactions.insert(at, (number, known));
        node
    }

    fn collect_if_due(&mut self) {
        if self.graph.wants_collection() {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let round = self.round;
        let mut open: Vec<Open> = Vec::new();
        for (number, thread) in (0..).zip(&mut self.threads) {
            let nodes = thread.open(round).map(|node| Open {
                thread: number,
                node,
            });
            open.extend(nodes);
        }
        open.dedup_by_key(|open| (open.thread, open.node));
        let renamed = self.search(&open);
        for thread in &mut self.threads {
            thread.rename(&renamed);
        }
    }

    fn search(&mut self, open: &[Open]) -> Renamed {
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

    #[derive(Clone, Copy, Debug)]
    enum Heard {
        Told(Told),
        Ended(u32),
        Round,
    }

    fn found(told: &[Told], limits: Limits) -> Suspicious {
        let told: Vec<Heard> = told.iter().map(|&told| Heard::Told(told)).collect();
        heard(&told, limits)
    }

    fn heard(all: &[Heard], limits: Limits) -> Suspicious {
        let mut first = FirstRun::with_limits(limits);
        for &heard in all {
            match heard {
                Heard::Told((thread, number, on, source)) => {
                    first.enter(thread, number, region(thread, number));
                    first.name(on, source, region(on, source));
                    first.depend(thread, on, source);
                }
                Heard::Ended(thread) => first.ended(thread),
                Heard::Round => first.round(),
            }
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

    /// The streams in an order in which a reader may hear them that looks at each in turn, again and again.
    ///
    /// A stream is what a thread tells, with when it did so.
    fn passes(streams: &[Vec<(u64, Heard)>], mut random: u64) -> Vec<Heard> {
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let mut all = Vec::new();
        let mut read = vec![0; streams.len()];
        let mut now = 0;
        while (streams.iter().zip(&read)).any(|(stream, read)| *read < stream.len()) {
            // It goes on while the reader looks.
            for (stream, read) in streams.iter().zip(&mut read) {
                now += next(3);
                while let Some(&(at, told)) = stream.get(*read)
                    && at <= now
                {
                    all.push(told);
                    *read += 1;
                }
            }
            all.push(Heard::Round);
            now += next(12);
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        /// Threads run through their transactions and depend on what others are in or were in before.
        /// However the streams are told one after the other, and however often the graph is made smaller, every region that a cycle enters or leaves is found, and others that are on none only if the graph was condensed.
        #[test]
        fn every_cycle_is_found_whatever_the_order_of_telling(
            steps in proptest::collection::vec((0u32..4, 0u32..4, 0u64..3, any::<bool>()), 1..120),
            quiet in 0u64..60,
            collect in 2usize..40,
            order in any::<u64>(),
        ) {
            let mut now = [1u64; 4];
            let mut told = Vec::new();
            let mut streams: Vec<Vec<(u64, Heard)>> = vec![Vec::new(); 4];
            let last = |thread: u32| steps.iter().rposition(|step| step.0 == thread);
            for (at, &(thread, on, back, goes_on)) in steps.iter().enumerate() {
                now[thread as usize] += u64::from(goes_on);
                // One thread depends on nobody for long.
                let depends = thread != on && (thread != 3 || at as u64 > quiet);
                if depends {
                    let ended = last(on).is_none_or(|last| last < at);
                    let back = if ended { 0 } else { back };
                    let source = now[on as usize].saturating_sub(back).max(1);
                    let starts_late = thread == 3 && now[3] > 1 && streams[3].is_empty();
                    let start = starts_late.then_some((3, START, 0, 1));
                    let this = (thread, now[thread as usize], on, source);
                    for one in start.into_iter().chain([this]) {
                        told.push(one);
                        streams[thread as usize].push((at as u64, Heard::Told(one)));
                    }
                    if ended {
                        streams[thread as usize].push((at as u64, Heard::Ended(on)));
                    }
                }
            }
            let all = passes(&streams, order);
            let ((regions, unary), (most, most_unary)) = expected(&told);
            let exact = heard(&all, Limits { collect, condense: usize::MAX });
            prop_assert!(exact.regions.is_superset(&regions) && exact.regions.is_subset(&most));
            prop_assert!((exact.unary || !unary) && (most_unary || !exact.unary));
            let condensed = heard(&all, Limits { collect, condense: collect });
            prop_assert!(condensed.regions.is_superset(&regions));
            prop_assert!(condensed.unary || !unary);
        }
    }

    /// What a run of so many steps takes, at most: nodes of the graph, and transactions that are remembered.
    fn most(steps: u64, mut step: impl FnMut(&mut FirstRun, u64)) -> (usize, usize) {
        let limits = Limits {
            collect: 512,
            condense: 2048,
        };
        let mut first = FirstRun::with_limits(limits);
        let mut remembered = 0;
        for i in 0..steps {
            step(&mut first, i);
            if i % 7 == 0 {
                first.round();
            }
            if i % 1000 == 0 {
                let known = first.threads.iter().map(|t| t.transactions.len());
                remembered = remembered.max(known.sum::<usize>());
            }
        }
        let edges = first.graph.edges().len() + first.graph.stretch_count();
        (first.graph.most_nodes.max(edges), remembered)
    }

    #[test]
    fn a_thread_on_which_others_depend_and_which_depends_on_none_takes_no_more_in_a_longer_run() {
        let run = |steps| {
            most(steps, |first, i| {
                let user = 1 + (i % 3) as u32;
                first.enter(user, i, Some(user));
                first.depend(user, 0, i);
                first.name(0, i, Some((i % 2) as u32));
            })
        };
        let (nodes, remembered) = run(200_000);
        assert!(nodes < 20_000, "{nodes} nodes, edges or stretches");
        assert!(remembered < 20_000, "{remembered} transactions");
    }

    #[test]
    fn threads_that_have_ended_take_no_more_in_a_longer_run() {
        let run = |steps| {
            most(steps, |first, i| {
                // Each is started by the main thread, works with the others of its time, and ends.
                let thread = 1 + (i / 4) as u32;
                match i % 4 {
                    0 => {
                        first.enter(thread, START, None);
                        first.depend(thread, 0, START);
                    }
                    1 => first.enter(thread, 2, Some(1)),
                    2 => first.depend(thread, thread.saturating_sub(3), 2),
                    _ => {
                        first.enter(thread, 3, None);
                        first.depend(thread, thread - 1, 3);
                        first.ended(thread - 1);
                        first.enter(0, START + i, None);
                        first.depend(0, thread, 3);
                    }
                }
            })
        };
        let (nodes, remembered) = run(200_000);
        assert!(nodes < 20_000, "{nodes} nodes, edges or stretches");
        assert!(remembered < 20_000, "{remembered} transactions");
    }
}
