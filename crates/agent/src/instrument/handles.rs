//! Calls of field updaters and variable handles, by the [model](super::model).
//!
//! Which field they are for is known when they run: `UntornHandles.java` finds out, and orders the call like an access to it.

use untorn_classfile::Op;
use untorn_classfile::read::{FieldType, MemberRef};

use super::calls::{OBJECT, Operands};
use super::contents::{INTERVAL, READS, STEP};
use super::guard::{Argument, Cleanup};
use super::model::{Effect, Method, Operand};
use super::weave::{CONTEXT, Category, Result, Weaver};

/// `UntornHandles.ELEMENTS`.
const ELEMENTS: i32 = 8;

/// What such a call is on.
struct Place {
    /// The object or array; `None` for a static field.
    object: Option<u16>,
    /// The second coordinate, if it is an int.
    index: Option<u16>,
}

impl Place {
    fn of(row: &Method, operands: &Operands) -> Self {
        let coordinates = match row.on {
            Operand::Coordinate => operands.arguments.len().saturating_sub(row.values),
            _ => 1,
        };
        let argument = |number: usize, category| match operands.arguments.get(number) {
            Some(&(found, slot)) if found == category => Some(slot),
            _ => None,
        };
        let object = match coordinates {
            1 | 2 => argument(0, Category::Reference),
            _ => None,
        };
        let index = match coordinates {
            2 => argument(1, Category::Int),
            _ => None,
        };
        Self { object, index }
    }
}

impl Weaver<'_, '_> {
    /// Whether a row speaks of what an updater or a handle is for.
    pub(super) fn is_of_handle(op: Op, row: &Method) -> bool {
        op != Op::Invokestatic && matches!(row.on, Operand::Arg0 | Operand::Coordinate)
    }

    pub(super) fn handle_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
        row: &Method,
        parameters: &[FieldType<'_>],
        returns: Option<FieldType<'_>>,
    ) -> Result<()> {
        let about = (row.effect, row.volatile, row.approximate);
        let Some(site) = self.content_site(index, called, None, about) else {
            return Ok(());
        };
        let read = self.site_of_read(index, called, row, returns);
        let context = self.context()?;
        let operands = self.spill(index, op, parameters)?;
        let place = Place::of(row, &operands);
        let mut mode = if row.step { STEP } else { INTERVAL };
        if row.effect == Effect::Read {
            mode |= READS;
        }
        if self.subject.plan.arrays && place.index.is_some() {
            mode |= ELEMENTS;
        }
        let begins = format!("({OBJECT}{OBJECT}IIIL{CONTEXT};)J");
        let begin = self.entry_without_context("handleBegin", &begins)?;
        let end = self.entry("handleEnd", &format!("{OBJECT}{OBJECT}IIIJ"))?;
        let of = |wanted| {
            let arguments = operands.arguments.iter();
            arguments
                .filter(|(category, _)| *category == wanted)
                .count()
        };
        let begun = self.temporary(Category::Long, of(Category::Long))?;
        let content = place.object.unwrap_or(operands.receiver);
        let writes = row.effect != Effect::Read;
        self.steer_handle(index, called, (place.object, operands.receiver), writes)?;
        let unrecorded = self.body.new_label();
        let (from, to) = self.labels();
        self.body.before(index).bind(from);
        self.load_place(index, true, &place, &operands)?;
        self.body
            .before(index)
            .push_int(mode, self.pool)?
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, begin)
            .local(Op::Lstore, begun);
        self.body
            .after_within(index)
            .local(Op::Lload, begun)
            .op(Op::Lconst0)
            .op(Op::Lcmp)
            .jump(Op::Ifeq, unrecorded);
        let turned_out = self.turned_out(index, row, returns, (site, read), of(Category::Int))?;
        self.load_place(index, false, &place, &operands)?;
        let mut code = self.body.after_within(index);
        code.push_int(mode, self.pool)?;
        match turned_out {
            Some(slot) => code.local(Op::Iload, slot),
            None => code.push_int(site, self.pool)?,
        };
        code.local(Op::Lload, begun)
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, end)
            .bind(unrecorded)
            .bind(to);
        self.forget(index, op, &operands);
        let cleanup = Cleanup {
            method: self.entry("handleThrew", &format!("{OBJECT}II"))?,
            arguments: vec![
                Argument::Local(content),
                Argument::Number(mode),
                Argument::Number(site),
            ],
        };
        self.guard_call(index, (from, to), cleanup, content)?;
        self.counts.add("sites: updaters and handles");
        Ok(())
    }

    /// Object, handle and index, as the entry points want them.
    fn load_place(
        &mut self,
        index: usize,
        before: bool,
        place: &Place,
        operands: &Operands,
    ) -> Result<()> {
        let mut code = if before {
            self.body.before(index)
        } else {
            self.body.after_within(index)
        };
        match place.object {
            Some(slot) => code.local(Op::Aload, slot),
            None => code.op(Op::AconstNull),
        };
        code.local(Op::Aload, operands.receiver);
        match place.index {
            Some(slot) => code.local(Op::Iload, slot),
            None => code.push_int(-1, self.pool)?,
        };
        Ok(())
    }
}
