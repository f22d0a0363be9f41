//! Every place in the program that a finding speaks of.

use untorn_findings::{Finding, Place, Region, Step};

use crate::Excerpts;

/// Calls `visit` for each place of the finding, some more than once.
pub fn visit(finding: &Finding, visit: &mut dyn FnMut(&Place)) {
    visit(&of_region(&finding.region));
    for region in finding.group.iter().chain(&finding.evidence.enclosing) {
        visit(&of_region(region));
    }
    let evidence = &finding.evidence;
    for interleaving in &evidence.interleavings {
        for step in &interleaving.steps {
            of_step(step, visit);
        }
    }
    for reduction in &evidence.reductions {
        for step in [&reduction.entry, &reduction.commit, &reduction.violation] {
            of_step(step, visit);
        }
    }
    for conflict in &evidence.views {
        for view in std::iter::once(&conflict.maximal).chain(&conflict.diverging) {
            view.places.iter().for_each(&mut *visit);
        }
    }
    for race in &evidence.races {
        for step in &race.accesses {
            of_step(step, visit);
        }
    }
    for views in &evidence.method_views {
        let views_of = views.sections.iter().chain(&views.interfering);
        let held = views_of.flat_map(|view| &view.places);
        held.chain(&views.allocated_at).for_each(&mut *visit);
    }
    for typing in &evidence.typings {
        let parts = typing.parts.iter().chain(&typing.released);
        let places = parts.filter_map(|part| part.place.as_ref());
        let lost = typing.guards_lost.iter().filter_map(|l| l.place.as_ref());
        places.chain(lost).for_each(&mut *visit);
    }
}

fn of_step(step: &Step, visit: &mut dyn FnMut(&Place)) {
    let places = step.within.iter().chain(&step.place);
    places.chain(&step.stack).for_each(visit);
}

/// Where a region begins.
pub fn of_region(region: &Region) -> Place {
    Place {
        class: region.class.clone(),
        method: Some(region.method.clone()).filter(|method| !method.is_empty()),
        file: region.file.clone(),
        line: region.line,
    }
}

/// Where a code host shows a finding: its region, or where it is first left if the region has no file.
pub fn shown(finding: &Finding) -> Place {
    let mut place = of_region(&finding.region);
    if place.file.is_none() {
        visit(finding, &mut |candidate| {
            if place.file.is_none() && candidate.file.is_some() {
                place = candidate.clone();
            }
        });
    }
    place
}

/// The path of the source if it was found, else where its package says that it is.
pub fn path(place: &Place, excerpts: &Excerpts) -> Option<String> {
    if let Some(listing) = excerpts.listing(place) {
        return Some(listing.path.clone());
    }
    let file = place.file.as_deref()?;
    let class = place.class.as_deref().unwrap_or("");
    Some(match class.rsplit_once('.') {
        Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
        None => file.to_owned(),
    })
}
