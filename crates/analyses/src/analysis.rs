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
#[derive(Debug, Default)]
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

    /// Takes the end of the trace and hands over what was found and counted.
    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error>;
}

/// Feeds all of a source to all analyses in one pass.
pub fn run(
    source: &mut dyn Source,
    analyses: &mut [Box<dyn Analysis>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, Error> {
    let mut events: Vec<Event> = Vec::new();
    let mut first = EventIndex(0);
    let mut seen = Kinds::default();
    let mut executions = Counter::default();
    loop {
        let kinds = source.fill(&mut events)?;
        if events.is_empty() {
            break;
        }
        let batch = Batch {
            first,
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
        if kinds.intersects(Kinds::REGIONS) {
            executions.batch(&events);
        }
        seen = seen.union(kinds);
        first = EventIndex(first.0 + events.len() as u64);
        progress(source.progress());
    }
    let context = Context {
        tables: source.tables(),
        replay: source.replay(),
        source: Some(&*source),
    };
    let mut outcome = Outcome::default();
    outcome.stats.insert("events".to_owned(), first.0.into());
    for analysis in analyses {
        analysis.finish(&context, &mut outcome)?;
    }
    executions.tell(&mut outcome.findings, Describe::new(&context));
    outcome.executions = executions.into_counts();
    if let Some(replay) = context.replay {
        let calls = seen.intersects(Kinds::CALLS);
        let findings = &mut outcome.findings;
        surroundings::fill_in(findings, replay, Describe::new(&context), calls)?;
    }
    Ok(outcome)
}
