//! What one instruction does to the types in locals and stack (JVMS 4.10.1.9), trusting that the
//! code verifies: types are tracked, not checked.

use crate::edit::pool::Pool;
use crate::edit::state::State;
use crate::insn::{Insn, Op};
use crate::read::pool::Entry;
use crate::read::{PoolIndex, TypeName, VType};

/// The class and constants an instruction speaks of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c, 'a> {
    pub(crate) pool: &'c Pool<'a>,
    pub(crate) this_class: PoolIndex,
}

/// Why an instruction cannot be followed.
pub(crate) type Fault = &'static str;

const UNDERFLOW: Fault = "the stack holds too little";
const CONSTANT: Fault = "its constant is of the wrong kind";
const ARRAY: Fault = "it needs an array of references";

impl State {
    fn pop(&mut self, slots: usize) -> Result<(), Fault> {
        match self.stack.len().checked_sub(slots) {
            Some(left) => {
                self.stack.truncate(left);
                Ok(())
            }
            None => Err(UNDERFLOW),
        }
    }

    fn push(&mut self, value: VType) {
        self.stack.extend(value.slots());
    }

    fn replace(&mut self, popped: usize, value: VType) -> Result<(), Fault> {
        self.pop(popped)?;
        self.push(value);
        Ok(())
    }

    /// Copies the top `count` slots below `below` further ones.
    fn dup(&mut self, count: usize, below: usize) -> Result<(), Fault> {
        let Some(at) = self.stack.len().checked_sub(count + below) else {
            return Err(UNDERFLOW);
        };
        let start = self.stack.len() - count;
        self.stack.extend_from_within(start..);
        self.stack[at..].rotate_right(count);
        Ok(())
    }

    /// Every copy of an uninitialized value becomes the object it now is.
    fn initialize(&mut self, raw: VType, ready: VType) {
        for slot in self.locals.iter_mut().chain(&mut self.stack) {
            if *slot == raw {
                *slot = ready;
            }
        }
    }

    /// Applies the instruction at position `at` to the state before it.
    pub(crate) fn step<T: Copy>(
        &mut self,
        insn: &Insn<T>,
        at: u32,
        context: Context<'_, '_>,
    ) -> Result<(), Fault> {
        let pool = context.pool;
        match insn {
            Insn::Plain(op) => self.plain(*op, pool),
            Insn::Push { .. } => {
                self.push(VType::Integer);
                Ok(())
            }
            Insn::Ldc { constant, .. } => {
                self.push(constant_type(*constant, pool)?);
                Ok(())
            }
            Insn::Local { op, index, .. } => self.local_variable(*op, *index),
            Insn::Iinc { .. } => Ok(()),
            Insn::Jump { op, .. } => match op {
                Op::Goto | Op::GotoW => Ok(()),
                // What stands here is the state at the subroutine; the caller knows better about the return.
                Op::Jsr | Op::JsrW => {
                    self.push(VType::ReturnAddress);
                    Ok(())
                }
                _ if (Op::IfIcmpeq..=Op::IfAcmpne).contains(op) => self.pop(2),
                _ => self.pop(1),
            },
            Insn::Switch(_) => self.pop(1),
            Insn::Field { op, field } => self.field(*op, *field, pool),
            Insn::Invoke { op, method, .. } => self.invoke(*op, *method, context),
            Insn::InvokeDynamic { site } => match pool.entry(*site) {
                Some(Entry::InvokeDynamic { name_and_type, .. }) => {
                    let (descriptor, _) = descriptor_of(name_and_type, pool)?;
                    self.call(descriptor, pool, 0).map(|_| ())
                }
                _ => Err(CONSTANT),
            },
            Insn::Type { op, class } => match op {
                Op::New => {
                    self.push(VType::Uninitialized(at));
                    Ok(())
                }
                Op::Instanceof => self.replace(1, VType::Integer),
                Op::Checkcast => self.replace(1, pool.class_type(*class).ok_or(CONSTANT)?),
                _ => match pool.class_type(*class) {
                    Some(VType::Object(element)) => {
                        self.replace(1, VType::Object(element.array().ok_or(CONSTANT)?))
                    }
                    _ => Err(CONSTANT),
                },
            },
            Insn::NewArray(element) => {
                self.replace(1, VType::Object(TypeName::primitive_array(*element)))
            }
            Insn::MultiNewArray { class, dimensions } => self.replace(
                *dimensions as usize,
                pool.class_type(*class).ok_or(CONSTANT)?,
            ),
        }
    }

