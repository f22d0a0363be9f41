//! Any analysis, without the accesses of lines of which nobody wants to hear (`no_warn`).
//!
//! The Atomizer and the lockset analysis know such lines themselves; exact checkers and views need not.
//! An access that is left out makes no conflict, so whatever is still found is there: the rest of a region is looked at as ever.

use std::ops::Range;

use untorn_model::{Event, EventIndex, Kinds};
use untorn_trace::{Batch, Error, Replay};

use crate::assumptions::{Assumptions, Resolved};
use crate::interleaving::UNSEEN;
use crate::{Analysis, Context, Outcome};

/// The analysis; see the [module](self).
pub struct Silenced {
    inner: Box<dyn Analysis>,
    assumptions: Resolved,
    events: Vec<Event>,
}

impl std::fmt::Debug for Silenced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Silenced")
            .field("inner", &self.inner.name())
            .finish_non_exhaustive()
    }
}

impl Silenced {
    /// The analysis itself, if nothing is to be left out.
    pub fn around(inner: Box<dyn Analysis>, assumptions: &Assumptions) -> Box<dyn Analysis> {
        if assumptions.no_warn.is_empty() {
            return inner;
        }
        let only = Assumptions {
            no_warn: assumptions.no_warn.clone(),
            ..Assumptions::default()
        };
        Box::new(Self {
            inner,
            assumptions: Resolved::new(only),
            events: Vec::new(),
        })
    }
}

/// Puts the events into `into`, each in its place; what is left out is [`UNSEEN`].
fn leave_out(assumptions: &Resolved, events: &[Event], into: &mut Vec<Event>) {
    into.clear();
    into.extend(events.iter().map(|&event| {
        if event.op.access().is_some() && assumptions.is_silenced(event.site) {
            Event {
                op: UNSEEN,
                ..event
            }
        } else {
            event
        }
    }));
}

struct Quiet<'a> {
    replay: &'a dyn Replay,
    assumptions: &'a Resolved,
}

impl Replay for Quiet<'_> {
    fn replay(
        &self,
        range: Range<EventIndex>,
        visit: &mut dyn FnMut(&Batch<'_>),
    ) -> Result<(), Error> {
        let mut events = Vec::new();
        self.replay.replay(range, &mut |batch| {
            leave_out(self.assumptions, batch.events, &mut events);
            visit(&Batch {
                events: &events,
                ..*batch
            });
        })
    }
}

impl Analysis for Silenced {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn subscribes(&self) -> Kinds {
        self.inner.subscribes()
    }

    fn needs_replay(&self) -> bool {
        self.inner.needs_replay()
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.assumptions.grow(context.tables);
        leave_out(&self.assumptions, batch.events, &mut self.events);
        let quiet = context.replay.map(|replay| Quiet {
            replay,
            assumptions: &self.assumptions,
        });
        let context = &Context {
            replay: quiet.as_ref().map(|quiet| quiet as &dyn Replay),
            ..*context
        };
        let batch = Batch {
            events: &self.events,
            ..*batch
        };
        self.inner.batch(&batch, context)
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(Self {
            inner: self.inner.so_far()?,
            assumptions: self.assumptions.clone(),
            events: Vec::new(),
        }))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        self.assumptions.grow(context.tables);
        let quiet = context.replay.map(|replay| Quiet {
            replay,
            assumptions: &self.assumptions,
        });
        let context = &Context {
            replay: quiet.as_ref().map(|quiet| quiet as &dyn Replay),
            ..*context
        };
        self.inner.finish(context, outcome)
    }
}
