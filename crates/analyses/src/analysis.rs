//! What an analysis is, and the pass that feeds several at once.

use serde_json::{Map, Value};
use untorn_findings::Finding;
use untorn_model::{Event, EventIndex, Kinds, Tables};
use untorn_trace::{Batch, Error, Progress, Replay, Source};

use crate::executions::Counter;
use crate::{Describe, surroundings};

/// What an analysis may look at beside the events.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub tables: &'a Tables,
    /// Reads earlier events again; there whenever an analysis says that it needs it.
    pub replay: Option<&'a dyn Replay>,
    /// Where the events come from, which knows the lines of a text trace.
    pub source: Option<&'a dyn Source>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

/// What a pass yields.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// As the analyses reported them, not merged yet.
    pub findings: Vec<Finding>,
    /// Counts by analysis name.
    pub stats: Map<String, Value>,
    /// What was left out and why, a sentence each.
    pub notes: Vec<String>,
    /// How often each region was begun, by its id.
    pub executions: Vec<u64>,
}

/// A consumer of the event stream.
///
/// Regions that are open at the end of the trace are closed there: `finish` judges the trace as if each had ended with its last event.
pub trait Analysis {
    /// The name it has on the command line and in findings.
    fn name(&self) -> &'static str;

    /// The kinds it wants; it must still ignore others that come in the same batch.
    /// That ids stand for something else from now on ([`Kinds::GONE`]) is told in any case; see [`Batch::parts`].
    fn subscribes(&self) -> Kinds;

    /// Whether it needs [`Context::replay`].
    fn needs_replay(&self) -> bool {
        false
    }

    /// Takes the next stretch of the trace; batches come in order and leave no gap, but one without any subscribed kind is left out.
    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error>;

    /// A copy that can be finished now while this one goes on, for who asks in the middle of a run; none if it cannot tell anything before the end.
    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        None
    }

    /// Takes the end of the trace and hands over what was found and counted.
    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error>;
}

/// Somebody who may want to know what was found so far, while the events still come.
pub trait Interim<S> {
    /// Whether somebody asks now.
    fn is_asked(&mut self) -> bool;

    /// Takes what [`run`] would have yielded if the trace had ended here.
    fn take(&mut self, so_far: Result<Outcome, Error>, source: &S);
}

/// Nobody asks.
struct Nobody;

impl<S> Interim<S> for Nobody {
    fn is_asked(&mut self) -> bool {
        false
    }

    fn take(&mut self, _: Result<Outcome, Error>, _: &S) {}
}

/// Feeds all of a source to all analyses in one pass.
pub fn run(
    mut source: &mut dyn Source,
    analyses: &mut [Box<dyn Analysis>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    run_and_tell(&mut source, analyses, progress, &mut Nobody)
}

/// As [`run`], and tells between two batches what was found so far if somebody asks.
pub fn run_and_tell<S: Source>(
    source: &mut S,
    analyses: &mut [Box<dyn Analysis>],
    progress: &mut dyn FnMut(Progress),
    interim: &mut dyn Interim<S>,
) -> Result<Outcome, Error> {
    let mut events: Vec<Event> = Vec::new();
    let mut pass = Pass::default();
    loop {
        let kinds = source.fill(&mut events)?;
        if events.is_empty() && source.is_over() {
            break;
        }
        let batch = Batch {
            first: pass.next,
            events: &events,
            kinds,
        };
        let context = Context {
            tables: source.tables(),
            replay: source.replay(),
            source: Some(&*source),
        };
        for analysis in &mut *analyses {
            if analysis.subscribes().union(Kinds::GONE).intersects(kinds) {
                analysis.batch(&batch, &context)?;
            }
        }
        pass.take(&batch);
        if interim.is_asked() {
            let mut copies: Vec<_> = analyses.iter().filter_map(|a| a.so_far()).collect();
            interim.take(pass.clone().conclude(&mut copies, &context), source);
        }
        progress(source.progress());
    }
    let context = Context {
        tables: source.tables(),
        replay: source.replay(),
        source: Some(&*source),
    };
    pass.conclude(analyses, &context)
}

/// What is known of a pass beside what the analyses know.
#[derive(Clone, Default)]
struct Pass {
    next: EventIndex,
    seen: Kinds,
    executions: Counter,
}

impl Pass {
    fn take(&mut self, batch: &Batch<'_>) {
        if batch.kinds.intersects(Kinds::REGIONS) {
            self.executions.batch(batch.events);
        }
        self.seen = self.seen.union(batch.kinds);
        self.next = EventIndex(batch.first.0 + batch.events.len() as u64);
    }

    /// What the analyses have to say if this is the end.
    fn conclude(
        self,
        analyses: &mut [Box<dyn Analysis>],
        context: &Context<'_>,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        (outcome.stats).insert("events".to_owned(), self.next.0.into());
        for analysis in analyses {
            analysis.finish(context, &mut outcome)?;
        }
        let executions = self.executions;
        executions.tell(&mut outcome.findings, Describe::new(context));
        outcome.executions = executions.into_counts();
        if let Some(replay) = context.replay {
            let calls = self.seen.intersects(Kinds::CALLS);
            let findings = &mut outcome.findings;
            surroundings::fill_in(findings, replay, Describe::new(context), calls)?;
        }
        Ok(outcome)
    }
}
