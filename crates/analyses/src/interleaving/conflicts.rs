//! The conflict order of a stretch of the trace, edge by edge.

use untorn_findings::EdgeKind;
use untorn_model::{Event, EventIndex, MethodId, Op, Tables, ThreadId};

use crate::accesses::{Access, Accesses};
use crate::sync_order::{Marked, SyncOrder};

/// Stands for an event that is not to be seen: it enters a method that is not known, on which no order and no transaction rests.
pub(crate) const UNSEEN: Op = Op::Enter(MethodId(u32::MAX));

/// An event of the stretch, with what the search notes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Point {
    /// From the begin of the stretch: no search goes farther than this can count.
    offset: u32,
    pub note: u32,
}

impl Point {
    pub(crate) fn new(index: EventIndex, note: u32, begin: EventIndex) -> Self {
        let offset = u32::try_from(index.0 - begin.0).unwrap_or(u32::MAX);
        Self { offset, note }
    }

    pub(crate) fn index(self, begin: EventIndex) -> EventIndex {
        EventIndex(begin.0 + u64::from(self.offset))
    }
}

/// An edge into the event at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub thread: ThreadId,
    pub from: Point,
    pub kind: EdgeKind,
    pub approximate: bool,
}

/// Which conflicts count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Exact data conflicts: what an *observed* verdict may rest on.
    ExactData,
    /// All data conflicts.
    Data,
    /// All conflicts.
    All,
}

/// Yields the edges into each event, as far as they are not implied by others.
#[derive(Clone, Debug)]
pub(crate) struct Conflicts {
    order: Order,
    accesses: Accesses<Point>,
    sync: SyncOrder<Point>,
    last: Vec<Option<Point>>,
}

impl Conflicts {
    pub(crate) fn new(order: Order, tables: &Tables) -> Self {
        Self {
            order,
            accesses: Accesses::sparse(),
            sync: SyncOrder::default(),
            last: vec![None; tables.threads.len()],
        }
    }

    /// Appends the edges into the event.
    pub(crate) fn incoming(&mut self, event: &Event, tables: &Tables, into: &mut Vec<Incoming>) {
        if let Some(access) = access_of(event) {
            let wanted = self.order;
            self.accesses.conflicts(&access, tables, |marked, exact| {
                if exact || wanted != Order::ExactData {
                    into.push(edge(marked, EdgeKind::Data, !exact));
                }
            });
        } else if self.order == Order::All {
            let last = &self.last;
            self.sync.acquire(
                event,
                |thread| last.get(thread.index()).copied().flatten(),
                |marked| into.push(edge(marked, EdgeKind::Sync, false)),
            );
        }
        if self.order == Order::All
            && event.op != UNSEEN
            && self.last[event.thread.index()].is_none()
            && let Some(fork) = self.sync.forked_at(event.thread)
        {
            into.push(edge(fork, EdgeKind::Sync, false));
        }
    }

    /// Takes that something is gone: no step of anybody, but its id stands for something else from now on.
    pub(crate) fn forget(&mut self, gone: &Event, tables: &Tables) {
        let gone = std::slice::from_ref(gone);
        self.accesses.forget_gone(gone, tables);
        self.sync.forget_gone(gone);
    }

    /// Shows every note that is kept, so that it can be another one from now on.
    pub(crate) fn each_note(&mut self, mut visit: impl FnMut(&mut u32)) {
        self.accesses.each_mark(|point| visit(&mut point.note));
        self.sync.each_mark(|point| visit(&mut point.note));
        for point in self.last.iter_mut().flatten() {
            visit(&mut point.note);
        }
    }

    /// Remembers the event with a note.
    pub(crate) fn record(&mut self, event: &Event, point: Point) {
        if let Some(access) = access_of(event) {
            self.accesses.record(&access, point);
        } else {
            self.sync.release(event, point);
        }
        // The life of a thread is shown by what is to be seen of it.
        if event.op != UNSEEN {
            self.last[event.thread.index()] = Some(point);
        }
    }
}

fn access_of(event: &Event) -> Option<Access<Point>> {
    let (var, flags) = event.op.access()?;
    Some(Access {
        thread: event.thread,
        var,
        flags,
        kind: event.op.access_kind()?,
        mark: Point::default(),
    })
}

fn edge(marked: Marked<Point>, kind: EdgeKind, approximate: bool) -> Incoming {
    Incoming {
        thread: marked.thread,
        from: marked.mark,
        kind,
        approximate,
    }
}
