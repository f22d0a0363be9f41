//! The data of an SSA body.

use smallvec::SmallVec;

use crate::classes::{Handle, Type};
use crate::ids::{BlockId, ClassId, FieldId, InstrId, MethodId, Symbol, ValueId};

/// A list of operands.
pub type Operands = SmallVec<[ValueId; 3]>;

/// A method body.
#[derive(Debug, Clone)]
pub struct Body {
    /// Whose body it is.
    pub method: MethodId,
    /// Basic blocks; the first is the entry and has no predecessor but back edges.
    pub blocks: Vec<Block>,
    /// Instructions in block order.
    pub instrs: Vec<Instr>,
    /// Values.
    pub values: Vec<Value>,
    /// The parameters, the receiver first.
    pub params: Vec<ValueId>,
    /// Whether the first parameter is the receiver.
    pub has_receiver: bool,
}

/// A basic block.
#[derive(Debug, Clone)]
pub struct Block {
    /// Phis, before the first instruction.
    pub phis: Vec<Phi>,
    /// The first instruction.
    pub first: InstrId,
    /// One past the last instruction.
    pub end: InstrId,
    /// Where control goes: for a branch the target first, then the next block; for a switch the default first.
    pub succs: SmallVec<[BlockId; 2]>,
    /// Where exceptions go, in order.
    pub handlers: SmallVec<[Handler; 1]>,
    /// Where control comes from, by normal and exceptional edges.
    pub preds: SmallVec<[BlockId; 2]>,
    /// Whether the block lies on a cycle of the control-flow graph.
    pub in_loop: bool,
}

/// An exceptional edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The handler's block, which starts with [`Op::Catch`].
    pub block: BlockId,
    /// What it catches; `None` is everything.
    pub catches: Option<ClassId>,
}

/// A phi: the value that its block was entered with.
#[derive(Debug, Clone)]
pub struct Phi {
    /// The value it defines.
    pub result: ValueId,
    /// The value for each predecessor, in the order of [`Block::preds`].
    pub inputs: Vec<ValueId>,
}

/// A value.
#[derive(Debug, Clone, Copy)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// What defines it.
    pub def: Def,
}

/// What defines a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Def {
    /// The parameter at this position, the receiver being at 0.
    Param(u16),
    /// A phi of this block.
    Phi(BlockId),
    /// An instruction.
    Instr(InstrId),
}

/// An instruction with its place in the class file and the source.
#[derive(Debug, Clone)]
pub struct Instr {
    /// What it does.
    pub op: Op,
    /// The value it defines.
    pub result: Option<ValueId>,
    /// Its block.
    pub block: BlockId,
    /// Its offset in the bytecode.
    pub pc: u32,
    /// Its source line; 0 if the class file does not say.
    pub line: u16,
}

/// What an instruction does.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "operands are named after their role")]
pub enum Op {
    Const(Const),
    /// Arithmetic, conversion or comparison, by its JVM opcode.
    Compute {
        op: untorn_classfile::Op,
        args: Operands,
    },
    GetField {
        object: ValueId,
        field: FieldId,
    },
    PutField {
        object: ValueId,
        field: FieldId,
        value: ValueId,
    },
    GetStatic {
        field: FieldId,
    },
    PutStatic {
        field: FieldId,
        value: ValueId,
    },
    ArrayLoad {
        array: ValueId,
        index: ValueId,
    },
    ArrayStore {
        array: ValueId,
        index: ValueId,
        value: ValueId,
    },
    ArrayLength {
        array: ValueId,
    },
    New {
        class: ClassId,
    },
    /// One length for each dimension that is allocated.
    NewArray {
        class: ClassId,
        lengths: Operands,
    },
    Cast {
        value: ValueId,
        class: ClassId,
    },
    InstanceOf {
        value: ValueId,
        class: ClassId,
    },
    MonitorEnter {
        object: ValueId,
    },
    MonitorExit {
        object: ValueId,
    },
    /// A call; the receiver is the first argument unless the kind is static.
    Invoke {
        kind: InvokeKind,
        method: MethodId,
        args: Operands,
    },
    /// A lambda or method reference: makes an object that captures the arguments.
    Lambda {
        lambda: Box<Lambda>,
        args: Operands,
    },
    /// String concatenation.
    Concat {
        args: Operands,
    },
    /// A dynamic call site or constant of another kind, named by its bootstrap method.
    Dynamic {
        bootstrap: Symbol,
        args: Operands,
    },
    /// The exception a handler is entered with.
    Catch,
    Goto,
    /// Goes to the first successor if the test holds, else to the second; `right` is `None` for zero or null.
    If {
        test: Test,
        left: ValueId,
        right: Option<ValueId>,
    },
    Switch {
        value: ValueId,
    },
    Return {
        value: Option<ValueId>,
    },
    Throw {
        value: ValueId,
    },
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each is the constant of its kind")]
pub enum Const {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Null,
    String(Box<str>),
    Class(ClassId),
    /// A method handle or method type, which the model does not follow.
    Opaque,
    /// The return address a `jsr` pushes; the subroutine itself is expanded.
    Address,
}

/// How a method is invoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvokeKind {
    /// On a receiver, by the class of the object.
    Virtual,
    /// On a receiver of interface type, by the class of the object.
    Interface,
    /// On a receiver, exactly the method named: constructors, private methods, `super`.
    Special,
    /// Without a receiver.
    Static,
}

