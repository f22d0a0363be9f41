//! How often each region was executed, so that a reader can tell the rare tear of a region that is whole from the rule.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::{Executions, Finding, fingerprint};
use untorn_model::{Event, EventIndex, Op, RegionId, SiteId, ThreadId};

use crate::Describe;

/// Executions by region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    begun: Vec<u64>,
}

impl Counter {
    /// Takes the next stretch of the trace.
    pub(crate) fn batch(&mut self, events: &[Event]) {
        for event in events {
            if let Op::Begin(region) = event.op
                && region != RegionId::ANONYMOUS
            {
                if self.begun.len() <= region.index() {
                    self.begun.resize(region.index() + 1, 0);
                }
                self.begun[region.index()] += 1;
            }
        }
    }

    /// How often each region was begun, by its id.
    pub(crate) fn into_counts(self) -> Vec<u64> {
        self.begun
    }

    /// Tells each finding how often its region was executed.
    pub(crate) fn tell(&self, findings: &mut [Finding], describe: Describe<'_>) {
        if findings.is_empty() {
            return;
        }
        let mut of: HashMap<String, u64, FxBuildHasher> = HashMap::default();
        for (index, count) in self.begun.iter().enumerate().filter(|(_, n)| **n > 0) {
            // A region with a name is called the same whatever its execution.
            let region = RegionId(index as u32);
            let name = describe.region(region, ThreadId(0), EventIndex(0), SiteId::UNKNOWN);
            *of.entry(fingerprint(&name, &[])).or_default() += count;
        }
        for finding in findings {
            if let Some(&of) = of.get(&fingerprint(&finding.region, &[])) {
                // Only the exact checkers show orders: what others count is suspicion.
                let exact = !finding.evidence.interleavings.is_empty();
                let torn = if exact {
                    finding.occurrences.min(of)
                } else {
                    0
                };
                finding.executions = Some(Executions { torn, of });
            }
        }
    }
}
