//! What the threads of a model do.

use crate::state::{OBJECTS, THREADS, Word};

/// A step of a thread's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Read(u8),
    Write(u8),
    /// The end of a loop, or the entry of a method.
    Poll,
    /// A park that returns, between `UntornHooks.sleeping` and `awake`.
    Sleep,
    /// A short sleep of the runtime itself, which frees no word: `UntornEpoch.backOff`.
    Nap,
    /// A monitor that is not free, of which the thread did not tell.
    Block,
    /// Native code that returns.
    Native,
    /// The end of the thread. Every program that does not end otherwise ends so; an empty one has no thread.
    End,
    /// A park that never returns.
    Park,
    /// A loop that polls for ever.
    Spin,
    /// Code that is not watched, for ever.
    Stray,
}

/// The programs, and what may happen besides.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: &'static str,
    pub words: [Word; OBJECTS],
    pub programs: [&'static [Op]; THREADS],
    /// Threads that wait for a lock of the runtime's own, or for room in the log, take naps.
    pub naps: bool,
    /// A thread may run out of stack while it moves a locked word to its next state.
    pub throws: bool,
    /// A thread that asks may lose its patience at any time, not only with one that strayed.
    pub impatient: bool,
    /// Records wait in the store buffer, too. They are seen at once otherwise, which makes for fewer states.
    pub buffered_log: bool,
    /// The interpreter calls the methods of `Unsafe` as native ones.
    pub interpreted: bool,
    /// The first thread has read what is read-shared in the beginning.
    pub first_has_read: bool,
}

impl Scenario {
    pub const fn new(
        name: &'static str,
        words: [Word; OBJECTS],
        programs: [&'static [Op]; THREADS],
    ) -> Self {
        Self {
            name,
            words,
            programs,
            naps: false,
            throws: false,
            impatient: false,
            buffered_log: false,
            interpreted: false,
            first_has_read: false,
        }
    }

    pub const fn naps(mut self) -> Self {
        self.naps = true;
        self
    }

    pub const fn throws(mut self) -> Self {
        self.throws = true;
        self
    }

    pub const fn impatient(mut self) -> Self {
        self.impatient = true;
        self
    }

    pub const fn buffered_log(mut self) -> Self {
        self.buffered_log = true;
        self
    }

    pub const fn first_has_read(mut self) -> Self {
        self.first_has_read = true;
        self
    }

    pub const fn interpreted(mut self) -> Self {
        self.interpreted = true;
        self
    }

    /// Whether an object may be given up in it.
    pub fn gives_up(&self) -> bool {
        self.impatient || self.programs.iter().any(|ops| ops.contains(&Op::Stray))
    }
}
