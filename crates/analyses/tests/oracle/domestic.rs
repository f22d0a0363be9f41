//! Whether a region is torn by more than threads that it starts and awaits itself, by brute force: one region at a time, over all of its events.

use untorn_model::conflict::AccessKind;
use untorn_model::{Event, Op};

use super::RegionExecution;

/// What one region knows of threads.
struct Region<'a> {
    events: &'a [Event],
    region: RegionExecution,
}

impl Region<'_> {
    fn owns(&self, event: usize) -> bool {
        self.events[event].thread.0 == self.region.thread
    }

    fn at(&self, wanted: impl Fn(Op) -> bool) -> impl Iterator<Item = usize> {
        (self.region.begin..=self.region.end).filter(move |i| wanted(self.events[*i].op))
    }

    /// Whether the region has started a thread, or one that has started it.
    fn started(&self, thread: u32) -> bool {
        let mut fork = self.at(|op| matches!(op, Op::Fork(child) if child.0 == thread));
        fork.next()
            .is_some_and(|i| self.owns(i) || self.started(self.events[i].thread.0))
    }

    /// Whether the region has awaited the end of a thread before an event, or of one that had.
    fn awaited(&self, thread: u32, before: usize) -> bool {
        self.at(|op| matches!(op, Op::Join(child) if child.0 == thread))
            .filter(|i| *i < before)
            .any(|i| self.owns(i) || self.awaited(self.events[i].thread.0, before))
    }
}

/// Whether no access between two that conflict makes the second depend on the first only through others.
///
/// Figure 5 of the DoubleChecker paper: a read depends on the last write, a write on that and on what was read since.
fn is_direct(events: &[Event], i: usize, j: usize) -> bool {
    let var = |event: &Event| event.op.access().map(|(var, _)| var);
    !events[i + 1..j].iter().any(|event| {
        var(event) == var(&events[i])
            && event.op.access_kind() == Some(AccessKind::Write)
            && !(event.op.access())
                .is_some_and(|(_, flags)| flags.contains(untorn_model::AccessFlags::APPROXIMATE))
    })
}

/// Follows every path of exact data conflicts from every event of the region.
pub fn is_torn_by_others(
    events: &[Event],
    region: RegionExecution,
    exact: &[(usize, usize)],
) -> bool {
    let own = Region { events, region };
    let inside = |i: usize| region.begin <= i && i <= region.end;
    // By event of another thread: reached by a path of the region's own threads, and by one that passed another.
    let mut reached = vec![[false; 2]; events.len()];
    for j in region.begin..=region.end {
        if own.owns(j) {
            continue;
        }
        let thread = events[j].thread;
        let previous = (region.begin..j)
            .rev()
            .find(|i| events[*i].thread == thread);
        let mut now = previous.map_or([false; 2], |i| reached[i]);
        let foreign = !own.started(thread.0);
        for &(i, _) in exact.iter().filter(|(i, k)| *k == j && inside(*i)) {
            let [by_own, by_others] = if own.owns(i) {
                [true, false]
            } else {
                reached[i]
            };
            now[0] |= by_own && !foreign;
            now[1] |= by_others || by_own && foreign;
        }
        reached[j] = now;
    }
    exact.iter().any(|&(i, j)| {
        let comes_back = inside(i) && inside(j) && own.owns(j);
        let [by_own, by_others] = reached[i];
        comes_back
            && (by_others
                || by_own && is_direct(events, i, j) && !own.awaited(events[i].thread.0, j))
    })
}
