//! Text traces: what is read, what is refused and how, and that writing gives the bytes back.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use std::io::{self, Cursor, Read};

use proptest::prelude::*;
use untorn_model::{
    Event, EventIndex, LockKind, LockMode, Op, Part, RegionId, SiteId, Tables, Thread,
};
use untorn_trace::generate::{Shape, random_steps, trace_of};
use untorn_trace::text::MAX_LINE;
use untorn_trace::{Note, Source, TextOptions, TextSource, TextWriter, VecSource};

const STRICT: TextOptions = TextOptions { lenient: false };
const LENIENT: TextOptions = TextOptions { lenient: true };

fn read(text: impl AsRef<[u8]>, options: TextOptions) -> (TextSource, Result<Vec<Event>, String>) {
    let input = Cursor::new(text.as_ref().to_vec());
    let mut source = TextSource::new("t.std", input, options);
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        match source.fill(&mut batch) {
            Err(error) => return (source, Err(error.to_string())),
            Ok(_) if batch.is_empty() => return (source, Ok(all)),
            Ok(_) => all.append(&mut batch),
        }
    }
}

fn error(text: impl AsRef<[u8]>) -> String {
    let message = read(text, STRICT).1.expect_err("the text is bad");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

fn write(tables: &Tables, events: &[Event]) -> String {
    let mut writer = TextWriter::new("out", Vec::new());
    writer.write(tables, events).unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

const EVERYTHING: &str = "\
T1|fork(T2)|Main.java:3
T1|begin(bank.Account.transfer)|Main.java:9
T1|acq(l)|1
T1|acq(l)|a:b:007
T1|r(acc@1.balance)|x:0
T1|w(a[3])|:5
T1|u(plain)|Main.java:4294967296
T1|vr(.odd)|Main.java:
T1|vw(f(x))|?
T1|vu(größe.é)|Main.java:12
T1|rel(l)|1
T1|notify(l)|1
T1|wait(l)|1
T2|begin|9
T2|acqs(l)|9
T2|rels(l)|9
T2|end|9
T2|sig(l)|9
T1|wake(l)|1
T1|rel(l)|1
T1|await(l)|1
T1|enter(a.B.m(I)V)|1
T1|enter(.m)|1
T1|exit(.m)|1
T1|exit(a.B.m(I)V)|1
T1|end(bank.Account.transfer)|Main.java:20
T1|join(T2)|Main.java:21
";

#[test]
fn every_operation_is_read_and_written_back_byte_for_byte() {
    let (source, events) = read(EVERYTHING, STRICT);
    let events = events.unwrap();
    assert_eq!(events.len(), EVERYTHING.lines().count());
    assert_eq!(write(source.tables(), &events), EVERYTHING);
    let tables = source.tables();
    // The lock and the signal of one name are two synchronizers.
    assert_eq!(tables.locks.len(), 2);
    let Op::Signal(signal) = events[17].op else {
        panic!("{:?}", events[17]);
    };
    assert_eq!(tables.locks[signal].kind, LockKind::Synchronizer);
    assert!(matches!(
        events[3].op,
        Op::Reacquire(LockMode::Exclusive, _)
    ));
    assert!(matches!(events[13].op, Op::Begin(RegionId::ANONYMOUS)));
    assert_eq!(events[8].site, SiteId::UNKNOWN);
    let site = tables.sites[events[0].site];
    assert_eq!(
        (tables.text(site.file.unwrap()), site.line),
        ("Main.java", 3)
    );
    let (var, _) = events[4].op.access().unwrap();
    let var = tables.vars()[var];
    assert_eq!(tables.object_name(var.object), "acc@1");
    assert!(matches!(var.part, Part::Text(rest) if tables.text(rest) == ".balance"));
}

#[test]
fn line_ends_may_be_crlf_or_missing() {
    let (source, events) = read("T1|r(x)|1\r\nT1|w(x)|2", STRICT);
    assert_eq!(
        write(source.tables(), &events.unwrap()),
        "T1|r(x)|1\nT1|w(x)|2\n"
    );
}

#[test]
fn a_malformed_line_is_an_error_with_its_number() {
    let after = |line: &str| error(format!("T1|r(x)|1\n{line}\nT1|r(x)|1\n"));
    assert_eq!(after(""), "t.std:2: a blank line");
    assert_eq!(after("  "), "t.std:2: a blank line");
    assert_eq!(
        after("# comment"),
        "t.std:2: 1 field where thread|op|location has 3"
    );
    assert_eq!(
        after("T1|r(x)"),
        "t.std:2: 2 fields where thread|op|location has 3"
    );
    assert_eq!(
        after("T1|r(x)|1|2"),
        "t.std:2: 4 fields where thread|op|location has 3"
    );
    assert_eq!(after("|r(x)|1"), "t.std:2: the thread has no name");
    assert_eq!(after("T1|r(x)|"), "t.std:2: the location is empty");
    assert_eq!(
        after("T1|read(x)|1"),
        "t.std:2: unknown operation `read(x)`"
    );
    assert_eq!(after("T1||1"), "t.std:2: unknown operation ``");
    assert_eq!(
        after("T1|notifyAllOfThem|1"),
        "t.std:2: unknown operation `notifyAllOfThem`"
    );
    assert_eq!(after("T1|r|1"), "t.std:2: operation `r` lacks its operand");
    assert_eq!(
        after("T1|begin()|1"),
        "t.std:2: operation `begin()` lacks its operand"
    );
    assert_eq!(
        after("T1|r(x|1"),
        "t.std:2: operation `r(x` lacks its closing parenthesis"
    );
    assert_eq!(
        after("T1|r(a\tb)|1"),
        "t.std:2: a control character in a name"
    );
    assert_eq!(
        after("T4294967296|r(x)|1"),
        "t.std:2: thread number `T4294967296` is out of range (2^32 or more)"
    );
    assert_eq!(
        after("T1|fork(4294967296)|1"),
        "t.std:2: thread number `4294967296` is out of range (2^32 or more)"
    );
    assert!(read("T4294967295|r(x)|1\n", STRICT).1.is_ok());
    assert_eq!(
        error(b"T1|r(x)|1\nT1|r(\xff)|1\n"),
        "t.std:2: invalid UTF-8"
    );
    assert_eq!(error(""), "t.std: is empty");
    let long = after(&format!("T1|{}|1", "r".repeat(9000)));
    assert!(long.len() < 100, "{long}");
}

#[test]
fn an_ill_formed_trace_is_an_error_with_its_line() {
    assert_eq!(
        error("T1|r(x)|1\nT1|end|2\n"),
        "t.std:2: T1 ends a region but none is open"
    );
    assert_eq!(
        error("T1|begin(a)|1\nT1|begin|2\nT1|end(a)|3\n"),
        "t.std:3: T1 ends region a but a region without a name is the innermost open one"
    );
    assert_eq!(error("T1|rel(l)|1\n"), "t.std:1: T1 does not hold l");
    assert_eq!(
        error("T1|acq(l)|1\nT2|acq(l)|1\n"),
        "t.std:2: T2 takes l, which T1 holds"
    );
    assert_eq!(
        error("T2|r(x)|1\nT1|join(T2)|1\nT2|r(x)|1\n"),
        "t.std:3: T2 was joined before and has ended"
    );
    assert_eq!(
        error("T2|r(x)|1\nT1|fork(T2)|1\n"),
        "t.std:2: T1 forks T2, which runs, has ended or was forked before"
    );
}

#[test]
fn a_lenient_reader_skips_counts_and_still_knows_the_lines() {
    let text = "# header\n\nT1|begin|1\nT1|nonsense|1\nT1|rel(l)|1\nT1|w(x)|1\nT1|end|1\nx\n";
    let (source, events) = read(text, LENIENT);
    let events = events.unwrap();
    assert_eq!(
        write(source.tables(), &events),
        "T1|begin|1\nT1|w(x)|1\nT1|end|1\n"
    );
    let lines: Vec<u64> = (0..3).map(|i| source.line_of(EventIndex(i))).collect();
    assert_eq!(lines, [3, 6, 7]);
    assert_eq!(
        source.notes(),
        [
            Note::SkippedLines {
                file: "t.std".into(),
                count: 4,
                first_line: 1
            },
            Note::RefusedEvents {
                file: "t.std".into(),
                count: 1,
                first_line: 5,
                first: "T1 does not hold l".into()
            }
        ]
    );
}

/// Ten megabytes without a line end, then a good line; fails when asked for more at once than a bounded reader would.
struct LongLine(usize);

const TAIL: &[u8] = b"\nT1|r(x)|1\n";

impl Read for LongLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(
            buffer.len() <= 4 * MAX_LINE,
            "the buffer grows with the line"
        );
        let n = buffer.len().min(self.0);
        buffer[..n].fill(b'x');
        self.0 -= n;
        if n == 0 && self.0 == 0 {
            buffer[..TAIL.len()].copy_from_slice(TAIL);
            self.0 = usize::MAX;
            return Ok(TAIL.len());
        }
        Ok(if self.0 > 10 << 20 { 0 } else { n })
    }
}

