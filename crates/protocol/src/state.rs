//! What threads share, and what each keeps to itself.
//!
//! The fields are those of `UntornThread`, `UntornEpoch` and of shadow words; the table in `docs/internals/tracking.md` says who writes and reads them.
//! What takes part in no decision (ids of objects, numbers of requests) is left out.

use crate::log::Log;
use crate::scenario::{Op, Scenario};

/// Threads, objects, and the epochs that can be handed out; a thread that gets none owns nothing any more.
pub const THREADS: usize = 3;
pub const OBJECTS: usize = 2;
pub const EPOCHS: usize = 8;
/// How many stores may wait in a processor's buffer.
const BUFFER: usize = 6;

/// Who may use a word: its owner for everything, or for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    WrEx,
    RdEx,
}

/// A shadow word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    Untouched,
    /// Used by the thread whose ownership epoch this is, without any synchronization.
    Owned(Mode, u8),
    /// `RdSh` with the number of the transition.
    Shared(u8),
    /// Contended and free, last used by this thread; or read by many.
    Free(Mode, u8),
    FreeShared(u8),
    /// Contended and locked; `asked` is the mark of a thread that wants it revoked.
    Locked {
        by: u8,
        asked: bool,
    },
    Untracked,
}

impl Word {
    pub fn is_contended(self) -> bool {
        matches!(
            self,
            Self::Free(..) | Self::FreeShared(_) | Self::Locked { .. }
        )
    }
}

/// What became of an ownership epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Epoch {
    Unused,
    Current(u8),
    /// Its thread did not respond when it was asked for it.
    Unanswered(u8),
    /// No thread uses a word under it any more.
    Revoked(Point),
}

/// A position in the log of a thread; 0 is before everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Point {
    pub thread: u8,
    pub position: u8,
}

/// A store that the other threads do not see yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Store {
    Position(u8),
    /// The program's own write, by its place among the pending accesses.
    Data(u8),
    SharedSeen(u8),
    Poll(bool),
    Deferred(Option<Word>),
    Entering(bool),
    Blocked(bool),
}

/// The word that a thread has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    pub object: u8,
    pub before: Word,
    /// What it becomes when it is freed; none until that is known.
    pub after: Option<Word>,
}

/// A request to another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request {
    pub to: u8,
    /// 0: it is only to pass a safe point.
    pub epoch: u8,
    pub at: RequestAt,
    /// For the model's mutations: what was read too early.
    pub early: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestAt {
    Gate,
    Check,
    Issue,
    Wear(u8),
    IsBlocked,
    Ask,
    Poll,
    Await,
    Barrier,
    Done(bool),
}

/// Where a thread is in responding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Respond {
    No,
    Clear,
    Free,
    LoadAsk,
    Forget,
    Answer,
}

/// Where a thread is; each group is one method of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// Between two steps of its program.
    Program,
    // UntornShadow.record
    Compare,
    Record,
    Access,
    // UntornOwner.claim
    Begin,
    Load,
    Decide,
    Owner,
    Claim,
    Requested,
    GiveUp,
    CatchUpDone,
    // UntornOwner.share
    ShareEdge,
    ShareSection,
    ShareNap,
    ShareSeen,
    ShareMark,
    ShareCas,
    // UntornOwner.unshare
    UnshareNext(u8),
    UnshareMet(u8),
    UnshareEdges,
    // UntornShadow.lockContended, take, contend, revoke, transition, deferUnlock
    Keep,
    Contend,
    RevokeMark,
    RevokeLoad,
    RevokeBarrier,
    RevokeLook,
    RevokeCas,
    Transition,
    TransitionNap,
    TransitionShare,
    Rebias,
    Settle,
    // sleeping, awake, nap; monitors; native code; the end
    Blocked,
    Entering,
    Native,
    Ending,
    Gone,
    Parked,
    Spin,
    Stray,
}

