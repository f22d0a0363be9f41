//! Programs for the model: small ones, in which each part of the protocol comes to bear.

use crate::scenario::Op::{self, Block, Nap, Native, Park, Poll, Read, Sleep, Spin, Stray, Write};
use crate::scenario::Scenario;
use crate::state::{Mode, Word};

const A: u8 = 0;
const B: u8 = 1;
const NOTHING: &[Op] = &[];
/// The first thread owns it, having written or only read.
const WRITTEN: Word = Word::Owned(Mode::WrEx, 1);
const READ: Word = Word::Owned(Mode::RdEx, 1);
const FREE: Word = Word::Free(Mode::WrEx, 0);
const FRESH: Word = Word::Untouched;

/// Searched in every test run.
pub const SMALL: &[Scenario] = &[
    Scenario::new(
        "the owner polls",
        [WRITTEN, FRESH],
        [&[Write(A), Poll, Read(A)], &[Write(A), Poll], NOTHING],
    )
    .buffered_log(),
    Scenario::new(
        "the owner loops",
        [WRITTEN, FRESH],
        [&[Spin], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "the owner sleeps and wakes",
        [WRITTEN, FRESH],
        [&[Write(A), Sleep, Write(A), Poll], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "the owner waits for a monitor",
        [WRITTEN, FRESH],
        [&[Write(A), Block, Write(A), Poll], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "the owner is in native code",
        [WRITTEN, FRESH],
        [&[Write(A), Native, Write(A), Poll], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "the owner is interpreted",
        [WRITTEN, FRESH],
        [&[Write(A), Poll], &[Write(A)], NOTHING],
    )
    .interpreted(),
    Scenario::new(
        "the owner is asked again",
        [WRITTEN, Word::Shared(1)],
        [
            &[Read(B), Native, Poll, Spin],
            &[Write(A), Write(B)],
            NOTHING,
        ],
    ),
    Scenario::new(
        "the owner ends",
        [WRITTEN, FRESH],
        [&[Write(A)], &[Write(A), Park], NOTHING],
    )
    .buffered_log(),
    Scenario::new(
        "the owner strays",
        [WRITTEN, WRITTEN],
        [&[Write(A), Stray], &[Write(A), Write(B)], NOTHING],
    ),
    Scenario::new(
        "nobody has patience",
        [WRITTEN, FRESH],
        [&[Write(A), Poll], &[Write(A), Poll], NOTHING],
    )
    .impatient(),
    Scenario::new(
        "two ask for each other's",
        [WRITTEN, Word::Owned(Mode::WrEx, 2)],
        [&[Write(B)], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "two ask for each other's, and a third for one",
        [WRITTEN, Word::Owned(Mode::WrEx, 2)],
        [&[Write(B), Park], &[Write(A), Park], &[Write(A), Park]],
    ),
    Scenario::new(
        "an epoch is used at once",
        [WRITTEN, FRESH],
        [&[Write(B), Park], &[Write(A), Park], &[Write(B), Park]],
    ),
    Scenario::new(
        "a reader is joined by a writer",
        [READ, FRESH],
        [&[Read(A), Poll, Read(A)], &[Read(A), Write(A)], NOTHING],
    )
    .naps(),
    Scenario::new(
        "a reader catches up",
        [Word::Shared(1), FRESH],
        [&[Read(A), Park], &[Write(A), Park], NOTHING],
    ),
    Scenario::new(
        "two write what both read",
        [Word::Shared(1), Word::Shared(1)],
        [
            &[Read(B), Write(A), Poll, Spin],
            &[Read(A), Write(B), Poll, Write(A), Spin],
            NOTHING,
        ],
    ),
    Scenario::new(
        "re-bias brings a word back",
        [READ, FRESH],
        [
            &[Read(A), Read(A), Park],
            &[Read(A), Write(A), Park],
            &[Read(A), Park],
        ],
    ),
    Scenario::new(
        "contended, and the holder polls",
        [FREE, FRESH],
        [&[Write(A), Poll, Spin], &[Write(A), Poll, Spin], NOTHING],
    ),
    Scenario::new(
        "contended, and the holder owns another",
        [FREE, WRITTEN],
        [
            &[Write(A), Poll, Write(B), Spin],
            &[Write(B), Write(A)],
            NOTHING,
        ],
    ),
    Scenario::new(
        "contended, and the holder naps",
        [FREE, FRESH],
        [&[Write(A), Nap, Write(A)], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "contended, and the holder naps before its access",
        [FREE, FRESH],
        [&[Write(A), Write(A)], &[Write(A)], NOTHING],
    )
    .naps(),
    Scenario::new(
        "contended, and the holder waits for a monitor",
        [FREE, FRESH],
        [&[Write(A), Block, Write(A)], &[Write(A)], NOTHING],
    ),
    Scenario::new(
        "contended, and the holder runs out of stack",
        [FREE, FRESH],
        [&[Read(A)], &[Write(A)], &[Write(A)]],
    )
    .throws(),
];

/// Too large for every test run: `cargo xtask model`.
pub const LARGE: &[Scenario] = &[
    Scenario::new(
        "a reader forgets while it is joined",
        [READ, Word::Shared(1)],
        [
            &[Poll, Read(A), Park],
            &[Read(A), Write(A), Park],
            &[Write(B), Park],
        ],
    )
    .first_has_read(),
    Scenario::new(
        "a reader forgets while it is joined, and reads on",
        [READ, Word::Shared(1)],
        [
            &[Read(B), Poll, Read(A), Park],
            &[Read(A), Park],
            &[Write(B), Write(A), Park],
        ],
    ),
    Scenario::new(
        "contended, and read by all",
        [FREE, FRESH],
        [
            &[Write(A), Read(A), Park],
            &[Read(A), Park],
            &[Read(A), Park],
        ],
    ),
    Scenario::new(
        "a written object becomes read-shared",
        [WRITTEN, FRESH],
        [&[Write(A), Park], &[Read(A), Park], &[Read(A), Park]],
    ),
    Scenario::new(
        "the owner ends before two others",
        [WRITTEN, FRESH],
        [&[Write(A)], &[Write(A)], &[Read(A), Park]],
    ),
    Scenario::new(
        "nobody has patience for long",
        [WRITTEN, FRESH],
        [&[Write(A), Poll, Write(A)], &[Write(A), Write(A)], NOTHING],
    )
    .impatient(),
    Scenario::new(
        "two readers and a writer",
        [READ, FRESH],
        [&[Read(A), Poll], &[Read(A)], &[Write(A)]],
    ),
    Scenario::new(
        "two readers and a writer, with naps",
        [READ, FRESH],
        [&[Read(A), Park], &[Read(A), Park], &[Write(A), Park]],
    )
    .naps(),
    Scenario::new(
        "re-bias brings a word back, with naps",
        [READ, FRESH],
        [
            &[Read(A), Read(A), Park],
            &[Read(A), Write(A), Park],
            &[Read(A), Park],
        ],
    )
    .naps(),
    Scenario::new(
        "the writer reads again",
        [WRITTEN, FRESH],
        [
            &[Write(A), Poll, Read(A), Park],
            &[Read(A), Park],
            &[Read(A), Park],
        ],
    ),
    Scenario::new(
        "an owner is asked twice",
        [WRITTEN, FRESH],
        [&[Write(A), Write(A), Park], &[Write(A)], &[Write(A)]],
    ),
    Scenario::new(
        "two objects for three threads",
        [WRITTEN, Word::Owned(Mode::WrEx, 2)],
        [
            &[Read(B), Park],
            &[Write(A), Park],
            &[Write(A), Read(B), Park],
        ],
    ),
];