    fn local_variable(&mut self, op: Op, index: u16) -> Result<(), Fault> {
        match op {
            Op::Iload => self.push(VType::Integer),
            Op::Fload => self.push(VType::Float),
            Op::Lload => self.push(VType::Long),
            Op::Dload => self.push(VType::Double),
            Op::Aload => self.push(self.local(index)),
            Op::Ret => {}
            _ => {
                let width = if matches!(op, Op::Lstore | Op::Dstore) {
                    2
                } else {
                    1
                };
                let value = self.peek(width - 1).ok_or(UNDERFLOW)?;
                self.pop(width)?;
                self.set_local(index, value);
            }
        }
        Ok(())
    }

    fn field(&mut self, op: Op, field: PoolIndex, pool: &Pool<'_>) -> Result<(), Fault> {
        let Some(Entry::Field { name_and_type, .. }) = pool.entry(field) else {
            return Err(CONSTANT);
        };
        let (utf8, bytes) = descriptor_of(name_and_type, pool)?;
        let (kind, _) = VType::in_descriptor(utf8, bytes, 0).ok_or(CONSTANT)?;
        let width = kind.slots().count();
        match op {
            Op::Getstatic => {
                self.push(kind);
                Ok(())
            }
            Op::Getfield => self.replace(1, kind),
            Op::Putstatic => self.pop(width),
            _ => self.pop(width + 1),
        }
    }

