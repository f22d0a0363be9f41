//! How much each finding deserves a look, judged from the evidence of all analyses and from the bytecode of its region.
//!
//! What counts, after what the field found to work:
//! - *Stale values:* a value read before the tear is used after it, in a write, a return, or a branch that is not taken again on a fresh value (Burrows and Leino, "Finding stale-value errors in concurrent programs"; Artho, Havelund and Biere, "Using block-local atomicity to detect stale-value concurrency errors").
//!   Decided by definitions and uses in the region's own code ([`flow`]).
//! - *Idioms* that are correct though they are torn ([`idiom`]): they are low whatever else is true, and named.
//! - *Pattern:* which accesses tear, and of what ([`pattern`]); the unserializable interleavings of Lu, Tucek, Qin and Zhou, "AVIO".
//! - *Rarity:* a region that is whole ten thousand times and torn twice was meant to be whole (the invariants of AVIO).
//! - *Intent:* what names and locks say of what the author meant ([`intent`]).
//! - Without a run, whether the two parts belong together at all ([`apart`]), and whether the class keeps its fields to one thread at a time ([`confined`]).
//!
//! A finding without code, as of a text trace, is judged by the rest, and nothing is claimed of its values.
//!
//! *Architecture invariant:* findings and class files in, ranks out; no analysis is run again, and no verdict changes.

mod apart;
mod callee;
mod code;
mod confined;
mod ends;
mod flow;
mod idiom;
mod intent;
mod locks;
mod pattern;
mod sections;
mod sites;

use std::collections::BTreeSet;

use untorn_findings::{Document, Finding, GuardLoss, Kind, Level, Rank, fingerprint};
use untorn_program::InstrId;

pub use code::{Code, classes_of};

use code::RegionBody;
use ends::{Access, End, Ends};
use flow::{Flow, Stale};
use idiom::Idiom;
use pattern::Pattern;
use sections::Lock;

/// From so many points on a finding is high.
const HIGH: i32 = 4;
/// From so many points on a finding is medium.
const MEDIUM: i32 = 2;

/// Ranks every finding that has no rank yet, says where in its region each step is called and how the source calls its locks, and puts the highest first.
pub fn rank(document: &mut Document, code: &Code) {
    let demoted = document.demoted();
    let demoted: BTreeSet<String> =
        (demoted.iter().map(|region| fingerprint(region, &[]))).collect();
    for finding in &mut document.findings {
        sites::fill_in(finding, code);
        locks::fill_in(finding, code);
        if finding.rank.is_none() {
            let is_demoted = demoted.contains(&fingerprint(&finding.region, &[]));
            finding.rank = Some(most_telling(finding, code, is_demoted));
        }
    }
    callee::leave_callers(&mut document.findings, code);
    document.sort();
}

/// Puts last what is about the platform's own methods: nobody who checks a program can repair them.
pub fn leave_platform(document: &mut Document) {
    let of_platform = |finding: &&mut Finding| {
        (finding.region.class.as_deref()).is_some_and(apart::is_platform) && finding.rank.is_none()
    };
    for finding in document.findings.iter_mut().filter(of_platform) {
        finding.rank = Some(low(
            "it is a method of the platform, which the program only calls",
        ));
    }
}

/// Points for and against, each with its reason.
#[derive(Debug, Default)]
struct Scale {
    reasons: Vec<(i32, String)>,
}

impl Scale {
    fn put(&mut self, points: i32, why: impl Into<String>) {
        self.reasons.push((points, why.into()));
    }

    fn rank(mut self) -> Rank {
        let points: i32 = self.reasons.iter().map(|(points, _)| points).sum();
        let level = match points {
            HIGH.. => Level::High,
            MEDIUM.. => Level::Medium,
            _ => Level::Low,
        };
        // What speaks for the level comes first.
        let sign = if level == Level::Low { 1 } else { -1 };
        self.reasons.sort_by_key(|(points, _)| sign * points);
        Rank {
            level,
            reasons: self.reasons.into_iter().map(|(_, why)| why).collect(),
            idiom: None,
        }
    }
}

fn low(why: impl Into<String>) -> Rank {
    Rank {
        level: Level::Low,
        reasons: vec![why.into()],
        idiom: None,
    }
}

fn named(idiom: Idiom) -> Rank {
    Rank {
        level: Level::Low,
        reasons: vec![idiom.why.to_owned()],
        idiom: Some(idiom.name.to_owned()),
    }
}

