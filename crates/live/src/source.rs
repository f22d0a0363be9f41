//! A live process as a source of events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use untorn_channel::record::Record;
use untorn_channel::{Declaration, SharedMemory, pool};
use untorn_model::{Event, Kinds, RegionId, Tables};
use untorn_trace::wellformed::Checker;
use untorn_trace::{Error, Note, Progress, Replay, Source};

use crate::decode::{Decoded, Decoder, decode, is_known};
use crate::drain::{Chunk, Passed};
use crate::interim::{Heard, Waited};
use crate::linearize::Linearizer;
use crate::names::Names;
use crate::repair::Repair;
use crate::replay::Spool;
use crate::signals;
use crate::transactions::{Decoding, Excerpt};

/// Events in a batch, about.
const BATCH: usize = 8192;

/// What was counted while events were read.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    pub events: u64,
    pub edges: u64,
    /// Events that cannot follow what came before: the other half of a lock operation or region was not recorded.
    pub refused: u64,
    /// Ends and releases that were not recorded and put in where they must have been.
    pub put_in: u64,
    /// Records whose ids nobody declared.
    pub undeclared: u64,
    /// Records that wait for others which were never written.
    pub cut_off: u64,
    /// Ids that objects, their locations and locks have, or had and will be given again.
    pub objects: u64,
    pub locations: u64,
    pub locks: u64,
    /// How often an object or lock got the id of one that was dropped.
    pub reused: u64,
    /// Records that were not looked at, since somebody asked for an end.
    pub left_out: u64,
}

/// For what there is time once somebody has asked for an end, and the program has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// Reading what the program has written.
    Reading,
    /// Putting aside what will be looked at.
    Keeping,
    /// Looking at what was read.
    Looking,
}

impl Share {
    /// Until when, from the end of the program on: the analyses need some time after that, too.
    const fn until(self) -> Duration {
        match self {
            Self::Reading => Duration::from_secs(1),
            Self::Keeping => Duration::from_secs(3),
            Self::Looking => Duration::from_secs(5),
        }
    }
}

/// The events of one process, in order, while it runs.
#[derive(Debug)]
pub struct LiveSource {
    pub(crate) chunks: Receiver<Passed>,
    declarations: Receiver<Vec<Declaration>>,
    pub(crate) heard: Heard,
    /// The last batch was empty only since somebody asked what was found so far.
    waits: bool,
    lines: Linearizer,
    decoder: Decoder,
    names: Names,
    checker: Checker,
    repair: Repair,
    spool: Option<Spool>,
    /// What alone is yielded, once all was heard.
    excerpt: Option<Excerpt>,
    /// How long a declaration is waited for: it was sent before the record was written, so it is on its way.
    patience: Duration,
    /// The program has ended.
    gone: Arc<AtomicBool>,
    /// When it was noticed that it has, and that somebody has asked for an end.
    asked: Option<Instant>,
    tally: Tally,
    process: String,
    memory: Arc<SharedMemory>,
}

/// Regions that turned out not to be meant as one step while the program ran, and so are none any more.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Demoted {
    /// Each with how long an execution was open when that was noticed, in records of its thread.
    pub regions: Vec<(RegionId, u32)>,
    /// How many others there are.
    pub others: u64,
}

impl LiveSource {
    pub(crate) fn new(
        process: String,
        memory: Arc<SharedMemory>,
        chunks: Receiver<Passed>,
        declarations: Receiver<Vec<Declaration>>,
        gone: Arc<AtomicBool>,
    ) -> Self {
        Self {
            chunks,
            declarations,
            heard: Heard::default(),
            waits: false,
            lines: Linearizer::default(),
            decoder: Decoder::default(),
            names: Names::default(),
            checker: Checker::default(),
            repair: Repair::default(),
            spool: None,
            excerpt: None,
            patience: Duration::from_secs(5),
            gone,
            asked: None,
            tally: Tally::default(),
            process,
            memory,
        }
    }

    /// Keeps what is yielded, so that it can be replayed.
    pub fn keep(&mut self) -> Result<(), Error> {
        self.spool = Some(Spool::new()?);
        Ok(())
    }

    /// Gives ids of what the program has dropped to what comes, and says so: for who analyzes the events.
    pub fn reuse_ids(&mut self) {
        self.names.lives.get_or_insert_default();
    }

