//! Regions that a run found out not to be meant as one step.

use serde_json::{Value, json};
use untorn_analyses::{Describe, Outcome};
use untorn_findings::{DEMOTED, fingerprint};
use untorn_live::LiveSource;
use untorn_model::{EventIndex, RegionId, SiteId, Tables, ThreadId};
use untorn_spec::{Heuristic, Specification};
use untorn_trace::Source;

/// Puts what the program demoted among the statistics.
pub fn put_into(outcome: &mut Outcome, source: &LiveSource) {
    let demoted = source.demoted();
    let regions: Vec<_> = (demoted.regions.into_iter())
        .map(|(id, age)| (id, u64::from(age)))
        .collect();
    put(outcome, source.tables(), &regions, demoted.others);
}

/// Whether a region of a trace is meant to be one step: the specification names it, or its rule is none that a run revises.
pub fn is_meant(spec: &Specification, tables: &Tables, region: RegionId) -> bool {
    if spec.heuristic != Heuristic::Auto {
        return true;
    }
    let describe = Describe::without_lines(tables);
    let region = describe.region(region, ThreadId(0), EventIndex(0), SiteId::UNKNOWN);
    let class = region.class.as_deref().unwrap_or_default();
    let descriptor = region.descriptor.as_deref().unwrap_or_default();
    (spec.include.iter())
        .any(|pattern| pattern.matches_region(class, &region.method, descriptor, region.block))
}

/// Puts what was demoted among the statistics: after how many executions, how long one was open, and the first tear that was seen of it.
pub fn put(outcome: &mut Outcome, tables: &Tables, regions: &[(RegionId, u64)], others: u64) {
    let describe = Describe::without_lines(tables);
    let mut all: Vec<Value> = Vec::new();
    for &(id, age) in regions {
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
    if others > 0 {
        all.push(json!({ "others": others }));
    }
    if !all.is_empty() {
        outcome.stats.insert(DEMOTED.to_owned(), all.into());
    }
}
