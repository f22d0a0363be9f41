//! Regions that are torn only within one execution of a method that they call: what is to be said of them is said of that method.

use untorn_findings::{Finding, Kind, Level, Region};

use crate::code::{Code, RegionBody};
use crate::ends::Ends;
use crate::flow::Flow;
use crate::{idiom, is_watched, low};

/// How many calls deep it is looked; recursion has no end.
const DEPTH: usize = 6;

/// The innermost method, called once, in one execution of which both ends lie, and the ends there.
pub fn of<'a>(region: &RegionBody<'a>, flow: &Flow, ends: &Ends) -> Option<(RegionBody<'a>, Flow)> {
    let mut found = step_into(region, flow, ends)?;
    for _ in 1..DEPTH {
        let Some(next) = step_into(&found.0, &found.1, ends) else {
            break;
        };
        found = next;
    }
    Some(found)
}

fn step_into<'a>(
    region: &RegionBody<'a>,
    flow: &Flow,
    ends: &Ends,
) -> Option<(RegionBody<'a>, Flow)> {
    let ([first], [second]) = (flow.first.as_slice(), flow.second.as_slice()) else {
        return None;
    };
    // In a loop the ends may lie in two executions.
    if first != second || idiom::in_rounds(region, flow) {
        return None;
    }
    let inner = region.called(region.body.instr(*first))?;
    let flow = Flow::of(&inner, ends)?;
    Some((inner, flow))
}

/// Puts low what is torn only within a call of a method that has a finding of its own, which is the one to repair.
pub fn leave_callers(findings: &mut [Finding], code: &Code) {
    let is_shown = |finding: &&Finding| finding.level() > Level::Low;
    let key = |region: &Region| Some((region.class.clone()?, region.method.clone()));
    let shown: Vec<_> = (findings.iter().filter(is_shown))
        .filter_map(|finding| key(&finding.region))
        .collect();
    for finding in findings.iter_mut().filter(|finding| is_shown(&&**finding)) {
        let Some(callees) = within(finding, code) else {
            continue;
        };
        let own = key(&finding.region);
        let all_shown = callees
            .iter()
            .all(|callee| Some(callee) != own.as_ref() && shown.contains(callee));
        if let Some((class, method)) = callees.first().filter(|_| all_shown) {
            let class = class.rsplit('.').next().unwrap_or(class);
            finding.rank = Some(low(format!(
                "it is torn only within a call of {class}.{method}, of which there is a finding"
            )));
        }
    }
}

/// For each order of accesses, the method in one execution of which all of it that is the region's own lies; nothing if one lies elsewhere.
fn within(finding: &Finding, code: &Code) -> Option<Vec<(String, String)>> {
    if !matches!(finding.kind, Kind::Torn | Kind::Reduction) || !is_watched(finding) {
        return None;
    }
    let region = code.region(&finding.region)?;
    let mut callees = Vec::new();
    for at in 0..finding.evidence.interleavings.len().max(1) {
        let mut order = finding.clone();
        if !order.evidence.interleavings.is_empty() {
            order.evidence.interleavings.swap(0, at);
        }
        let ends = Ends::of(&order)?;
        let flow = Flow::of(&region, &ends)?;
        let (inner, _) = of(&region, &flow, &ends)?;
        callees.push(inner.name());
    }
    Some(callees)
}
