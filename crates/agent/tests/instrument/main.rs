//! The rewriter on real JVMs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod behaviour;
mod corpus;
mod events;
mod first;
mod jit;
mod regions;
mod support;
mod watched;
