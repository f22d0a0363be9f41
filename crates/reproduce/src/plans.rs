//! A finding as a pause plan.
//!
//! What an analysis says is only a hint: a type checker names parts that do not compose, views name fields, and none of them knows which instruction another thread will get in at.
//! So a plan has the places that the evidence names, as pause points, and behind them the first accesses of the region by their number; later attempts begin with other points, look at more classes, and do without the partners that were named.

use untorn_channel::config::is_platform;
use untorn_findings::{Evidence, Finding, Interleaving, Place, Step};
use untorn_plan::{Access, PausePoint, Place as PlanPlace, Plan, PlannedRegion};

/// How many of a region's first accesses are pause points whatever the evidence says.
const COUNTED: u32 = 4;
/// How many places of the evidence are.
const NAMED: usize = 6;
/// How many partners are named.
const PARTNERS: usize = 16;

/// Whether runs can be steered to show a finding: it is about a method or block, and not about a field or a label of a text trace.
pub fn can_be_planned(finding: &Finding) -> bool {
    let region = &finding.region;
    region.field.is_none()
        && !region.method.is_empty()
        && (region.class.as_deref()).is_some_and(|class| !is_platform(class))
}

/// The plan for an attempt, counted from 0; `None` for what [cannot be planned](can_be_planned).
pub fn plan(finding: &Finding, attempt: u32) -> Option<Plan> {
    can_be_planned(finding).then_some(())?;
    // Of what has one cause, each in turn.
    let regions = 1 + finding.affected.len();
    let region = match attempt as usize % regions {
        0 => &finding.region,
        other => &finding.affected[other - 1],
    };
    let class = region.class.clone()?;
    let evidence = &finding.evidence;
    let mut pause: Vec<PausePoint> = Vec::new();
    for place in first_steps(evidence) {
        let point = PausePoint::After(place);
        if pause.len() < NAMED && !pause.contains(&point) {
            pause.push(point);
        }
    }
    pause.extend((1..=COUNTED).map(PausePoint::AfterAccess));
    // Each attempt begins elsewhere: a program may execute the region only once.
    let start = attempt as usize % pause.len();
    pause.rotate_left(start);
    let mut partners = if attempt.is_multiple_of(2) {
        partners(evidence)
    } else {
        Vec::new()
    };
    partners.truncate(PARTNERS);
    Some(Plan {
        fingerprint: Some(finding.fingerprint.clone()),
        classes: classes(&class, evidence, &partners, attempt),
        region: PlannedRegion {
            class,
            method: region.method.clone(),
            descriptor: region.descriptor.clone(),
            block: region.block,
        },
        pause,
        partners,
        patience_ms: None,
        every_execution: false,
    })
}

/// Where the region may be left: the steps that the evidence puts first.
fn first_steps(evidence: &Evidence) -> Vec<PlanPlace> {
    let mut places = Vec::new();
    for interleaving in &evidence.interleavings {
        if let Some((from, _)) = interleaving.torn {
            places.extend(step(interleaving, from).and_then(of_step));
        }
    }
    for reduction in &evidence.reductions {
        places.extend(of_step(&reduction.commit));
    }
    for conflict in &evidence.views {
        let all = conflict.diverging.iter().flat_map(|view| &view.places);
        places.extend(all.filter_map(of_place));
    }
    for views in &evidence.method_views {
        // The last section is the one that another thread is to come before.
        let before_last = views.sections.len().saturating_sub(1);
        for section in views.sections.iter().take(before_last.max(1)) {
            places.extend(section.places.iter().filter_map(of_place));
        }
    }
    for typing in &evidence.typings {
        let all = typing.parts.iter().filter_map(|part| part.place.as_ref());
        places.extend(all.filter_map(of_place));
    }
    places
}

/// Accesses of other threads that conflict, as far as they are named.
fn partners(evidence: &Evidence) -> Vec<PlanPlace> {
    let mut places = Vec::new();
    for interleaving in &evidence.interleavings {
        let Some((from, _)) = interleaving.torn else {
            continue;
        };
        let own = step(interleaving, from).map(|step| &step.thread);
        let others = interleaving
            .steps
            .iter()
            .filter(|step| Some(&step.thread) != own);
        places.extend(others.filter_map(of_step));
    }
    for conflict in &evidence.views {
        places.extend(conflict.maximal.places.iter().filter_map(of_place));
    }
    for views in &evidence.method_views {
        let all = views.interfering.iter().flat_map(|view| &view.places);
        places.extend(all.filter_map(of_place));
    }
    places.sort();
    places.dedup();
    places
}

