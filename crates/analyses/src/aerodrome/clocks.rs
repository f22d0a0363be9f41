//! Vector clocks of single events, in two orders at once.
//!
//! A clock says, for every thread, the latest time of that thread that comes before: once by all conflicts, once by exact data conflicts alone.
//! A thread's entry for itself is special: the latest time of its own that has come *back* through another thread.
//!
//! Clocks that events leave behind are shared: a [`Stamp`] is a time of its thread and a clock, and stands for all events of a thread between which it learned nothing and no region began or ended.

use crate::ancestry::NodeId;

/// A time of a thread: the part of its run (a new one at each begin and end of a region), and in it, how often it has learned something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Time(pub u64);

impl Default for Time {
    /// The first time of a thread: a clock that knows nothing of it has 0.
    fn default() -> Self {
        Self(1)
    }
}

impl Time {
    const SHIFT: u32 = 24;

    pub(super) const fn first_of(part: u64) -> Self {
        Self(part << Self::SHIFT)
    }

    pub(super) const fn part(self) -> u64 {
        self.0 >> Self::SHIFT
    }

    /// The next time.
    ///
    /// Should one part learn more often than it can count, the next part begins: then a region around the innermost may be blamed too, which is as torn.
    pub(super) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Names a stamp; [`StampId::NONE`] stands for events that no open transaction has reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub(crate) struct StampId(u32);

impl StampId {
    pub(super) const NONE: Self = Self(0);
}

/// What events of a thread pass on to later ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub time: Time,
    clock: u32,
    pub node: NodeId,
}

/// So many numbers in clocks are no reason to collect them.
const WIDE: usize = 1 << 22;

/// Which of the two orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    All,
    ExactData,
}

/// The clocks of all threads, and those left behind.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Entries of one order in one clock: at least as many as threads.
    width: usize,
    /// Two orders a clock: left-behind clocks.
    left: Vec<u64>,
    /// By thread, two orders a clock; empty for a thread that knows nothing that matters.
    own: Vec<Vec<u64>>,
    /// By thread: the left-behind clock that equals its own, if any.
    current: Vec<Option<u32>>,
    stamps: Vec<Stamp>,
    live: usize,
    live_left: usize,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            width: 8,
            left: vec![0; 16],
            own: Vec::new(),
            current: Vec::new(),
            stamps: vec![Stamp {
                time: Time(0),
                clock: 0,
                node: NodeId::NONE,
            }],
            live: 0,
            live_left: 0,
        }
    }
}

impl Clocks {
    pub(super) fn grow(&mut self, threads: usize) {
        if threads > self.width {
            let width = threads.next_power_of_two();
            for clocks in self.own.iter_mut().chain([&mut self.left]) {
                let mut wider = Vec::with_capacity(clocks.len() / self.width * width);
                for order in clocks.chunks(self.width) {
                    wider.extend_from_slice(order);
                    wider.resize(wider.len() + width - self.width, 0);
                }
                *clocks = wider;
            }
            self.width = width;
        }
        self.own.resize(threads, Vec::new());
        self.current.resize(threads, Some(0));
    }

