//! Checks the evidence of findings against the trace, event by event, and says which transactions they speak of.

use untorn_findings::{Edge, EdgeKind, Finding, Interleaving, Kind, Verdict};
use untorn_model::{Event, Op, Tables};

use crate::oracle::{Conflict, Oracle, conflict};

/// What a finding claims, in terms of the oracle.
#[derive(Debug)]
pub struct Claim {
    /// The begin of the blamed region; absent when nobody is blamed.
    pub blamed: Option<usize>,
    pub observed: bool,
    /// Only threads that the transaction itself started and awaited tear it.
    pub by_own_threads: bool,
    /// The transactions of the path or cycle.
    pub transactions: Vec<usize>,
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!($($message)*));
        }
    };
}

/// The trace that findings are checked against.
pub struct Checker<'a> {
    pub tables: &'a Tables,
    pub events: &'a [Event],
    pub truth: &'a Oracle,
    pub sync_edges: bool,
}

impl Checker<'_> {
    /// Checks every interleaving of a finding, and yields what each claims.
    pub fn check(&self, finding: &Finding) -> Result<Vec<Claim>, String> {
        ensure!(
            !finding.evidence.interleavings.is_empty(),
            "no interleaving"
        );
        (finding.evidence.interleavings.iter())
            .map(|interleaving| self.interleaving(finding, interleaving))
            .collect()
    }

    fn interleaving(
        &self,
        finding: &Finding,
        interleaving: &Interleaving,
    ) -> Result<Claim, String> {
        self.steps(interleaving)?;
        for edge in &interleaving.edges {
            self.edge(interleaving, edge)?;
        }
        let transactions = self.transactions(interleaving)?;
        let component =
            (self.truth.components.iter()).find(|component| component.contains(&transactions[0]));
        let component = component.ok_or("a transaction outside of every cycle")?;
        ensure!(
            transactions.iter().all(|t| component.contains(t)),
            "transactions of different components: {transactions:?}"
        );
        let observed = finding.verdict == Verdict::Observed;
        if let Some(torn) = interleaving.torn {
            let blamed = self.torn(finding, interleaving, torn)?;
            let by_own_threads = finding.kind == Kind::ForkJoin;
            if by_own_threads {
                self.forks_and_joins(blamed, self.index_of(interleaving, torn.1)?)?;
            }
            Ok(Claim {
                blamed: Some(blamed),
                observed,
                by_own_threads,
                transactions,
            })
        } else {
            ensure!(
                finding.kind == Kind::Cycle,
                "nobody is blamed in a {:?}",
                finding.kind
            );
            ensure!(!observed, "a cycle that blames nobody is observed");
            cycle(interleaving)?;
            Ok(Claim {
                blamed: None,
                observed,
                by_own_threads: false,
                transactions,
            })
        }
    }

    /// A region that its own threads tear has started one and awaited its end by then.
    fn forks_and_joins(&self, begin: usize, end: usize) -> Result<(), String> {
        let thread = self.events[begin].thread;
        let outermost = (self.truth.regions.iter())
            .filter(|r| r.thread == thread.0 && r.begin <= begin && begin <= r.end)
            .map(|r| r.begin);
        let from = outermost.min().unwrap_or(begin);
        let own = |event: &&Event| event.thread == thread;
        let mut events = self.events[from..=end].iter().filter(own);
        ensure!(
            events.any(|event| matches!(event.op, Op::Fork(_)))
                && events.any(|event| matches!(event.op, Op::Join(_))),
            "torn by its own threads, and has none"
        );
        Ok(())
    }

    fn index_of(&self, interleaving: &Interleaving, n: u32) -> Result<usize, String> {
        let step = n
            .checked_sub(1)
            .and_then(|i| interleaving.steps.get(i as usize));
        let index = step.and_then(|step| step.event).ok_or("no such step")?;
        ensure!((index as usize) < self.events.len(), "no event {index}");
        Ok(index as usize)
    }

    /// Steps are numbered in the order of the run and describe the events of the trace.
    fn steps(&self, interleaving: &Interleaving) -> Result<(), String> {
        let mut previous = None;
        for (step, n) in interleaving.steps.iter().zip(1..) {
            ensure!(step.n == n, "step {} stands at {n}", step.n);
            let index = self.index_of(interleaving, n)?;
            ensure!(previous < Some(index), "step {n} is out of order");
            previous = Some(index);
            let event = &self.events[index];
            ensure!(
                step.thread == self.tables.thread_name(event.thread),
                "step {n} names the wrong thread"
            );
            ensure!(
                step.op.contains(event.op.kind().name()),
                "step {n} names the wrong operation: {}",
                step.op
            );
            if let Some((var, _)) = event.op.access() {
                ensure!(
                    step.target == self.tables.var_name(var),
                    "step {n} names the wrong location"
                );
            }
            let transaction = step.transaction.ok_or("a step without transaction")?;
            let member = &interleaving.transactions[transaction as usize];
            ensure!(
                self.truth.transaction_of[index]
                    == self.truth.transaction_of[member.begin as usize],
                "step {n} is put into the wrong transaction"
            );
        }
        Ok(())
    }

    /// Each edge is really an order between the two events.
    fn edge(&self, interleaving: &Interleaving, edge: &Edge) -> Result<(), String> {
        let (i, j) = (
            self.index_of(interleaving, edge.from)?,
            self.index_of(interleaving, edge.to)?,
        );
        ensure!(i < j, "an edge against the run, from {i} to {j}");
        if edge.kind == EdgeKind::Program {
            let same = self.events[i].thread == self.events[j].thread;
            ensure!(same, "no program order from {i} to {j}");
            return Ok(());
        }
        let claimed = match (edge.kind, edge.approximate) {
            (EdgeKind::Data, false) => Conflict::Data,
            (EdgeKind::Data, true) => Conflict::ApproximateData,
            _ => Conflict::Sync,
        };
        let is = conflict(self.tables, self.events, i, j);
        ensure!(
            is == Some(claimed) && (claimed != Conflict::Sync || self.sync_edges),
            "{i} to {j} is claimed {claimed:?} and is {is:?}"
        );
        Ok(())
    }

    /// The transactions with their right bounds.
    fn transactions(&self, interleaving: &Interleaving) -> Result<Vec<usize>, String> {
        let mut ids = Vec::new();
        for transaction in &interleaving.transactions {
            let begin = transaction.begin as usize;
            ensure!(begin < self.events.len(), "a transaction begins nowhere");
            let id = self.truth.transaction_of[begin];
            let truth = self.truth.transactions[id];
            ensure!(truth.begin == begin, "a transaction begins inside another");
            ensure!(
                truth.regular == transaction.region.is_some(),
                "a region for a single event, or none for a region"
            );
            let end = transaction.end.map(|end| end as usize);
            ensure!(
                end.is_none_or(|end| end == truth.end),
                "transaction {begin} ends at {} and not at {end:?}",
                truth.end
            );
            ids.push(id);
        }
        ensure!(!ids.is_empty(), "no transaction");
        Ok(ids)
    }

    /// The path really leaves the blamed region, passes another thread, and enters it again.
    fn torn(
        &self,
        finding: &Finding,
        interleaving: &Interleaving,
        torn: (u32, u32),
    ) -> Result<usize, String> {
        let leaves = self.index_of(interleaving, torn.0)?;
        let enters = self.index_of(interleaving, torn.1)?;
        let thread = self.events[leaves].thread;
        ensure!(
            leaves < enters && self.events[enters].thread == thread,
            "leaves and enters different threads"
        );
        let mut at = torn.0;
        let mut elsewhere = false;
        for edge in &interleaving.edges {
            ensure!(edge.from == at, "the path is interrupted at step {at}");
            at = edge.to;
            elsewhere |= self.events[self.index_of(interleaving, at)?].thread != thread;
            if finding.verdict == Verdict::Observed {
                let data = edge.kind == EdgeKind::Data && !edge.approximate;
                let own = edge.kind == EdgeKind::Program;
                ensure!(data || own, "observed by more than data");
            }
        }
        ensure!(at == torn.1 && elsewhere, "the path does not come back");
        let mut holding: Vec<usize> = (self.truth.regions.iter())
            .filter(|r| r.thread == thread.0 && r.begin <= leaves && enters <= r.end)
            .map(|r| r.begin)
            .collect();
        holding.sort_unstable();
        let depth = finding.evidence.enclosing.len();
        let blamed = holding.get(depth).copied();
        blamed.ok_or_else(|| format!("{depth} regions around the blamed one are not there"))
    }
}

/// Each transaction leads to the next by an edge.
fn cycle(interleaving: &Interleaving) -> Result<(), String> {
    let n = interleaving.transactions.len();
    ensure!(n > 1, "a cycle of one");
    for i in 0..n {
        let next = (i + 1) % n;
        let of = |n: u32| interleaving.steps[n as usize - 1].transaction;
        let leads = (interleaving.edges.iter())
            .any(|e| of(e.from) == Some(i as u32) && of(e.to) == Some(next as u32));
        ensure!(leads, "nothing leads from transaction {i} to {next}");
    }
    Ok(())
}
