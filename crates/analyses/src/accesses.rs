//! Which earlier accesses an access conflicts with.
//!
//! Each location keeps the mark of its last write and the latest mark of each thread that has read it since; earlier accesses are implied by these.
//! Marks are as in [`sync_order`](crate::sync_order): whatever the analysis calls a point of a thread.
//!
//! An analysis may let one mark stand for several events of a thread, provided that it need not tell them apart.
//! A repeated access with the same mark then costs a comparison and no more.
//!
//! Accesses whose place in the order is approximate are kept apart, in a twin of the location that overlaps it.
//! So an exact conflict is never hidden behind an approximate one.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::conflict::AccessKind;
use untorn_model::{AccessFlags, Event, Op, Tables, ThreadId, VarId};

use crate::sync_order::Marked;

const NOBODY: ThreadId = ThreadId(u32::MAX);

/// The accesses of one location that matter to later ones.
#[derive(Clone, Copy, Debug)]
struct Latest<M> {
    write: Marked<M>,
    /// A thread that has read since the last write.
    reader: Marked<M>,
    /// Other such threads: one more than the index of their list, or 0.
    more: u32,
}

impl<M: Copy + Default> Default for Latest<M> {
    fn default() -> Self {
        let nobody = Marked {
            thread: NOBODY,
            mark: M::default(),
        };
        Self {
            write: nobody,
            reader: nobody,
            more: 0,
        }
    }
}

/// The latest accesses of every location.
#[derive(Clone, Debug)]
pub struct Accesses<M> {
    /// By location; none where only few locations are expected.
    vars: Vec<Latest<M>>,
    few: HashMap<VarId, Latest<M>, FxBuildHasher>,
    sparse: bool,
    /// Whether some location is a range or a whole.
    covering: bool,
    /// Approximate accesses, apart.
    twins: HashMap<VarId, Latest<M>, FxBuildHasher>,
    /// Sorted by thread.
    lists: Vec<Vec<Marked<M>>>,
    unused_lists: Vec<u32>,
    /// How many marks are in lists.
    listed: usize,
}

impl<M> Default for Accesses<M> {
    fn default() -> Self {
        Self {
            vars: Vec::new(),
            few: HashMap::default(),
            sparse: false,
            covering: false,
            twins: HashMap::default(),
            lists: Vec::new(),
            unused_lists: Vec::new(),
            listed: 0,
        }
    }
}

/// An access as [`Accesses::access`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct Access<M> {
    pub thread: ThreadId,
    pub var: VarId,
    pub flags: AccessFlags,
    pub kind: AccessKind,
    /// The mark of the thread as it is before the conflicts are known.
    pub mark: M,
}

impl<M: Copy + Default + PartialEq> Accesses<M> {
    /// For a short stretch of a trace, which touches few of its locations.
    pub fn sparse() -> Self {
        Self {
            sparse: true,
            covering: true,
            ..Self::default()
        }
    }

    /// Shows every mark that is kept, so that it can be called otherwise from now on.
    pub fn each_mark(&mut self, mut visit: impl FnMut(&mut M)) {
        let latest = (self.vars.iter_mut())
            .chain(self.few.values_mut())
            .chain(self.twins.values_mut());
        for latest in latest {
            visit(&mut latest.write.mark);
            visit(&mut latest.reader.mark);
        }
        for marked in self.lists.iter_mut().flatten() {
            visit(&mut marked.mark);
        }
    }

    #[inline]
    fn latest(&self, var: VarId) -> Option<&Latest<M>> {
        if self.sparse {
            self.few.get(&var)
        } else {
            self.vars.get(var.index())
        }
    }

    /// Makes room for the locations of the tables; to be called once a batch.
    pub fn grow(&mut self, tables: &Tables) {
        if self.vars.len() < tables.vars().len() {
            let new = tables.vars().entries_from(self.vars.len());
            self.covering |= new.iter().any(|var| var.part.is_approximate());
            self.vars.resize(tables.vars().len(), Latest::default());
        }
    }

    /// Whether an access with this mark has nothing to add: no new conflict, and nothing to remember.
    #[inline]
    pub fn is_known(&self, access: &Access<M>, tables: &Tables) -> bool {
        let Some(latest) = self.latest(access.var) else {
            return false;
        };
        let own = Marked {
            thread: access.thread,
            mark: access.mark,
        };
        let known = match access.kind {
            // A write with this mark conflicts with all that the read would.
            // An approximate access is never known here: it is not recorded here.
            AccessKind::Read => latest.write == own || latest.reader == own,
            AccessKind::Write => latest.write == own && latest.reader.thread == NOBODY,
        };
        known
            && !access.flags.contains(AccessFlags::APPROXIMATE)
            && (self.is_alone(tables) || !self.has_overlaps(access, tables))
    }

    /// Whether no location overlaps another and no access is approximate.
    #[inline]
    fn is_alone(&self, tables: &Tables) -> bool {
        !tables.any_overlaps() && self.twins.is_empty()
    }

    #[cold]
    fn has_overlaps(&self, access: &Access<M>, tables: &Tables) -> bool {
        !tables.overlapping(access.var).is_empty() || self.twins.contains_key(&access.var)
    }