/// What a lambda or method reference makes.
#[derive(Debug, Clone)]
pub struct Lambda {
    /// The functional interface.
    pub interface: ClassId,
    /// The name of its one method.
    pub name: Symbol,
    /// The one method, if it resolves.
    pub method: Option<MethodId>,
    /// What runs when it is called: captured arguments first, then those of the call.
    pub handle: Handle,
}

/// The condition of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the comparisons of the JVM")]
pub enum Test {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

/// Visits every operand of an operation, by shared or mutable reference as `$op` is one.
macro_rules! visit_operands {
    ($op:expr, $visit:expr) => {
        match $op {
            Op::Const(_)
            | Op::GetStatic { .. }
            | Op::New { .. }
            | Op::Catch
            | Op::Goto
            | Op::Return { value: None } => {}
            Op::Compute { args, .. }
            | Op::NewArray { lengths: args, .. }
            | Op::Invoke { args, .. }
            | Op::Lambda { args, .. }
            | Op::Concat { args }
            | Op::Dynamic { args, .. } => {
                for arg in args {
                    $visit(arg);
                }
            }
            Op::GetField { object: value, .. }
            | Op::PutStatic { value, .. }
            | Op::ArrayLength { array: value }
            | Op::Cast { value, .. }
            | Op::InstanceOf { value, .. }
            | Op::MonitorEnter { object: value }
            | Op::MonitorExit { object: value }
            | Op::Switch { value }
            | Op::Return { value: Some(value) }
            | Op::Throw { value } => $visit(value),
            Op::PutField {
                object: first,
                value: second,
                ..
            }
            | Op::ArrayLoad {
                array: first,
                index: second,
            } => {
                $visit(first);
                $visit(second);
            }
            Op::ArrayStore {
                array,
                index,
                value,
            } => {
                $visit(array);
                $visit(index);
                $visit(value);
            }
            Op::If { left, right, .. } => {
                $visit(left);
                if let Some(right) = right {
                    $visit(right);
                }
            }
        }
    };
}

impl Op {
    /// Calls `visit` for every operand.
    pub fn for_each_operand(&self, mut visit: impl FnMut(ValueId)) {
        let mut visit = |value: &ValueId| visit(*value);
        visit_operands!(self, visit);
    }

    /// Replaces every operand.
    pub(crate) fn map_operands(&mut self, mut map: impl FnMut(ValueId) -> ValueId) {
        let mut visit = |value: &mut ValueId| *value = map(*value);
        visit_operands!(self, visit);
    }

    /// Whether executing it can raise an exception that a handler of its method sees.
    pub fn can_throw(&self) -> bool {
        match self {
            Op::Compute { op, .. } => {
                use untorn_classfile::Op as Jvm;
                matches!(op, Jvm::Idiv | Jvm::Ldiv | Jvm::Irem | Jvm::Lrem)
            }
            Op::Const(constant) => matches!(constant, Const::Class(_) | Const::Opaque),
            Op::MonitorExit { .. }
            | Op::InstanceOf { .. }
            | Op::Catch
            | Op::Goto
            | Op::If { .. }
            | Op::Switch { .. }
            | Op::Return { .. } => false,
            _ => true,
        }
    }
}

impl Body {
    /// A block by its id.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// An instruction by its id.
    pub fn instr(&self, id: InstrId) -> &Instr {
        &self.instrs[id.index()]
    }

    /// A value by its id.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The type of a value.
    pub fn ty(&self, id: ValueId) -> Type {
        self.value(id).ty
    }

    /// The ids of all blocks.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId::new)
    }

    /// The instructions of a block with their ids.
    pub fn block_instrs(&self, id: BlockId) -> impl Iterator<Item = (InstrId, &Instr)> {
        let block = self.block(id);
        (block.first.index()..block.end.index())
            .map(|index| (InstrId::new(index), &self.instrs[index]))
    }

    /// All instructions with their ids.
    pub fn all_instrs(&self) -> impl Iterator<Item = (InstrId, &Instr)> {
        self.instrs
            .iter()
            .enumerate()
            .map(|(index, instr)| (InstrId::new(index), instr))
    }

    /// The last instruction of a block.
    pub fn terminator(&self, id: BlockId) -> &Instr {
        self.instr(InstrId::new(self.block(id).end.index() - 1))
    }

    /// The instruction that defines a value, if one does.
    pub fn defining(&self, value: ValueId) -> Option<&Instr> {
        if let Def::Instr(instr) = self.value(value).def {
            Some(self.instr(instr))
        } else {
            None
        }
    }

    /// The receiver, if the method has one.
    pub fn receiver(&self) -> Option<ValueId> {
        if self.has_receiver {
            self.params.first().copied()
        } else {
            None
        }
    }
}
