//! The rewriter on real JVMs.

mod behaviour;
mod support;