    /// Tells `after` every access of another thread that this one comes after, and whether the conflict is exact.
    ///
    /// Leave the access's own mark with [`Self::record`] once its predecessors are known.
    #[inline]
    pub fn conflicts(
        &self,
        access: &Access<M>,
        tables: &Tables,
        mut after: impl FnMut(Marked<M>, bool),
    ) {
        let var = access.var;
        let approximate = access.flags.contains(AccessFlags::APPROXIMATE);
        if approximate || !self.is_alone(tables) {
            self.overlapping_conflicts(access, tables, &mut after);
            if approximate {
                return;
            }
        }
        let Some(latest) = self.latest(var) else {
            return;
        };
        let others = latest.write.thread != access.thread || latest.reader.thread != NOBODY;
        if others {
            let exact = !self.covering
                || (tables.vars().get(var)).is_some_and(|var| !var.part.is_approximate());
            self.of(latest, access, |marked| after(marked, exact));
        }
    }

    #[inline]
    fn of(&self, latest: &Latest<M>, access: &Access<M>, mut after: impl FnMut(Marked<M>)) {
        let mut other = |marked: &Marked<M>| {
            if marked.thread != access.thread && marked.thread != NOBODY {
                after(*marked);
            }
        };
        other(&latest.write);
        if access.kind == AccessKind::Write {
            other(&latest.reader);
            if latest.more != 0 {
                self.lists[latest.more as usize - 1].iter().for_each(other);
            }
        }
    }

    #[cold]
    fn overlapping_conflicts(
        &self,
        access: &Access<M>,
        tables: &Tables,
        after: &mut impl FnMut(Marked<M>, bool),
    ) {
        let mut inexact = |latest: &Latest<M>| self.of(latest, access, |m| after(m, false));
        for other in tables.overlapping(access.var) {
            self.latest(*other).into_iter().for_each(&mut inexact);
            self.twins.get(other).into_iter().for_each(&mut inexact);
        }
        let twin = self.twins.get(&access.var);
        twin.into_iter().for_each(&mut inexact);
        if access.flags.contains(AccessFlags::APPROXIMATE) {
            self.latest(access.var).into_iter().for_each(inexact);
        }
    }

    /// Remembers the access under the mark that its thread has now.
    #[inline]
    pub fn record(&mut self, access: &Access<M>, mark: M) {
        let own = Marked {
            thread: access.thread,
            mark,
        };
        let latest = if access.flags.contains(AccessFlags::APPROXIMATE) {
            self.twins.entry(access.var).or_default()
        } else if self.sparse {
            self.few.entry(access.var).or_default()
        } else {
            &mut self.vars[access.var.index()]
        };
        match access.kind {
            AccessKind::Write => {
                latest.write = own;
                latest.reader.thread = NOBODY;
                if latest.more != 0 {
                    let list = &mut self.lists[latest.more as usize - 1];
                    self.listed -= list.len();
                    list.clear();
                    self.unused_lists.push(latest.more);
                    latest.more = 0;
                }
            }
            AccessKind::Read if latest.write == own => {}
            AccessKind::Read => {
                if latest.reader.thread == NOBODY || latest.reader.thread == own.thread {
                    latest.reader = own;
                    return;
                }
                if latest.more == 0 {
                    latest.more = self.unused_lists.pop().unwrap_or_else(|| {
                        self.lists.push(Vec::new());
                        self.lists.len() as u32
                    });
                }
                let list = &mut self.lists[latest.more as usize - 1];
                match list.binary_search_by_key(&own.thread, |marked| marked.thread) {
                    Ok(at) => list[at] = own,
                    Err(at) => {
                        list.insert(at, own);
                        self.listed += 1;
                    }
                }
            }
        }
    }

    /// Forgets a location: its id stands for another one from now on.
    pub fn forget(&mut self, var: VarId) {
        let latest = if self.sparse {
            self.few.remove(&var)
        } else {
            self.vars.get_mut(var.index()).map(std::mem::take)
        };
        for latest in [latest, self.twins.remove(&var)].into_iter().flatten() {
            if latest.more != 0 {
                let list = &mut self.lists[latest.more as usize - 1];
                self.listed -= list.len();
                list.clear();
                self.unused_lists.push(latest.more);
            }
        }
    }

    /// Forgets all locations of objects that are gone.
    pub fn forget_gone(&mut self, gone: &[Event], tables: &Tables) {
        for event in gone {
            if let Op::GoneObject(object) = event.op {
                tables.vars_of(object).for_each(|var| self.forget(var));
            }
        }
    }

    /// How many marks are kept, at most.
    pub fn len(&self) -> usize {
        2 * (self.vars.len() + self.few.len() + self.twins.len()) + self.listed
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Renames every mark, for an analysis that renumbers its own; drops it where `rename` yields `None`.
    pub fn retain(&mut self, mut rename: impl FnMut(M) -> Option<M>) {
        let mut keep = |marked: &mut Marked<M>| {
            if marked.thread == NOBODY {
                return;
            }
            match rename(marked.mark) {
                Some(mark) => marked.mark = mark,
                None => marked.thread = NOBODY,
            }
        };
        let apart = self.few.values_mut().chain(self.twins.values_mut());
        for latest in self.vars.iter_mut().chain(apart) {
            keep(&mut latest.write);
            keep(&mut latest.reader);
            if latest.more == 0 {
                continue;
            }
            let list = &mut self.lists[latest.more as usize - 1];
            let before = list.len();
            list.iter_mut().for_each(&mut keep);
            list.retain(|marked| marked.thread != NOBODY);
            if latest.reader.thread == NOBODY
                && let Some(last) = list.pop()
            {
                latest.reader = last;
            }
            self.listed -= before - list.len();
            if list.is_empty() {
                self.unused_lists.push(latest.more);
                latest.more = 0;
            }
        }
    }
}
