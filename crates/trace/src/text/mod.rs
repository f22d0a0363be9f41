//! STD text traces, RAPID's format with a few more operations.
//!
//! A line is `thread|op|location`, nothing else: no blanks around the bars, no blank lines, no comments.
//! - `r(x)`, `w(x)`, `u(x)`: read, write, update; `vr(x)`, `vw(x)`, `vu(x)`: the same, volatile;
//! - `acq(l)`, `rel(l)`: exclusive; `acqs(l)`, `rels(l)`: shared; re-entrant ones are written the same way and recognized;
//! - `wait(l)`, `wake(l)`, `notify(l)`; `sig(s)`, `await(s)`: the two halves of a synchronizer that is no lock;
//! - `fork(t)`, `join(t)`;
//! - `begin`, `begin(m)`, `end`, `end(m)`: an anonymous region is called after its thread and line, `T1@12`;
//! - `enter(m)`, `exit(m)`: methods that are no regions.
//!
//! A name is any UTF-8 text without a bar and without control characters; an operand runs from the first parenthesis of its field to the last.
//! A thread called by a number, as RAPID does (`T7` or `7`), must stay below 2^32.
//! A location such as `File.java:12` is a file and a line, `?` is no location at all, anything else a token.
//! Lines end with LF or CRLF; the last may lack its end.
//! A line longer than [`MAX_LINE`] is an error, so memory is bounded whatever the input.
//!
//! Reading and writing gives the same bytes back, but for CRLF and a missing last line end.
//! A trace that comes from elsewhere loses in text what text cannot say: overlapping locations become plain names, and of the access flags only `volatile` stays.

mod grammar;
mod names;
mod reader;
mod writer;

pub use reader::{TextOptions, TextSource};
pub use writer::TextWriter;

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 1 << 20;
