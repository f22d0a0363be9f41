//! What would repair a region, guessed from the evidence and always marked as a suggestion.
//!
//! Nothing here knows the program: a suggestion names the locks, places and library calls that the evidence names, and leaves the judgement to the reader.

use untorn_findings::{
    Finding, Interleaving, Kind, MethodViews, Place, Race, Reduction, Region, Step, Typing,
    ViewConflict,
};

use crate::words::{at_place, enumeration, place_text, short, spoken, torn_steps};

/// How many suggestions are worth reading.
const MOST: usize = 3;

/// Suggestions, the most specific first, each a sentence.
pub fn suggestions(finding: &Finding) -> Vec<String> {
    // What is right as it is needs no repair.
    if finding
        .rank
        .as_ref()
        .is_some_and(|rank| rank.idiom.is_some())
    {
        return Vec::new();
    }
    let evidence = &finding.evidence;
    let mut all = Vec::new();
    match finding.kind {
        Kind::ForkJoin => {
            all.push(format!(
                "If threads that {} starts are meant to work while it runs, exclude it from the specification.",
                finding.region.short_name()
            ));
        }
        _ if meets_threads(finding) => {
            all.push(format!(
                "{} starts or awaits other threads, and a lock held over all of it would hold them up: make only the part that belongs together one critical section, or take the region out of the specification.",
                finding.region.short_name()
            ));
        }
        Kind::Cycle => {
            let mut regions: Vec<String> = vec![finding.region.short_name()];
            regions.extend(finding.group.iter().map(Region::short_name));
            all.push(format!(
                "Hold one lock that {} have in common for the whole of each.",
                enumeration(&regions)
            ));
        }
        _ => {}
    }
    if finding.kind != Kind::ForkJoin && !meets_threads(finding) {
        let torn = evidence.interleavings.iter().find(|i| i.torn.is_some());
        all.extend(torn.and_then(|interleaving| one_section(interleaving, finding)));
        all.extend(torn.and_then(library_call));
        // With a recorded order, the reduction's own advice would say the same again.
        if torn.is_none() {
            let first = evidence.reductions.first();
            all.extend(first.map(|it| reduction(it, &finding.region)));
        }
    }
    all.extend(evidence.views.first().map(views));
    all.extend(evidence.method_views.first().and_then(method_views));
    all.extend(evidence.typings.first().and_then(typing));
    all.extend(evidence.races.first().map(race));
    let mut distinct: Vec<String> = Vec::new();
    for suggestion in all {
        if !distinct.contains(&suggestion) {
            distinct.push(suggestion);
        }
    }
    distinct.truncate(MOST);
    distinct
}

/// Whether the region starts or awaits other threads, as its code or its recorded steps tell.
fn meets_threads(finding: &Finding) -> bool {
    let at_the_ends = |order: &Interleaving| {
        torn_steps(order).is_some_and(|(leaves, enters)| {
            [leaves, enters].iter().any(|step| {
                matches!(
                    step.op.as_str(),
                    "fork" | "join" | "wait" | "wake" | "signal" | "await"
                )
            })
        })
    };
    finding.evidence.awaits_threads || finding.evidence.interleavings.iter().any(at_the_ends)
}

/// One critical section from the step that leaves the region to the one that enters it again.
fn one_section(interleaving: &Interleaving, finding: &Finding) -> Option<String> {
    let (leaves, enters) = torn_steps(interleaving)?;
    let mut locks: Vec<&str> = Vec::new();
    for lock in leaves.locks.iter().chain(&enters.locks) {
        if !locks.contains(&lock.as_str()) {
            locks.push(lock);
        }
    }
    // The orders of the exact checkers do not always carry locks, the reductions of the Atomizer do.
    if locks.is_empty() {
        let reductions = finding.evidence.reductions.iter();
        locks.extend(reductions.flat_map(locks_of));
        locks.sort_unstable();
        locks.dedup();
    }
    let mut spans = std::iter::once((leaves, enters))
        .chain((finding.evidence.reductions.iter()).map(|it| (&it.commit, &it.violation)));
    let span = spans
        .find_map(|(from, to)| span(from, to, &finding.region))
        .unwrap_or_else(|| whole(&finding.region));
    Some(match locks.as_slice() {
        [] => format!(
            "Use one critical section {span}, under a lock that all accesses of {} hold.",
            targets(leaves, enters)
        ),
        [lock] => format!(
            "Hold {} {span} instead of taking it more than once.",
            spoken(lock)
        ),
        several => {
            let names: Vec<String> = several.iter().map(|lock| spoken(lock)).collect();
            format!(
                "Hold {} together {span}, taken in the same order everywhere.",
                enumeration(&names)
            )
        }
    })
}

/// Calls that do a check and an act as one step, for accesses of one location.
fn library_call(interleaving: &Interleaving) -> Option<String> {
    let (leaves, enters) = torn_steps(interleaving)?;
    let (read, write) = (
        is(leaves, "read"),
        is(enters, "write") || is(enters, "update"),
    );
    if !read || !write {
        return None;
    }
    match (collection(&leaves.target), collection(&enters.target)) {
        (Some(one), Some(other)) if one == other => Some(format!(
            "If {} is a concurrent map, let computeIfAbsent, compute, merge or replace do both as one step.",
            short(one)
        )),
        (None, None) if leaves.target == enters.target => Some(format!(
            "If {} stands for itself, let an atomic class do both as one step (updateAndGet, addAndGet, compareAndSet).",
            short(&leaves.target)
        )),
        _ => None,
    }
}

