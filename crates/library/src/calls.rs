//! What calls do to the content of objects and to the order of threads.
//!
//! A row holds for calls that name one of its classes; it says nothing of subclasses.

pub use crate::words::{Effect, Of, Subject, When};

/// What calls of some methods do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The classes that calls name, by internal name.
    pub classes: &'static [&'static str],
    pub names: &'static [&'static str],
    /// Overloads with exactly these parameters, such as `(Ljava/lang/Object;)`; none means all.
    pub descriptors: &'static [&'static str],
    pub effect: Effect,
    pub on: Subject,
    /// The effect takes place if the result is true, not zero or not null.
    pub if_result: bool,
    /// The number of the argument that is the key.
    pub key: Option<usize>,
    /// What is accessed instead of the content under a key or as a whole: something of which the object has one, such as a value.
    /// Its class stands before a last dot, if it is not the one that the call names.
    pub field: Option<&'static str>,
    /// What the call accesses as well.
    pub also: &'static [Also],
    /// What the call has read if it throws.
    pub thrown: Option<&'static str>,
    /// The call neither blocks nor calls back, so that it can be one step with its record.
    pub step: bool,
    /// An update that has written only if its result says so: else it has read.
    pub written: When,
    /// The content is synchronized by itself, as that of a volatile variable is.
    pub volatile: bool,
    /// The model is coarser than what the call does.
    pub approximate: bool,
    /// How many arguments of a variable handle's method follow the coordinates.
    pub values: usize,
}

/// An access that a call makes besides its main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Also {
    /// As [`Call::field`].
    pub field: &'static str,
    pub effect: Effect,
    pub when: When,
    pub approximate: bool,
    pub of: Of,
}

impl Call {
    /// Whether it is for a method with this descriptor.
    pub fn fits(&self, descriptor: &str) -> bool {
        crate::fits(self.descriptors, descriptor)
    }
}

/// All rows.
pub fn calls() -> &'static [Call] {
    CALLS
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));