/// Whether a run, or a trace of one, has shown an order of accesses or the locks that were held.
fn is_watched(finding: &Finding) -> bool {
    let evidence = &finding.evidence;
    !evidence.interleavings.is_empty() || !evidence.reductions.is_empty()
}

/// Why others can hardly come between, though types do not see it: both ends are in one critical section, and nobody is known to go without its lock.
fn kept_together(
    finding: &Finding,
    body: &RegionBody<'_>,
    flow: &Flow,
    ends: &Ends,
) -> Option<&'static str> {
    let both: Vec<_> = flow.first.iter().chain(&flow.second).copied().collect();
    let lock = sections::around(body, &both, ends.are_reads())?;
    let mut lost = lost_guards(finding);
    match lock {
        Lock::Fixed if lost.next().is_none() => {
            Some("both parts are in one critical section, and no access without its lock is known")
        }
        // Objects of another class may be guarded by the lock of the one that has them.
        Lock::Fixed => lost_guards(finding)
            .all(|guard| is_of_another(&guard.field, finding) && is_inside(guard, body, &both))
            .then_some(
                "both parts are in one critical section, whose lock may well guard the objects of the other class",
            )
            .or_else(|| {
                lost_guards(finding)
                    .all(|guard| apart::is_written_to_another(body, guard))
                    .then_some(
                        "both parts are in one critical section, and what goes without its lock is written to an object that the caller has given",
                    )
            }),
        Lock::Picked => lost
            .all(|guard| guard.place.as_ref().is_some_and(|place| body.holds(place)))
            .then_some(
                "both parts are in one critical section, whose lock is picked while the program runs or is of a kind that types do not follow",
            ),
    }
}

fn lost_guards(finding: &Finding) -> impl Iterator<Item = &GuardLoss> {
    (finding.evidence.typings.iter()).flat_map(|typing| &typing.guards_lost)
}

/// Whether no access at all has the lock that would have guarded a field best, in a class that uses locks.
fn is_never_guarded(finding: &Finding, body: &RegionBody<'_>) -> bool {
    let mut lost = lost_guards(finding).peekable();
    finding.evidence.method_views.is_empty()
        && lost.peek().is_some()
        && lost.all(|guard| guard.held == Some(0))
        && (std::iter::once(body.clone()).chain(body.neighbours())).any(|it| intent::locks(&it))
}

/// Whether a field is of another class than the region.
fn is_of_another(field: &str, finding: &Finding) -> bool {
    let field = field.strip_suffix(" (content)").unwrap_or(field);
    let class = field.rsplit_once('.').map(|(class, _)| class);
    class.is_some() && class != finding.region.class.as_deref()
}

/// Whether the access without the guard is one that the region makes itself, or what it calls at its ends.
fn is_inside(guard: &GuardLoss, body: &RegionBody<'_>, ends: &[InstrId]) -> bool {
    (guard.place.as_ref()).is_some_and(|place| {
        body.holds(place)
            || (place.method.as_deref()).is_some_and(|method| {
                (ends.iter()).all(|id| body.leads_to(body.body.instr(*id), method))
            })
    })
}

/// The rank by the order of accesses that says most; it is then shown first.
///
/// One region is torn in several ways: one execution reads twice, another one writes what it made of a stale value.
/// An idiom that explains the region and that one of them shows is the idiom of the region.
fn most_telling(finding: &mut Finding, code: &Code, is_demoted: bool) -> Rank {
    let decides = |rank: &Rank| rank.idiom.as_deref().is_some_and(idiom::explains_region);
    let first = judge(finding, code, is_demoted);
    let orders = finding.evidence.interleavings.len();
    if orders < 2 || decides(&first) {
        return first;
    }
    let mut best = (0, first);
    for at in 1..orders {
        let mut other = finding.clone();
        other.evidence.interleavings.swap(0, at);
        let rank = judge(&other, code, is_demoted);
        if decides(&rank) {
            return rank;
        }
        if rank.level > best.1.level {
            best = (at, rank);
        }
    }
    finding.evidence.interleavings.swap(0, best.0);
    best.1
}

