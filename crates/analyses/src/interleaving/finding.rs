//! Words and verdicts for tears and cycles.

use untorn_findings::{
    Edge, EdgeKind, Evidence, Finding, Interleaving, Kind, Region, Step, Transaction, Verdict,
};
use untorn_model::Op;

use super::{At, Cycle, Hop, Member, Tear};
use crate::Describe;

impl Tear {
    /// Whether data conflicts alone show it, none of them approximate, and not only the region's own threads have them.
    pub fn is_observed(&self) -> bool {
        !self.domestic && self.hops.iter().all(Hop::is_exact_data)
    }

    /// The finding that blames the innermost region; `None` for a path that is not there.
    pub fn finding(&self, analysis: &str, describe: &Describe<'_>) -> Option<Finding> {
        let (blamed, enclosing) = self.regions.split_last()?;
        let outermost = self.regions.first()?;
        let (leaves, enters) = (self.hops.first()?.from, self.hops.last()?.to);
        let region = |e: &crate::Execution| describe.region(e.region, self.thread, e.begin, e.site);
        let mut members = vec![Member {
            thread: self.thread,
            execution: Some(*outermost),
            begin: outermost.begin,
            end: self.end,
        }];
        members.extend(&self.others);
        let mut interleaving = interleaving(analysis, describe, &members, &self.hops);
        let number = |at: &At| {
            let step = (interleaving.steps.iter()).find(|step| step.event == Some(at.index.0));
            step.map(|step| step.n)
        };
        interleaving.torn = number(&leaves).zip(number(&enters));
        let name = region(blamed);
        let message = headline(&name, describe, &self.hops, &leaves, &enters);
        let mut evidence = Evidence {
            interleavings: vec![interleaving],
            enclosing: enclosing.iter().map(region).collect(),
            ..Evidence::default()
        };
        let verdict = if self.is_observed() {
            Verdict::Observed
        } else {
            evidence.notes.push(self.doubt().to_owned());
            Verdict::Suspected
        };
        let kind = if self.domestic || self.hops.iter().all(is_thread_life) {
            Kind::ForkJoin
        } else {
            Kind::Torn
        };
        Some(Finding::new(
            analysis, kind, verdict, name, message, evidence,
        ))
    }

    fn doubt(&self) -> &'static str {
        if self.domestic {
            "Only threads that the region itself starts come between its parts, and it awaits their end."
        } else if self.hops.iter().any(|hop| hop.kind == EdgeKind::Sync) {
            "The order rests on synchronization: whether the data seen can differ from a serial run is not shown."
        } else {
            "The order rests on an approximation: the program may have touched less than is recorded."
        }
    }
}

impl Cycle {
    /// The finding that names all regions of the cycle; `None` if it has none.
    pub fn finding(&self, analysis: &str, describe: &Describe<'_>) -> Option<Finding> {
        let mut regions: Vec<Region> = (self.members.iter())
            .filter_map(|member| region_of(describe, member))
            .collect();
        regions.sort();
        regions.dedup();
        let names: Vec<String> = regions.iter().map(Region::short_name).collect();
        let message = match names.as_slice() {
            [one] => format!(
                "Executions of {one} have no serial order that keeps the conflicts of this run, though none is torn by itself"
            ),
            all => format!(
                "{} have no serial order that keeps the conflicts of this run, though none is torn by itself",
                enumeration(all)
            ),
        };
        let mut evidence = Evidence {
            interleavings: vec![interleaving(analysis, describe, &self.members, &self.hops)],
            ..Evidence::default()
        };
        evidence.notes.push(
            "Nobody is blamed: each region is left only after the conflict by which the cycle enters it later."
                .to_owned(),
        );
        let mut regions = regions.into_iter();
        let first = regions.next()?;
        let finding = Finding::new(
            analysis,
            Kind::Cycle,
            Verdict::Suspected,
            first,
            message,
            evidence,
        );
        Some(finding.with_group(regions.collect()))
    }
}

fn region_of(describe: &Describe<'_>, member: &Member) -> Option<Region> {
    let execution = member.execution?;
    Some(describe.region(
        execution.region,
        member.thread,
        execution.begin,
        execution.site,
    ))
}

fn is_thread_life(hop: &Hop) -> bool {
    hop.kind == EdgeKind::Sync
        && (matches!(hop.from.event.op, Op::Fork(_)) || matches!(hop.to.event.op, Op::Join(_)))
}

fn interleaving(
    analysis: &str,
    describe: &Describe<'_>,
    members: &[Member],
    hops: &[Hop],
) -> Interleaving {
    let mut events: Vec<At> = hops.iter().flat_map(|hop| [hop.from, hop.to]).collect();
    events.sort_by_key(|at| at.index);
    events.dedup_by_key(|at| at.index);
    let steps: Vec<Step> = (events.iter().zip(1..))
        .map(|(at, n)| {
            let mut step = describe.step(n, at.index, &at.event);
            let holder = members.iter().position(|member| member.holds(at));
            step.transaction = holder.map(|i| i as u32);
            step
        })
        .collect();
    let number = |at: &At| 1 + events.partition_point(|other| other.index < at.index) as u32;
    let mut edges = Vec::new();
    for (i, hop) in hops.iter().enumerate() {
        edges.push(Edge {
            from: number(&hop.from),
            to: number(&hop.to),
            kind: hop.kind,
            approximate: hop.approximate,
        });
        // The path stays in a thread between two hops; a cycle may also go back in time there, and then has no edge.
        if let Some(next) = hops.get(i + 1)
            && hop.to.index < next.from.index
        {
            edges.push(Edge {
                from: number(&hop.to),
                to: number(&next.from),
                kind: EdgeKind::Program,
                approximate: false,
            });
        }
    }
    Interleaving {
        analysis: analysis.to_owned(),
        transactions: (members.iter())
            .map(|member| Transaction {
                thread: describe.tables.thread_name(member.thread),
                region: region_of(describe, member),
                begin: member.begin.0,
                end: member.end.map(|end| end.0),
            })
            .collect(),
        steps,
        edges,
        torn: None,
    }
}

fn headline(
    region: &Region,
    describe: &Describe<'_>,
    hops: &[Hop],
    leaves: &At,
    enters: &At,
) -> String {
    let between = hops.first().map_or(leaves, |hop| &hop.to);
    let more = match hops.len().saturating_sub(2) {
        0 => String::new(),
        1 => " and another thread after it".to_owned(),
        n => format!(" and {n} more threads after it"),
    };
    format!(
        "{} is torn: between its {} and its {} comes thread {}'s {}{more}",
        region.short_name(),
        phrase(describe, leaves),
        phrase(describe, enters),
        describe.tables.thread_name(between.event.thread),
        phrase(describe, between),
    )
}

fn phrase(describe: &Describe<'_>, at: &At) -> String {
    let step = describe.step(0, at.index, &at.event);
    let place = describe.tables.site_name(at.event.site);
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    format!("{} of {}{place}", step.op, step.target)
}

fn enumeration(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