    pub fn tally(&self) -> Tally {
        let tables = &self.names.tables;
        Tally {
            edges: self.lines.edges(),
            objects: tables.objects.len() as u64,
            locations: tables.vars().len() as u64,
            locks: tables.locks.len() as u64,
            reused: self.names.lives.as_ref().map_or(0, |lives| lives.reused),
            ..self.tally
        }
    }

    /// What the program has demoted so far.
    pub fn demoted(&self) -> Demoted {
        let (told, mut others) = pool::demoted(&self.memory);
        let mut regions = Vec::with_capacity(told.len());
        for demotion in told {
            match self.names.region_of(demotion.region) {
                Some(region) => regions.push((region, demotion.age)),
                None => others += 1,
            }
        }
        Demoted { regions, others }
    }

    /// By class name: the hashes of the class files that were loaded.
    pub fn hashes(&self) -> &BTreeMap<String, BTreeSet<u64>> {
        self.names.hashes()
    }

    /// By class name: the class file that was loaded last, if the program was asked to send them.
    pub fn code(&self) -> &BTreeMap<String, Vec<u8>> {
        self.names.code()
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Waits for more records of some thread, or the end of a round; `None` when there will be none.
    pub(crate) fn next_passed(&mut self) -> Option<Passed> {
        self.chunks.recv().ok()
    }

    /// Takes in what was declared so far, or what is left of it.
    pub(crate) fn learn_waiting(
        &mut self,
        mut take: impl FnMut(Declaration) -> Option<Declaration>,
    ) {
        for declaration in self.declarations.try_iter().flatten().filter_map(&mut take) {
            self.names.declare(declaration);
        }
    }

    /// Takes in what was declared and no record has needed, or what is left of it.
    pub(crate) fn learn_the_rest(
        &mut self,
        mut take: impl FnMut(Declaration) -> Option<Declaration>,
    ) {
        while let Ok(all) = self.declarations.recv_timeout(Duration::from_secs(5)) {
            for declaration in all.into_iter().filter_map(&mut take) {
                self.names.declare(declaration);
            }
        }
    }

    /// Whether the time for this is over: somebody has asked for an end, and the program ended a while ago.
    pub(crate) fn is_late(&mut self, share: Share) -> bool {
        self.until(share)
            .is_some_and(|until| Instant::now() >= until)
    }

    /// When the time for this is over; none if nobody waits.
    pub(crate) fn until(&mut self, share: Share) -> Option<Instant> {
        if !signals::is_end_asked_for() || !self.gone.load(Ordering::Acquire) {
            return None;
        }
        let asked = *self.asked.get_or_insert_with(Instant::now);
        Some(asked + share.until())
    }

    pub(crate) fn leave_out(&mut self, records: u64) {
        self.tally.left_out += records;
    }

    /// Counts what nobody will look at any more, if there is anything left.
    pub(crate) fn leave_the_rest(&mut self) {
        if !self.is_late(Share::Reading) {
            return;
        }
        self.tally.left_out += std::mem::take(&mut self.lines).stuck();
        // The drain ends, as there will be nothing more to read.
        for passed in &self.chunks {
            if let Passed::Chunk(chunk) = passed {
                self.tally.left_out += chunk.records.len() as u64;
            }
        }
    }

    pub(crate) fn lines(&mut self) -> &mut Linearizer {
        &mut self.lines
    }

    /// All was heard, and these are the events.
    pub(crate) fn yield_only(&mut self, excerpt: Excerpt) {
        self.tally.cut_off = self.lines.stuck();
        self.excerpt = Some(excerpt);
    }

    /// Decodes some of the events that alone are yielded.
    fn fill_with(&mut self, mut excerpt: Excerpt, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        if self.is_late(Share::Looking) {
            self.tally.left_out += excerpt.left();
            // There is nothing in it any more.
            self.excerpt = Some(Excerpt::default());
            return Ok(Kinds::NONE);
        }
        let mut gone = 0;
        excerpt.fill(
            BATCH,
            &mut Decoding {
                names: &mut self.names,
                decoder: &mut self.decoder,
                checker: &mut self.checker,
                repair: &mut self.repair,
                tally: &mut self.tally,
                into,
                gone: &mut gone,
            },
        )?;
        self.excerpt = Some(excerpt);
        self.yielded(into);
        self.tally.events -= gone as u64;
        let mut kinds = Kinds::NONE;
        for event in &*into {
            kinds.insert(event.op.kind());
        }
        Ok(kinds)
    }

    /// Counts and keeps what is yielded.
    fn yielded(&mut self, events: &[Event]) {
        self.tally.events += events.len() as u64;
        if let Some(spool) = &mut self.spool {
            spool.keep(events);
        }
    }

    /// Waits for more records; `false` when there will be none.
    pub(crate) fn receive(&mut self) -> bool {
        let first = match self.wait() {
            Waited::More(first) => first,
            Waited::Over => return false,
            Waited::Asked => {
                self.waits = true;
                return true;
            }
        };
        // Whatever else is there already: fewer, longer turns.
        let more = self.chunks.try_iter().take(64);
        for passed in std::iter::once(first).chain(more) {
            if let Passed::Chunk(Chunk { thread, records }) = passed {
                self.lines.push(thread, records);
            }
        }
        true
    }
}

/// Takes declarations in until something is known, or no more can come.
#[cold]
fn learn(
    names: &mut Names,
    declarations: &Receiver<Vec<Declaration>>,
    patience: &mut Duration,
    is_known: impl Fn(&Names) -> bool,
) {
    while !is_known(names) {
        match declarations.recv_timeout(*patience) {
            Ok(all) => {
                for declaration in all {
                    names.declare(declaration);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                // An agent that did not declare this will not declare the next one either.
                *patience = Duration::ZERO;
                return;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Source for LiveSource {
    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        into.clear();
        self.waits = false;
        if let Some(excerpt) = self.excerpt.take() {
            return self.fill_with(excerpt, into);
        }
        let mut kinds = Kinds::NONE;
        let mut gone = 0;
        loop {
            let Self {
                lines,
                names,
                decoder,
                checker,
                repair,
                declarations,
                patience,
                tally,
                ..
            } = self;
            let went_on = lines.turn(|thread: u32, records: &[u64]| {
                if !names.knows_thread(thread) {
                    learn(names, declarations, patience, |names| {
                        names.knows_thread(thread)
                    });
                }
                let Some(id) = names.thread(thread) else {
                    tally.undeclared += records.len() as u64;
                    return;
                };
                let prefix = decoder.prefix(thread);
                for &bits in records {
                    let Some(record) = Record::decode(bits) else {
                        continue;
                    };
                    if !is_known(names, record) {
                        learn(names, declarations, patience, |names| {
                            is_known(names, record)
                        });
                    }
                    match decode(prefix, names, record, repair.begun()) {
                        Decoded::Nothing => {}
                        Decoded::Lost => tally.undeclared += 1,
                        Decoded::Event(site, op) => {
                            let event = Event {
                                thread: id,
                                site,
                                op,
                            };
                            let before = into.len();
                            let mended = repair.admit(checker, event, into);
                            for event in &into[before..] {
                                kinds.insert(event.op.kind());
                            }
                            tally.refused += u64::from(mended.refused);
                            tally.put_in += mended.put_in;
                        }
                        Decoded::Aside(aside) => {
                            let before = into.len();
                            repair.aside(checker, (id, aside), &names.tables, into);
                            for event in &into[before..] {
                                kinds.insert(event.op.kind());
                            }
                        }
                    }
                }
            });
            let ids = self.names.ids();
            if let Some(lives) = &mut self.names.lives
                && lives.is_due(ids)
            {
                let before = into.len();
                let is_free = |lock| self.checker.is_free(lock);
                lives.release(ids, self.repair.oldest(), is_free, into);
                kinds = kinds.union(Kinds::GONE);
                gone += into.len() - before;
            }
            if into.len() >= BATCH {
                break;
            }
            if went_on {
                continue;
            }
            // A batch that is small now is better than a full one later: somebody may be watching.
            if !into.is_empty() && self.chunks.is_empty() {
                break;
            }
            if self.is_late(Share::Looking) {
                self.leave_the_rest();
                break;
            }
            if !self.receive() {
                self.tally.cut_off = self.lines.stuck();
                break;
            }
            if self.waits {
                break;
            }
        }
        self.yielded(into);
        self.tally.events -= gone as u64;
        Ok(kinds)
    }

    fn is_over(&self) -> bool {
        !self.waits
    }

    fn replay(&self) -> Option<&dyn Replay> {
        self.spool.as_ref().map(|spool| spool as &dyn Replay)
    }

    fn progress(&self) -> Progress {
        Progress {
            done: self.tally.events,
            total: None,
        }
    }

    fn notes(&self) -> Vec<Note> {
        let dropped = self.tally.refused + self.tally.undeclared + self.tally.cut_off;
        if dropped == 0 {
            return Vec::new();
        }
        vec![Note::DroppedEvents {
            file: self.process.clone(),
            count: dropped,
        }]
    }
}
