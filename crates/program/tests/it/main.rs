//! Tests of the program model on real class files, compiled once by the real javac.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod loading;
mod model;
mod ssa;
mod support;
