//! Calls that access what an object of the platform holds, by the [model](super::model).

use untorn_channel::declare::{self, AccessKind, Target};
use untorn_classfile::Op;
use untorn_classfile::edit::Label;
use untorn_classfile::read::{FieldType, MemberRef};

use super::access::WRITES;
use super::calls::{Key, OBJECT, Operands, skip_unless};
use super::guard::{Argument, Cleanup};
use super::model::{Also, Effect, Method, When};
use super::weave::{CONTEXT, Category, Result, Weaver};

/// Modes of `UntornRuntime.callBegin`.
pub(super) const STEP: i32 = 0;
pub(super) const INTERVAL: i32 = 1;
const LOOSE: i32 = 2;
/// Added to the first two for a call that only reads.
pub(super) const READS: i32 = 4;

impl Weaver<'_, '_> {
    /// A site of an access to what an object holds: under a name of its own, or under a key or as a whole.
    pub(super) fn content_site(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        field: Option<&str>,
        (effect, volatile, approximate): (Effect, bool, bool),
    ) -> Option<i32> {
        let kind = match effect {
            Effect::Read => AccessKind::Read,
            Effect::Write => AccessKind::Write,
            _ => AccessKind::Update,
        };
        let target = match field {
            None => Target::Content,
            Some(field) => {
                let named = called.class.replace('/', ".");
                let (class, name) = field.rsplit_once('.').unwrap_or((&named, field));
                Target::Field(self.subject.ids.content(class, name))
            }
        };
        let access = declare::Access {
            kind,
            target,
            volatile,
            wide: false,
            approximate,
        };
        let site = self.site(index, Some(access))?;
        Some(if kind == AccessKind::Read {
            site
        } else {
            site | WRITES
        })
    }

    pub(super) fn content_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
        row: &Method,
        parameters: &[FieldType<'_>],
        returns: Option<FieldType<'_>>,
    ) -> Result<()> {
        let about = (row.effect, row.volatile, row.approximate);
        let Some(site) = self.content_site(index, called, row.field, about) else {
            return Ok(());
        };
        let read = self.site_of_read(index, called, row, returns);
        // Whether calls overlap does not matter for what is approximate anyway.
        let mode = match row {
            Method { step: true, .. } => STEP,
            Method {
                approximate: true,
                also: [],
                ..
            } => LOOSE,
            _ => INTERVAL,
        };
        let reads =
            row.effect == Effect::Read && (row.also.iter()).all(|also| also.effect == Effect::Read);
        let is_loose = mode == LOOSE;
        let mode = if reads && !is_loose {
            mode | READS
        } else {
            mode
        };
        let context = self.context()?;
        let begins = format!("({OBJECT}IIL{CONTEXT};)Z");
        let begin = self.entry_without_context("callBegin", &begins)?;
        let end = self.entry("callEnd", &format!("{OBJECT}{OBJECT}II"))?;
        let end_at = self.entry("callEndAt", &format!("{OBJECT}III"))?;
        let operands = self.spill(index, op, parameters)?;
        let (object, key) = Self::concerned(row, &operands);
        let ints = (operands.arguments.iter()).filter(|(category, _)| *category == Category::Int);
        let ints = ints.count();
        let recorded = self.temporary(Category::Int, ints)?;
        let unrecorded = self.body.new_label();
        let (from, to) = self.labels();
        self.steer_content(index, called, object, row.effect != Effect::Read)?;
        // The key matters when the record is written, at the end.
        let mut code = self.body.before(index);
        code.bind(from);
        if !is_loose {
            code.local(Op::Aload, object)
                .push_int(mode, self.pool)?
                .push_int(site, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, begin)
                .local(Op::Istore, recorded);
            self.body
                .after_within(index)
                .local(Op::Iload, recorded)
                .jump(Op::Ifeq, unrecorded);
        }
        for also in row.also {
            self.content_also(index, called, (row, also), &operands, returns)?;
        }
        let turned_out = self.turned_out(index, row, returns, (site, read), ints + 1)?;
        let mut code = self.body.after_within(index);
        code.local(Op::Aload, object);
        let end = match key {
            Key::Whole => {
                code.op(Op::AconstNull);
                end
            }
            Key::Object(slot) => {
                code.local(Op::Aload, slot);
                end
            }
            Key::Int(slot) => {
                code.local(Op::Iload, slot);
                end_at
            }
        };
        code.push_int(mode, self.pool)?;
        match turned_out {
            Some(slot) => code.local(Op::Iload, slot),
            None => code.push_int(site, self.pool)?,
        };
        code.local(Op::Aload, context)
            .invoke(Op::Invokestatic, end)
            .bind(unrecorded)
            .bind(to);
        self.forget(index, op, &operands);
        // A call that threw may have touched anything: the whole.
        let about = (Effect::Read, row.volatile, false);
        let thrown = match row.thrown {
            Some(field) => self.content_site(index, called, Some(field), about),
            None => None,
        };
        let cleanup = Cleanup {
            method: self.entry("callThrew", &format!("{OBJECT}III"))?,
            arguments: vec![
                Argument::Local(object),
                Argument::Number(thrown.unwrap_or(-1)),
                Argument::Number(mode),
                Argument::Number(site),
            ],
        };
        self.guard_call(index, (from, to), cleanup, object)?;
        self.counts.add("sites: library contents");
        Ok(())
    }

