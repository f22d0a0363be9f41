//! Calls of library methods, by the [model](super::model).
//!
//! What the effect is on is kept in a local variable across the call; other arguments go through local variables only to get at it.
//! The variables are cleared afterwards, so that no object stays alive longer than it did.

use untorn_classfile::Op;
use untorn_classfile::edit::{Label, Snippet};
use untorn_classfile::read::{FieldType, MemberRef, MethodType, PoolIndex};

use super::Extent;
use super::guard::Guards;
use super::model::{Effect, Method, Operand};
use super::weave::{Category, Result, Weaver};

pub(super) const OBJECT: &str = "Ljava/lang/Object;";

/// Where receiver and arguments are while code is inserted before a call.
pub(super) struct Operands {
    pub(super) receiver: u16,
    pub(super) arguments: Vec<(Category, u16)>,
}

/// A key in a local variable.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Whole,
    Object(u16),
    Int(u16),
}

impl Weaver<'_, '_> {
    /// Instruments a call that the model describes.
    pub(super) fn library_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
    ) -> Result<()> {
        let models = &self.subject.plan.models;
        // What is recorded of the access encloses the call, and what it hands over is inside.
        let rows = [models.access(called), models.order(called)];
        for row in rows.into_iter().flatten() {
            self.modelled_call(index, op, called, row)?;
        }
        Ok(())
    }

    /// Instruments a call by a row of the model.
    fn modelled_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
        row: &Method,
    ) -> Result<()> {
        // The object that a constructor makes is not there before, so that only arguments count, as of a static method.
        let op = if called.name == "<init>" {
            Op::Invokestatic
        } else {
            op
        };
        let Some(kind) = MethodType::parse(&called.descriptor) else {
            return Ok(());
        };
        if op == Op::Invokestatic && row.on != Operand::Arg0 {
            return Ok(());
        }
        let parameters: Vec<FieldType<'_>> = kind.parameters().collect();
        if row.on == Operand::Arg0 && !parameters.first().is_some_and(|p| p.is_reference())
            || row.on == Operand::Result && !kind.returns().is_some_and(FieldType::is_reference)
        {
            return Ok(());
        }
        if !Guards::possible(&self.survey, index) {
            self.counts.add("sites left out: types not nameable");
            return Ok(());
        }
        match row.effect {
            Effect::Read | Effect::Write | Effect::Update => {
                if self.extent >= Extent::Fields {
                    return Ok(());
                }
                if Self::is_of_handle(op, row) {
                    return self.handle_call(index, op, called, row, &parameters, kind.returns());
                }
                self.content_call(index, op, called, row, &parameters, kind.returns())
            }
            Effect::Acquire | Effect::Release | Effect::Wait | Effect::Notify => {
                self.lock_call(index, op, row, &parameters)
            }
            Effect::Signal | Effect::Await | Effect::Meet => {
                self.order_call(index, op, row, &parameters, kind.returns())
            }
        }
    }

    /// Inserts code that brings receiver and arguments into local variables and back.
    pub(super) fn spill(
        &mut self,
        index: usize,
        op: Op,
        parameters: &[FieldType<'_>],
    ) -> Result<Operands> {
        let receiver = self.temporary(Category::Reference, 0)?;
        let mut arguments: Vec<(Category, u16)> = Vec::new();
        for parameter in parameters {
            let category = match parameter {
                FieldType::Long => Category::Long,
                FieldType::Double => Category::Double,
                FieldType::Float => Category::Float,
                FieldType::Object(_) | FieldType::Array(_) => Category::Reference,
                _ => Category::Int,
            };
            let same = arguments.iter().filter(|(known, _)| *known == category);
            let taken = same.count() + usize::from(category == Category::Reference);
            arguments.push((category, self.temporary(category, taken)?));
        }
        let mut code = self.body.before(index);
        for &(category, slot) in arguments.iter().rev() {
            code.local(category.store(), slot);
        }
        if op != Op::Invokestatic {
            code.op(Op::Dup).local(Op::Astore, receiver);
        }
        for &(category, slot) in &arguments {
            code.local(category.load(), slot);
        }
        Ok(Operands {
            receiver,
            arguments,
        })
    }

    /// Inserts code that forgets what was spilled.
    pub(super) fn forget(&mut self, index: usize, op: Op, operands: &Operands) {
        let mut code = self.body.after_within(index);
        if op != Op::Invokestatic {
            code.op(Op::AconstNull).local(Op::Astore, operands.receiver);
        }
        for &(category, slot) in &operands.arguments {
            if category == Category::Reference {
                code.op(Op::AconstNull).local(Op::Astore, slot);
            }
        }
    }

    /// The local variable that holds what the effect is on, and its key.
    pub(super) fn concerned(row: &Method, operands: &Operands) -> (u16, Key) {
        let argument = |number: usize| match operands.arguments.get(number) {
            Some(&(Category::Reference, slot)) => Key::Object(slot),
            Some(&(Category::Int, slot)) => Key::Int(slot),
            _ => Key::Whole,
        };
        match row.on {
            Operand::Arg0 => match argument(0) {
                Key::Object(slot) => (slot, Key::Whole),
                _ => (operands.receiver, Key::Whole),
            },
            // Handles are woven by themselves.
            Operand::Receiver | Operand::Result | Operand::Coordinate => {
                (operands.receiver, row.key.map_or(Key::Whole, argument))
            }
        }
    }

    fn order_call(
        &mut self,
        index: usize,
        op: Op,
        row: &Method,
        parameters: &[FieldType<'_>],
        returns: Option<FieldType<'_>>,
    ) -> Result<()> {
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let plain = format!("{OBJECT}I");
        let (mut before, mut after) = (None, None);
        if matches!(row.effect, Effect::Signal | Effect::Meet) {
            before = Some(self.entry("signal", &plain)?);
        }
        if matches!(row.effect, Effect::Await | Effect::Meet) {
            after = Some(self.entry("await", &plain)?);
            // What is taken here and not told of would never be given back.
            let reserve = self.entry_without_context("reserve", "()V")?;
            self.body.before(index).invoke(Op::Invokestatic, reserve);
        }
        self.counts.add("sites: library order");
        let context = self.context()?;
        if row.on == Operand::Result {
            if let Some(method) = after {
                self.body
                    .after_within(index)
                    .op(Op::Dup)
                    .push_int(site, self.pool)?
                    .local(Op::Aload, context)
                    .invoke(Op::Invokestatic, method);
            }
            return Ok(());
        }
        let operands = self.spill(index, op, parameters)?;
        let (object, _) = Self::concerned(row, &operands);
        if self.subject.plan.optimistic && row.effect == Effect::Await {
            // It may block: what others may want is given up before.
            self.ask(index)?;
        }
        if let Some(method) = before {
            self.body
                .before(index)
                .local(Op::Aload, object)
                .push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, method);
        }
        if let Some(method) = after {
            let skip = row.if_result.then(|| self.body.new_label());
            let mut code = self.body.after_within(index);
            if let (Some(skip), Some(kind)) = (skip, returns) {
                skip_unless(&mut code, kind, true, skip);
            }
            code.local(Op::Aload, object)
                .push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, method);
            if let Some(skip) = skip {
                code.bind(skip);
            }
        }
        self.forget(index, op, &operands);
        Ok(())
    }

    /// Says which lock a call is about to use, which then tells of itself.
    fn lock_call(
        &mut self,
        index: usize,
        op: Op,
        row: &Method,
        parameters: &[FieldType<'_>],
    ) -> Result<()> {
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let context = self.context()?;
        let method: PoolIndex = self.entry("watchLock", &format!("{OBJECT}I"))?;
        let operands = self.spill(index, op, parameters)?;
        if self.subject.plan.optimistic && matches!(row.effect, Effect::Acquire | Effect::Wait) {
            // It may block: what others may want is given up before.
            self.ask(index)?;
        }
        self.body
            .before(index)
            .local(Op::Aload, operands.receiver)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, method);
        self.forget(index, op, &operands);
        self.counts.add("sites: library order");
        Ok(())
    }
}

/// Jumps over what follows unless the result on the stack is as wanted: true, not zero or not null, or the opposite.
pub(super) fn skip_unless(
    code: &mut Snippet<'_>,
    result: FieldType<'_>,
    wanted: bool,
    skip: Label,
) {
    let (if_nothing, if_something) = if result.is_reference() {
        (Op::Ifnull, Op::Ifnonnull)
    } else {
        (Op::Ifeq, Op::Ifne)
    };
    if matches!(result, FieldType::Long) {
        code.op(Op::Dup2).op(Op::Lconst0).op(Op::Lcmp);
    } else {
        code.op(Op::Dup);
    }
    code.jump(if wanted { if_nothing } else { if_something }, skip);
}