/// The collection or array of `cache["k"]`, `cache[*]`, `int[]@9[3]`.
fn collection(target: &str) -> Option<&str> {
    let inner = target.strip_suffix(']')?;
    let at = inner.rfind('[')?;
    let key = &inner[at + 1..];
    (key.starts_with('"') || key == "*").then(|| &inner[..at])
}

fn is(step: &Step, op: &str) -> bool {
    step.op == op || step.op.strip_prefix("volatile ") == Some(op)
}

/// `from File.java:12 to File.java:15`, if both are in the text of the region itself and not in something it calls.
fn span(from: &Step, to: &Step, region: &Region) -> Option<String> {
    let inside = |place: &Place| match (&place.class, &place.method) {
        (Some(class), Some(method)) => {
            region.class.as_ref() == Some(class) && region.method == *method
        }
        _ => place.file == region.file && place.line >= region.line,
    };
    let in_text = |step: &'_ Step| step.within.clone().or_else(|| step.place.clone());
    let (from, to) = in_text(from).zip(in_text(to))?;
    let (from, to) = (&from, &to);
    if !inside(from) || !inside(to) {
        return None;
    }
    let ((a, first), (b, last)) = place_text(from)
        .zip(from.line)
        .zip(place_text(to).zip(to.line))?;
    match first.cmp(&last) {
        std::cmp::Ordering::Less => Some(format!("from {a} to {b}")),
        std::cmp::Ordering::Equal => Some(format!("around {a}")),
        std::cmp::Ordering::Greater => None,
    }
}

fn whole(region: &Region) -> String {
    format!("for the whole of {}", region.short_name())
}

fn targets(a: &Step, b: &Step) -> String {
    if a.target == b.target {
        short(&a.target)
    } else {
        format!("{} and {}", short(&a.target), short(&b.target))
    }
}

/// The locks that the commit or the violation takes, gives up or holds.
fn locks_of(reduction: &Reduction) -> impl Iterator<Item = &str> {
    [&reduction.commit, &reduction.violation]
        .into_iter()
        .filter(|step| step.op.starts_with("acquire") || step.op.starts_with("release"))
        .map(|step| step.target.as_str())
}

fn reduction(reduction: &Reduction, region: &Region) -> String {
    let mut locks: Vec<String> = locks_of(reduction).map(spoken).collect();
    locks.dedup();
    let span =
        span(&reduction.commit, &reduction.violation, region).unwrap_or_else(|| whole(region));
    if locks.is_empty() {
        let step = &reduction.violation;
        format!(
            "Protect {} with one lock at every access, and hold that lock {span}.",
            short(&step.target)
        )
    } else if locks.len() == 1 {
        format!(
            "Hold {} {span} instead of taking it more than once.",
            locks[0]
        )
    } else {
        format!(
            "Hold {} together {span}, taken in the same order everywhere.",
            enumeration(&locks)
        )
    }
}

fn views(conflict: &ViewConflict) -> String {
    let fields: Vec<String> = conflict.fields.iter().map(|field| short(field)).collect();
    let example = conflict.maximal.places.iter().find_map(place_text);
    let example = example.map_or_else(String::new, |at| {
        format!(", as thread {} does at {at}", conflict.maximal.thread)
    });
    format!(
        "Use {} under one hold of {}{example}.",
        enumeration(&fields),
        short(&conflict.maximal.lock)
    )
}

fn method_views(views: &MethodViews) -> Option<String> {
    let (first, last) = (views.sections.first()?, views.sections.last()?);
    if views.sections.iter().all(|own| own.lock.is_empty())
        && views
            .view
            .iter()
            .all(|entry| entry.starts_with("content of "))
    {
        return Some(
            "Let one call do it all (putIfAbsent, computeIfAbsent, compute, merge, replace), or hold one lock around every use.".to_owned(),
        );
    }
    let places = first.places.first().zip(last.places.last());
    let lines = places.and_then(|(from, to)| place_text(from).zip(place_text(to)));
    let span = match lines {
        Some((from, to)) if from != to => format!("from {from} to {to}"),
        _ => "for the whole of the method".to_owned(),
    };
    let mut locks: Vec<String> = Vec::new();
    for own in &views.sections {
        let lock = short(own.lock.trim_end_matches(" (shared)"));
        if !lock.is_empty() && !locks.contains(&lock) {
            locks.push(lock);
        }
    }
    Some(match locks.as_slice() {
        [] => format!("Use one critical section {span}, under a lock that all uses hold."),
        [lock] => format!("Hold {lock} {span}, in one critical section."),
        several => format!(
            "Hold {} together {span}, taken in the same order everywhere.",
            enumeration(several)
        ),
    })
}

fn typing(typing: &Typing) -> Option<String> {
    if let Some(lost) = typing.guards_lost.first() {
        let at = at_place(lost.place.as_ref());
        return Some(match &lost.candidate {
            Some(guard) => format!("Hold {guard} when accessing {}{at}.", lost.field),
            None => format!("Give {} a lock that is held at every access.", lost.field),
        });
    }
    let released = typing.released.as_ref()?;
    let at = at_place(released.place.as_ref());
    Some(format!(
        "Do not give up {}{at} before the region ends.",
        released.what.trim_start_matches("gives back ")
    ))
}

fn race(race: &Race) -> String {
    let variable = short(&race.variable);
    if race.benign_candidate {
        format!("Hold the lock of its writes also when reading {variable}, or make it volatile.")
    } else {
        format!("Guard every access of {variable} by one lock.")
    }
}