    /// The site of what an update is if it has not written.
    pub(super) fn site_of_read(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        row: &Method,
        returns: Option<FieldType<'_>>,
    ) -> Option<i32> {
        returns?;
        if !matches!(row.written, When::True | When::False) {
            return None;
        }
        let about = (Effect::Read, row.volatile, row.approximate);
        self.content_site(index, called, row.field, about)
    }

    /// Keeps in a local variable which of two sites a call turned out to be, by its result.
    pub(super) fn turned_out(
        &mut self,
        index: usize,
        row: &Method,
        returns: Option<FieldType<'_>>,
        (wrote, read): (i32, Option<i32>),
        ints: usize,
    ) -> Result<Option<u16>> {
        let (Some(read), Some(result)) = (read, returns) else {
            return Ok(None);
        };
        let slot = self.temporary(Category::Int, ints)?;
        let known = self.body.new_label();
        let mut code = self.body.after_within(index);
        code.push_int(wrote, self.pool)?.local(Op::Istore, slot);
        skip_unless(&mut code, result, row.written == When::False, known);
        code.push_int(read, self.pool)?
            .local(Op::Istore, slot)
            .bind(known);
        Ok(Some(slot))
    }

    /// A further access of a call, behind it and before its end.
    fn content_also(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        (row, also): (&Method, &Also),
        operands: &Operands,
        returns: Option<FieldType<'_>>,
    ) -> Result<()> {
        let about = (also.effect, row.volatile, also.approximate);
        let Some(site) = self.content_site(index, called, Some(also.field), about) else {
            return Ok(());
        };
        let context = self.context()?;
        let method = self.entry("callAlso", &format!("{OBJECT}II"))?;
        let (object, _) = Self::concerned(row, operands);
        let skip = self.body.new_label();
        let mut code = self.body.after_within(index);
        match (also.when, returns) {
            (When::True, Some(kind)) => skip_unless(&mut code, kind, true, skip),
            (When::False, Some(kind)) => skip_unless(&mut code, kind, false, skip),
            (When::First, _) => match operands.arguments.first() {
                Some(&(Category::Int, slot)) => {
                    code.local(Op::Iload, slot).jump(Op::Ifne, skip);
                }
                _ => return Ok(()),
            },
            (When::False, None) => return Ok(()),
            (When::True, None) | (When::Always, _) => {}
        }
        code.local(Op::Aload, object)
            .push_int(also.of as i32, self.pool)?
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, method)
            .bind(skip);
        Ok(())
    }

    pub(super) fn guard_call(
        &mut self,
        index: usize,
        place: (Label, Label),
        cleanup: Cleanup,
        object: u16,
    ) -> Result<()> {
        let kind = self.pool.object_type("java/lang/Object")?;
        self.guards
            .add(&self.survey, index, place, cleanup, &[(object, kind)]);
        Ok(())
    }
}
