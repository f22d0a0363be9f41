//! What the page's scripts draw from: the document with its sentences made, and the source lines it needs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use untorn_findings::{Document, Evidence, Finding, Place, Region};

use super::Trend;
use crate::kinds::KINDS;
use crate::words::{headline, package, place_text, verdict};
use crate::{Excerpts, opinions, places, repair, words};

/// Lines shown before and after a place.
const AROUND: u32 = 3;

#[derive(Serialize)]
pub struct Data<'a> {
    inputs: &'a [String],
    stats: &'a Map<String, Value>,
    kinds: BTreeMap<&'static str, KindWords>,
    findings: Vec<Entry<'a>>,
    suppressed: Vec<Silent<'a>>,
    proved: Vec<Named>,
    unproved: Vec<Named>,
    trend: Option<&'a Trend>,
    /// By package and file name with a `/` between them.
    sources: BTreeMap<String, Source>,
}

#[derive(Serialize)]
struct KindWords {
    title: &'static str,
    help: &'static str,
}

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    verdict: &'static str,
    level: Option<&'static str>,
    rank: Option<String>,
    frequency: Option<String>,
    affected: Vec<String>,
    kind: Value,
    name: String,
    package: Option<&'a str>,
    place: Option<String>,
    headline: String,
    analyses: &'a [String],
    says: Vec<(String, String)>,
    suggestions: Vec<String>,
    group: Vec<String>,
    evidence: &'a Evidence,
}

#[derive(Serialize)]
struct Silent<'a> {
    name: String,
    place: Option<String>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    place: Option<String>,
}

#[derive(Serialize, Default)]
struct Source {
    path: String,
    lines: BTreeMap<u32, String>,
}

pub fn data<'a>(document: &'a Document, excerpts: &Excerpts, trend: Option<&'a Trend>) -> Data<'a> {
    let mut sources: BTreeMap<String, Source> = BTreeMap::new();
    for finding in &document.findings {
        places::visit(finding, &mut |place| add(&mut sources, place, excerpts));
    }
    let words = |info: &crate::kinds::KindInfo| KindWords {
        title: info.title,
        help: info.help,
    };
    Data {
        inputs: &document.inputs,
        stats: &document.stats,
        kinds: KINDS.iter().map(|info| (info.id, words(info))).collect(),
        findings: document.findings.iter().map(entry).collect(),
        suppressed: (document.suppressed.iter())
            .map(|suppressed| Silent {
                name: suppressed.finding.region.short_name(),
                place: region_place(&suppressed.finding.region),
                reason: suppressed.reason.as_deref(),
            })
            .collect(),
        proved: (document.proved.iter())
            .map(|region| Named {
                name: proved_name(document, region),
                place: region_place(region),
            })
            .collect(),
        unproved: (document.unproved.iter())
            .map(|finding| Named {
                name: format!("{}: {}", finding.region.short_name(), headline(finding)),
                place: region_place(&finding.region),
            })
            .collect(),
        trend,
        sources,
    }
}

/// The region, and what its proof rests on.
fn proved_name(document: &Document, region: &Region) -> String {
    let mut name = region.short_name();
    for assumed in document.assumptions_of(region) {
        name.push_str(&format!(", assuming that {}", assumed.what));
    }
    name
}

fn entry(finding: &Finding) -> Entry<'_> {
    Entry {
        id: &finding.fingerprint,
        verdict: verdict(finding.verdict),
        level: finding.rank.as_ref().map(|rank| words::level(rank.level)),
        rank: finding.rank.as_ref().map(words::rank),
        frequency: words::frequency(finding),
        affected: finding.affected.iter().map(Region::short_name).collect(),
        kind: crate::kinds::info(finding.kind).id.into(),
        name: finding.region.short_name(),
        package: package(&finding.region),
        place: region_place(&finding.region),
        headline: headline(finding),
        analyses: &finding.analyses,
        says: (opinions::opinions(finding).into_iter())
            .map(|opinion| (opinion.analysis, opinion.says))
            .collect(),
        suggestions: repair::suggestions(finding),
        group: finding.group.iter().map(Region::short_name).collect(),
        evidence: &finding.evidence,
    }
}

fn region_place(region: &Region) -> Option<String> {
    place_text(&places::of_region(region))
}

fn add(sources: &mut BTreeMap<String, Source>, place: &Place, excerpts: &Excerpts) {
    let Some(listing) = excerpts.listing(place) else {
        return;
    };
    let class = place.class.as_deref().unwrap_or("");
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    let file = place.file.as_deref().unwrap_or("");
    let source = sources.entry(format!("{package}/{file}")).or_default();
    source.path.clone_from(&listing.path);
    for (number, text) in excerpts.around(place, AROUND) {
        source
            .lines
            .entry(number)
            .or_insert_with(|| text.to_owned());
    }
}
