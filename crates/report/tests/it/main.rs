//! The faces on one document that has every sort of evidence.

#![allow(clippy::unwrap_used)]

mod expected;
mod sample;
mod sarif;
mod text;
