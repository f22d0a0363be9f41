//! Which regions each thread is in: the outermost is its transaction, the inner ones are candidates for blame.

use untorn_model::{Event, EventIndex, Op, RegionId, SiteId, ThreadId};

/// One execution of a region, as it was begun.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Execution {
    pub region: RegionId,
    /// The event that began it; no two executions share one.
    pub begin: EventIndex,
    pub site: SiteId,
}

/// What an event did to its thread's nesting of regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nesting {
    /// It began a transaction.
    Outermost(Execution),
    /// It began a region inside of a transaction.
    Inner(Execution),
    /// It ended an inner region; the transaction goes on.
    InnerEnd(Execution),
    /// It ended the transaction; the event itself still belongs to it.
    OutermostEnd(Execution),
    /// It neither began nor ended a region.
    Unchanged,
}

/// The open regions of every thread.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    open: Vec<Vec<Execution>>,
}

impl Transactions {
    /// Takes the next event of the trace.
    #[inline]
    pub fn step(&mut self, index: EventIndex, event: &Event) -> Nesting {
        match event.op {
            Op::Begin(region) => self.begin(index, event, region),
            Op::End(_) => self.end(event.thread),
            _ => Nesting::Unchanged,
        }
    }

    fn begin(&mut self, index: EventIndex, event: &Event, region: RegionId) -> Nesting {
        let thread = event.thread.index();
        if thread >= self.open.len() {
            self.open.resize_with(thread + 1, Vec::new);
        }
        let execution = Execution {
            region,
            begin: index,
            site: event.site,
        };
        let stack = &mut self.open[thread];
        stack.push(execution);
        if stack.len() == 1 {
            Nesting::Outermost(execution)
        } else {
            Nesting::Inner(execution)
        }
    }

    fn end(&mut self, thread: ThreadId) -> Nesting {
        let Some(stack) = self.open.get_mut(thread.index()) else {
            return Nesting::Unchanged;
        };
        match stack.pop() {
            None => Nesting::Unchanged,
            Some(execution) if stack.is_empty() => Nesting::OutermostEnd(execution),
            Some(execution) => Nesting::InnerEnd(execution),
        }
    }

    /// The open regions of a thread, outermost first.
    #[inline]
    pub fn open(&self, thread: ThreadId) -> &[Execution] {
        self.open.get(thread.index()).map_or(&[], Vec::as_slice)
    }

    /// The open transaction of a thread.
    #[inline]
    pub fn transaction(&self, thread: ThreadId) -> Option<&Execution> {
        self.open(thread).first()
    }

    /// How many regions are open, by thread.
    pub fn depths(&self) -> Vec<u32> {
        self.open.iter().map(|stack| stack.len() as u32).collect()
    }

    /// The open regions of a thread that hold the event `since` and whatever comes now, outermost first; the last is the innermost.
    pub fn holding(&self, thread: ThreadId, since: EventIndex) -> &[Execution] {
        let open = self.open(thread);
        &open[..open.partition_point(|execution| execution.begin <= since)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_region_that_holds_two_events_is_found() {
        let mut transactions = Transactions::default();
        let thread = ThreadId(1);
        let mut step = |index, op| {
            let event = Event {
                thread,
                site: SiteId::UNKNOWN,
                op,
            };
            transactions.step(EventIndex(index), &event)
        };
        assert!(matches!(
            step(3, Op::Begin(RegionId(0))),
            Nesting::Outermost(_)
        ));
        assert!(matches!(step(5, Op::Begin(RegionId(1))), Nesting::Inner(_)));
        assert!(matches!(
            step(6, Op::End(RegionId(1))),
            Nesting::InnerEnd(_)
        ));
        assert!(matches!(step(8, Op::Begin(RegionId(2))), Nesting::Inner(_)));
        let begins = |since| {
            let held = transactions.holding(thread, EventIndex(since));
            held.iter().map(|e| e.begin.0).collect::<Vec<_>>()
        };
        assert_eq!(begins(9), [3, 8]);
        assert_eq!(begins(5), [3]);
        assert!(begins(2).is_empty());
        assert!(transactions.open(ThreadId(9)).is_empty());
        let end = Event {
            thread: ThreadId(9),
            site: SiteId::UNKNOWN,
            op: Op::End(RegionId(0)),
        };
        assert_eq!(transactions.step(EventIndex(10), &end), Nesting::Unchanged);
    }
}
