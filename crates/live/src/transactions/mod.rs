//! Looks only at transactions that may lie on a cycle; the rest of a run is passed over and freed.
//!
//! ```text
//! chunks ──► order ──► scan: regions, edges ──► filter: which stretches?
//!              └─────► store: records as they are ──► wanted ──► decode ──► events
//! ```
//!
//! The filter ([`untorn_trace::TransactionFilter`]) hears of regions and edges, in an order that respects the edges, and decides; accesses are not taken apart for that.
//! When the program has ended, the wanted stretches are decoded in that same order (`excerpt.rs`), and are the events that the source yields.
//!
//! *What the rest means for these events.*
//! Leaving out whole transactions changes no conflict between the others and no order among them, so what an exact analysis says of the others stays true; that nothing is lost is for the filter to see to.
//! Locks that were taken before a stretch and given up after it are told around it: the thread did hold them, so every order that follows from it is one that was there.

mod excerpt;
mod keys;
mod locks;
mod log;
mod pieces;
mod scan;
mod store;
#[cfg(test)]
mod tests;

use std::ops::Range;

use untorn_channel::Declaration;
use untorn_trace::{Decision, TransactionFilter};

use self::keys::Keys;
use self::locks::Hold;
use self::log::Log;
use self::scan::{Scan, Start};
use self::store::Store;
use crate::linearize::Take;
use crate::source::{LiveSource, Share};

pub use self::excerpt::{Decoding, Excerpt};
pub use self::scan::Scanned;
pub use self::store::Room;

/// What was counted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Filtered {
    pub scanned: Scanned,
    /// Records of wanted stretches.
    pub wanted: u64,
    /// Wanted stretches for which there was no room, and their records.
    pub dropped_stretches: u64,
    pub dropped_records: u64,
    pub searches: u64,
    /// Bytes that went to the disk.
    pub spilled: u64,
    /// Most bytes of undecided records in memory.
    pub most_bytes: u64,
}

/// Announcements, and where they are in the order of all records, before they go to their log.
const ANNOUNCED: usize = 4096;

struct Filtering<'a, S> {
    filter: &'a mut S,
    scans: Vec<Scan>,
    store: Store,
    scanned: Scanned,
    announced: Vec<u64>,
    announcements: Log,
    searches: u64,
    /// Whose turn it was.
    turn: Option<u32>,
}

impl<S: TransactionFilter> Take for &mut Filtering<'_, S> {
    fn records(&mut self, thread: u32, records: &[u64]) {
        let order = self.store.order();
        self.store.push(thread, records);
        self.turn = Some(thread);
        let index = thread as usize;
        if self.scans.len() <= index {
            self.scans.resize_with(index + 1, Scan::default);
        }
        let (scanned, announced) = (&mut self.scanned, &mut self.announced);
        self.scans[index].records(thread, records, order, self.filter, scanned, announced);
    }

    fn edge(&mut self, thread: u32, edge: u64, from: u32, position: u64) {
        self.store.push(thread, &[edge]);
        self.turn = Some(thread);
        let index = thread as usize;
        if self.scans.len() <= index {
            self.scans.resize_with(index + 1, Scan::default);
        }
        self.scanned.records += 1;
        self.scans[index].edge(thread, from, position, self.filter);
    }

    fn defers(&self, from: u32, position: u64) -> bool {
        self.filter.is_amid(from, position)
    }
}

impl<S: TransactionFilter> Filtering<'_, S> {
    /// After a turn: frees what is known to be unwanted, and searches if there is much left.
    fn settle(&mut self) {
        let Some(thread) = self.turn.take() else {
            return;
        };
        let scan = &mut self.scans[thread as usize];
        let floor = self.filter.floor(thread, scan.position);
        self.store.free_before(thread, floor);
        while scan.starts.front().is_some_and(|s| s.position < floor) {
            scan.starts.pop_front();
        }
        if self.announced.len() > ANNOUNCED {
            // Without room for it the lock or object goes by its number.
            self.announcements.push(&self.announced).ok();
            self.announced.clear();
        }
        if self.filter.is_due() || self.store.is_full() {
            self.search(false);
        }
        self.store.spill_if_due();
    }

    fn search(&mut self, last: bool) {
        self.searches += 1;
        let now: Vec<u64> = self.scans.iter().map(|scan| scan.position).collect();
        let mut undecided: Vec<(u32, Range<u64>)> = Vec::new();
        let Self {
            filter,
            store,
            scans,
            ..
        } = self;
        filter.search(&now, last, &mut |decision, thread, range| match decision {
            Decision::Wanted => {
                let starts = scans.get(thread as usize).map(|scan| &scan.starts);
                let holds = starts.into_iter().flat_map(|starts| {
                    let first = starts.partition_point(|s| s.position < range.start);
                    let here = |start: &&Start| start.position == range.start;
                    starts.range(first..).take_while(here).map(|s| s.hold)
                });
                let holds: Vec<Hold> = holds.collect();
                store.keep(thread, range, &holds);
            }
            Decision::Undecided => undecided.push((thread, range)),
        });
        undecided.sort_unstable_by_key(|(thread, range)| (*thread, range.start));
        store.sweep(&undecided);
        for (thread, scan) in scans.iter_mut().enumerate() {
            (scan.starts).retain(|start| store.holds(thread as u32, start.position));
        }
    }
}

impl LiveSource {
    /// Hears the run to its end, and from then on yields the events of what the filter wants.
    pub fn filter<S: TransactionFilter>(&mut self, filter: &mut S, room: Room) -> Filtered {
        let mut filtering = Filtering {
            filter,
            scans: Vec::new(),
            store: Store::new(room),
            scanned: Scanned::default(),
            announced: Vec::new(),
            announcements: Log::default(),
            searches: 0,
            turn: None,
        };
        let mut keys = Keys::default();
        loop {
            while self.lines().turn(&mut filtering) {
                filtering.settle();
            }
            self.learn_waiting(|declaration| put_aside(declaration, &mut keys));
            if self.is_late(Share::Reading) || !self.receive() {
                break;
            }
        }
        self.leave_the_rest();
        filtering.store.until = self.until(Share::Keeping);
        filtering.search(true);
        filtering.announcements.push(&filtering.announced).ok();
        let (store, announcements) = (filtering.store, filtering.announcements);
        let filtered = Filtered {
            scanned: filtering.scanned,
            wanted: store.wanted,
            dropped_stretches: store.dropped.0,
            dropped_records: store.dropped.1,
            searches: filtering.searches,
            spilled: store.spilled + store.kept.spilled() + announcements.spilled(),
            most_bytes: store.most_resident * 8,
        };
        self.learn_the_rest(|declaration| put_aside(declaration, &mut keys));
        self.leave_out(store.left_out);
        self.yield_only(Excerpt::new(store, announcements, keys));
        filtered
    }
}

/// What is to be taken in of a declaration, but for keys.
fn put_aside(declaration: Declaration, keys: &mut Keys) -> Option<Declaration> {
    match declaration {
        Declaration::Key { id, text } => {
            keys.push(id, &text);
            None
        }
        other => Some(other),
    }
}
