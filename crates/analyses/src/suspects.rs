//! Transactions that close a cycle, until the end of the trace, when the trace is read again to show how.
//!
//! An execution is examined only if its region has not been examined often enough before, so the cost does not grow with how often a defect shows.
//! The shortest ones are examined first; what the budget does not cover is reported without its path.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::{Evidence, Finding, Kind, Verdict};
use untorn_model::{EventIndex, RegionId, ThreadId};
use untorn_trace::Error;

use crate::interleaving::{Slice, cycle, tears};
use crate::transactions::{Execution, Transactions};
use crate::{Context, Describe};

/// How many executions of regions without a name are examined; each is a finding of its own.
const NAMELESS: u32 = 1000;

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
    /// Its end and how deep each thread was in regions then; absent while it is open.
    end: Option<(EventIndex, Vec<u32>)>,
}

/// The suspected transactions of one analysis.
#[derive(Debug)]
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

    /// Suspects the open transaction of a thread; to be told once for each reason and execution.
    pub(crate) fn suspect(&mut self, thread: ThreadId, execution: Execution, reason: Reason) {
        let count = self.counts.entry(reason).or_default();
        *count = count.saturating_add(1);
        let most = if reason.region == RegionId::ANONYMOUS {
            NAMELESS.max(self.per_reason)
        } else {
            self.per_reason
        };
        if *count > most {
            return;
        }
        if self.open.len() <= thread.index() {
            self.open.resize(thread.index() + 1, None);
        }
        let at = *self.open[thread.index()].get_or_insert_with(|| {
            self.list.push(Suspect {
                thread,
                execution,
                reasons: Vec::new(),
                end: None,
            });
            self.list.len() - 1
        });
        self.list[at].reasons.push(reason);
    }

    /// Takes the end of a thread's transaction.
    #[inline]
    pub(crate) fn end(&mut self, thread: ThreadId, at: EventIndex, transactions: &Transactions) {
        if let Some(open) = self.open.get_mut(thread.index())
            && let Some(suspect) = open.take()
        {
            self.list[suspect].end = Some((at, transactions.depths()));
        }
    }

    /// Examines the suspects and reports on each.
    pub(crate) fn findings(
        mut self,
        analysis: &str,
        sync_edges: bool,
        context: &Context<'_>,
        transactions: &Transactions,
        trace_end: EventIndex,
    ) -> Result<Vec<Finding>, Error> {
        let last = EventIndex(trace_end.0.saturating_sub(1));
        let length = |suspect: &Suspect| {
            suspect.end.as_ref().map_or(last, |end| end.0).0 - suspect.execution.begin.0
        };
        self.list.sort_by_key(|s| (length(s), s.execution.begin));
        let mut budget = (4 * trace_end.0).max(1 << 24);
        let mut findings = Vec::new();
        let open_depths = transactions.depths();
        for suspect in &self.list {
            let (end, depths) = match &suspect.end {
                Some((end, depths)) => (Some(*end), depths),
                None => (None, &open_depths),
            };
            let mut depths = depths.clone();
            depths.resize(context.tables.threads.len(), 0);
            let before = findings.len();
            if let Some(replay) = context.replay
                && length(suspect) < budget
            {
                budget -= length(suspect);
                let slice = Slice {
                    replay,
                    tables: context.tables,
                    begin: suspect.execution.begin,
                    last: end.unwrap_or(last),
                    depths_after: &depths,
                    trace_end,
                };
                examine(analysis, sync_edges, suspect, &slice, end, &mut findings)?;
            }
            if findings.len() == before {
                findings.push(unexamined(analysis, context, suspect));
            }
            for reason in &suspect.reasons {
                // Executions that were not examined count as seen again.
                if let Some(count) = self.counts.remove(reason) {
                    let more = u64::from(count.saturating_sub(self.per_reason));
                    let region = Describe {
                        tables: context.tables,
                    }
                    .region(
                        reason.region,
                        suspect.thread,
                        suspect.execution.begin,
                        suspect.execution.site,
                    );
                    let told = (findings.iter_mut().skip(before))
                        .find(|finding| finding.region.same_as(&region));
                    if let Some(finding) = told {
                        finding.occurrences += more;
                    }
                }
            }
        }
        Ok(findings)
    }
}

fn examine(
    analysis: &str,
    sync_edges: bool,
    suspect: &Suspect,
    slice: &Slice<'_>,
    end: Option<EventIndex>,
    findings: &mut Vec<Finding>,
) -> Result<(), Error> {
    let describe = Describe {
        tables: slice.tables,
    };
    let torn = tears(slice, suspect.thread, end, sync_edges)?;
    findings.extend((torn.iter()).filter_map(|tear| tear.finding(analysis, &describe)));
    if torn.is_empty()
        && let Some(cycle) = cycle(slice, suspect.thread, sync_edges)?
    {
        findings.extend(cycle.finding(analysis, &describe));
    }
    Ok(())
}

fn unexamined(analysis: &str, context: &Context<'_>, suspect: &Suspect) -> Finding {
    let describe = Describe {
        tables: context.tables,
    };
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
