//! Unites what several analyses say of one region, so that a report names each region once.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::cause::unite_causes;
use crate::{Evidence, Executions, Finding, Interleaving, Kind, Reproduction};

/// How many pieces of evidence of one sort are kept for a region: more help nobody.
const KEPT: usize = 5;

/// One finding per region (per group for a cycle that blames nobody) and cause, in order.
///
/// In order: the highest rank first, then the strongest verdict, then by how many analyses agree, then by name.
/// A finding with a stronger verdict gives the merged one its kind and message.
pub fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    let mut by_fingerprint: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        match by_fingerprint.get(&finding.fingerprint) {
            Some(&at) => unite(&mut merged[at], finding),
            None => {
                by_fingerprint.insert(finding.fingerprint.clone(), merged.len());
                merged.push(finding);
            }
        }
    }
    sort(&mut merged);
    unite_causes(merged)
}

/// Puts what deserves a look most to the front.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (b.level(), b.verdict, b.analyses.len())
            .cmp(&(a.level(), a.verdict, a.analyses.len()))
            .then_with(|| a.region.cmp(&b.region))
            .then_with(|| a.group.cmp(&b.group))
    });
}

fn unite(into: &mut Finding, mut from: Finding) {
    into.occurrences = occurrences(into, &from);
    // One cause that two runs saw in different regions.
    if !into.region.same_as(&from.region) && into.group.is_empty() {
        let region = from.region.clone();
        if !into.affected.iter().any(|known| known.same_as(&region)) {
            into.affected.push(region);
        }
    }
    let stronger =
        (from.verdict, std::cmp::Reverse(from.kind)) > (into.verdict, std::cmp::Reverse(into.kind));
    if stronger {
        into.kind = from.kind;
        into.message = from.message;
        if into.region.same_as(&from.region) {
            into.region.clone_from(&from.region);
        }
    }
    // Doubts about a weaker verdict do not concern a stronger one.
    match from.verdict.cmp(&into.verdict) {
        Ordering::Less => from.evidence.notes.clear(),
        Ordering::Equal => {}
        Ordering::Greater => into.evidence.notes.clear(),
    }
    into.verdict = into.verdict.max(from.verdict);
    // Two analyses of one run count the same executions; the counts of two runs are not told apart here, and the larger says enough.
    into.executions = match (into.executions, from.executions) {
        (Some(a), Some(b)) => Some(Executions {
            torn: a.torn.max(b.torn),
            of: a.of.max(b.of),
        }),
        (a, b) => a.or(b),
    };
    into.rank = match (into.rank.take(), from.rank) {
        (Some(a), Some(b)) => Some(if b.level > a.level { b } else { a }),
        (a, b) => a.or(b),
    };
    // What was torn says more than what resisted.
    let torn = |it: &Option<Reproduction>| it.as_ref().map(|it| it.torn);
    if torn(&from.reproduction) > torn(&into.reproduction) {
        into.reproduction = from.reproduction;
    }
    for region in from.affected {
        if !into.affected.contains(&region) {
            into.affected.push(region);
        }
    }
    for analysis in from.analyses {
        if !into.analyses.contains(&analysis) {
            into.analyses.push(analysis);
        }
    }
    into.analyses.sort();
    unite_evidence(&mut into.evidence, from.evidence);
    if into.verdict.is_seen() {
        let shown = &mut into.evidence.interleavings;
        shown.retain(Interleaving::is_observation);
    }
}

/// How often both together were seen.
fn occurrences(into: &Finding, from: &Finding) -> u64 {
    // Tears are counted; what other analyses count, such as pairs of views, is something else.
    match (is_tear(into.kind), is_tear(from.kind)) {
        (true, false) => return into.occurrences,
        (false, true) => return from.occurrences,
        _ => {}
    }
    // Two executions that one analysis saw add up; two analyses that saw the same execution do not.
    if (from.analyses.iter()).all(|name| into.analyses.contains(name)) {
        into.occurrences + from.occurrences
    } else {
        into.occurrences.max(from.occurrences)
    }
}

fn is_tear(kind: Kind) -> bool {
    matches!(kind, Kind::Torn | Kind::Cycle | Kind::ForkJoin)
}

