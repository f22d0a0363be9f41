//! What each bytecode instruction means in SSA form.

use untorn_classfile::insn::{Op as Jvm, Primitive};
use untorn_classfile::read::Constant;
use untorn_classfile::{Insn, PoolIndex};

use super::body::{Const, InvokeKind, Lambda, Op, Operands, Test};
use super::build::{BodyError, Builder};
use super::stack::Frame;
use crate::classes::{ClassKind, HandleTarget, Link, Type};
use crate::ids::{ClassId, ValueId};

impl Builder<'_> {
    pub(super) fn translate(
        &mut self,
        block: usize,
        at: usize,
        insn: &Insn,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        match insn {
            Insn::Plain(op) => self.plain(block, at, *op, frame)?,
            Insn::Push { value, .. } => {
                self.constant(block, at, Const::Int(i32::from(*value)), Type::Int, frame);
            }
            Insn::Ldc { constant, .. } => {
                let (constant, ty) = self.loaded_constant(*constant)?;
                match constant {
                    Some(constant) => self.constant(block, at, constant, ty, frame),
                    None => self.dynamic_constant(block, at, insn, ty, frame),
                }
            }
            Insn::Local {
                op: Jvm::Ret,
                index,
                ..
            } => {
                frame.load(*index)?;
                self.emit(block, at, Op::Goto, None);
            }
            Insn::Local { op, index, .. } if *op < Jvm::Istore => frame.push(frame.load(*index)?),
            Insn::Local { index, .. } => {
                let value = frame.pop()?;
                // A store over either half of a wide local destroys it.
                if let Some(before) = index.checked_sub(1)
                    && frame
                        .locals
                        .get(&before)
                        .is_some_and(|old| self.ty(*old).is_wide())
                {
                    frame.locals.remove(&before);
                }
                if self.ty(value).is_wide() {
                    frame.locals.remove(&(index.wrapping_add(1)));
                }
                frame.locals.insert(*index, value);
            }
            Insn::Iinc { index, delta, .. } => {
                let old = frame.load(*index)?;
                self.constant(block, at, Const::Int(i32::from(*delta)), Type::Int, frame);
                let args = Operands::from_slice(&[old, frame.pop()?]);
                self.result(
                    block,
                    at,
                    Op::Compute {
                        op: Jvm::Iadd,
                        args,
                    },
                    Type::Int,
                    frame,
                );
                let sum = frame.pop()?;
                frame.locals.insert(*index, sum);
            }
            Insn::Jump {
                op: Jvm::Goto | Jvm::GotoW,
                ..
            } => {
                self.emit(block, at, Op::Goto, None);
            }
            Insn::Jump {
                op: Jvm::Jsr | Jvm::JsrW,
                ..
            } => {
                self.constant(block, at, Const::Address, Type::Address, frame);
                self.emit(block, at, Op::Goto, None);
            }
            Insn::Jump { op, .. } => self.branch(block, at, *op, frame)?,
            Insn::Switch(_) => {
                let value = frame.pop()?;
                self.emit(block, at, Op::Switch { value }, None);
            }
            Insn::Field { op, field } => self.field(block, at, *op, *field, frame)?,
            Insn::Invoke { op, method, .. } => self.invoke(block, at, *op, *method, frame)?,
            Insn::InvokeDynamic { site } => self.invoke_dynamic(block, at, *site, frame)?,
            Insn::Type { op, class } => self.type_instruction(block, at, *op, *class, frame)?,
            Insn::NewArray(element) => {
                let class = self.classes.well_known.primitive_arrays
                    [*element as usize - Primitive::Boolean as usize];
                let lengths = Operands::from_slice(&[frame.pop()?]);
                self.result(
                    block,
                    at,
                    Op::NewArray { class, lengths },
                    Type::Ref(class),
                    frame,
                );
            }
            Insn::MultiNewArray { class, dimensions } => {
                let (class, _) = self.class(*class)?;
                let lengths = frame.pop_many(usize::from(*dimensions))?.into();
                self.result(
                    block,
                    at,
                    Op::NewArray { class, lengths },
                    Type::Ref(class),
                    frame,
                );
            }
        }
        Ok(())
    }

    fn result(&mut self, block: usize, at: usize, op: Op, ty: Type, frame: &mut Frame) {
        if let Some(value) = self.emit(block, at, op, Some(ty)) {
            frame.push(value);
        }
    }

    fn constant(&mut self, block: usize, at: usize, constant: Const, ty: Type, frame: &mut Frame) {
        self.result(block, at, Op::Const(constant), ty, frame);
    }

    fn class(&self, index: PoolIndex) -> Result<(ClassId, ClassId), BodyError> {
        match self.links.at(index) {
            Link::Class { class, array } => Ok((class, array)),
            _ => Err(BodyError::Malformed("operand is no class")),
        }
    }

    /// The constant and its type; no constant if a bootstrap method computes it.
    fn loaded_constant(&self, index: PoolIndex) -> Result<(Option<Const>, Type), BodyError> {
        let known = &self.classes.well_known;
        Ok(match self.file.pool.constant(index)? {
            Constant::Integer(value) => (Some(Const::Int(value)), Type::Int),
            Constant::Float(value) => (Some(Const::Float(value)), Type::Float),
            Constant::Long(value) => (Some(Const::Long(value)), Type::Long),
            Constant::Double(value) => (Some(Const::Double(value)), Type::Double),
            Constant::String(value) => (Some(Const::String(value.into())), Type::Ref(known.string)),
            Constant::Class(_) => (
                Some(Const::Class(self.class(index)?.0)),
                Type::Ref(known.class),
            ),
            Constant::MethodHandle(_) => (Some(Const::Opaque), Type::Ref(known.method_handle)),
            Constant::MethodType(_) => (Some(Const::Opaque), Type::Ref(known.method_type)),
            Constant::Dynamic(_) => {
                let Link::Site(site) = self.links.at(index) else {
                    return Err(BodyError::Malformed("operand is no constant"));
                };
                let returns = self.links.site(site).and_then(|site| site.returns);
                (
                    None,
                    returns.ok_or(BodyError::Malformed("constant without a type"))?,
                )
            }
        })
    }

    fn dynamic_constant(
        &mut self,
        block: usize,
        at: usize,
        insn: &Insn,
        ty: Type,
        frame: &mut Frame,
    ) {
        let Insn::Ldc { constant, .. } = insn else {
            return;
        };
        if let Link::Site(site) = self.links.at(*constant)
            && let Some(HandleTarget::Other(bootstrap)) =
                self.links.site(site).map(|site| &site.target)
        {
            let op = Op::Dynamic {
                bootstrap: *bootstrap,
                args: Operands::new(),
            };
            self.result(block, at, op, ty, frame);
        } else {
            self.constant(block, at, Const::Opaque, ty, frame);
        }
    }

    fn plain(
        &mut self,
        block: usize,
        at: usize,
        op: Jvm,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        use Type::{Double, Float, Int, Long};
        let distance = |from: Jvm| op as i32 - from as i32;
        match op {
            Jvm::Nop => {}
            Jvm::AconstNull => self.constant(block, at, Const::Null, Type::Null, frame),
            _ if (Jvm::IconstM1..=Jvm::Iconst5).contains(&op) => {
                self.constant(block, at, Const::Int(distance(Jvm::Iconst0)), Int, frame);
            }
            Jvm::Lconst0 | Jvm::Lconst1 => {
                self.constant(
                    block,
                    at,
                    Const::Long(i64::from(distance(Jvm::Lconst0))),
                    Long,
                    frame,
                );
            }
            Jvm::Fconst0 | Jvm::Fconst1 | Jvm::Fconst2 => {
                self.constant(
                    block,
                    at,
                    Const::Float(distance(Jvm::Fconst0) as f32),
                    Float,
                    frame,
                );
            }
            Jvm::Dconst0 | Jvm::Dconst1 => {
                self.constant(
                    block,
                    at,
                    Const::Double(f64::from(distance(Jvm::Dconst0))),
                    Double,
                    frame,
                );
            }
            _ if (Jvm::Iaload..=Jvm::Saload).contains(&op) => {
                let (index, array) = (frame.pop()?, frame.pop()?);
                let ty = match op {
                    Jvm::Laload => Long,
                    Jvm::Faload => Float,
                    Jvm::Daload => Double,
                    Jvm::Aaload => element_type(self, array),
                    _ => Int,
                };
                self.result(block, at, Op::ArrayLoad { array, index }, ty, frame);
            }
            _ if (Jvm::Iastore..=Jvm::Sastore).contains(&op) => {
                let (value, index, array) = (frame.pop()?, frame.pop()?, frame.pop()?);
                self.emit(
                    block,
                    at,
                    Op::ArrayStore {
                        array,
                        index,
                        value,
                    },
                    None,
                );
            }
            _ if (Jvm::Pop..=Jvm::Swap).contains(&op) => self.shuffle(op, frame)?,
            _ if (Jvm::Iadd..=Jvm::Lxor).contains(&op) || (Jvm::I2l..=Jvm::Dcmpg).contains(&op) => {
                let (count, ty) = computation(op);
                let args = frame.pop_many(count)?.into();
                self.result(block, at, Op::Compute { op, args }, ty, frame);
            }
            Jvm::Arraylength => {
                let array = frame.pop()?;
                self.result(block, at, Op::ArrayLength { array }, Int, frame);
            }
            Jvm::Athrow => {
                let value = frame.pop()?;
                self.emit(block, at, Op::Throw { value }, None);
            }
            Jvm::Monitorenter => {
                let object = frame.pop()?;
                self.emit(block, at, Op::MonitorEnter { object }, None);
            }
            Jvm::Monitorexit => {
                let object = frame.pop()?;
                self.emit(block, at, Op::MonitorExit { object }, None);
            }
            Jvm::Return => {
                self.emit(block, at, Op::Return { value: None }, None);
            }
            _ if (Jvm::Ireturn..=Jvm::Areturn).contains(&op) => {
                let value = Some(frame.pop()?);
                self.emit(block, at, Op::Return { value }, None);
            }
            _ => return Err(BodyError::Malformed("reserved instruction")),
        }
        Ok(())
    }

    fn shuffle(&self, op: Jvm, frame: &mut Frame) -> Result<(), BodyError> {
        let wide = |value: ValueId| self.ty(value).is_wide();
        // Pops `taken` slots and what lies `under` them, and leaves the taken ones on both sides.
        let duplicate = |frame: &mut Frame, taken: usize, under: usize| -> Result<(), BodyError> {
            let top = frame.pop_slots(taken, wide)?;
            let below = frame.pop_slots(under, wide)?;
            frame.stack.extend_from_slice(&top);
            frame.stack.extend_from_slice(&below);
            frame.stack.extend_from_slice(&top);
            Ok(())
        };
        match op {
            Jvm::Pop => frame.pop_slots(1, wide).map(|_| ()),
            Jvm::Pop2 => frame.pop_slots(2, wide).map(|_| ()),
            Jvm::Dup => duplicate(frame, 1, 0),
            Jvm::DupX1 => duplicate(frame, 1, 1),
            Jvm::DupX2 => duplicate(frame, 1, 2),
            Jvm::Dup2 => duplicate(frame, 2, 0),
            Jvm::Dup2X1 => duplicate(frame, 2, 1),
            Jvm::Dup2X2 => duplicate(frame, 2, 2),
            _ => {
                let (top, below) = (frame.pop()?, frame.pop()?);
                frame.push(top);
                frame.push(below);
                Ok(())
            }
        }
    }

    fn branch(
        &mut self,
        block: usize,
        at: usize,
        op: Jvm,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let (test, compares_two) = match op {
            Jvm::Ifeq | Jvm::Ifnull => (Test::Eq, false),
            Jvm::Ifne | Jvm::Ifnonnull => (Test::Ne, false),
            Jvm::Iflt => (Test::Lt, false),
            Jvm::Ifge => (Test::Ge, false),
            Jvm::Ifgt => (Test::Gt, false),
            Jvm::Ifle => (Test::Le, false),
            Jvm::IfIcmpeq | Jvm::IfAcmpeq => (Test::Eq, true),
            Jvm::IfIcmpne | Jvm::IfAcmpne => (Test::Ne, true),
            Jvm::IfIcmplt => (Test::Lt, true),
            Jvm::IfIcmpge => (Test::Ge, true),
            Jvm::IfIcmpgt => (Test::Gt, true),
            Jvm::IfIcmple => (Test::Le, true),
            _ => return Err(BodyError::Malformed("unknown branch")),
        };
        let right = if compares_two {
            Some(frame.pop()?)
        } else {
            None
        };
        let left = frame.pop()?;
        self.emit(block, at, Op::If { test, left, right }, None);
        Ok(())
    }

    fn field(
        &mut self,
        block: usize,
        at: usize,
        op: Jvm,
        index: PoolIndex,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let Link::Field(field) = self.links.at(index) else {
            return Err(BodyError::Malformed("operand is no field"));
        };
        let ty = self.classes.field(field).ty;
        match op {
            Jvm::Getstatic => self.result(block, at, Op::GetStatic { field }, ty, frame),
            Jvm::Getfield => {
                let object = frame.pop()?;
                self.result(block, at, Op::GetField { object, field }, ty, frame);
            }
            Jvm::Putstatic => {
                let value = frame.pop()?;
                self.emit(block, at, Op::PutStatic { field, value }, None);
            }
            _ => {
                let (value, object) = (frame.pop()?, frame.pop()?);
                self.emit(
                    block,
                    at,
                    Op::PutField {
                        object,
                        field,
                        value,
                    },
                    None,
                );
            }
        }
        Ok(())
    }

    fn invoke(
        &mut self,
        block: usize,
        at: usize,
        op: Jvm,
        index: PoolIndex,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let Link::Method { method, .. } = self.links.at(index) else {
            return Err(BodyError::Malformed("operand is no method"));
        };
        let kind = match op {
            Jvm::Invokevirtual => InvokeKind::Virtual,
            Jvm::Invokespecial => InvokeKind::Special,
            Jvm::Invokestatic => InvokeKind::Static,
            _ => InvokeKind::Interface,
        };
        // The descriptor of the reference counts, not that of a signature-polymorphic method.
        let reference = self.file.pool.method_ref(index)?;
        let parsed = untorn_classfile::read::MethodType::parse(&reference.descriptor)
            .ok_or(BodyError::Malformed("descriptor of a call"))?;
        let count = parsed.parameters().count() + usize::from(kind != InvokeKind::Static);
        let info = self.classes.method(method);
        let returns = if self.classes.names.name(info.descriptor) == reference.descriptor {
            info.returns
        } else {
            parsed
                .returns()
                .map(|returned| polymorphic_type(self, returned))
        };
        let args = frame.pop_many(count)?.into();
        let op = Op::Invoke { kind, method, args };
        match returns {
            Some(ty) => self.result(block, at, op, ty, frame),
            None => {
                self.emit(block, at, op, None);
            }
        }
        Ok(())
    }

    fn invoke_dynamic(
        &mut self,
        block: usize,
        at: usize,
        index: PoolIndex,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let links = self.links;
        let Link::Site(site) = links.at(index) else {
            return Err(BodyError::Malformed("operand is no call site"));
        };
        let site = links
            .site(site)
            .ok_or(BodyError::Malformed("operand is no call site"))?;
        let args = frame.pop_many(site.params.len())?.into();
        let op = match &site.target {
            HandleTarget::Lambda {
                interface,
                name,
                method,
                handle,
            } => {
                let lambda = Lambda {
                    interface: *interface,
                    name: *name,
                    method: *method,
                    handle: *handle,
                };
                Op::Lambda {
                    lambda: Box::new(lambda),
                    args,
                }
            }
            HandleTarget::Concat => Op::Concat { args },
            HandleTarget::Other(bootstrap) => Op::Dynamic {
                bootstrap: *bootstrap,
                args,
            },
        };
        match site.returns {
            Some(ty) => self.result(block, at, op, ty, frame),
            None => {
                self.emit(block, at, op, None);
            }
        }
        Ok(())
    }

    fn type_instruction(
        &mut self,
        block: usize,
        at: usize,
        op: Jvm,
        index: PoolIndex,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let (class, array) = self.class(index)?;
        match op {
            Jvm::New => self.result(block, at, Op::New { class }, Type::Ref(class), frame),
            Jvm::Anewarray => {
                let lengths = Operands::from_slice(&[frame.pop()?]);
                self.result(
                    block,
                    at,
                    Op::NewArray {
                        class: array,
                        lengths,
                    },
                    Type::Ref(array),
                    frame,
                );
            }
            Jvm::Checkcast => {
                let value = frame.pop()?;
                self.result(
                    block,
                    at,
                    Op::Cast { value, class },
                    Type::Ref(class),
                    frame,
                );
            }
            _ => {
                let value = frame.pop()?;
                self.result(block, at, Op::InstanceOf { value, class }, Type::Int, frame);
            }
        }
        Ok(())
    }
}

