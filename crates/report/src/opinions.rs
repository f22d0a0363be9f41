//! What each analysis says of a region, in a sentence.

use untorn_findings::{EdgeKind, Evidence, Finding, Interleaving, MethodViews, Typing};

use crate::words::{at_place, plain_names, sentence, short, short_words};

/// One analysis and its sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opinion {
    pub analysis: String,
    pub says: String,
}

/// What each analysis that reported the finding says, in the order of the finding's list.
pub fn opinions(finding: &Finding) -> Vec<Opinion> {
    let of = |analysis: &String| Opinion {
        analysis: analysis.clone(),
        says: opinion(analysis, &finding.evidence),
    };
    finding.analyses.iter().map(of).collect()
}

fn opinion(analysis: &str, evidence: &Evidence) -> String {
    let said = match analysis {
        "atomizer" => (evidence.reductions.first()).map(|reduction| short_words(&reduction.why)),
        "views" => evidence.views.first().map(|conflict| {
            format!(
                "{} belong together for thread {} and are used apart here",
                list(&conflict.fields),
                conflict.maximal.thread
            )
        }),
        "lockset" => (evidence.races.first()).map(|race| {
            format!(
                "no lock is held at all accesses of {}",
                short(&race.variable)
            )
        }),
        "consistency" => evidence.method_views.first().map(method_views),
        "types" => evidence.typings.first().map(typing),
        _ => (evidence.interleavings.iter())
            .find(|interleaving| interleaving.analysis == analysis)
            .map(interleaving),
    };
    sentence(&said.unwrap_or_else(|| "reports the same region".to_owned()))
}

fn interleaving(interleaving: &Interleaving) -> String {
    let edges = &interleaving.edges;
    let what = if interleaving.torn.is_some() {
        "the run left the region and came back,"
    } else {
        "the run has a cycle through the region,"
    };
    let by = if edges.iter().any(|edge| edge.kind == EdgeKind::Sync) {
        "by way of synchronization"
    } else if edges.iter().any(|edge| edge.approximate) {
        "by conflicts that are approximate"
    } else {
        "by data alone"
    };
    format!("{what} {by}")
}

fn method_views(views: &MethodViews) -> String {
    let mut fields: Vec<String> = Vec::new();
    for entry in &views.view {
        let name = entry
            .rsplit_once(": ")
            .map_or(entry.as_str(), |(name, _)| name);
        if !fields.iter().any(|known| known == name) {
            fields.push(name.to_owned());
        }
    }
    let parts = match views.sections.len() {
        0 | 1 => "more than one critical section".to_owned(),
        parts => format!("{parts} parts"),
    };
    format!(
        "the method uses {} in {parts}, and locks do not keep them together",
        list(&fields)
    )
}

fn typing(typing: &Typing) -> String {
    let parts: Vec<String> = (typing.parts.iter())
        .map(|part| {
            let at = at_place(part.place.as_ref());
            format!("{}{at} ({})", plain_names(&part.what), part.atomicity)
        })
        .collect();
    let parts = if parts.is_empty() {
        String::new()
    } else {
        format!(": it {}", parts.join(", then "))
    };
    format!(
        "not proved atomic, its type is `{}`{parts}",
        typing.atomicity
    )
}

/// Names, the first few of them.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| short(name)).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    crate::words::enumeration(&shown)
}
