//! The saved form says what is the same around it only once: most of what a static finding names lies in its own class.
//!
//! - *Place* of a method's own section or of a part that types name: without class and file it is in those of the finding's region; then without a method it is in that method, too.
//!   The same holds for places of what interferes, and the method that does.
//! - *Region*: without a class it is in the class and file of the finding's region, or, in a list, of the region before it.
//! - *Thread* of a lock view: empty if it is that of the method view.
//!
//! Files that say all of it everywhere are read the same way.

use crate::{Evidence, Finding, LockView, Place, Region};

/// Leaves out what is said around it.
pub fn fold(finding: &mut Finding) {
    let home = finding.region.clone();
    of_evidence(
        &mut finding.evidence,
        &home,
        fold_place,
        |lock_view, thread| {
            fold_region(&mut lock_view.method, &home);
            if lock_view.thread == thread {
                lock_view.thread.clear();
            }
        },
    );
    for list in [&mut finding.evidence.enclosing, &mut finding.affected] {
        let mut before = home.clone();
        for region in list {
            let whole = region.clone();
            fold_region(region, &before);
            before = whole;
        }
    }
}

/// Says again what was left out.
pub fn unfold(finding: &mut Finding) {
    let home = finding.region.clone();
    // Places of what interferes look at its method, so that comes first.
    let views = &mut finding.evidence.method_views;
    for views in views {
        let thread = views.thread.clone();
        for lock_view in views.sections.iter_mut().chain(&mut views.interfering) {
            unfold_region(&mut lock_view.method, &home);
            if lock_view.thread.is_empty() {
                lock_view.thread.clone_from(&thread);
            }
        }
    }
    of_evidence(&mut finding.evidence, &home, unfold_place, |_, _| {});
    for list in [&mut finding.evidence.enclosing, &mut finding.affected] {
        let mut before = &home;
        for region in list {
            unfold_region(region, before);
            before = region;
        }
    }
}

/// Does something to each place with the region that is around it, and then to each lock view with the thread of its method view.
fn of_evidence(
    evidence: &mut Evidence,
    home: &Region,
    to_place: fn(&mut Place, &Region),
    to_lock_view: impl Fn(&mut LockView, &str),
) {
    for views in &mut evidence.method_views {
        for section in &mut views.sections {
            for place in &mut section.places {
                to_place(place, home);
            }
            to_lock_view(section, &views.thread);
        }
        for other in &mut views.interfering {
            let method = other.method.clone();
            for place in &mut other.places {
                to_place(place, &method);
            }
            to_lock_view(other, &views.thread);
        }
    }
    for typing in &mut evidence.typings {
        let parts = typing.parts.iter_mut().chain(&mut typing.released);
        let of_parts = parts.filter_map(|part| part.place.as_mut());
        let of_guards = (typing.guards_lost.iter_mut()).filter_map(|lost| lost.place.as_mut());
        for place in of_parts.chain(of_guards) {
            to_place(place, home);
        }
    }
}

fn fold_place(place: &mut Place, around: &Region) {
    let same = place.class == around.class && place.file == around.file;
    if same && place.class.is_some() && place.method.is_some() {
        (place.class, place.file) = (None, None);
        if place.method.as_ref() == Some(&around.method) {
            place.method = None;
        }
    }
}

fn unfold_place(place: &mut Place, around: &Region) {
    if place.class.is_none() && around.class.is_some() {
        place.class.clone_from(&around.class);
        place.file.clone_from(&around.file);
        (place.method).get_or_insert_with(|| around.method.clone());
    }
}

fn fold_region(region: &mut Region, around: &Region) {
    if region.class.is_some() && region.class == around.class && region.file == around.file {
        (region.class, region.file) = (None, None);
    }
}

fn unfold_region(region: &mut Region, around: &Region) {
    if region.class.is_none() && around.class.is_some() {
        region.class.clone_from(&around.class);
        region.file.clone_from(&around.file);
    }
}