#[test]
fn a_line_of_ten_megabytes_is_an_error_in_bounded_memory() {
    let mut source = TextSource::new("t.std", LongLine(10 << 20), STRICT);
    let error = source.fill(&mut Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "t.std:1: a line of more than 1048576 bytes");
    let mut source = TextSource::new("t.std", LongLine(10 << 20), LENIENT);
    let mut events = Vec::new();
    source.fill(&mut events).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(source.line_of(EventIndex(0)), 2);
}

#[test]
fn long_names_that_fit_are_read_whatever_the_buffer() {
    let text = format!(
        "T1|r({})|1\nT1|w(x)|2\n",
        "y".repeat(MAX_LINE - "T1|r()|1".len())
    );
    let (source, events) = read(&text, STRICT);
    assert_eq!(write(source.tables(), &events.unwrap()), text);
}

#[test]
fn names_that_text_cannot_hold_stay_apart() {
    let mut tables = Tables::default();
    let mut events = Vec::new();
    for name in ["a|b", "a|b", "", "T4294967296", "x\ny"] {
        let name = tables.strings.intern(name).unwrap();
        let thread = tables.threads.push(Thread { name }).unwrap();
        events.push(Event {
            thread,
            site: SiteId::UNKNOWN,
            op: Op::Begin(RegionId::ANONYMOUS),
        });
    }
    let text = write(&tables, &events);
    let again = VecSource::from_text(&text).unwrap();
    assert_eq!(again.tables().threads.len(), 5);
    assert_eq!(again.events(), events);
}

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same_events(
        steps in proptest::collection::vec(any::<u32>(), 10..200),
    ) {
        let (tables, events) = trace_of(&Shape::full(), &steps);
        prop_assume!(!events.is_empty());
        let text = write(&tables, &events);
        let again = VecSource::from_text(&text).unwrap();
        prop_assert_eq!(again.events().len(), events.len());
        // Ids may differ, names may not: the text says all.
        prop_assert_eq!(write(again.tables(), again.events()), text);
        for (a, b) in again.events().iter().zip(&events) {
            prop_assert_eq!(a.op.kind(), b.op.kind());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, STRICT);
        let (_, lenient) = read(&bytes, LENIENT);
        prop_assert!(lenient.is_ok() || bytes.is_empty());
    }

    #[test]
    fn damaged_text_never_panics(seed: u64, damage in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..5)) {
        let (tables, events) = trace_of(&Shape::full(), &random_steps(seed, 60));
        let mut bytes = write(&tables, &events).into_bytes();
        for (at, byte) in damage {
            let at = at as usize % bytes.len();
            bytes[at] = byte;
        }
        let (source, result) = read(&bytes, STRICT);
        if let Ok(events) = result {
            // Whatever is accepted is well-formed.
            VecSource::new(source.tables().clone(), events).unwrap();
        }
        prop_assert!(read(&bytes, LENIENT).1.is_ok());
    }
}
