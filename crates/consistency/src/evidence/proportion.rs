//! Keeps evidence in proportion: what tells most stays, the rest is counted.
//!
//! A method that calls half of a program has hundreds of fields in its view and dozens of sections; nobody reads them, and saved they would be most of the document.

use untorn_findings::{Evidence, LockView, MethodViews, Place, Region};

use super::message::{fields, torn_pair};

/// How large evidence may be, in about so many bytes, before what is the same around it is left out of its saved form.
const MOST_BYTES: usize = 1_100;
/// How many entries of a view stay.
const MOST_ENTRIES: usize = 6;
/// How many lock views of others stay.
const MOST_OTHERS: usize = 2;
/// How many allocation sites and callers stay.
const MOST_NAMED: usize = 3;

/// Shortens evidence that is too large, step by step.
pub fn shorten(evidence: &mut Evidence) {
    let steps: [fn(&mut Evidence); 5] = [entries, classes, places, others, callers];
    for step in steps {
        if size(evidence) <= MOST_BYTES {
            return;
        }
        step(evidence);
    }
}

/// Of each list of entries those of the torn fields, and the first others.
fn entries(evidence: &mut Evidence) {
    for views in &mut evidence.method_views {
        let mut telling: Vec<String> = Vec::new();
        if let Some((_, _, field, other)) = torn_pair(views) {
            telling.extend([field, other]);
        }
        cut(&mut views.view, &telling);
        for view in views.sections.iter_mut().chain(&mut views.interfering) {
            cut(&mut view.accesses, &telling);
        }
    }
}

fn cut(entries: &mut Vec<String>, telling: &[String]) {
    if entries.len() <= MOST_ENTRIES {
        return;
    }
    let more = entries.len() - MOST_ENTRIES;
    let tells = |entry: &String| {
        fields(std::slice::from_ref(entry))
            .iter()
            .any(|field| telling.contains(field))
    };
    entries.sort_by_key(|entry| !tells(entry));
    entries.truncate(MOST_ENTRIES);
    entries.sort();
    entries.push(format!("and {more} more"));
}

/// The views of the first class alone.
fn classes(evidence: &mut Evidence) {
    if evidence.method_views.len() < 2 {
        return;
    }
    let rest = evidence.method_views.split_off(1);
    let mut names: Vec<&str> = Vec::new();
    for views in &rest {
        let name = views.class.rsplit('.').next().unwrap_or(&views.class);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shown = names.len().min(MOST_NAMED);
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    evidence.notes.push(format!(
        "the same holds for fields of {}{more}",
        names[..shown].join(", ")
    ));
}

/// One place of each section, two of what others do, and the first allocation sites.
fn places(evidence: &mut Evidence) {
    for views in &mut evidence.method_views {
        views.allocated_at.truncate(MOST_NAMED);
        for view in &mut views.sections {
            view.places.truncate(1);
        }
        for view in &mut views.interfering {
            view.places.truncate(2);
        }
    }
}

/// The two sections between which others come, and of the others one that writes there and one that does not.
fn others(evidence: &mut Evidence) {
    for views in &mut evidence.method_views {
        let Some((first, later, field, other)) = torn_pair(views) else {
            views.sections.truncate(MOST_OTHERS);
            views.interfering.truncate(MOST_OTHERS);
            continue;
        };
        let pair = vec![first.clone(), later.clone()];
        let writes = |view: &LockView| {
            (view.accesses.iter()).any(|access| {
                (access.strip_suffix(": write")).is_some_and(|of| of == field || of == other)
            })
        };
        // One that writes, and one of those that treat as one what the method does in parts.
        let mut kept: Vec<usize> = Vec::new();
        kept.extend(views.interfering.iter().position(writes));
        kept.extend((0..views.interfering.len()).find(|at| !writes(&views.interfering[*at])));
        kept.extend((0..views.interfering.len()).find(|at| !kept.contains(at)));
        kept.truncate(MOST_OTHERS);
        let mut at = 0..;
        (views.interfering).retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
        views.sections = pair;
    }
}

fn callers(evidence: &mut Evidence) {
    if evidence.enclosing.len() > MOST_NAMED {
        let more = evidence.enclosing.len() - MOST_NAMED;
        evidence.enclosing.truncate(MOST_NAMED);
        evidence
            .notes
            .push(format!("at least {more} more callers are torn with it"));
    }
}

fn size(evidence: &Evidence) -> usize {
    let views = evidence.method_views.iter().map(of_views).sum::<usize>();
    let callers = evidence.enclosing.iter().map(of_region).sum::<usize>();
    views + callers + of_texts(&evidence.notes)
}

fn of_views(views: &MethodViews) -> usize {
    let locks = views.sections.iter().chain(&views.interfering);
    80 + views.class.len()
        + views.thread.len()
        + of_texts(&views.view)
        + locks.map(of_lock_view).sum::<usize>()
        + views.allocated_at.iter().map(of_place).sum::<usize>()
}

fn of_lock_view(view: &LockView) -> usize {
    60 + of_region(&view.method)
        + view.lock.len()
        + view.thread.len()
        + of_texts(&view.accesses)
        + view.places.iter().map(of_place).sum::<usize>()
}

fn of_region(region: &Region) -> usize {
    let texts = [&region.class, &region.descriptor, &region.file];
    60 + region.method.len()
        + (texts.into_iter().flatten())
            .map(String::len)
            .sum::<usize>()
}

fn of_place(place: &Place) -> usize {
    let texts = [&place.class, &place.method, &place.file];
    50 + (texts.into_iter().flatten())
        .map(String::len)
        .sum::<usize>()
}

fn of_texts(texts: &[String]) -> usize {
    texts.iter().map(|text| text.len() + 3).sum()
}
