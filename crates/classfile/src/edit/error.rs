//! What can stand in the way of an edit.

use crate::error::Error;

/// An edit that cannot be made; the class is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The class file itself is malformed.
    #[error(transparent)]
    Read(#[from] Error),
    /// The method would pass the limit of the class file format: instrument it less.
    #[error("the method would take {length} bytes of code; at most 65535 are possible")]
    MethodTooLarge { length: u32 },
    #[error("the constant pool is full")]
    PoolFull,
    #[error("a string constant takes at most 65535 bytes")]
    StringTooLong,
    #[error("too many {0}: at most 65535 are possible")]
    TooMany(&'static str),
    #[error("label {0} is jumped to but stands nowhere")]
    UnboundLabel(u32),
    #[error("label {0} stands in two places")]
    LabelBoundTwice(u32),
    #[error("no instruction {0}")]
    NoSuchInstruction(usize),
    #[error("no {what} {index}")]
    NoSuchMember { what: &'static str, index: usize },
    /// Nothing reaches the instruction by falling through and no frame says what it starts with.
    #[error("instruction {at} of the edited code cannot be reached and has no frame")]
    Unreachable { at: u32 },
    /// Two ways into an inserted label disagree: give the label an explicit frame.
    #[error("instruction {at} of the edited code is reached with different types")]
    Merge { at: u32 },
    /// Inserted code jumps to an instruction of the file that nothing else jumps to.
    #[error("instruction {index} has no frame: jump to a label bound before it instead")]
    NoFrame { index: usize },
    /// The code does not do with the stack what its instructions ask for.
    #[error("instruction {at} of the code is ill-typed: {what}")]
    IllTyped { at: u32, what: &'static str },
    #[error("the method is too complex to infer its types")]
    TooComplex,
}

/// The result of editing.
pub type Result<T, E = EditError> = std::result::Result<T, E>;
