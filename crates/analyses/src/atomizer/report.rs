//! The three-stack report of the paper's Figure 2: where a block was entered, where it committed, and what came too late.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::{Evidence, Finding, Kind, Reduction, Step, Verdict};
use untorn_model::{AccessFlags, Op, RegionId, SiteId, ThreadId};

use super::phases::{Block, Mark};
use crate::Describe;
use crate::lock_sets::LockSets;
use crate::stacks::Stacks;

/// How many different pairs of commit and violation are kept for one region.
const KEPT: usize = 5;

#[derive(Clone, Copy, Debug)]
struct Irreducible {
    block: Block,
    violation: Mark,
}

#[derive(Clone, Debug)]
struct Report {
    occurrences: u64,
    shown: Vec<Irreducible>,
}

/// What was found, by region.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    all: Vec<Report>,
    /// By region one more than the index of its report, 0 for none.
    by_region: Vec<u32>,
    /// A region without a name is the place where a thread begins it.
    anonymous: HashMap<(ThreadId, SiteId), u32, FxBuildHasher>,
}

impl Reports {
    /// Takes a block that was violated for the first time in this execution.
    pub fn add(&mut self, block: &Block, violation: &Mark) {
        let Op::Begin(region) = block.entry.event.op else {
            return;
        };
        let at = self.report_of(region, block);
        let report = &mut self.all[at];
        report.occurrences += 1;
        let places = |it: &Irreducible| (it.block.commit.event.site, it.violation.event.site);
        let new = Irreducible {
            block: *block,
            violation: *violation,
        };
        let known = |shown: &[Irreducible]| shown.iter().any(|it| places(it) == places(&new));
        if report.shown.len() < KEPT && !known(&report.shown) {
            report.shown.push(new);
        }
    }

    fn report_of(&mut self, region: RegionId, block: &Block) -> usize {
        let slot = if region == RegionId::ANONYMOUS {
            let event = &block.entry.event;
            (self.anonymous.entry((event.thread, event.site))).or_insert(0)
        } else {
            if self.by_region.len() <= region.index() {
                self.by_region.resize(region.index() + 1, 0);
            }
            &mut self.by_region[region.index()]
        };
        if *slot == 0 {
            self.all.push(Report {
                occurrences: 0,
                shown: Vec::new(),
            });
            *slot = self.all.len() as u32;
        }
        *slot as usize - 1
    }

    /// How many regions were reported.
    pub fn regions(&self) -> usize {
        self.all.len()
    }

    /// How many executions of regions were violated.
    pub fn occurrences(&self) -> u64 {
        self.all.iter().map(|report| report.occurrences).sum()
    }

    /// The findings, one for each region in the order of their first violations.
    pub fn findings<'a>(
        &'a self,
        describe: Describe<'a>,
        stacks: &'a Stacks,
        sets: &'a LockSets,
    ) -> impl Iterator<Item = Finding> + 'a {
        let teller = Teller {
            describe,
            stacks,
            sets,
        };
        self.all.iter().map(move |report| teller.finding(report))
    }
}

struct Teller<'a> {
    describe: Describe<'a>,
    stacks: &'a Stacks,
    sets: &'a LockSets,
}

impl Teller<'_> {
    fn finding(&self, report: &Report) -> Finding {
        let first = &report.shown[0];
        let entry = &first.block.entry;
        let region = match entry.event.op {
            Op::Begin(region) => region,
            _ => RegionId::ANONYMOUS,
        };
        let region =
            (self.describe).region(region, entry.event.thread, entry.index, entry.event.site);
        let message = format!("{} is not atomic: {}", region.short_name(), self.why(first));
        let evidence = Evidence {
            reductions: report.shown.iter().map(|it| self.reduction(it)).collect(),
            ..Evidence::default()
        };
        let mut finding = Finding::new(
            super::NAME,
            Kind::Reduction,
            Verdict::Suspected,
            region,
            message,
            evidence,
        );
        finding.occurrences = report.occurrences;
        finding
    }

    fn reduction(&self, it: &Irreducible) -> Reduction {
        Reduction {
            entry: self.step(1, &it.block.entry),
            commit: self.step(2, &it.block.commit),
            violation: self.step(3, &it.violation),
            why: self.why(it),
        }
    }

    fn step(&self, n: u32, mark: &Mark) -> Step {
        let tables = self.describe.tables;
        let mut step = self.describe.step(n, mark.index, &mark.event);
        step.stack = (self.stacks).places(mark.context, mark.event.site, self.describe);
        let held = self.sets.locks(mark.held);
        step.locks = held.iter().map(|&lock| tables.lock_name(lock)).collect();
        step
    }

    fn why(&self, it: &Irreducible) -> String {
        let (commit, violation) = (&it.block.commit, &it.violation);
        let tables = self.describe.tables;
        if commit.index == violation.index {
            let wide = (violation.event.op.access())
                .is_some_and(|(_, flags)| flags.contains(AccessFlags::WIDE));
            let step = self.phrase(violation);
            return if wide {
                format!("it {step}, and a 64-bit access that is not volatile takes two steps")
            } else {
                format!("it {step}, which the locking discipline forbids")
            };
        }
        let place = |mark: &Mark| match tables.site_name(mark.event.site) {
            Some(place) => format!(" at {place}"),
            None => String::new(),
        };
        format!(
            "it {}{} and then {}{}; another thread can run in between",
            self.phrase(commit),
            place(commit),
            self.phrase(violation),
            place(violation),
        )
    }

    fn phrase(&self, mark: &Mark) -> String {
        let tables = self.describe.tables;
        match mark.event.op {
            Op::Read(_, var) => format!("reads {} without a protecting lock", tables.var_name(var)),
            Op::Write(_, var) => {
                format!("writes {} without a protecting lock", tables.var_name(var))
            }
            Op::Update(_, var) => {
                format!("updates {} without a protecting lock", tables.var_name(var))
            }
            Op::Acquire(_, lock) => format!("takes lock {}", tables.lock_name(lock)),
            Op::Reacquire(_, lock) => format!("takes lock {} again", tables.lock_name(lock)),
            Op::Release(_, lock) => format!("gives up lock {}", tables.lock_name(lock)),
            Op::Rerelease(_, lock) => {
                format!(
                    "gives up its second hold of lock {}",
                    tables.lock_name(lock)
                )
            }
            Op::Wait(lock) => format!("waits on {}", tables.lock_name(lock)),
            Op::Wake(lock) => format!("wakes up and takes lock {} back", tables.lock_name(lock)),
            _ => {
                let step = self.describe.step(0, mark.index, &mark.event);
                format!("calls {}, which is assumed atomic", step.target)
            }
        }
    }
}
