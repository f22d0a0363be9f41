//! SARIF 2.1.0, for code hosts and editors.
//!
//! One run; a rule for each kind of finding that occurs; a result for each region, with one code flow per recorded order and one thread flow per thread in it.
//! The order across threads is in `executionOrder`.
//! Code hosts refuse files beyond certain sizes, so results and the locations of a flow are limited, and what is left out is said in a notification.

use serde_json::{Map, Value, json};
use untorn_findings::{
    Document, Finding, Interleaving, Kind, Level, Place, Region, Step, Suppressed, SuppressedBy,
    Verdict,
};

use crate::kinds::{KINDS, info};
use crate::words::{headline, label, place_text, short};
use crate::{Excerpts, opinions, places, repair};

/// How many results a code host takes from one run.
pub const MOST_RESULTS: usize = 25_000;
/// How many locations of a code flow a code host shows.
pub const MOST_LOCATIONS: usize = 1_000;
/// Recorded orders given for one result.
const MOST_FLOWS: usize = 5;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The document as SARIF text, ending in a newline.
pub fn render(document: &Document, excerpts: &Excerpts) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&log(document, excerpts))?;
    text.push('\n');
    Ok(text)
}

fn log(document: &Document, excerpts: &Excerpts) -> Value {
    let kinds = used(document);
    let writer = Writer {
        excerpts,
        kinds: &kinds,
    };
    let live = document
        .findings
        .iter()
        .map(|finding| writer.result(finding));
    let suppressed = (document.suppressed.iter()).map(|suppressed| writer.suppressed(suppressed));
    let results: Vec<Value> = live.chain(suppressed).take(MOST_RESULTS).collect();
    let all = document.findings.len() + document.suppressed.len();
    let mut invocation = json!({ "executionSuccessful": true });
    if all > results.len() {
        invocation["toolExecutionNotifications"] = json!([{
            "level": "warning",
            "message": { "text": format!(
                "{} of {all} findings are left out: a run may have {MOST_RESULTS} results.",
                all - results.len()
            ) },
        }]);
    }
    let tool = &document.tool;
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": tool.name,
                "version": tool.version,
                "semanticVersion": tool.version,
                "rules": kinds.iter().map(|kind| rule(*kind)).collect::<Vec<_>>(),
            } },
            "invocations": [invocation],
            "columnKind": "utf16CodeUnits",
            "results": results,
            "properties": {
                "inputs": document.inputs,
                "proved": document.proved.len(),
                "unproved": document.unproved.len(),
                "assumed": document.assumed.iter().map(|a| &a.what).collect::<Vec<_>>(),
            },
        }],
    })
}

/// The kinds that occur, in the order of the list of all.
fn used(document: &Document) -> Vec<Kind> {
    let findings = document.findings.iter();
    let suppressed = document.suppressed.iter().map(|s| &s.finding);
    let all: Vec<Kind> = findings.chain(suppressed).map(|f| f.kind).collect();
    (KINDS.iter().map(|info| info.kind))
        .filter(|kind| all.contains(kind))
        .collect()
}

fn rule(kind: Kind) -> Value {
    let info = info(kind);
    let plain = info.help.replace('*', "");
    json!({
        "id": info.id,
        "name": pascal(info.id),
        "shortDescription": { "text": info.title },
        "fullDescription": { "text": info.short },
        "help": { "text": plain, "markdown": info.help },
        "defaultConfiguration": { "level": "warning" },
        "properties": { "tags": ["concurrency", "atomicity"], "precision": precision(kind) },
    })
}

/// `FORK-JOIN` and kin as code hosts want names: `ForkJoin`.
fn pascal(id: &str) -> String {
    id.split('-')
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

fn precision(kind: Kind) -> &'static str {
    match kind {
        Kind::Torn => "very-high",
        Kind::Cycle | Kind::ForkJoin => "high",
        Kind::Reduction | Kind::ViewInconsistency | Kind::Race => "medium",
        Kind::MethodInconsistency | Kind::Untypable => "low",
    }
}

/// What a code host makes of a finding: its rank, or its verdict where nobody ranked it.
fn sarif_level(finding: &Finding) -> &'static str {
    match (
        finding.verdict,
        finding.rank.as_ref().map(|rank| rank.level),
    ) {
        (Verdict::Unproved, _) => "none",
        (_, Some(Level::High)) => "error",
        (_, Some(Level::Medium)) => "warning",
        (_, Some(Level::Low)) => "note",
        (verdict, None) if verdict.is_seen() => "error",
        (_, None) => "warning",
    }
}

/// From 0 to 100: the rank first, then the verdict, then how many analyses agree.
fn priority(finding: &Finding) -> f64 {
    if finding.verdict == Verdict::Unproved {
        return 0.0;
    }
    let level = match finding.level() {
        Level::High => 70.0,
        Level::Medium => 40.0,
        Level::Low => 10.0,
    };
    let verdict = if finding.verdict.is_seen() { 20.0 } else { 0.0 };
    level + verdict + (finding.analyses.len() as f64).min(10.0)
}