    fn invoke(&mut self, op: Op, method: PoolIndex, context: Context<'_, '_>) -> Result<(), Fault> {
        let pool = context.pool;
        let Some(
            Entry::Method {
                class,
                name_and_type,
            }
            | Entry::InterfaceMethod {
                class,
                name_and_type,
            },
        ) = pool.entry(method)
        else {
            return Err(CONSTANT);
        };
        let (descriptor, _) = descriptor_of(name_and_type, pool)?;
        let receiver = usize::from(op != Op::Invokestatic);
        let popped = self.call(descriptor, pool, receiver)?;
        if op == Op::Invokespecial {
            match popped {
                VType::UninitializedThis => {
                    let ready = pool.class_type(context.this_class).ok_or(CONSTANT)?;
                    self.initialize(popped, ready);
                }
                VType::Uninitialized(_) => {
                    self.initialize(popped, pool.class_type(class).ok_or(CONSTANT)?);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Pops arguments and receiver, pushes the result; gives the receiver's type.
    fn call(&mut self, utf8: PoolIndex, pool: &Pool<'_>, receiver: usize) -> Result<VType, Fault> {
        let descriptor = pool.utf8_or_empty(utf8);
        let mut at = 1;
        let mut slots = 0;
        while *descriptor.get(at).ok_or(CONSTANT)? != b')' {
            let (kind, next) = VType::in_descriptor(utf8, descriptor, at).ok_or(CONSTANT)?;
            slots += kind.slots().count();
            at = next;
        }
        let target = if receiver == 0 {
            VType::Top
        } else {
            self.peek(slots).ok_or(UNDERFLOW)?
        };
        self.pop(slots + receiver)?;
        if descriptor.get(at + 1) != Some(&b'V') {
            let (kind, _) = VType::in_descriptor(utf8, descriptor, at + 1).ok_or(CONSTANT)?;
            self.push(kind);
        }
        Ok(target)
    }

    #[expect(clippy::match_same_arms, reason = "one row for each family of opcodes")]
    fn plain(&mut self, op: Op, pool: &Pool<'_>) -> Result<(), Fault> {
        use VType::{Double, Float, Integer, Long};
        let (popped, pushed) = match op {
            Op::Nop => return Ok(()),
            Op::AconstNull => (0, VType::Null),
            Op::Lconst0 | Op::Lconst1 => (0, Long),
            Op::Fconst0 | Op::Fconst1 | Op::Fconst2 => (0, Float),
            Op::Dconst0 | Op::Dconst1 => (0, Double),
            Op::Iaload | Op::Baload | Op::Caload | Op::Saload => (2, Integer),
            Op::Laload => (2, Long),
            Op::Faload => (2, Float),
            Op::Daload => (2, Double),
            Op::Aaload => return self.load_element(pool),
            Op::Iastore | Op::Fastore | Op::Aastore | Op::Bastore | Op::Castore | Op::Sastore => {
                return self.pop(3);
            }
            Op::Lastore | Op::Dastore => return self.pop(4),
            Op::Pop | Op::Athrow | Op::Monitorenter | Op::Monitorexit => return self.pop(1),
            Op::Ireturn | Op::Freturn | Op::Areturn => return self.pop(1),
            Op::Pop2 | Op::Lreturn | Op::Dreturn => return self.pop(2),
            Op::Return => return Ok(()),
            Op::Dup => return self.dup(1, 0),
            Op::DupX1 => return self.dup(1, 1),
            Op::DupX2 => return self.dup(1, 2),
            Op::Dup2 => return self.dup(2, 0),
            Op::Dup2X1 => return self.dup(2, 1),
            Op::Dup2X2 => return self.dup(2, 2),
            Op::Swap => {
                let Some(at) = self.stack.len().checked_sub(2) else {
                    return Err(UNDERFLOW);
                };
                self.stack.swap(at, at + 1);
                return Ok(());
            }
            Op::Iadd
            | Op::Isub
            | Op::Imul
            | Op::Idiv
            | Op::Irem
            | Op::Ishl
            | Op::Ishr
            | Op::Iushr => (2, Integer),
            Op::Iand | Op::Ior | Op::Ixor | Op::Fcmpl | Op::Fcmpg => (2, Integer),
            Op::Ladd
            | Op::Lsub
            | Op::Lmul
            | Op::Ldiv
            | Op::Lrem
            | Op::Land
            | Op::Lor
            | Op::Lxor => (4, Long),
            Op::Lshl | Op::Lshr | Op::Lushr => (3, Long),
            Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Frem => (2, Float),
            Op::Dadd | Op::Dsub | Op::Dmul | Op::Ddiv | Op::Drem => (4, Double),
            Op::Ineg | Op::F2i | Op::I2b | Op::I2c | Op::I2s | Op::Arraylength => (1, Integer),
            Op::Lneg | Op::D2l => (2, Long),
            Op::Fneg | Op::I2f => (1, Float),
            Op::Dneg | Op::L2d => (2, Double),
            Op::I2l | Op::F2l => (1, Long),
            Op::I2d | Op::F2d => (1, Double),
            Op::L2i | Op::D2i => (2, Integer),
            Op::L2f | Op::D2f => (2, Float),
            Op::Lcmp | Op::Dcmpl | Op::Dcmpg => (4, Integer),
            _ if (Op::IconstM1..=Op::Iconst5).contains(&op) => (0, Integer),
            _ => return Err("its opcode does not stand alone"),
        };
        self.replace(popped, pushed)
    }

    fn load_element(&mut self, pool: &Pool<'_>) -> Result<(), Fault> {
        let element = match self.peek(1).ok_or(UNDERFLOW)? {
            VType::Null => VType::Null,
            // An inferred type may have lost that it is an array.
            VType::Object(array) => VType::Object(
                array
                    .element(|index| pool.utf8_or_empty(index))
                    .unwrap_or(TypeName::OBJECT),
            ),
            _ => return Err(ARRAY),
        };
        self.replace(2, element)
    }
}

fn descriptor_of<'p>(
    name_and_type: PoolIndex,
    pool: &'p Pool<'_>,
) -> Result<(PoolIndex, &'p [u8]), Fault> {
    match pool.entry(name_and_type) {
        Some(Entry::NameAndType { descriptor, .. }) => {
            Ok((descriptor, pool.utf8_or_empty(descriptor)))
        }
        _ => Err(CONSTANT),
    }
}

fn constant_type(constant: PoolIndex, pool: &Pool<'_>) -> Result<VType, Fault> {
    Ok(match pool.entry(constant) {
        Some(Entry::Integer(_)) => VType::Integer,
        Some(Entry::Float(_)) => VType::Float,
        Some(Entry::Long(_)) => VType::Long,
        Some(Entry::Double(_)) => VType::Double,
        Some(Entry::String { .. }) => VType::Object(TypeName::STRING),
        Some(Entry::Class { .. }) => VType::Object(TypeName::CLASS),
        Some(Entry::MethodType { .. }) => VType::Object(TypeName::METHOD_TYPE),
        Some(Entry::MethodHandle { .. }) => VType::Object(TypeName::METHOD_HANDLE),
        Some(Entry::Dynamic { name_and_type, .. }) => {
            let (utf8, bytes) = descriptor_of(name_and_type, pool)?;
            VType::in_descriptor(utf8, bytes, 0).ok_or(CONSTANT)?.0
        }
        _ => return Err(CONSTANT),
    })
}
