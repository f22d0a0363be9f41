//! First and second runs of a program: what the agent is told, and what becomes of what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use serde_json::json;
use untorn_analyses::Outcome;
use untorn_analyses::doublechecker::{FirstRun, Profile, StaticRegion};
use untorn_channel::config::{Choice, ChosenRegion, Mode};
use untorn_live::{LiveSource, Told};
use untorn_model::{SiteId, ThreadId};
use untorn_trace::Source;

use crate::commands::demoted;
use crate::commands::run::Seen;
use crate::failure::Failure;
use crate::selection::{RunMode, SelectionArgs};

/// What the agent is told of the run that is asked for.
pub fn chosen(args: &SelectionArgs) -> Result<Mode, Failure> {
    Ok(match args.mode {
        RunMode::Single | RunMode::Precise => Mode::Single,
        RunMode::First => Mode::First,
        RunMode::Second => Mode::Second(choice(&args.second_profile()?)),
    })
}

/// The regions of a profile that a program can have; labels are of text traces.
fn choice(profile: &Profile) -> Choice {
    let mut choice = Choice {
        unary: profile.has_unary(),
        ..Choice::default()
    };
    for region in profile.regions() {
        if let StaticRegion::Method { class, hash, .. } = region {
            let of_class = choice.classes.entry(class.clone()).or_default();
            let hash = hash.as_deref().map(|hash| u64::from_str_radix(hash, 16));
            of_class.hashes.extend(hash.and_then(Result::ok));
            of_class.regions.extend(chosen_region(region));
        }
    }
    for region in profile.demoted() {
        if let StaticRegion::Method { class, .. } = region {
            let of_class = choice.demoted.entry(class.clone()).or_default();
            of_class.extend(chosen_region(region));
        }
    }
    choice
}

/// A region as the agent knows it.
fn chosen_region(region: &StaticRegion) -> Option<ChosenRegion> {
    let StaticRegion::Method {
        method,
        descriptor,
        block,
        ..
    } = region
    else {
        return None;
    };
    // The name of a block ends with its number.
    let number = |name: &String| name.rsplit('@').next()?.parse().ok();
    Some(ChosenRegion {
        method: method.clone(),
        descriptor: descriptor.clone(),
        block: block.as_ref().and_then(number),
    })
}

fn hashes_of(source: &LiveSource, class: &str) -> Vec<String> {
    let hashes = source.hashes().get(class).into_iter().flatten();
    hashes.map(|hash| format!("{hash:016x}")).collect()
}

/// The classes that have changed since the profile was made.
pub fn stale(profile: &Profile, source: &mut LiveSource) -> Vec<String> {
    let stale = profile.stale(|class| hashes_of(source, class));
    stale.into_iter().map(str::to_owned).collect()
}

/// How many candidates are named before the rest is only counted.
const NAMED: usize = 20;

/// What a first run says to a person: it observes nothing, so it names its candidates and how to go on.
pub fn candidates(profile: &Profile, file: &Path, command: &[OsString]) -> String {
    let names: BTreeSet<String> = profile.regions().map(name_of).collect();
    let mut text = match names.len() {
        0 => "no region may be torn by what this run did".to_owned(),
        1 => "1 region may be torn:".to_owned(),
        count => format!("{count} regions may be torn:"),
    };
    text.push('\n');
    for name in names.iter().take(NAMED) {
        text.push_str(&format!("  {name}\n"));
    }
    if names.len() > NAMED {
        text.push_str(&format!("  and {} more\n", names.len() - NAMED));
    }
    if !names.is_empty() {
        let command: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        text.push_str(&format!(
            "to see whether they are, run it again: untorn run --mode second --profile {} -- {}\n",
            file.display(),
            command.join(" ")
        ));
    }
    text
}

fn name_of(region: &StaticRegion) -> String {
    match region {
        StaticRegion::Method {
            class,
            method,
            block,
            ..
        } => block.clone().unwrap_or_else(|| format!("{class}.{method}")),
        StaticRegion::Label(name) => name.clone(),
        StaticRegion::Place { thread, file, line } => format!("{thread} at {file}:{line}"),
    }
}

/// Hears a first run to its end.
pub fn first_run(source: &mut LiveSource) -> Seen {
    let mut graph = FirstRun::default();
    source.hear(|told| match told {
        Told::In {
            thread,
            transaction,
        } => graph.enter(thread, transaction.number, transaction.region),
        Told::Depends { thread, on, number } => graph.depend(thread, on, number),
        Told::Of {
            thread,
            transaction,
        } => graph.name(thread, transaction.number, transaction.region),
        Told::Ended { thread } => graph.ended(thread),
        Told::Round => graph.round(),
    });
    let found = graph.finish();
    let mut profile = Profile::default();
    for &number in &found.regions {
        if let Some(region) = source.region(number) {
            let tables = source.tables();
            let region = StaticRegion::of(tables, region, ThreadId(0), SiteId::UNKNOWN);
            profile.add(region);
        }
    }
    for (region, _) in source.demoted().regions {
        let region = StaticRegion::of(source.tables(), region, ThreadId(0), SiteId::UNKNOWN);
        profile.add_demoted(region);
    }
    if found.unary {
        profile.add_unary();
    }
    let profile = profile.with_hashes(|class| hashes_of(source, class));
    let mut outcome = Outcome::default();
    demoted::put_into(&mut outcome, source);
    outcome.stats.insert(
        "doublechecker".to_owned(),
        json!({
            "graph_edges": found.dependences,
            "sccs": found.components,
            "most_graph_nodes": found.most_nodes,
            "suspect_regions": found.regions.len(),
            "unary": found.unary,
        }),
    );
    Seen {
        outcome,
        tally: source.tally(),
        code: BTreeMap::new(),
        profile: Some(profile),
        stale: Vec::new(),
    }
}
