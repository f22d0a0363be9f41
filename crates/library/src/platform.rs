//! Where the platform's own code hands work and results from thread to thread, below what programs call.

pub use crate::words::{Effect, Subject};

/// A hook in some methods of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub class: &'static str,
    /// All overloads; what a platform does not have is skipped.
    pub methods: &'static [&'static str],
    pub at: At,
    /// A signal, or what awaits one.
    pub effect: Effect,
    pub on: Subject,
}

/// Where a hook stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Entry,
    /// Before each return.
    Return,
    /// Before the calls of a method without arguments, whose receiver it is then on.
    Call {
        class: &'static str,
        name: &'static str,
    },
}

/// All hooks.
pub fn hooks() -> &'static [Hook] {
    HOOKS
}

include!(concat!(env!("OUT_DIR"), "/platform.rs"));
