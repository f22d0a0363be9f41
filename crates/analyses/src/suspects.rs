//! Transactions that close a cycle, until the end of the trace, when the trace is read again to show how.
//!
//! An execution is examined only if its region has not been examined often enough before, so the cost does not grow with how often a defect shows.
//! The shortest ones are examined first; what the budget does not cover is reported without its path.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::{Evidence, Finding, Kind, Verdict, fingerprint};
use untorn_model::{EventIndex, RegionId, SiteId, ThreadId};
use untorn_trace::Error;

use crate::interleaving::{Effort, Reader, Slice, cycle, tears};
use crate::transactions::{Execution, Transactions};
use crate::{Context, Describe};

/// How many executions of regions without a name are examined; each is a finding of its own.
const NAMELESS: u32 = 1000;
/// How many events may be read again in any case; beyond, as many as the trace has.
const LEAST_BUDGET: u64 = 1 << 24;

/// Why an execution is suspected: executions with the same reason are examined only so often.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Reason {
    pub region: RegionId,
    pub why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Why {
    /// It closes a cycle of transactions.
    Cycle,
    /// It is torn.
    Torn,
    /// It is torn by exact data conflicts.
    Observed,
}

#[derive(Clone, Debug)]
struct Suspect {
    thread: ThreadId,
    execution: Execution,
    reasons: Vec<Reason>,
    /// When it was first suspected, and how deep each thread was in regions after that event.
    first: EventIndex,
    depths: Vec<u32>,
    /// When there was last a reason.
    until: EventIndex,
    end: Option<EventIndex>,
}

/// The suspected transactions of one analysis.
#[derive(Clone, Debug)]
pub(crate) struct Suspects {
    per_reason: u32,
    counts: HashMap<Reason, u32, FxBuildHasher>,
    list: Vec<Suspect>,
    /// By thread: the suspect that is open.
    open: Vec<Option<usize>>,
}