fn judge(finding: &Finding, code: &Code, is_demoted: bool) -> Rank {
    let evidence = &finding.evidence;
    match finding.kind {
        Kind::ForkJoin => {
            return low("only threads that the region itself starts come between its parts");
        }
        Kind::ViewInconsistency => {
            return low(
                "fields are used together here and apart there, and no region is known that this could tear",
            );
        }
        Kind::Race if evidence.races.iter().all(|race| race.benign_candidate) => {
            return low("writes hold a lock in common, reads do not");
        }
        Kind::Race => {
            return Rank {
                level: Level::Medium,
                ..low("no lock is held at all accesses")
            };
        }
        _ => {}
    }
    let is_watched = is_watched(finding);
    if let Some(why) = apart::at_either_end_of_life(&finding.region).filter(|_| !is_watched) {
        return low(why);
    }
    let Some(mut ends) = Ends::of(finding) else {
        return without_ends(finding);
    };
    let mut body = code.region(&finding.region);
    let mut flow = body.as_ref().and_then(|body| Flow::of(body, &ends));
    if !is_watched {
        let ends_at = |wanted: fn(&End) -> bool| wanted(&ends.first) || wanted(&ends.second);
        if ends_at(apart::is_of_compiler) {
            return low("it reads a table that the compiler made and nobody changes");
        }
        if ends_at(apart::asks_platform) {
            return low("it asks the platform for something that is no shared data of the program");
        }
        if apart::is_view_of_map(&ends.first) && apart::is_view_of_map(&ends.second) {
            return low("a map makes a view of itself once more at worst");
        }
        if let Some(why) = body.as_ref().and_then(apart::is_used_alone) {
            return low(why);
        }
        if body
            .as_ref()
            .is_some_and(|body| apart::is_guessed(finding, body))
        {
            return low(
                "it gets there only by calls of the library's classes, and which objects they are on is a guess",
            );
        }
        if let Some(views) = evidence.method_views.first() {
            let flows = flow.as_ref().is_some_and(|flow| flow.stale.is_some());
            if views.sections.len() > 1 && apart::is_far(finding, views, flows) {
                return low(
                    "the critical sections are about a class that it reaches only through others",
                );
            }
            if apart::is_repeated(finding, views) {
                return low("it takes the same step twice, and each time it is whole");
            }
        }
        // Both ends lie in something that it calls: what is there decides.
        if let Some(inner) = ends
            .inside(&finding.region)
            .and_then(|inner| code.region(&inner))
        {
            if let (Some(body), Some(flow)) = (&body, &flow)
                && let Some(why) = kept_together(finding, body, flow, &ends)
            {
                return low(why);
            }
            flow = Flow::of(&inner, &ends);
            body = Some(inner);
        }
    }
    let idiom = body.as_ref().and_then(|body| match &flow {
        Some(flow) => idiom::of(body, flow, &ends),
        None => idiom::of_locks(body, &ends),
    });
    let idiom = idiom.or_else(|| idiom::lacks_only_validated_reads(finding, body.as_ref()?));
    let idiom =
        idiom.or_else(|| idiom::is_seen_only_by_validated_reads(finding, body.as_ref()?, &ends));
    let idiom = idiom.or_else(|| {
        let (inner, flow) = callee::of(body.as_ref()?, flow.as_ref()?, &ends)?;
        idiom::of(&inner, &flow, &ends)
    });
    if let Some(idiom) = idiom {
        return named(idiom);
    }
    if !finding.verdict.is_seen() && body.as_ref().is_some_and(apart::is_of_coroutines) {
        return low(
            "its class holds a lock of coroutines, which only the exact analyses of a run see through",
        );
    }
    // Locks say where it is torn, and what was learned under them why.
    if !is_watched
        && let Some(body) = &body
        && let Some(learned) = ends.in_sections(body)
    {
        flow = Flow::of(body, &learned);
        ends = learned;
        if let Some(idiom) = flow
            .as_ref()
            .and_then(|flow| idiom::double_check(body, flow))
        {
            return named(idiom);
        }
    }
    // Without a run an analysis names the first two accesses that do not compose; a write behind them matters more.
    if finding.evidence.interleavings.is_empty()
        && let Some(body) = &body
        && let Some(later) = ends.with_write(body)
    {
        flow = Flow::of(body, &later);
        ends = later;
        let checked = (flow.as_ref()).and_then(|flow| idiom::of(body, flow, &ends));
        let again = (flow.as_ref()).and_then(|flow| idiom::double_check(body, flow));
        if let Some(idiom) = checked.filter(|_| ends.first.field().is_none()).or(again) {
            return named(idiom);
        }
    }
    if ends.is_one() && !is_watched {
        return without_ends(finding);
    }
    if let Some(idiom) = idiom::snapshot(&ends).filter(|_| !is_watched) {
        return named(idiom);
    }
    let mut scale = Scale::default();
    if !is_watched && let (Some(body), Some(flow)) = (&body, &flow) {
        ends.look_inside(body, flow);
    }
    let mut pattern = Pattern::of(&ends);
    if !is_watched && pattern == Pattern::Unknown {
        return low("the accesses that are torn apart are not known");
    }
    if !is_watched && let (Some(body), Some(flow)) = (&body, &flow) {
        let idiom =
            idiom::without_run(body, flow, &ends).or_else(|| confined::of(body, flow, &ends));
        if let Some(idiom) = idiom {
            return named(idiom);
        }
        if let Some(why) = kept_together(finding, body, flow, &ends) {
            return low(why);
        }
        if finding.evidence.method_views.is_empty()
            && let Some(why) = apart::is_not_followed(body)
        {
            return low(why);
        }
        // Types name the field, and not of which object.
        if matches!(pattern, Pattern::LostUpdate | Pattern::DirtyRead) && flow.on_two_objects(body)
        {
            pattern = Pattern::TwoObjects;
        }
        if matches!(pattern, Pattern::TwoObjects | Pattern::TwoVariables)
            && apart::on_one_object(body, flow)
        {
            pattern = if ends.are_reads() {
                Pattern::TwoQuestions
            } else {
                Pattern::TwoCalls
            };
        }
        if pattern != Pattern::TwoObjects && apart::on_two_objects(body, flow) {
            pattern = Pattern::TwoObjects;
        }
        // An update is lost only if what is written depends on what was read.
        if pattern == Pattern::LostUpdate && flow.stale.is_none() {
            pattern = Pattern::Overwritten;
        }
        if let Some(why) = belong_apart(body, flow, &ends, pattern) {
            return low(why);
        }
    }
    scale.put(pattern.points(), pattern.words());
    if !is_watched
        && flow.is_none()
        && matches!(pattern, Pattern::TwoObjects | Pattern::TwoVariables)
    {
        scale.put(
            -1,
            "both parts lie in what it calls, and nothing shows that the one is used for the other",
        );
    }
    if !is_watched
        && pattern == Pattern::TwoCalls
        && let (Some(body), Some(flow)) = (&body, &flow)
        && flow.stale.is_none()
        && idiom::in_rounds(body, flow)
    {
        scale.put(
            -1,
            "both calls are in a loop, of which each round may well be a step of its own",
        );
    }
    if is_watched
        && let (Some(body), Some(flow)) = (&body, &flow)
        && idiom::repeats_step(body, flow, &ends)
    {
        scale.put(
            -2,
            "it takes the same step again and again in a loop, and each may well be one by itself",
        );
    }
    if let (Some(body), Some(flow)) = (&body, &flow)
        && idiom::publishes_early(body, flow)
    {
        scale.put(
            3,
            "what it makes under the lock is seen by those who look without it, and is still worked on then",
        );
    }
    match &flow {
        Some(flow) => match flow.stale {
            Some(stale) => scale.put(stale.points(), stale.words(&ends)),
            // What was stored before the tear may be seen together with what is read after it.
            None if ends.are_reads() && !flow.is_stored => {
                scale.put(-2, "nothing that is read before the tear is used after it");
            }
            None if is_watched && are_strangers(body.as_ref(), flow, &ends, pattern) => {
                scale.put(
                    -3,
                    "nothing of the one object is used for the other, and no other method uses both",
                );
            }
            None => {}
        },
        None if ends.gives_up_lock() => {
            scale.put(
                -1,
                "what it learned under the lock is not known to be used after",
            );
        }
        None => {}
    }
    if let (Some(body), Some(flow)) = (&body, &flow)
        && intent::bounds_index(body, flow)
    {
        scale.put(
            2,
            "the size bounds an index, which can then be out of range",
        );
    }
    if finding.verdict.is_seen() {
        scale.put(1, "it happened in the recorded run");
    } else if ends.only_synchronization && !ends.gives_up_lock() {
        scale.put(
            -4,
            "only synchronization orders what came between, no data of the region",
        );
    }
    if is_demoted {
        scale.put(
            -4,
            "an execution of it stayed open for long, so it was hardly meant to be one step",
        );
    }
    if !is_watched && body.as_ref().is_some_and(apart::is_lock_free) {
        scale.put(
            -2,
            "its class keeps fields together without locks, by compareAndSet, which a check does not follow",
        );
    }
    if !is_watched
        && body
            .as_ref()
            .is_some_and(|body| is_never_guarded(finding, body))
    {
        scale.put(
            -2,
            "its class takes locks, and none for any access to this, so it keeps it to one thread at a time in another way",
        );
    }
    rarity(finding, &mut scale);
    if let Some(body) = &body {
        intent::of_code(body, &mut scale);
    }
    intent::of_name(&finding.region, pattern, &mut scale);
    scale.rank()
}

