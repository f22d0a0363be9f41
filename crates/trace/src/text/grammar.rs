//! One line of a text trace: its fields and its verb.

use std::fmt;

use untorn_model::{AccessFlags, LockMode};

/// What a line does, without its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    Read(AccessFlags),
    Write(AccessFlags),
    Update(AccessFlags),
    Acquire(LockMode),
    Release(LockMode),
    Wait,
    Wake,
    Notify,
    Signal,
    Await,
    Fork,
    Join,
    Begin,
    End,
    Enter,
    Exit,
}

/// The fields of a line; the operand is empty only for an anonymous `begin` or `end`.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub thread: &'a [u8],
    pub verb: Verb,
    pub operand: &'a [u8],
    pub location: &'a [u8],
}

/// Why a line cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    Blank,
    Fields(usize),
    EmptyThread,
    EmptyLocation,
    UnknownOperation(String),
    MissingOperand(String),
    UnclosedOperand(String),
    NotUtf8,
    ControlCharacter,
    ThreadNumber(String),
    TooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => write!(f, "a blank line"),
            Self::Fields(1) => write!(f, "1 field where thread|op|location has 3"),
            Self::Fields(n) => write!(f, "{n} fields where thread|op|location has 3"),
            Self::EmptyThread => write!(f, "the thread has no name"),
            Self::EmptyLocation => write!(f, "the location is empty"),
            Self::UnknownOperation(op) => write!(f, "unknown operation `{op}`"),
            Self::MissingOperand(op) => write!(f, "operation `{op}` lacks its operand"),
            Self::UnclosedOperand(op) => {
                write!(f, "operation `{op}` lacks its closing parenthesis")
            }
            Self::NotUtf8 => write!(f, "invalid UTF-8"),
            Self::ControlCharacter => write!(f, "a control character in a name"),
            Self::ThreadNumber(name) => {
                write!(f, "thread number `{name}` is out of range (2^32 or more)")
            }
            Self::TooLong => write!(f, "a line of more than {} bytes", super::MAX_LINE),
        }
    }
}

/// A piece of input as it may appear in a message: short, and on one line.
fn quoted(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    let mut out: String = (text.chars().take(LONGEST))
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().count() > LONGEST {
        out.push('…');
    }
    out
}

/// The letters of a verb as one number, which a match compares in one step.
const fn word(letters: &[u8]) -> u64 {
    let mut key = 0;
    let mut i = 0;
    while i < letters.len() {
        key = key << 8 | letters[i] as u64;
        i += 1;
    }
    key
}

const fn verb(key: u64) -> Option<Verb> {
    use LockMode::{Exclusive, Shared};
    const R: u64 = word(b"r");
    const W: u64 = word(b"w");
    const U: u64 = word(b"u");
    const VR: u64 = word(b"vr");
    const VW: u64 = word(b"vw");
    const VU: u64 = word(b"vu");
    const ACQ: u64 = word(b"acq");
    const REL: u64 = word(b"rel");
    const ACQS: u64 = word(b"acqs");
    const RELS: u64 = word(b"rels");
    const WAIT: u64 = word(b"wait");
    const WAKE: u64 = word(b"wake");
    const NOTIFY: u64 = word(b"notify");
    const SIG: u64 = word(b"sig");
    const AWAIT: u64 = word(b"await");
    const FORK: u64 = word(b"fork");
    const JOIN: u64 = word(b"join");
    const BEGIN: u64 = word(b"begin");
    const END: u64 = word(b"end");
    const ENTER: u64 = word(b"enter");
    const EXIT: u64 = word(b"exit");
    Some(match key {
        R => Verb::Read(AccessFlags::PLAIN),
        W => Verb::Write(AccessFlags::PLAIN),
        U => Verb::Update(AccessFlags::PLAIN),
        VR => Verb::Read(AccessFlags::VOLATILE),
        VW => Verb::Write(AccessFlags::VOLATILE),
        VU => Verb::Update(AccessFlags::VOLATILE),
        ACQ => Verb::Acquire(Exclusive),
        REL => Verb::Release(Exclusive),
        ACQS => Verb::Acquire(Shared),
        RELS => Verb::Release(Shared),
        WAIT => Verb::Wait,
        WAKE => Verb::Wake,
        NOTIFY => Verb::Notify,
        SIG => Verb::Signal,
        AWAIT => Verb::Await,
        FORK => Verb::Fork,
        JOIN => Verb::Join,
        BEGIN => Verb::Begin,
        END => Verb::End,
        ENTER => Verb::Enter,
        EXIT => Verb::Exit,
        _ => return None,
    })
}

/// Splits a line without its end.
///
/// The location may still hold a bar: [`location_name`] looks when a location is new, and no known one has any.
#[inline]
pub fn parse(line: &[u8]) -> Result<Line<'_>, Fault> {
    let Some(first) = line.iter().position(|&b| b == b'|') else {
        return Err(if line.trim_ascii().is_empty() {
            Fault::Blank
        } else {
            Fault::Fields(1)
        });
    };
    let (thread, rest) = (&line[..first], &line[first + 1..]);
    let Some(second) = memchr::memchr(b'|', rest) else {
        return Err(Fault::Fields(2));
    };
    let (op, location) = (&rest[..second], &rest[second + 1..]);
    if thread.is_empty() {
        return Err(Fault::EmptyThread);
    }
    if location.is_empty() {
        return Err(Fault::EmptyLocation);
    }
    let (verb, operand) = operation(op)?;
    Ok(Line {
        thread,
        verb,
        operand,
        location,
    })
}

#[inline]
fn operation(op: &[u8]) -> Result<(Verb, &[u8]), Fault> {
    let mut key = 0;
    for (i, &letter) in op.iter().enumerate().take(8) {
        if letter == b'(' {
            let verb = verb(key).ok_or_else(|| Fault::UnknownOperation(quoted(op)))?;
            return match &op[i + 1..] {
                [operand @ .., b')'] if !operand.is_empty() => Ok((verb, operand)),
                [b')'] => Err(Fault::MissingOperand(quoted(op))),
                _ => Err(Fault::UnclosedOperand(quoted(op))),
            };
        }
        key = key << 8 | u64::from(letter);
    }
    if op.len() > 8 {
        return Err(Fault::UnknownOperation(quoted(op)));
    }
    match verb(key) {
        Some(verb @ (Verb::Begin | Verb::End)) => Ok((verb, &[])),
        Some(_) => Err(Fault::MissingOperand(quoted(op))),
        None => Err(Fault::UnknownOperation(quoted(op))),
    }
}

/// Whether a thread is called by a number that no id can hold.
pub fn is_thread_number_too_large(name: &str) -> bool {
    let digits = name.strip_prefix('T').unwrap_or(name);
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && digits.parse::<u32>().is_err()
}

/// A token as text that may become a name.
pub fn name(token: &[u8]) -> Result<&str, Fault> {
    let text = str::from_utf8(token).map_err(|_| Fault::NotUtf8)?;
    if text.chars().any(char::is_control) {
        return Err(Fault::ControlCharacter);
    }
    Ok(text)
}

/// As [`name`], for a location.
pub fn location_name(token: &[u8]) -> Result<&str, Fault> {
    let text = name(token)?;
    match text.matches('|').count() {
        0 => Ok(text),
        bars => Err(Fault::Fields(3 + bars)),
    }
}

/// As [`name`], for a thread.
pub fn thread_name(token: &[u8]) -> Result<&str, Fault> {
    let text = name(token)?;
    if is_thread_number_too_large(text) {
        return Err(Fault::ThreadNumber(quoted(token)));
    }
    Ok(text)
}
