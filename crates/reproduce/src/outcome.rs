//! What steered runs did, by plan, and what is said of a finding that resisted.

use std::collections::BTreeMap;

use untorn_channel::steered;
use untorn_findings::{Finding, Region, Verdict};
use untorn_plan::Plan;

/// Counts of what became of the pauses of one plan, over any number of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    counts: BTreeMap<(usize, &'static str), u64>,
}

impl Outcomes {
    /// The counts of a run, by the number of the plan from 0; other counts are passed over.
    pub fn of_run<'c>(counts: impl Iterator<Item = (&'c str, u64)>) -> BTreeMap<usize, Self> {
        let mut all: BTreeMap<usize, Self> = BTreeMap::new();
        for (name, count) in counts {
            if let Some((plan, point, what)) = steered::parse(name) {
                let one = all.entry(plan).or_default();
                *one.counts.entry((point, what)).or_default() += count;
            }
        }
        all
    }

    pub fn add(&mut self, other: &Self) {
        for (key, count) in &other.counts {
            *self.counts.entry(*key).or_default() += count;
        }
    }

    fn count(&self, wanted: &str) -> u64 {
        let all = self.counts.iter();
        all.filter(|((_, what), _)| *what == wanted)
            .map(|(_, count)| count)
            .sum()
    }

    /// The plan with only those pause points at which a partner came; the whole plan if none did.
    pub fn narrow(&self, plan: &Plan) -> Plan {
        let came = |at: usize| self.counts.get(&(at, steered::MET)).is_some_and(|n| *n > 0);
        let points: Vec<_> = (plan.pause.iter().enumerate())
            .filter(|(at, _)| came(*at))
            .map(|(_, point)| point.clone())
            .collect();
        Plan {
            pause: if points.is_empty() {
                plan.pause.clone()
            } else {
                points
            },
            ..plan.clone()
        }
    }

    /// Why nothing was observed in so many runs, as far as these counts show.
    pub fn why_not(&self, runs: u32) -> String {
        let (reached, met) = (self.count(steered::REACHED), self.count(steered::MET));
        let times = |count: u64, what: &str| match count {
            1 => format!("once {what}"),
            count => format!("{count} times {what}"),
        };
        let runs = match runs {
            1 => "steered in 1 run".to_owned(),
            runs => format!("steered in {runs} runs"),
        };
        if reached == 0 {
            let waited = self.count(steered::WAITED);
            return if waited > 0 {
                format!(
                    "{runs}: the region was never in the middle while another thread was at a conflicting access, though one waited there {}",
                    if waited == 1 {
                        "once".to_owned()
                    } else {
                        format!("{waited} times")
                    }
                )
            } else {
                format!("{runs}: no execution of the region came to a point to pause at")
            };
        }
        if met > 0 {
            return format!(
                "{runs}: a partner came {}, and still the region was not torn by data alone",
                if met == 1 {
                    "once".to_owned()
                } else {
                    format!("{met} times")
                }
            );
        }
        let needed = self.count(steered::NEEDED);
        let (late, alone) = (self.count(steered::LATE), self.count(steered::ALONE));
        if needed > 0 && needed >= late.max(alone) {
            return format!(
                "{runs}: the partner never came, {}: it needs a lock that is held here",
                times(needed, "it was blocked")
            );
        }
        if alone > late {
            return format!(
                "{runs}: the partner never came: {}, as where work is handed over",
                times(alone, "every other thread waited for something")
            );
        }
        format!(
            "{runs}: the thread paused there {}, and the partner never came",
            if reached == 1 {
                "once".to_owned()
            } else {
                format!("{reached} times")
            }
        )
    }
}

/// Whether a finding of a steered run shows the region of another one torn.
///
/// The innermost region that holds a tear is blamed, and the regions around it that hold it too are named with it.
pub fn shows(seen: &Finding, wanted: &Region) -> bool {
    let mut regions = std::iter::once(&seen.region).chain(&seen.evidence.enclosing);
    seen.verdict >= Verdict::Observed && regions.any(|region| region.same_as(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use untorn_plan::{PausePoint, PlannedRegion};

    fn outcomes(counts: &[(usize, &str, u64)]) -> Outcomes {
        let names: Vec<(String, u64)> = (counts.iter())
            .map(|(point, what, count)| (steered::name(0, *point, what), *count))
            .collect();
        let all = Outcomes::of_run(names.iter().map(|(name, count)| (name.as_str(), *count)));
        all.get(&0).cloned().unwrap_or_default()
    }

    #[test]
    fn the_reason_is_what_the_runs_showed() {
        let why = |counts: &[(usize, &str, u64)]| outcomes(counts).why_not(3);
        assert!(why(&[]).contains("no execution of the region"));
        let blocked = why(&[(0, steered::REACHED, 4), (0, steered::NEEDED, 4)]);
        assert!(
            blocked.contains("needs a lock that is held here"),
            "{blocked}"
        );
        let late = why(&[(0, steered::REACHED, 4), (0, steered::LATE, 4)]);
        assert!(late.contains("paused there 4 times"), "{late}");
        let alone = why(&[(0, steered::REACHED, 4), (1, steered::ALONE, 4)]);
        assert!(alone.contains("handed over"), "{alone}");
        let met = why(&[(0, steered::REACHED, 4), (1, steered::MET, 1)]);
        assert!(met.contains("a partner came once"), "{met}");
    }

    #[test]
    fn a_plan_keeps_the_points_at_which_somebody_came() {
        let plan = Plan {
            region: PlannedRegion::default(),
            pause: vec![PausePoint::AfterAccess(1), PausePoint::AfterAccess(2)],
            ..Plan::default()
        };
        let narrowed = outcomes(&[(1, steered::MET, 2)]).narrow(&plan);
        assert_eq!(narrowed.pause, [PausePoint::AfterAccess(2)]);
        assert_eq!(outcomes(&[]).narrow(&plan).pause.len(), 2);
    }
}
