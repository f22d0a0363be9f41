//! Where in a region's own text each step of its evidence is called.

use untorn_findings::{Finding, Place};

use crate::code::RegionBody;
use crate::{Code, intent};

/// Says whether the region meets threads, and for each step of the torn thread that lies in something the region calls where that call stands.
pub fn fill_in(finding: &mut Finding, code: &Code) {
    let Some(body) = code.region(&finding.region) else {
        return;
    };
    finding.evidence.awaits_threads |= intent::meets_threads(&body);
    let region = finding.region.clone();
    for order in &mut finding.evidence.interleavings {
        let Some(torn) = order.torn else { continue };
        let thread =
            (order.steps.iter().find(|step| step.n == torn.0)).map(|step| step.thread.clone());
        for step in &mut order.steps {
            if Some(&step.thread) != thread.as_ref() || step.n < torn.0 || step.n > torn.1 {
                continue;
            }
            let Some(place) = step.place.as_ref().filter(|place| !body.holds(place)) else {
                continue;
            };
            let lines = calls(&body, place);
            let line = match lines.as_slice() {
                [line] => Some(line),
                // Of two calls that lead there, the first one leaves the region and the second one enters it again.
                [first, _] if step.n == torn.0 => Some(first),
                [_, second] if step.n == torn.1 => Some(second),
                _ => None,
            };
            step.within = line.map(|line| Place {
                class: region.class.clone(),
                method: Some(region.method.clone()),
                file: region.file.clone(),
                line: Some(*line),
            });
        }
    }
}

/// The lines of the calls that lead to a place, in the order of the code.
fn calls(body: &RegionBody<'_>, place: &Place) -> Vec<u32> {
    let mut lines: Vec<u32> = (body.calls_to(place).iter())
        .map(|id| u32::from(body.body.instr(*id).line))
        .filter(|line| *line > 0)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
