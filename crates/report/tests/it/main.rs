//! The faces on one document that has every sort of evidence.

#![allow(clippy::unwrap_used)]

mod browser;
mod changes;
mod expected;
mod hosts;
mod html;
mod sample;
mod sarif;
mod text;
