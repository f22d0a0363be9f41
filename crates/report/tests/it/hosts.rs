//! What GitLab and build servers take.

use serde_json::Value;
use untorn_report::{gitlab, junit};

use crate::sample::{document, excerpts};

#[test]
fn every_finding_is_an_issue_of_gitlab_with_all_that_it_asks_for() {
    let document = document();
    let text = gitlab::render(&document, &excerpts(&document)).unwrap();
    let issues: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(issues.len(), document.findings.len());
    let mut fingerprints: Vec<&str> = Vec::new();
    for issue in &issues {
        assert!(
            !issue["description"].as_str().unwrap().is_empty(),
            "{issue}"
        );
        assert!(issue["check_name"].as_str().unwrap().starts_with("untorn/"));
        let severity = issue["severity"].as_str().unwrap();
        assert!(
            ["critical", "major", "minor"].contains(&severity),
            "{issue}"
        );
        assert!(!issue["location"]["path"].as_str().unwrap().is_empty());
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() > 0);
        fingerprints.push(issue["fingerprint"].as_str().unwrap());
    }
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), issues.len());
}

#[test]
fn every_finding_is_a_test_of_junit_and_the_counts_are_right() {
    let document = document();
    let text = junit::render(&document);
    let count = |what: &str| text.matches(what).count();
    assert_eq!(count("<testcase "), document.findings.len());
    assert_eq!(count("</testcase>"), document.findings.len());
    let failures = count("<failure ");
    assert!(failures > 0, "{text}");
    assert_eq!(failures + count("<skipped "), document.findings.len());
    let head = format!(
        "tests=\"{}\" failures=\"{failures}\"",
        document.findings.len()
    );
    assert!(text.contains(&head), "{text}");
}
