//! The agent changes nothing: standard output, exit status and exceptions of a program are the same with and without it, standard error but for lines that begin with `untorn: `.
//!
//! The drivers need the pinned jars in the folder that `UNTORN_CORPUS` names, as `cargo xtask test` sees to; there each driver meets two ways of watching.
//! `UNTORN_HARMLESS=all` (or `cargo xtask corpus harmless`) runs every program in every way on every JDK, `UNTORN_HARMLESS=h2,netty` those of the named ones.

#![allow(clippy::unwrap_used)]

mod drivers;
mod mirror;
mod robust;
mod soak;
mod watching;