/// Whether the ends are of two objects that nothing but this region brings together.
fn are_strangers(
    body: Option<&RegionBody<'_>>,
    flow: &Flow,
    ends: &Ends,
    pattern: Pattern,
) -> bool {
    pattern == Pattern::TwoObjects
        && body.is_some_and(|body| !apart::used_together(body, flow, ends))
}

/// Why the two parts that a check names are hardly meant as one step.
fn belong_apart(
    body: &RegionBody<'_>,
    flow: &Flow,
    ends: &Ends,
    pattern: Pattern,
) -> Option<&'static str> {
    let two = matches!(pattern, Pattern::TwoObjects | Pattern::TwoVariables);
    if apart::follows_reference(&body.body, flow) {
        return Some("it reads a reference and goes on with the object that it refers to");
    }
    if two && flow.stale.is_none() && !apart::used_together(body, flow, ends) {
        return Some(
            "nothing of the one part is used for the other, and no other method uses both",
        );
    }
    if ends.second.access == Access::Read && apart::only_thrown(&body.body, flow) {
        return Some("what is read last is only for an exception that is thrown");
    }
    if pattern == Pattern::TwoObjects
        && flow.stale.is_some()
        && apart::only_refuses(&body.body, flow)
    {
        return Some("what is read first only decides whether the call is refused");
    }
    if pattern == Pattern::TwoObjects && ends.are_reads() && !apart::used_together(body, flow, ends)
    {
        return Some("it asks two objects, and no other method uses both");
    }
    None
}

