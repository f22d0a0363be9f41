//! Threads that a transaction starts, and those whose end it has awaited.

use untorn_model::{Event, EventIndex, Op, ThreadId};

/// What every thread is to one transaction; takes up nothing until the transaction starts one.
#[derive(Debug)]
pub(super) struct Family {
    own: ThreadId,
    /// By thread: one more than the event with which the transaction started it, or started the one that started it, and so on.
    origins: Vec<u64>,
    /// By thread.
    awaited: Vec<bool>,
    /// By thread: whose ends it has awaited, since who awaits its own end awaits those too.
    awaits: Vec<Vec<ThreadId>>,
    threads: usize,
}

impl Family {
    /// The origin of a thread that the transaction did not start.
    pub(super) const FOREIGN: u64 = 0;

    pub(super) fn new(own: ThreadId, threads: usize) -> Self {
        Self {
            own,
            origins: Vec::new(),
            awaited: Vec::new(),
            awaits: Vec::new(),
            threads,
        }
    }

    /// Takes the next event of any thread.
    #[inline]
    pub(super) fn follow(&mut self, index: EventIndex, event: &Event) {
        match event.op {
            Op::Fork(child) => self.fork(index, event.thread, child),
            Op::Join(child) => self.join(event.thread, child),
            _ => {}
        }
    }

    fn fork(&mut self, index: EventIndex, parent: ThreadId, child: ThreadId) {
        let origin = if parent == self.own {
            index.0 + 1
        } else {
            self.origin(parent)
        };
        if origin == Self::FOREIGN {
            return;
        }
        self.origins.resize(self.threads, Self::FOREIGN);
        self.awaited.resize(self.threads, false);
        self.awaits.resize_with(self.threads, Vec::new);
        self.origins[child.index()] = origin;
    }

    /// Each thread is marked once, so this is linear in the joins.
    fn join(&mut self, by: ThreadId, child: ThreadId) {
        if self.is_alone() {
            return;
        }
        if by != self.own {
            self.awaits[by.index()].push(child);
            return;
        }
        let mut ended = vec![child];
        while let Some(thread) = ended.pop() {
            if !std::mem::replace(&mut self.awaited[thread.index()], true) {
                ended.append(&mut self.awaits[thread.index()]);
            }
        }
    }

    /// Whether the transaction has started nobody yet.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.origins.is_empty()
    }

    #[inline]
    pub(super) fn origin(&self, thread: ThreadId) -> u64 {
        (self.origins.get(thread.index())).map_or(Self::FOREIGN, |origin| *origin)
    }

    /// Whether the transaction has awaited the thread's end, or that of one that had.
    #[inline]
    pub(super) fn has_awaited(&self, thread: ThreadId) -> bool {
        (self.awaited.get(thread.index())).is_some_and(|awaited| *awaited)
    }
}
