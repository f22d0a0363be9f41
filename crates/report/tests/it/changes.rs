//! Summaries, differences and baselines.

use untorn_findings::Verdict;
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
    assert!(difference.is_worse());
    assert!(!diff(&after, &after).is_worse());
}

#[test]
fn a_baseline_leaves_only_what_is_new_or_stronger() {
    let (mut now, mut baseline) = (document(), document());
    now.findings[6].verdict = Verdict::Observed;
    baseline.findings.remove(0);
    let (first, last) = (now.findings[0].clone(), now.findings[6].clone());
    assert_eq!(subtract(&mut now, &baseline), 5);
    assert_eq!(now.findings, [first, last]);
}