/// What can be said where no two accesses are known between which others come.
fn without_ends(finding: &Finding) -> Rank {
    let by_data = (finding.evidence.interleavings.iter()).any(|order| {
        order
            .edges
            .iter()
            .any(|edge| edge.kind == untorn_findings::EdgeKind::Data)
    });
    match finding.kind {
        Kind::Cycle if by_data => Rank {
            level: Level::Medium,
            ..low("the regions see each other's data in an order that no serial run has")
        },
        Kind::Cycle => low("only synchronization orders the regions, no data"),
        // A view that nobody can say where it is torn is no place to repair.
        Kind::MethodInconsistency => low(
            "the views of its critical sections differ, and no two accesses are known that others come between",
        ),
        Kind::Reduction | Kind::Torn => Rank {
            level: Level::Medium,
            ..low("the evidence does not say between which accesses others come")
        },
        _ => low("no conflict between its parts is known"),
    }
}

fn rarity(finding: &Finding, scale: &mut Scale) {
    /// Fewer executions say nothing.
    const ENOUGH: u64 = 20;
    let Some(executions) = finding.executions else {
        return;
    };
    let (torn, of) = (executions.torn, executions.of);
    if torn == 0 || of < ENOUGH {
        return;
    }
    if torn.saturating_mul(100) <= of {
        scale.put(1, "it is whole in almost all executions");
    } else if torn.saturating_mul(2) >= of {
        scale.put(
            -2,
            "it is torn in most executions, so it was hardly meant to be whole",
        );
    }
}

impl Stale {
    fn points(self) -> i32 {
        match self {
            Self::Written => 2,
            Self::Returned | Self::Checked => 1,
        }
    }

    fn words(self, ends: &Ends) -> String {
        let what = ends.first.short_target();
        let line = |line: Option<u32>| line.map_or_else(String::new, |n| format!(" at line {n}"));
        match self {
            Self::Written => format!(
                "a stale value: what is read of {what}{} decides what is written{}",
                line(ends.first.line()),
                line(ends.second.line())
            ),
            Self::Returned => format!(
                "a stale value: what is read of {what}{} is still used after the tear",
                line(ends.first.line())
            ),
            Self::Checked => format!(
                "a stale check: what is read of {what}{} is not checked again{}",
                line(ends.first.line()),
                line(ends.second.line()).replace(" at", " before")
            ),
        }
    }
}