fn unite_evidence(into: &mut Evidence, from: Evidence) {
    fn add<T: PartialEq>(into: &mut Vec<T>, from: Vec<T>) {
        for item in from {
            if into.len() < KEPT && !into.contains(&item) {
                into.push(item);
            }
        }
    }
    // What data alone shows comes first, and of that the shortest: it is what a reader is shown.
    for interleaving in from.interleavings {
        if !into.interleavings.contains(&interleaving) {
            into.interleavings.push(interleaving);
        }
    }
    into.interleavings
        .sort_by_key(|shown| (!shown.is_observation(), shown.steps.len()));
    into.interleavings.truncate(KEPT);
    add(&mut into.reductions, from.reductions);
    add(&mut into.views, from.views);
    add(&mut into.races, from.races);
    add(&mut into.method_views, from.method_views);
    add(&mut into.typings, from.typings);
    into.awaits_threads |= from.awaits_threads;
    for region in from.enclosing {
        if !into.enclosing.contains(&region) {
            into.enclosing.push(region);
        }
    }
    for note in from.notes {
        if !into.notes.contains(&note) {
            into.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Document, Edge, EdgeKind, Evidence, Finding, Interleaving, Kind, Region, Verdict, merge,
    };

    fn finding(analysis: &str, kind: Kind, verdict: Verdict, label: &str) -> Finding {
        let message = format!("{analysis} on {label}");
        Finding::new(
            analysis,
            kind,
            verdict,
            Region::labelled(label),
            message,
            Evidence::default(),
        )
    }

    #[test]
    fn a_region_appears_once_with_the_strongest_word() {
        let merged = merge(vec![
            finding("atomizer", Kind::Reduction, Verdict::Suspected, "a"),
            finding("atomizer", Kind::Reduction, Verdict::Suspected, "b"),
            finding("velodrome", Kind::Torn, Verdict::Observed, "a"),
            finding("velodrome", Kind::Torn, Verdict::Observed, "a"),
        ]);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].region.method, "a");
        assert_eq!(merged[0].verdict, Verdict::Observed);
        assert_eq!(merged[0].kind, Kind::Torn);
        assert_eq!(merged[0].message, "velodrome on a");
        assert_eq!(merged[0].analyses, ["atomizer", "velodrome"]);
        assert_eq!(merged[0].occurrences, 2);
        assert_eq!(merged[1].verdict, Verdict::Suspected);
    }

    #[test]
    fn tears_alone_are_counted_and_an_observation_has_no_doubts() {
        let many = |analysis, kind, verdict, times, note: &str| {
            let mut finding = finding(analysis, kind, verdict, "a");
            finding.occurrences = times;
            finding.evidence.notes.push(note.to_owned());
            finding
        };
        let said = [
            many(
                "views",
                Kind::ViewInconsistency,
                Verdict::Suspected,
                9,
                "of views",
            ),
            many("velodrome", Kind::Torn, Verdict::Suspected, 1, "a doubt"),
            many("velodrome", Kind::Torn, Verdict::Observed, 2, "a fact"),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let merged = merge(order.iter().map(|&i| said[i].clone()).collect());
            assert_eq!(merged[0].occurrences, 3, "{order:?}");
            assert_eq!(merged[0].evidence.notes, ["a fact"], "{order:?}");
        }
    }

    #[test]
    fn what_is_not_proved_is_a_finding_only_where_somebody_suspects_it() {
        let mut document = Document::new(Vec::new());
        document.take(vec![
            finding("types", Kind::Untypable, Verdict::Unproved, "a"),
            finding("types", Kind::Untypable, Verdict::Unproved, "b"),
            finding(
                "consistency",
                Kind::MethodInconsistency,
                Verdict::Suspected,
                "a",
            ),
        ]);
        assert_eq!(document.findings.len(), 1);
        assert_eq!(document.findings[0].region.method, "a");
        assert_eq!(document.findings[0].verdict, Verdict::Suspected);
        assert_eq!(document.findings[0].kind, Kind::MethodInconsistency);
        assert_eq!(document.findings[0].analyses, ["consistency", "types"]);
        assert_eq!(document.unproved.len(), 1);
        assert_eq!(document.unproved[0].region.method, "b");
    }

    #[test]
    fn the_evidence_of_an_observation_is_what_data_shows() {
        let with = |kind: EdgeKind, verdict| {
            let mut finding = finding("velodrome", Kind::Torn, verdict, "a");
            finding.evidence.interleavings.push(Interleaving {
                analysis: "velodrome".to_owned(),
                transactions: Vec::new(),
                steps: Vec::new(),
                edges: vec![Edge {
                    from: 1,
                    to: 2,
                    kind,
                    approximate: false,
                }],
                torn: Some((1, 2)),
            });
            finding
        };
        let merged = merge(vec![
            with(EdgeKind::Sync, Verdict::Suspected),
            with(EdgeKind::Data, Verdict::Observed),
        ]);
        let [shown] = merged[0].evidence.interleavings.as_slice() else {
            panic!("what rests on synchronization is no evidence beside it");
        };
        assert!(shown.is_observation());
    }

    #[test]
    fn a_group_is_one_finding_whoever_is_named_first() {
        let (a, b) = (Region::labelled("a"), Region::labelled("b"));
        let cycle = |first: &Region, other: &Region| {
            finding("velodrome", Kind::Cycle, Verdict::Suspected, &first.method)
                .with_group(vec![other.clone()])
        };
        assert_eq!(merge(vec![cycle(&a, &b), cycle(&b, &a)]).len(), 1);
    }
}
