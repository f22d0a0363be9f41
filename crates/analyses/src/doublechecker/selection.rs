//! What a second run looks at: the regions that a profile names, and events outside of regions if it says so.
//!
//! [`Selection`] is the filter, [`Selected`] puts it before any analysis: `Selected` around velodrome is the paper's other second run.
//! All of an unselected transaction is left out, its synchronization too, as in the paper: there it is not instrumented at all.
//! Whatever order is lost by that leads through a transaction that was on no cycle, so over the trace that made the profile nothing is missed.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::{Event, EventIndex, Kinds, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::{Batch, Error, Replay};

use super::graph::Stretch;
use super::icd::Suspects as _;
use super::logs::{Excerpt, Logs};
use super::profile::{Profile, StaticRegion};
use crate::{Analysis, Context, Outcome};

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    depth: u32,
    selected: bool,
}

/// Decides event by event what a second run sees.
#[derive(Clone, Debug)]
pub struct Selection {
    profile: Profile,
    unary: bool,
    threads: Vec<Thread>,
    /// By region, as far as asked.
    known: Vec<Option<bool>>,
    unnamed: HashMap<(ThreadId, SiteId), bool, FxBuildHasher>,
}

impl Selection {
    /// `always_unary` looks at events outside of regions whatever the profile says.
    pub fn new(profile: Profile, always_unary: bool) -> Self {
        Self {
            unary: always_unary || profile.has_unary(),
            profile,
            threads: Vec::new(),
            known: Vec::new(),
            unnamed: HashMap::default(),
        }
    }

    /// Takes the next event and says whether it is to be looked at.
    #[inline]
    pub fn keeps(&mut self, tables: &Tables, event: &Event) -> bool {
        let t = event.thread.index();
        if t >= self.threads.len() {
            self.threads.resize(t + 1, Thread::default());
        }
        match event.op {
            Op::Begin(region) => {
                self.threads[t].depth += 1;
                if self.threads[t].depth == 1 {
                    self.threads[t].selected = self.selects(tables, event, region);
                }
                self.threads[t].selected
            }
            Op::End(_) => {
                let thread = &mut self.threads[t];
                thread.depth = thread.depth.saturating_sub(1);
                thread.selected
            }
            _ if self.threads[t].depth == 0 => self.unary,
            _ => self.threads[t].selected,
        }
    }

    fn selects(&mut self, tables: &Tables, event: &Event, region: RegionId) -> bool {
        let profile = &self.profile;
        let ask = || profile.contains(&StaticRegion::of(tables, region, event.thread, event.site));
        if region == RegionId::ANONYMOUS {
            let key = (event.thread, event.site);
            return *self.unnamed.entry(key).or_insert_with(ask);
        }
        if region.index() >= self.known.len() {
            self.known.resize(region.index() + 1, None);
        }
        *self.known[region.index()].get_or_insert_with(ask)
    }
}

/// Calls `visit` with each run of consecutive events that `keep` wants.
pub(super) fn runs(
    batch: &Batch<'_>,
    mut keep: impl FnMut(EventIndex, &Event) -> bool,
    mut visit: impl FnMut(&Batch<'_>),
) {
    let mut hand_over = |from: usize, to: usize| {
        if from < to {
            visit(&Batch {
                first: EventIndex(batch.first.0 + from as u64),
                events: &batch.events[from..to],
                kinds: batch.kinds,
            });
        }
    };
    let mut start = 0;
    for (i, (index, event)) in batch.indexed().enumerate() {
        if !keep(index, event) {
            hand_over(start, i);
            start = i + 1;
        }
    }
    hand_over(start, batch.events.len());
}

/// Any analysis of transactions, looking only at what a profile selects.
///
/// What it reads again at the end of the trace is what it was shown; while the trace is read it must not read it again.
pub struct Selected {
    inner: Box<dyn Analysis>,
    selection: Selection,
    kept: Logs,
    /// By thread: since when all its events were kept.
    since: Vec<Option<u64>>,
    /// Whether ids were used again.
    reused: bool,
}

impl std::fmt::Debug for Selected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selected")
            .field("inner", &self.inner.name())
            .finish_non_exhaustive()
    }
}

impl Selected {
    pub fn new(inner: Box<dyn Analysis>, selection: Selection) -> Self {
        Self {
            inner,
            selection,
            kept: Logs::default(),
            since: Vec::new(),
            reused: false,
        }
    }
}

impl Analysis for Selected {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn subscribes(&self) -> Kinds {
        self.inner.subscribes().union(Kinds::REGIONS)
    }

    fn needs_replay(&self) -> bool {
        self.inner.needs_replay()
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        let Self {
            inner,
            selection,
            kept,
            since,
            reused,
        } = self;
        *reused |= batch.kinds.intersects(Kinds::GONE);
        since.resize(context.tables.threads.len(), None);
        let context = &Context {
            replay: None,
            ..*context
        };
        let mut result = Ok(());
        let keep = |index: EventIndex, event: &Event| {
            if event.op.is_gone() {
                return true;
            }
            let keeps = selection.keeps(context.tables, event);
            let since = &mut since[event.thread.index()];
            if keeps {
                since.get_or_insert(index.0);
            } else if let Some(start) = since.take() {
                kept.add(Stretch {
                    thread: event.thread,
                    start,
                    end: index.0,
                });
            }
            keeps
        };
        runs(batch, keep, |run| {
            if result.is_ok() {
                result = inner.batch(run, context);
            }
        });
        result
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        for (thread, since) in self.since.iter_mut().enumerate() {
            if let Some(start) = since.take() {
                self.kept.add(Stretch {
                    thread: ThreadId(thread as u32),
                    start,
                    end: u64::MAX,
                });
            }
        }
        let stretches = std::mem::take(&mut self.kept).into_stretches();
        let excerpt = context.replay.map(|source| Excerpt {
            stretches: &stretches,
            source,
            reused: self.reused,
        });
        let context = &Context {
            replay: excerpt.as_ref().map(|excerpt| excerpt as &dyn Replay),
            ..*context
        };
        self.inner.finish(context, outcome)
    }
}
