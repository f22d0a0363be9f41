//! How calls commute with the steps of other threads, and what they do with their operands.
//!
//! A row holds for the class and those below it in the platform.
//! A method without a row is compound and keeps its arguments, which is the worst that disciplined code can do.

pub use crate::words::Step;

/// The receiver or an argument, the receiver not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The receiver.
    Receiver,
    /// An argument.
    Arg(usize),
}

/// What some methods do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The classes that declare them, by internal name.
    pub classes: &'static [&'static str],
    /// Their names; `*` is every method.
    pub names: &'static [&'static str],
    /// The only descriptors it holds for; none means all.
    pub descriptors: &'static [&'static str],
    /// As a step, its accesses to the operands aside.
    pub is: Step,
    /// Whose elements or content it reads, and nothing else of them.
    pub reads: &'static [Operand],
    /// It reads what it is given, unless it says that it writes it.
    pub reads_all: bool,
    /// Whose elements or content it writes.
    pub writes: &'static [Operand],
    /// Its result is new and nobody else knows it.
    pub fresh: bool,
    /// Its result is another face of the receiver.
    pub view: bool,
    /// Whose `equals`, `hashCode`, `compareTo` or `toString` it may call.
    pub calls: &'static [Operand],
    /// It may keep its arguments.
    pub keeps: bool,
    /// Methods that it calls on its operands, any number of times; they take no references and give none but strings.
    pub asks: &'static [Question],
    /// It calls nothing of its receiver that a subclass may have overridden.
    pub alone: bool,
    /// It holds only for receivers that order what they hold by nature, not by somebody's comparator.
    pub natural: bool,
    /// Operands that must be collections of the platform without locks and without anybody's code.
    pub plain: &'static [Operand],
    /// Operands that are functions, which it runs any number of times.
    pub applies: &'static [Operand],
    /// It touches nothing that changes as long as nobody else knows its receiver.
    pub own: bool,
    /// Methods of other classes that it may run, as class and name (`*` for all): it holds only where nobody overrides them.
    pub runs: &'static [(&'static str, &'static str)],
}

/// A method that a library method calls on one of its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// On which one.
    pub operand: Operand,
    /// The class that declares the method.
    pub class: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its descriptor.
    pub descriptor: &'static str,
}

impl Steps {
    /// Whether it is for a method with this descriptor.
    pub fn fits(&self, descriptor: &str) -> bool {
        crate::fits(self.descriptors, descriptor)
    }
}

/// All rows.
pub fn steps() -> &'static [Steps] {
    STEPS
}

/// Fields whose arrays nobody writes to once the field holds them, as class and name.
pub fn frozen() -> &'static [(&'static str, &'static str)] {
    FROZEN
}

include!(concat!(env!("OUT_DIR"), "/steps.rs"));
