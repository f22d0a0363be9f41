//! The critical sections that are open, and what was accessed in each.
//!
//! An access is recorded once, in the section that was opened last.
//! The view of a section is what was recorded in it and in those opened after it that are still open; what a closed section recorded moves to the one opened before it.
//! So an access costs the same however many locks are held, and locks need not nest.

use untorn_model::{LockId, LockMode, SiteId, ThreadId, VarId};

use crate::lock_sets::{LockSetId, LockSets};
use crate::stacks::ContextId;

/// A location and where it was accessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    pub var: VarId,
    pub site: SiteId,
}

#[derive(Clone, Debug)]
struct Section {
    /// Never the same for two sections.
    serial: u64,
    lock: LockId,
    mode: LockMode,
    /// The locks of the sections opened before that are still open.
    enclosing: LockSetId,
    /// Where it was opened.
    context: ContextId,
    accesses: Vec<Access>,
    /// Duplicates are removed when there are so many.
    compact_at: usize,
}

/// What a closed section leaves.
#[derive(Clone, Copy, Debug)]
pub struct Closed<'a> {
    pub enclosing: LockSetId,
    /// Where it was opened.
    pub context: ContextId,
    /// Sorted, each location once; never empty.
    pub accesses: &'a [Access],
}

/// The open sections of all threads.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    threads: Vec<Vec<Section>>,
    serial: u64,
    /// Buffers of closed sections, to be used again.
    spare: Vec<Vec<Access>>,
    closed: Vec<Access>,
}

const COMPACT_AT: usize = 64;

impl Sections {
    pub fn grow(&mut self, threads: usize) {
        if self.threads.len() < threads {
            self.threads.resize(threads, Vec::new());
        }
    }

    pub fn open(
        &mut self,
        thread: ThreadId,
        mode: LockMode,
        lock: LockId,
        context: ContextId,
        sets: &mut LockSets,
    ) {
        self.serial += 1;
        let sections = &mut self.threads[thread.index()];
        let enclosing = match sections.last() {
            Some(last) => sets.with(last.enclosing, last.lock),
            None => LockSetId::EMPTY,
        };
        sections.push(Section {
            serial: self.serial,
            lock,
            mode,
            enclosing,
            context,
            accesses: self.spare.pop().unwrap_or_default(),
            compact_at: COMPACT_AT,
        });
    }

    /// Records an access; `recorded_by` is the section that recorded the location last.
    #[inline]
    pub fn access(&mut self, thread: ThreadId, access: Access, recorded_by: &mut u64) {
        if let Some(section) = self.threads[thread.index()].last_mut()
            && *recorded_by != section.serial
        {
            *recorded_by = section.serial;
            section.push(access);
        }
    }

    /// Whether a thread is in a critical section.
    #[inline]
    pub fn any_open(&self, thread: ThreadId) -> bool {
        !self.threads[thread.index()].is_empty()
    }

    /// Closes a section and tells what it was; `None` if it accessed nothing or lies in another one on the same lock.
    pub fn close(
        &mut self,
        thread: ThreadId,
        mode: LockMode,
        lock: LockId,
        sets: &mut LockSets,
    ) -> Option<Closed<'_>> {
        let sections = &mut self.threads[thread.index()];
        let wanted = |section: &Section| section.lock == lock && section.mode == mode;
        let at = sections.iter().rposition(wanted)?;
        // What later sections recorded belongs to this one too.
        self.closed.clear();
        for section in &sections[at..] {
            self.closed.extend_from_slice(&section.accesses);
        }
        compact(&mut self.closed);
        let mut section = sections.remove(at);
        if let Some(outer) = at.checked_sub(1) {
            sections[outer].take_in(&section.accesses);
        }
        let mut enclosing = section.enclosing;
        for later in &mut sections[at..] {
            later.enclosing = enclosing;
            enclosing = sets.with(enclosing, later.lock);
        }
        section.accesses.clear();
        self.spare.push(section.accesses);
        let nested = sets.contains(section.enclosing, lock);
        (!nested && !self.closed.is_empty()).then_some(Closed {
            enclosing: section.enclosing,
            context: section.context,
            accesses: &self.closed,
        })
    }

    /// Forgets locations that are gone, in sections that are still open.
    pub fn forget(&mut self, is_gone: impl Fn(VarId) -> bool) {
        for section in self.threads.iter_mut().flatten() {
            section.accesses.retain(|access| !is_gone(access.var));
        }
    }

    /// The sections that are open, innermost first.
    pub fn still_open(&self) -> Vec<(ThreadId, LockMode, LockId)> {
        let mut open = Vec::new();
        for (i, sections) in self.threads.iter().enumerate() {
            let thread = ThreadId(i as u32);
            open.extend((sections.iter().rev()).map(|s| (thread, s.mode, s.lock)));
        }
        open
    }
}

impl Section {
    fn push(&mut self, access: Access) {
        self.accesses.push(access);
        if self.accesses.len() >= self.compact_at {
            self.compact();
        }
    }

    fn take_in(&mut self, accesses: &[Access]) {
        self.accesses.extend_from_slice(accesses);
        if self.accesses.len() >= self.compact_at {
            self.compact();
        }
    }

    #[cold]
    fn compact(&mut self) {
        compact(&mut self.accesses);
        self.compact_at = COMPACT_AT.max(2 * self.accesses.len());
    }
}

/// Sorts, and keeps each location once.
pub fn compact(accesses: &mut Vec<Access>) {
    accesses.sort_unstable();
    accesses.dedup_by_key(|access| access.var);
}
