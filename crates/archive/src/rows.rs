//! What a run leaves in the archive, as rows.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use untorn_findings::{Document, Finding, Kind, Level, Region, Verdict, fingerprint};

use crate::events::Events;
use crate::when::Moment;

/// What a document does not say of the run that it came from.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// The command of Untorn.
    pub command: String,
    /// Which of several programs it is, such as a service of a company.
    pub service: Option<String>,
    /// The version of the program, for questions such as since when.
    pub version: Option<String>,
    pub jdk: Option<String>,
    pub os: Option<String>,
    pub arch: Option<String>,
    pub cpus: Option<u32>,
    /// Untorn's own options; never the program's, which may hold secrets.
    pub options: Option<String>,
}

impl RunFacts {
    /// The facts of this machine that are no secret: its name and its users stay out.
    pub fn of_this_machine(command: &str) -> Self {
        let cpus = std::thread::available_parallelism().ok();
        Self {
            command: command.to_owned(),
            os: Some(std::env::consts::OS.to_owned()),
            arch: Some(std::env::consts::ARCH.to_owned()),
            cpus: cpus.map(|cpus| cpus.get() as u32),
            ..Self::default()
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct RunRow {
    pub run: String,
    pub at: Moment,
    pub command: String,
    pub service: Option<String>,
    pub version: Option<String>,
    pub what: String,
    pub tool: String,
    pub jdk: Option<String>,
    pub os: Option<String>,
    pub arch: Option<String>,
    pub cpus: Option<u32>,
    pub options: Option<String>,
    pub events: Option<u64>,
    pub regions: u64,
    pub findings: u64,
    pub observed: u64,
    pub stats: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RegionRow {
    /// The same for the same piece of program in every run.
    pub region: String,
    pub name: Region,
    pub state: &'static str,
    pub entered: Option<u64>,
    pub torn: Option<u64>,
    pub transactions: Option<u64>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FindingRow {
    pub region: String,
    /// The finding in short; its saved form is below.
    pub fingerprint: String,
    pub name: Region,
    pub verdict: String,
    pub kind: String,
    pub rank: &'static str,
    pub analyses: String,
    pub message: String,
    pub occurrences: u64,
    pub torn: Option<u64>,
    pub entered: Option<u64>,
    pub finding: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileRow {
    pub entry: String,
}

/// All rows of one run.
#[derive(Clone, Debug)]
pub struct Rows {
    pub run: RunRow,
    pub regions: Vec<RegionRow>,
    pub findings: Vec<FindingRow>,
    pub profile: Vec<ProfileRow>,
    /// A run that brings its events goes into the archive by itself.
    pub events: Option<Events>,
}

impl Rows {
    /// A run by its document; `identity` tells runs apart, and equal ones are one run.
    pub fn of_document(
        document: &Document,
        facts: &RunFacts,
        at: Moment,
        identity: &[&[u8]],
    ) -> Result<Self, serde_json::Error> {
        let findings: Vec<FindingRow> = (document.findings.iter())
            .map(finding_row)
            .collect::<Result<_, _>>()?;
        let regions = region_rows(document);
        let seen = |finding: &&Finding| finding.verdict.is_seen();
        let events = document.stats.get("events").and_then(Value::as_u64);
        let run = RunRow {
            run: identify(identity),
            at,
            command: facts.command.clone(),
            service: facts.service.clone(),
            version: facts.version.clone(),
            what: what(document),
            tool: document.tool.version.clone(),
            jdk: facts.jdk.clone(),
            os: facts.os.clone(),
            arch: facts.arch.clone(),
            cpus: facts.cpus,
            options: facts.options.clone(),
            events,
            regions: regions.len() as u64,
            findings: findings.len() as u64,
            observed: document.findings.iter().filter(seen).count() as u64,
            stats: Some(serde_json::to_string(&without_programs(&document.stats))?),
        };
        Ok(Self {
            run,
            regions,
            findings,
            profile: Vec::new(),
            events: None,
        })
    }

    /// Adds the events of the run's trace.
    pub fn with_events(mut self, events: Events) -> Self {
        self.run.events = Some(events.count);
        self.events = Some(events);
        self
    }

    /// Adds the entries of a profile by its saved form, whose first line is its header.
    pub fn with_profile(mut self, saved: &str) -> Self {
        let entries = saved.lines().skip(1).filter(|line| !line.is_empty());
        let rows = entries.map(|line| ProfileRow {
            entry: line.to_owned(),
        });
        self.profile.extend(rows);
        self
    }
}

/// Under this name a run's statistics hold the command line of a program.
const PROGRAM: &str = "program";

/// What was analyzed: of a program that ran only its name, since arguments may hold secrets.
fn what(document: &Document) -> String {
    let of_processes = || document.stats.values().filter_map(Value::as_object);
    let ran = document.stats.get(PROGRAM).is_some_and(Value::is_string)
        || of_processes().any(|of_one| of_one.get(PROGRAM).is_some_and(Value::is_string));
    let name = |input: &str| match input.split_whitespace().next() {
        Some(first) if ran => first.to_owned(),
        _ => input.to_owned(),
    };
    let names: Vec<String> = document.inputs.iter().map(|input| name(input)).collect();
    names.join(", ")
}

/// The statistics without command lines.
fn without_programs(stats: &Map<String, Value>) -> Map<String, Value> {
    let mut kept = stats.clone();
    // These are rows of their own.
    kept.remove(ENTERED);
    // What a check says under that name are counts.
    if kept.get(PROGRAM).is_some_and(Value::is_string) {
        kept.remove(PROGRAM);
    }
    for of_one in kept.values_mut().filter_map(Value::as_object_mut) {
        of_one.remove(ENTERED);
        if of_one.get(PROGRAM).is_some_and(Value::is_string) {
            of_one.remove(PROGRAM);
        }
    }
    kept
}

/// A name for a run that no other has; 20 digits, since they stand in every row.
fn identify(identity: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in identity {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()[..10]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A name of the saved form, such as `method-inconsistency`.
fn word(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(match serde_json::to_value(value)? {
        Value::String(word) => word,
        other => other.to_string(),
    })
}

fn finding_row(finding: &Finding) -> Result<FindingRow, serde_json::Error> {
    Ok(FindingRow {
        region: fingerprint(&finding.region, &[]),
        fingerprint: finding.fingerprint.clone(),
        name: finding.region.clone(),
        verdict: word(&finding.verdict)?,
        kind: word(&finding.kind)?,
        rank: match finding.level() {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
        },
        analyses: finding.analyses.join(","),
        message: finding.message.clone(),
        occurrences: finding.occurrences,
        torn: finding.executions.map(|executions| executions.torn),
        entered: finding.executions.map(|executions| executions.of),
        finding: serde_json::to_string(finding)?,
    })
}

/// Under this name a document's statistics hold how often each region was entered.
pub const ENTERED: &str = "regions entered";

/// How often a region was entered, and how often with no other open around it.
#[derive(Deserialize)]
struct Counted {
    region: Region,
    entered: u64,
    transactions: Option<u64>,
}

/// The counts that stand among the statistics, alone or by process; what is no such count is passed over.
fn counted(stats: &Map<String, Value>) -> Vec<Counted> {
    let of_processes = stats.values().filter_map(|of_one| of_one.get(ENTERED));
    (stats.get(ENTERED).into_iter().chain(of_processes))
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|entry| Counted::deserialize(entry).ok())
        .collect()
}

/// Whether an analysis ran that observes tears, alone or in a process of the run.
fn looked_for_tears(stats: &Map<String, Value>) -> bool {
    const EXACT: [&str; 3] = ["doublechecker", "velodrome", "aerodrome"];
    let has = |stats: &Map<String, Value>| EXACT.iter().any(|name| stats.contains_key(*name));
    has(stats) || stats.values().filter_map(Value::as_object).any(has)
}

/// Every region that the document speaks of, once, with the strongest that it says.
fn region_rows(document: &Document) -> Vec<RegionRow> {
    let mut rows: BTreeMap<String, RegionRow> = BTreeMap::new();
    let mut add = |name: &Region, state: &'static str| {
        // What is about a field alone, as a race is, has no region.
        if name.field.is_some() {
            return;
        }
        let region = fingerprint(name, &[]);
        let row = RegionRow {
            region: region.clone(),
            name: name.clone(),
            state,
            entered: None,
            torn: None,
            transactions: None,
        };
        rows.entry(region).or_insert(row);
    };
    for finding in &document.findings {
        let seen = finding.verdict >= Verdict::Observed;
        add(&finding.region, if seen { "torn" } else { "suspected" });
        // What holds both ends of a tear is torn with it.
        if seen && finding.kind == Kind::Torn {
            (finding.evidence.enclosing.iter()).for_each(|region| add(region, "torn"));
        }
    }
    for region in document.demoted() {
        add(&region, "demoted");
    }
    document
        .proved
        .iter()
        .for_each(|region| add(region, "proved"));
    for finding in &document.unproved {
        add(&finding.region, "unproved");
    }
    let counts = counted(&document.stats);
    for counted in &counts {
        add(&counted.region, "watched");
    }
    let exact = looked_for_tears(&document.stats);
    for counted in &counts {
        if let Some(row) = rows.get_mut(&fingerprint(&counted.region, &[])) {
            row.entered = Some(row.entered.unwrap_or(0) + counted.entered);
            let before = row.transactions.unwrap_or(0);
            row.transactions = counted.transactions.map(|more| before + more);
            // Only who looks for tears says something by finding none.
            row.torn = exact.then_some(0);
        }
    }
    for finding in &document.findings {
        // Suspicions count nothing; an order of a run that is none of data is not a tear either.
        if let Some(executions) = finding.executions.filter(|_| finding.verdict.is_seen())
            && let Some(row) = rows.get_mut(&fingerprint(&finding.region, &[]))
        {
            row.entered = Some(row.entered.unwrap_or(0).max(executions.of));
            row.torn = Some(
                row.torn
                    .unwrap_or(0)
                    .max(executions.torn)
                    .min(executions.of),
            );
        } else if finding.verdict.is_seen()
            && let Some(row) = rows.get_mut(&fingerprint(&finding.region, &[]))
        {
            row.torn = Some(row.torn.unwrap_or(0).max(finding.occurrences));
        }
    }
    rows.into_values().collect()
}