impl Suspects {
    pub(crate) fn new(per_reason: u32) -> Self {
        Self {
            per_reason,
            counts: HashMap::default(),
            list: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Suspects the open transaction of a thread at an event; to be told once for each reason and execution.
    pub(crate) fn suspect(
        &mut self,
        at: EventIndex,
        thread: ThreadId,
        transactions: &Transactions,
        reason: Reason,
    ) {
        let count = self.counts.entry(reason).or_default();
        *count = count.saturating_add(1);
        let most = if reason.region == RegionId::ANONYMOUS {
            NAMELESS.max(self.per_reason)
        } else {
            self.per_reason
        };
        let Some(execution) = transactions.transaction(thread) else {
            return;
        };
        if *count > most {
            return;
        }
        if self.open.len() <= thread.index() {
            self.open.resize(thread.index() + 1, None);
        }
        let suspect = *self.open[thread.index()].get_or_insert_with(|| {
            self.list.push(Suspect {
                thread,
                execution: *execution,
                reasons: Vec::new(),
                first: at,
                depths: transactions.depths(),
                until: at,
                end: None,
            });
            self.list.len() - 1
        });
        self.list[suspect].reasons.push(reason);
        self.list[suspect].until = at;
    }

    /// Takes the end of a thread's transaction.
    #[inline]
    pub(crate) fn end(&mut self, thread: ThreadId, at: EventIndex) {
        if let Some(open) = self.open.get_mut(thread.index())
            && let Some(suspect) = open.take()
        {
            self.list[suspect].end = Some(at);
        }
    }

    /// Examines the suspects and reports on each.
    pub(crate) fn findings(
        mut self,
        analysis: &str,
        effort: Effort,
        sync_edges: bool,
        context: &Context<'_>,
        trace_end: EventIndex,
    ) -> Result<Vec<Finding>, Error> {
        // Who wants the first tear by data must look at the whole transaction; who knows when each was, only until then.
        for suspect in &mut self.list {
            if effort == Effort::FirstObserved {
                let last = EventIndex(trace_end.0.saturating_sub(1));
                suspect.until = suspect.end.unwrap_or(last);
            }
        }
        self.list
            .sort_by_key(|s| (s.until.0 - s.execution.begin.0, s.execution.begin));
        let budget = trace_end.0.max(LEAST_BUDGET);
        let reader = context.replay.map(|replay| Reader::new(replay, trace_end));
        let mut findings = Vec::new();
        for suspect in &self.list {
            let before = findings.len();
            if let Some(reader) = &reader
                && reader.read_so_far() + (suspect.first.0 - suspect.execution.begin.0) < budget
            {
                let mut depths = suspect.depths.clone();
                depths.resize(context.tables.threads.len(), 0);
                reader.keep(suspect.execution.begin, suspect.until)?;
                let slice = Slice {
                    reader,
                    tables: context.tables,
                    begin: suspect.execution.begin,
                    last: suspect.until,
                    depths_after: (suspect.first, &depths),
                };
                findings.extend(examine(
                    analysis,
                    effort,
                    sync_edges,
                    suspect,
                    &slice,
                    Describe::new(context),
                )?);
            }
            if findings.len() == before {
                findings.push(unexamined(analysis, context, suspect));
            }
        }
        self.count_the_rest(context, &mut findings);
        Ok(findings)
    }

    /// Executions that were not examined count as seen again.
    fn count_the_rest(&self, context: &Context<'_>, findings: &mut [Finding]) {
        let mut seen: HashMap<RegionId, u64, FxBuildHasher> = HashMap::default();
        for (reason, count) in &self.counts {
            let most = seen.entry(reason.region).or_default();
            *most = (*most).max(u64::from(*count));
        }
        seen.remove(&RegionId::ANONYMOUS);
        let mut told: HashMap<String, (usize, u64), FxBuildHasher> = HashMap::default();
        for (i, finding) in findings.iter().enumerate() {
            let name = finding.fingerprint.clone();
            told.entry(name).or_insert((i, 0)).1 += finding.occurrences;
        }
        let describe = Describe::new(context);
        for (region, count) in seen {
            // A region with a name is called the same whatever its execution.
            let name = describe.region(region, ThreadId(0), EventIndex(0), SiteId::UNKNOWN);
            if let Some((first, told)) = told.get(&fingerprint(&name, &[])) {
                findings[*first].occurrences += count.saturating_sub(*told);
            }
        }
    }
}

fn examine(
    analysis: &str,
    effort: Effort,
    sync_edges: bool,
    suspect: &Suspect,
    slice: &Slice<'_>,
    describe: Describe<'_>,
) -> Result<Vec<Finding>, Error> {
    let torn = tears(slice, suspect.thread, suspect.end, sync_edges, effort)?;
    if !torn.is_empty() {
        let findings = (torn.iter()).filter_map(|tear| tear.finding(analysis, &describe));
        return Ok(findings.collect());
    }
    let until_first = Slice {
        last: suspect.first,
        ..*slice
    };
    let cycle = cycle(&until_first, suspect.thread, sync_edges)?;
    let finding = cycle.and_then(|cycle| cycle.finding(analysis, &describe));
    Ok(finding.into_iter().collect())
}

fn unexamined(analysis: &str, context: &Context<'_>, suspect: &Suspect) -> Finding {
    let describe = Describe::new(context);
    let execution = suspect.execution;
    let region = describe.region(
        execution.region,
        suspect.thread,
        execution.begin,
        execution.site,
    );
    let message = format!(
        "{} takes part in a cycle of transactions: no serial order keeps the conflicts of this run",
        region.short_name()
    );
    let mut evidence = Evidence::default();
    evidence.notes.push(
        "The cycle was not looked up again in the trace: it is longer than the analysis reads twice.".to_owned(),
    );
    Finding::new(
        analysis,
        Kind::Cycle,
        Verdict::Suspected,
        region,
        message,
        evidence,
    )
}