/// The type of the elements of an array value of references.
fn element_type(builder: &Builder<'_>, array: ValueId) -> Type {
    builder.classes.element_type(builder.ty(array))
}

fn polymorphic_type(
    builder: &Builder<'_>,
    returned: untorn_classfile::read::FieldType<'_>,
) -> Type {
    use untorn_classfile::read::FieldType;
    match returned {
        FieldType::Float => Type::Float,
        FieldType::Long => Type::Long,
        FieldType::Double => Type::Double,
        FieldType::Object(name) | FieldType::Array(name) => Type::Ref(
            builder
                .classes
                .find(name)
                .unwrap_or(builder.classes.well_known.object),
        ),
        _ => Type::Int,
    }
}

/// How many operands an arithmetic instruction takes, and the type of its result.
fn computation(op: Jvm) -> (usize, Type) {
    use Type::{Double, Float, Int, Long};
    let four = [Int, Long, Float, Double];
    let distance = |from: Jvm| op as usize - from as usize;
    match op {
        _ if op < Jvm::Ineg => (2, four[distance(Jvm::Iadd) % 4]),
        _ if op < Jvm::Ishl => (1, four[distance(Jvm::Ineg) % 4]),
        _ if op <= Jvm::Lxor => (2, four[distance(Jvm::Ishl) % 2]),
        Jvm::I2l | Jvm::F2l | Jvm::D2l => (1, Long),
        Jvm::I2f | Jvm::L2f | Jvm::D2f => (1, Float),
        Jvm::I2d | Jvm::L2d | Jvm::F2d => (1, Double),
        Jvm::Lcmp | Jvm::Fcmpl | Jvm::Fcmpg | Jvm::Dcmpl | Jvm::Dcmpg => (2, Int),
        _ => (1, Int),
    }
}

impl crate::classes::Classes {
    /// The type of the elements of an array type of references; null's elements are never loaded.
    pub(crate) fn element_type(&self, array: Type) -> Type {
        match array {
            Type::Ref(class) => match self.class(class).kind {
                ClassKind::Array(Some(component)) => Type::Ref(component),
                _ => Type::Ref(self.well_known.object),
            },
            _ => Type::Null,
        }
    }
}