struct Writer<'a> {
    excerpts: &'a Excerpts,
    kinds: &'a [Kind],
}

impl Writer<'_> {
    fn result(&self, finding: &Finding) -> Value {
        let info = info(finding.kind);
        let mut text = headline(finding);
        for suggestion in repair::suggestions(finding) {
            text.push_str(&format!("\nSuggestion: {suggestion}"));
        }
        let said: Map<String, Value> = (opinions::opinions(finding).into_iter())
            .map(|opinion| (opinion.analysis, opinion.says.into()))
            .collect();
        let mut result = json!({
            "ruleId": info.id,
            "ruleIndex": self.kinds.iter().position(|kind| *kind == finding.kind),
            "level": sarif_level(finding),
            "message": { "text": text },
            "locations": [self.result_location(finding)],
            "occurrenceCount": finding.occurrences.max(1),
            "partialFingerprints": { "untornRegion/v1": finding.fingerprint },
            "rank": priority(finding),
            "properties": {
                "verdict": finding.verdict,
                "analyses": finding.analyses,
                "says": said,
            },
        });
        if let Some(rank) = &finding.rank {
            result["properties"]["rank"] = json!(rank);
        }
        if let Some(executions) = &finding.executions {
            result["properties"]["executions"] = json!(executions);
        }
        if !finding.affected.is_empty() {
            result["properties"]["affected"] = (finding.affected.iter())
                .map(|region| region.short_name().into())
                .collect::<Vec<Value>>()
                .into();
        }
        if finding.verdict == Verdict::Unproved {
            // The standard's word for what could not be decided.
            result["kind"] = "open".into();
        }
        let flows: Vec<Value> = (finding.evidence.interleavings.iter())
            .take(MOST_FLOWS)
            .map(|interleaving| self.code_flow(interleaving))
            .chain(self.reduction_flow(finding))
            .collect();
        if !flows.is_empty() {
            result["codeFlows"] = flows.into();
        }
        let related = self.related(finding);
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        result
    }

    fn suppressed(&self, suppressed: &Suppressed) -> Value {
        let mut result = self.result(&suppressed.finding);
        let mut suppression = json!({
            "kind": match suppressed.by {
                SuppressedBy::Source => "inSource",
                SuppressedBy::Config => "external",
            },
            "status": "accepted",
        });
        if let Some(reason) = &suppressed.reason {
            suppression["justification"] = reason.as_str().into();
        }
        result["suppressions"] = json!([suppression]);
        result
    }

    /// Where a code host shows the result: the region, or where it is first left if the region has no line.
    fn result_location(&self, finding: &Finding) -> Value {
        let mut location = self.location(&places::shown(finding), None);
        location["logicalLocations"] = json!([logical(&finding.region)]);
        location
    }

    fn location(&self, place: &Place, message: Option<String>) -> Value {
        let mut location = json!({});
        if let Some(uri) = self.uri(place) {
            let mut physical =
                json!({ "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" } });
            if let Some(line) = place.line.filter(|line| *line > 0) {
                physical["region"] = json!({ "startLine": line });
                if let Some(text) = self.excerpts.line(place) {
                    physical["region"]["snippet"] = json!({ "text": text });
                }
            }
            location["physicalLocation"] = physical;
        }
        if let Some(message) = message {
            location["message"] = json!({ "text": message });
        }
        location
    }

    fn uri(&self, place: &Place) -> Option<String> {
        places::path(place, self.excerpts).map(|path| encode(&path))
    }

    fn code_flow(&self, interleaving: &Interleaving) -> Value {
        let steps = limited(&interleaving.steps);
        let mut threads: Vec<(&str, Vec<Value>)> = Vec::new();
        for step in &steps {
            let torn = (interleaving.torn).is_some_and(|(a, b)| step.n == a || step.n == b);
            let location = self.flow_location(step, torn);
            match threads.iter_mut().find(|(name, _)| *name == step.thread) {
                Some((_, locations)) => locations.push(location),
                None => threads.push((&step.thread, vec![location])),
            }
        }
        let flows: Vec<Value> = (threads.into_iter())
            .map(|(name, locations)| {
                json!({
                    "id": name,
                    "message": { "text": format!("Thread {name}") },
                    "locations": locations,
                })
            })
            .collect();
        let mut text = format!("The order that {} saw", interleaving.analysis);
        if steps.len() < interleaving.steps.len() {
            text.push_str(&format!(
                "; {} of {} steps are shown",
                steps.len(),
                interleaving.steps.len()
            ));
        }
        json!({ "message": { "text": text }, "threadFlows": flows })
    }

    fn flow_location(&self, step: &Step, essential: bool) -> Value {
        let mut text = format!("({}) {}: {}", step.n, step.thread, label(step));
        if !step.locks.is_empty() {
            let locks: Vec<String> = step.locks.iter().map(|lock| short(lock)).collect();
            text.push_str(&format!(", holding {}", locks.join(", ")));
        }
        if let (Some(within), Some(at)) = (&step.within, step.place.as_ref().and_then(place_text)) {
            // A code host shows the line to repair; where the access itself is, is said.
            text.push_str(&format!(", at {at}"));
            return self.flow_entry(step, within, text, essential);
        }
        let place = step.place.clone().unwrap_or_default();
        self.flow_entry(step, &place, text, essential)
    }

    fn flow_entry(&self, step: &Step, place: &Place, text: String, essential: bool) -> Value {
        let mut location = json!({
            "location": self.location(place, Some(text)),
            "executionOrder": step.n,
            "importance": if essential { "essential" } else { "important" },
        });
        if !step.stack.is_empty() {
            let frames: Vec<Value> = (step.stack.iter())
                .map(|frame| json!({ "location": self.location(frame, frame_name(frame)) }))
                .collect();
            location["stack"] = json!({ "frames": frames });
        }
        location
    }

    /// The steps of a reduction, if there is no recorded order to show.
    fn reduction_flow(&self, finding: &Finding) -> Option<Value> {
        if !finding.evidence.interleavings.is_empty() {
            return None;
        }
        let reduction = finding.evidence.reductions.first()?;
        let steps = [&reduction.entry, &reduction.commit, &reduction.violation];
        let locations: Vec<Value> = (1..)
            .zip(steps)
            .map(|(n, step)| self.flow_location(&Step { n, ..step.clone() }, n > 1))
            .collect();
        Some(json!({
            "message": { "text": crate::words::short_words(&reduction.why) },
            "threadFlows": [{ "id": reduction.entry.thread, "locations": locations }],
        }))
    }

    /// Places of evidence that is not an order.
    fn related(&self, finding: &Finding) -> Vec<Value> {
        let evidence = &finding.evidence;
        let mut places: Vec<(&Place, String)> = Vec::new();
        for conflict in &evidence.views {
            for view in std::iter::once(&conflict.maximal).chain(&conflict.diverging) {
                let fields: Vec<String> = view.fields.iter().map(|field| short(field)).collect();
                let text = format!(
                    "{}: {} under {}",
                    view.thread,
                    fields.join(", "),
                    short(&view.lock)
                );
                places.extend(view.places.iter().map(|place| (place, text.clone())));
            }
        }
        for views in &evidence.method_views {
            for view in views.sections.iter().chain(&views.interfering) {
                let under = match view.lock.as_str() {
                    "" => "without a lock".to_owned(),
                    lock => format!("under {}", short(lock)),
                };
                let text = format!(
                    "{}: {} {under}",
                    view.method.short_name(),
                    view.accesses.join(", "),
                );
                places.extend(view.places.iter().map(|place| (place, text.clone())));
            }
        }
        for typing in &evidence.typings {
            for part in typing.parts.iter().chain(&typing.released) {
                let text = format!("{} is {}", part.what, part.atomicity);
                places.extend(part.place.iter().map(|place| (place, text.clone())));
            }
            for lost in &typing.guards_lost {
                let text = format!("{}: {}", lost.field, lost.why);
                places.extend(lost.place.iter().map(|place| (place, text.clone())));
            }
        }
        for step in evidence.races.iter().flat_map(|race| &race.accesses) {
            let text = format!("{}: {}", step.thread, label(step));
            places.extend(step.place.iter().map(|place| (place, text.clone())));
        }
        places.truncate(MOST_LOCATIONS);
        (1..)
            .zip(places)
            .map(|(id, (place, text)): (u32, _)| {
                let mut location = self.location(place, Some(text));
                location["id"] = id.into();
                location
            })
            .collect()
    }
}