/// An access whose record is written, and which is not performed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pending {
    pub object: u8,
    pub writes: bool,
    pub access: crate::log::Access,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    // What other threads read or write.
    pub position: u8,
    pub mine: u8,
    pub poll: bool,
    pub request_lock: bool,
    pub requested: bool,
    /// What is asked for is not an epoch, but what the thread may read as read-shared.
    pub unshares: bool,
    pub blocked: bool,
    pub deferred: Option<Word>,
    pub shared_seen: u8,
    pub shares: bool,
    pub entering: bool,
    pub native: bool,
    pub registered: bool,
    // What it keeps to itself.
    pub buffer: [Option<Store>; BUFFER],
    pub pending: [Option<Pending>; 2],
    pub next: u8,
    pub at: At,
    pub respond: Respond,
    pub request: Option<Request>,
    pub held: Option<Held>,
    pub written: u8,
    pub seen: u8,
    pub edges: [u8; THREADS],
    // Registers of the access that is under way.
    pub object: u8,
    pub writes: bool,
    pub loaded: Word,
    pub worn: u8,
    pub number: u8,
    pub contended: bool,
    pub revoked: Option<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub words: [Word; OBJECTS],
    pub threads: [Thread; THREADS],
    pub epochs: [Epoch; EPOCHS],
    pub issued: u8,
    pub shared_count: u8,
    pub last_shared: Point,
    pub last_exit: Point,
    /// Held over the whole of a share.
    pub global: Option<u8>,
    pub log: Log,
    /// Records wait in the store buffer, too.
    pub buffered_log: bool,
}

impl State {
    pub fn new(scenario: &Scenario) -> Self {
        let thread = |t: usize| Thread {
            position: 0,
            mine: t as u8 + 1,
            poll: false,
            request_lock: false,
            requested: false,
            unshares: false,
            blocked: false,
            deferred: None,
            shared_seen: u8::from(t == 0 && scenario.first_has_read),
            shares: false,
            entering: false,
            native: false,
            registered: !scenario.programs[t].is_empty(),
            buffer: [None; BUFFER],
            pending: [None; 2],
            next: 0,
            at: if scenario.programs[t].is_empty() {
                At::Gone
            } else {
                At::Program
            },
            respond: Respond::No,
            request: None,
            held: None,
            written: 0,
            seen: u8::from(t == 0 && scenario.first_has_read),
            edges: [0; THREADS],
            object: 0,
            writes: false,
            loaded: Word::Untouched,
            worn: 0,
            number: 0,
            contended: false,
            revoked: None,
        };
        let mut epochs = [Epoch::Unused; EPOCHS];
        for t in 0..THREADS {
            epochs[t + 1] = Epoch::Current(t as u8);
        }
        Self {
            words: scenario.words,
            threads: [thread(0), thread(1), thread(2)],
            epochs,
            issued: THREADS as u8,
            shared_count: u8::from(scenario.words.contains(&Word::Shared(1))),
            last_shared: Point::default(),
            last_exit: Point::default(),
            global: None,
            log: Log::default(),
            buffered_log: scenario.buffered_log,
        }
    }

    /// Every thread has come to the end of its program, or waits there for ever.
    pub fn is_final(&self) -> bool {
        self.threads.iter().all(|thread| {
            let ended = matches!(thread.at, At::Gone | At::Parked | At::Spin | At::Stray);
            ended && thread.is_drained() && thread.respond == Respond::No
        })
    }
}

impl Thread {
    pub fn is_drained(&self) -> bool {
        self.buffer[0].is_none()
    }

    /// Whether so many more stores fit.
    pub fn has_room(&self, stores: usize) -> bool {
        self.buffer[BUFFER - stores].is_none()
    }

    pub fn store(&mut self, store: Store) {
        let free = self.buffer.iter_mut().find(|place| place.is_none());
        *free.expect("a step makes sure of room first") = Some(store);
    }

    /// What this thread itself reads from its poll.
    pub fn is_polled(&self) -> bool {
        let own = self.buffer.iter().rev().find_map(|store| match store {
            Some(Store::Poll(set)) => Some(*set),
            _ => None,
        });
        own.unwrap_or(self.poll)
    }

    pub fn op(&self, scenario: &Scenario, t: usize) -> Op {
        scenario.programs[t]
            .get(self.next as usize)
            .copied()
            .unwrap_or(Op::End)
    }

    /// The access or the step of the program is over.
    pub fn advance(&mut self) {
        self.next += 1;
        self.to(At::Program);
        self.object = 0;
        self.writes = false;
        self.contended = false;
    }

    /// Goes on there; what is not looked at again is forgotten, so that states differ only in what matters.
    pub fn to(&mut self, at: At) {
        self.at = at;
        if matches!(
            at,
            At::Program | At::Begin | At::Record | At::Keep | At::Contend | At::Settle | At::Access
        ) {
            self.loaded = Word::Untouched;
            self.worn = 0;
            self.number = 0;
            self.revoked = None;
        }
    }
}
