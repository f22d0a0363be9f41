//! Summaries, differences and baselines.

use untorn_findings::{Kind, Region, Verdict};
use untorn_report::diff::{diff, subtract};
use untorn_report::summary;

use crate::expected::check;
use crate::sample::document;

#[test]
fn the_summary_of_a_job() {
    check("summary.md", &summary::render(&document()));
}

#[test]
fn differences_name_what_is_new_stronger_and_gone() {
    let (mut before, mut after) = (document(), document());
    before.findings.remove(0);
    let stronger = &mut after.findings[3];
    assert_eq!(stronger.verdict, Verdict::Suspected);
    stronger.verdict = Verdict::Observed;
    after.findings.remove(5);
    let difference = diff(&before, &after);
    check("diff.txt", &difference.to_text());
    let none = diff(&after, &after);
    assert!(none.new.is_empty() && none.stronger.is_empty() && none.gone.is_empty());
}

#[test]
fn a_baseline_leaves_only_what_is_new_or_stronger() {
    let (mut now, mut baseline) = (document(), document());
    now.findings[6].verdict = Verdict::Observed;
    baseline.findings.remove(0);
    let (first, last) = (now.findings[0].clone(), now.findings[6].clone());
    let subtracted = subtract(&mut now, &baseline);
    assert_eq!(subtracted.known, 5);
    assert!(
        subtracted
            .stronger
            .into_iter()
            .eq([last.fingerprint.clone()])
    );
    assert_eq!(now.findings, [first, last]);
}

#[test]
fn a_cycle_through_known_regions_and_a_cause_that_another_region_shows_are_not_new() {
    let baseline = document();
    let mut now = document();
    let cycle = (now.findings.iter_mut())
        .find(|finding| finding.kind == Kind::Cycle)
        .unwrap();
    // Another schedule, another set of regions that were all seen before.
    let others: Vec<Region> = (baseline.findings.iter())
        .filter(|finding| finding.region.field.is_none())
        .map(|finding| finding.region.clone())
        .take(2)
        .collect();
    *cycle = cycle.clone().with_group(others);
    subtract(&mut now, &baseline);
    assert_eq!(now.findings, []);
}