/// The first and the last steps where there are more than a host shows: a path begins and ends with what matters.
fn limited(steps: &[Step]) -> Vec<&Step> {
    if steps.len() <= MOST_LOCATIONS {
        return steps.iter().collect();
    }
    let half = MOST_LOCATIONS / 2;
    let (first, last) = (&steps[..half], &steps[steps.len() - half..]);
    first.iter().chain(last).collect()
}

fn frame_name(frame: &Place) -> Option<String> {
    let method = frame.method.as_deref()?;
    let class = frame.class.as_deref().map(|class| format!("{class}."));
    let place = place_text(frame).map(|place| format!(" ({place})"));
    Some(format!(
        "{}{method}{}",
        class.unwrap_or_default(),
        place.unwrap_or_default()
    ))
}

fn logical(region: &Region) -> Value {
    let member = region.field.as_ref().unwrap_or(&region.method);
    let mut full = region.class.clone().unwrap_or_default();
    if !full.is_empty() && !member.is_empty() {
        full.push('.');
    }
    full.push_str(member);
    if region.field.is_none() {
        full.push_str(region.descriptor.as_deref().unwrap_or(""));
    }
    json!({
        "name": region.short_name(),
        "fullyQualifiedName": full,
        "kind": if region.field.is_some() { "member" } else { "function" },
    })
}

/// A path as a relative reference: what is not allowed there is percent-encoded.
fn encode(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'$' => {
                uri.push(byte as char);
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
