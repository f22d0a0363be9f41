//! Calls of library methods, by the [model](super::model).
//!
//! What the effect is on is kept in a local variable across the call; other arguments go through local variables only to get at it.
//! The variables are cleared afterwards, so that no object stays alive longer than it did.

use untorn_channel::declare::{self, AccessKind, Target};
use untorn_classfile::Op;
use untorn_classfile::read::{FieldType, MemberRef, MethodType, PoolIndex};

use super::Extent;
use super::access::WRITES;
use super::guard::{Argument, Cleanup, Guards};
use super::model::{Effect, Method, Operand};
use super::weave::{Category, Result, Weaver};

const OBJECT: &str = "Ljava/lang/Object;";
/// Modes of `UntornRuntime.callBegin`.
const STEP: i32 = 0;
const INTERVAL: i32 = 1;
const LOOSE: i32 = 2;

/// Where receiver and arguments are while code is inserted before a call.
struct Operands {
    receiver: u16,
    arguments: Vec<(Category, u16)>,
}

/// A key in a local variable.
#[derive(Clone, Copy)]
enum Key {
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
        let plan = self.subject.plan;
        let Some(row) = plan.models.find(called) else {
            return Ok(());
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
                self.content_call(index, op, row, &parameters)
            }
            _ => self.order_call(index, op, row, &parameters, kind.returns()),
        }
    }

    /// Inserts code that brings receiver and arguments into local variables and back.
    fn spill(&mut self, index: usize, op: Op, parameters: &[FieldType<'_>]) -> Result<Operands> {
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
    fn forget(&mut self, index: usize, op: Op, operands: &Operands) {
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
    fn concerned(row: &Method, operands: &Operands) -> (u16, Key) {
        let argument = |number: usize| match operands.arguments.get(number) {
            Some(&(Category::Reference, slot)) => Key::Object(slot),
            Some(&(Category::Int, slot)) => Key::Int(slot),
            _ => Key::Whole,
        };
        match row.on {
            Operand::Arg0 => match argument(0) {
                Key::Object(slot) => (slot, row.key.map_or(Key::Whole, argument)),
                _ => (operands.receiver, Key::Whole),
            },
            Operand::Coordinate => {
                let coordinates = operands.arguments.len().saturating_sub(row.values);
                match argument(0) {
                    Key::Object(slot) if coordinates == 2 => (slot, argument(1)),
                    Key::Object(slot) if coordinates == 1 => (slot, Key::Whole),
                    _ => (operands.receiver, Key::Whole),
                }
            }
            Operand::Receiver | Operand::Result => {
                (operands.receiver, row.key.map_or(Key::Whole, argument))
            }
        }
    }

    fn content_call(
        &mut self,
        index: usize,
        op: Op,
        row: &Method,
        parameters: &[FieldType<'_>],
    ) -> Result<()> {
        let kind = match row.effect {
            Effect::Read => AccessKind::Read,
            Effect::Write => AccessKind::Write,
            _ => AccessKind::Update,
        };
        let access = declare::Access {
            kind,
            target: Target::Content,
            volatile: row.volatile,
            wide: false,
            approximate: row.approximate,
        };
        let Some(site) = self.site(index, Some(access)) else {
            return Ok(());
        };
        let site = if kind == AccessKind::Read {
            site
        } else {
            site | WRITES
        };
        // Whether calls overlap does not matter for what is approximate anyway.
        let mode = match row {
            Method { step: true, .. } => STEP,
            Method {
                approximate: true, ..
            } => LOOSE,
            _ => INTERVAL,
        };
        let context = self.context()?;
        let takes = format!("{OBJECT}{OBJECT}II");
        let begin = self.entry("callBegin", &takes)?;
        let end = self.entry("callEnd", &takes)?;
        let threw = self.entry("callThrew", &takes)?;
        let box_int =
            self.pool
                .method_ref("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;")?;
        let operands = self.spill(index, op, parameters)?;
        let (object, key) = Self::concerned(row, &operands);
        let (from, to) = self.labels();
        // The key matters when the record is written, at the end.
        let mut code = self.body.before(index);
        code.bind(from);
        if mode != LOOSE {
            code.local(Op::Aload, object)
                .op(Op::AconstNull)
                .push_int(mode, self.pool)?
                .push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, begin);
        }
        let mut code = self.body.after_within(index);
        code.local(Op::Aload, object);
        match key {
            Key::Whole => code.op(Op::AconstNull),
            Key::Object(slot) => code.local(Op::Aload, slot),
            Key::Int(slot) => code
                .local(Op::Iload, slot)
                .invoke(Op::Invokestatic, box_int),
        };
        code.push_int(mode, self.pool)?
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, end)
            .bind(to);
        self.forget(index, op, &operands);
        // A call that threw may have touched anything: the whole.
        let cleanup = Cleanup {
            method: threw,
            arguments: vec![
                Argument::Local(object),
                Argument::Null,
                Argument::Number(mode),
                Argument::Number(site),
            ],
        };
        self.guard_call(index, (from, to), cleanup, object)?;
        self.counts.add("sites: library contents");
        Ok(())
    }

    fn guard_call(
        &mut self,
        index: usize,
        place: (untorn_classfile::edit::Label, untorn_classfile::edit::Label),
        cleanup: Cleanup,
        object: u16,
    ) -> Result<()> {
        let kind = self.pool.object_type("java/lang/Object")?;
        self.guards
            .add(&self.survey, index, place, cleanup, &[(object, kind)]);
        Ok(())
    }

    fn order_call(
        &mut self,
        index: usize,
        op: Op,
        row: &Method,
        parameters: &[FieldType<'_>],
        returns: Option<FieldType<'_>>,
    ) -> Result<()> {
        if row.effect == Effect::Part {
            return self.part_call(index, op, row, parameters);
        }
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let mode = i32::from(row.shared);
        let plain = format!("{OBJECT}I");
        let moded = format!("{OBJECT}II");
        let (mut before, mut after) = (None, None);
        match row.effect {
            Effect::Acquire => after = Some((self.entry("lockAcquired", &moded)?, Some(mode))),
            Effect::Release => before = Some((self.entry("lockReleasing", &moded)?, Some(mode))),
            Effect::Signal => before = Some((self.entry("signal", &plain)?, None)),
            Effect::Await => after = Some((self.entry("await", &plain)?, None)),
            Effect::Meet => {
                before = Some((self.entry("signal", &plain)?, None));
                after = Some((self.entry("await", &plain)?, None));
            }
            Effect::Notify => before = Some((self.entry("notifying", &plain)?, None)),
            Effect::Wait => {
                before = Some((self.entry("waiting", &plain)?, None));
                after = Some((self.entry("woken", &plain)?, None));
            }
            Effect::Part | Effect::Read | Effect::Write | Effect::Update => {}
        }
        self.counts.add("sites: library order");
        let context = self.context()?;
        if row.on == Operand::Result {
            if let Some((method, _)) = after {
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
        let (from, to) = self.labels();
        self.body.before(index).bind(from);
        if self.subject.plan.optimistic && matches!(row.effect, Effect::Acquire | Effect::Await) {
            // It may block: what others may want is given up before.
            self.ask(index)?;
        }
        if let Some((method, mode)) = before {
            let mut code = self.body.before(index);
            code.local(Op::Aload, object);
            if let Some(mode) = mode {
                code.push_int(mode, self.pool)?;
            }
            code.push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, method);
        }
        if let Some((method, mode)) = after {
            let skip = row.if_result.then(|| self.body.new_label());
            let mut code = self.body.after_within(index);
            if let Some(skip) = skip {
                match returns {
                    Some(FieldType::Long) => code
                        .op(Op::Dup2)
                        .op(Op::Lconst0)
                        .op(Op::Lcmp)
                        .jump(Op::Ifeq, skip),
                    Some(kind) if kind.is_reference() => code.op(Op::Dup).jump(Op::Ifnull, skip),
                    _ => code.op(Op::Dup).jump(Op::Ifeq, skip),
                };
            }
            code.local(Op::Aload, object);
            if let Some(mode) = mode {
                code.push_int(mode, self.pool)?;
            }
            code.push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, method);
            if let Some(skip) = skip {
                code.bind(skip);
            }
        }
        self.body.after_within(index).bind(to);
        self.forget(index, op, &operands);
        if let (Effect::Wait, Some((method, _))) = (row.effect, after) {
            let cleanup = Cleanup {
                method,
                arguments: vec![Argument::Local(object), Argument::Number(site)],
            };
            self.guard_call(index, (from, to), cleanup, object)?;
        }
        Ok(())
    }

    /// Tells the runtime which lock a condition or view belongs to.
    fn part_call(
        &mut self,
        index: usize,
        op: Op,
        row: &Method,
        parameters: &[FieldType<'_>],
    ) -> Result<()> {
        let context = self.context()?;
        let method: PoolIndex = self.entry("belongs", &format!("{OBJECT}{OBJECT}I"))?;
        let operands = self.spill(index, op, parameters)?;
        self.body
            .after_within(index)
            .op(Op::Dup)
            .local(Op::Aload, operands.receiver)
            .push_int(i32::from(row.shared), self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, method);
        self.forget(index, op, &operands);
        self.counts.add("sites: library order");
        Ok(())
    }
}
