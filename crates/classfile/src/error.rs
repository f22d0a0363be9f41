//! What can be wrong with a class file, and where.

/// A class file that cannot be read: what is wrong and at which byte of the file.
///
/// The name of the file is known only to the caller, who adds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct Error {
    /// Offset from the start of the class file.
    pub offset: u32,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// The ways in which a class file can be malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    #[error("the file ends in the middle of a structure")]
    Truncated,
    #[error("not a class file (bad magic number)")]
    BadMagic,
    #[error("bytes follow the end of the structure")]
    TrailingBytes,
    #[error("unknown constant pool tag {0}")]
    ConstantTag(u8),
    #[error("constant {index} is not a {expected}")]
    Constant { index: u16, expected: &'static str },
    #[error("malformed descriptor")]
    Descriptor,
    #[error("unknown opcode {0:#04x}")]
    Opcode(u8),
    #[error("malformed instruction operand")]
    Operand,
    #[error("offset {0} is not the start of an instruction")]
    BranchTarget(i64),
    #[error("code length {0} is not in 1..=65535")]
    CodeLength(u32),
    #[error("malformed exception table entry")]
    ExceptionRange,
    #[error("unknown annotation element tag {0}")]
    AnnotationTag(u8),
    #[error("unknown type annotation target {0:#04x}")]
    AnnotationTarget(u8),
    #[error("annotations nested too deeply")]
    NestingTooDeep,
    #[error("malformed stack map frame")]
    Frame,
    #[error("stack map frames too large")]
    FramesTooLarge,
    #[error("no bootstrap method {0}")]
    BootstrapMethod(u16),
}

/// The result of reading.
pub type Result<T, E = Error> = std::result::Result<T, E>;
