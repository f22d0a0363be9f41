//! The rewriter on real JVMs.

mod behaviour;
mod corpus;
mod events;
mod jit;
mod support;