fn step(interleaving: &Interleaving, number: u32) -> Option<&Step> {
    interleaving.steps.iter().find(|step| step.n == number)
}

/// Where a step is, and which of the accesses there it is.
fn of_step(step: &Step) -> Option<PlanPlace> {
    let mut place = of_place(step.place.as_ref()?)?;
    place.access = match step.op.as_str() {
        "read" => Some(Access::Read),
        "write" | "update" => Some(Access::Write),
        _ => None,
    };
    Some(place)
}

fn of_place(place: &Place) -> Option<PlanPlace> {
    let class = place.class.clone().filter(|class| !is_platform(class))?;
    Some(PlanPlace {
        class,
        method: place.method.clone()?,
        line: place.line,
        access: None,
    })
}

/// Which classes get hooks: those of the region's file and of the evidence, then its package, then all.
fn classes(class: &str, evidence: &Evidence, partners: &[PlanPlace], attempt: u32) -> Vec<String> {
    let top = |class: &str| class.split('$').next().unwrap_or(class).to_owned();
    let of_evidence = first_steps(evidence).into_iter().map(|place| place.class);
    let of_partners = partners.iter().map(|place| place.class.clone());
    let mut all: Vec<String> = std::iter::once(class.to_owned())
        .chain(of_evidence)
        .chain(of_partners)
        .flat_map(|class| {
            let top = top(&class);
            [format!("{top}$*"), top]
        })
        .collect();
    match (attempt, class.rsplit_once('.')) {
        (0, _) => {}
        (1..=3, Some((package, _))) => all.push(format!("{package}.**")),
        _ => all.push("**".to_owned()),
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use untorn_findings::{Kind, Region, Typing, TypingPart, Verdict};

    fn finding() -> Finding {
        let place = |line| Place {
            class: Some("bank.Account".to_owned()),
            method: Some("withdraw".to_owned()),
            file: None,
            line: Some(line),
        };
        let part = |line| TypingPart {
            what: "reads balance".to_owned(),
            atomicity: "atomic".to_owned(),
            place: Some(place(line)),
        };
        let typing = Typing {
            atomicity: "cmpd".to_owned(),
            parts: vec![part(10), part(14)],
            released: None,
            guards_lost: Vec::new(),
        };
        let region = Region {
            class: Some("bank.Account".to_owned()),
            method: "withdraw".to_owned(),
            descriptor: Some("(J)Z".to_owned()),
            ..Region::default()
        };
        let evidence = Evidence {
            typings: vec![typing],
            ..Evidence::default()
        };
        let message = String::new();
        Finding::new(
            "types",
            Kind::Untypable,
            Verdict::Suspected,
            region,
            message,
            evidence,
        )
    }

    #[test]
    fn the_places_of_the_evidence_come_first() {
        let plan = plan(&finding(), 0).unwrap();
        let PausePoint::After(first) = &plan.pause[0] else {
            panic!("{:?}", plan.pause)
        };
        assert_eq!(first.line, Some(10));
        assert_eq!(plan.pause.last(), Some(&PausePoint::AfterAccess(COUNTED)));
        assert_eq!(plan.classes, ["bank.Account", "bank.Account$*"]);
    }

    #[test]
    fn later_attempts_begin_elsewhere_and_look_further() {
        let plan = plan(&finding(), 2).unwrap();
        assert_eq!(plan.pause[0], PausePoint::AfterAccess(1));
        assert!(plan.classes.contains(&"bank.**".to_owned()));
    }

    #[test]
    fn what_is_no_method_of_the_program_has_no_plan() {
        let mut of_field = finding();
        of_field.region.field = Some("balance".to_owned());
        assert!(plan(&of_field, 0).is_none());
        let mut of_platform = finding();
        of_platform.region.class = Some("java.util.Vector".to_owned());
        assert!(plan(&of_platform, 0).is_none());
    }
}
