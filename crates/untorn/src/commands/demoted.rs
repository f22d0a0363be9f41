//! Regions that a run found out not to be meant as one step.

use serde_json::{Value, json};
use untorn_analyses::{Describe, Outcome};
use untorn_findings::{DEMOTED, fingerprint};
use untorn_live::LiveSource;
use untorn_model::{EventIndex, SiteId, ThreadId};
use untorn_trace::Source;

/// Puts what the program demoted among the statistics: after how many executions, how long one was open, and the first tear that was seen of it.
pub fn put_into(outcome: &mut Outcome, source: &LiveSource) {
    let demoted = source.demoted();
    let describe = Describe::without_lines(source.tables());
    let mut all: Vec<Value> = Vec::new();
    for (id, age) in demoted.regions {
        let region = describe.region(id, ThreadId(0), EventIndex(0), SiteId::UNKNOWN);
        let same = fingerprint(&region, &[]);
        let tear = (outcome.findings.iter())
            .find(|finding| fingerprint(&finding.region, &[]) == same)
            .map(|finding| finding.message.clone());
        let executions = outcome.executions.get(id.index()).filter(|n| **n > 0);
        all.push(json!({
            "region": region,
            "executions": executions,
            "records": age,
            "tear": tear,
        }));
    }
    if demoted.others > 0 {
        all.push(json!({ "others": demoted.others }));
    }
    if !all.is_empty() {
        outcome.stats.insert(DEMOTED.to_owned(), all.into());
    }
}