    /// How many stamps are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.stamps.len()
    }

    #[inline]
    pub(super) fn stamp(&self, id: StampId) -> Stamp {
        self.stamps[id.0 as usize]
    }

    /// The latest time of `other` that comes before `thread` now; for the thread itself, the latest that has come back.
    #[inline]
    pub(super) fn known(&self, order: Order, thread: usize, other: usize) -> Time {
        let at = match order {
            Order::All => other,
            Order::ExactData => other + self.width,
        };
        Time(self.own[thread].get(at).copied().unwrap_or(0))
    }

    /// Lets a thread come after a stamp of another; tells whether that was new to it.
    #[inline]
    pub(super) fn learn(
        &mut self,
        order: Order,
        thread: usize,
        other: usize,
        stamp: &Stamp,
    ) -> bool {
        if self.known(order, thread, other) >= stamp.time {
            return false;
        }
        let offset = match order {
            Order::All => 0,
            Order::ExactData => self.width,
        };
        let left = stamp.clock as usize * 2 * self.width + offset;
        let own = &mut self.own[thread];
        if own.is_empty() {
            own.resize(2 * self.width, 0);
        }
        let own = &mut own[offset..offset + self.width];
        let left = &self.left[left..left + self.width];
        for (known, new) in own.iter_mut().zip(left) {
            *known = (*known).max(*new);
        }
        own[other] = stamp.time.0;
        self.current[thread] = None;
        true
    }

    /// Leaves a stamp behind that stands for the events of a thread from now on.
    pub(super) fn leave(&mut self, thread: usize, time: Time, node: NodeId) -> StampId {
        let clock = self.current[thread].unwrap_or_else(|| {
            let clock = self.left.len() / (2 * self.width);
            self.left.extend_from_slice(&self.own[thread]);
            self.current[thread] = Some(clock as u32);
            clock as u32
        });
        let id = StampId(self.stamps.len() as u32);
        self.stamps.push(Stamp { time, clock, node });
        id
    }

    /// Whether collecting is worth its cost, given how many marks must be renamed for it and how much may be wasted in any case.
    #[inline]
    pub(super) fn is_crowded(&self, marks: usize, slack: usize) -> bool {
        let many =
            self.stamps.len() > self.live + slack && self.stamps.len() > self.live * 2 + marks / 2;
        // Clocks are wide where there are many threads.
        many || self.left.len() > self.live_left * 2 + WIDE
    }

    /// Begins to collect: every mark that is to survive must pass through [`Collection::rename`].
    ///
    /// `oldest` has, by thread, the first time of its open transaction, or a time that never comes: what is older can tear nothing.
    pub(super) fn collect(&mut self, oldest: &[Time]) -> Collection<'_> {
        let clock = 2 * self.width;
        let matters = (self.left.chunks(clock))
            .map(|clock| {
                (clock[..self.width].iter().zip(oldest)).any(|(known, oldest)| *known >= oldest.0)
            })
            .collect();
        Collection {
            matters,
            renamed: vec![StampId::NONE; self.stamps.len()],
            renamed_clocks: vec![0; self.left.len() / clock],
            stamps: vec![self.stamps[0]],
            left: vec![0; clock],
            clocks: self,
        }
    }
}

/// A collection under way.
#[derive(Debug)]
pub(super) struct Collection<'a> {
    clocks: &'a mut Clocks,
    /// By clock: whether it has reached an open transaction.
    matters: Vec<bool>,
    renamed: Vec<StampId>,
    renamed_clocks: Vec<u32>,
    stamps: Vec<Stamp>,
    left: Vec<u64>,
}

impl Collection<'_> {
    /// The new name of a stamp; `None` if it can matter no more.
    ///
    /// It matters if an open transaction reaches it: by single events, which the clock tells, or by whole transactions, which `node` tells.
    pub(super) fn rename(
        &mut self,
        id: StampId,
        node: impl FnOnce(NodeId) -> Option<NodeId>,
    ) -> Option<StampId> {
        let known = self.renamed[id.0 as usize];
        if known != StampId::NONE || id == StampId::NONE {
            return (id != StampId::NONE).then_some(known);
        }
        let stamp = self.clocks.stamps[id.0 as usize];
        let node = node(stamp.node);
        if node.is_none() && !self.matters[stamp.clock as usize] {
            return None;
        }
        let clock = self.rename_clock(stamp.clock);
        let new = StampId(self.stamps.len() as u32);
        self.stamps.push(Stamp {
            time: stamp.time,
            clock,
            node: node.unwrap_or(NodeId::NONE),
        });
        self.renamed[id.0 as usize] = new;
        Some(new)
    }

    fn rename_clock(&mut self, clock: u32) -> u32 {
        let width = 2 * self.clocks.width;
        let renamed = &mut self.renamed_clocks[clock as usize];
        if clock != 0 && *renamed == 0 {
            *renamed = (self.left.len() / width) as u32;
            let at = clock as usize * width;
            self.left
                .extend_from_slice(&self.clocks.left[at..at + width]);
        }
        *renamed
    }

    /// Forgets what was not renamed; the threads' own clocks are left behind anew when needed.
    pub(super) fn finish(self) {
        let clocks = self.clocks;
        clocks.live = self.stamps.len();
        clocks.live_left = self.left.len();
        clocks.stamps = self.stamps;
        clocks.left = self.left;
        for (current, own) in clocks.current.iter_mut().zip(&clocks.own) {
            // The first clock is that of a thread that knows nothing.
            *current = own.is_empty().then_some(0);
        }
    }
}
