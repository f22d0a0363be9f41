//! Handlers for exceptions inside inserted code, which clean up and throw on.
//!
//! They stand behind the method, so that the usual way costs no jump.
//! There the exception ranges of the program do not cover them; they are therefore given ranges to the same handlers in the same order, and keep the local variables that those need.
//! Places with the same surroundings share one handler: the same ranges, and the same monitors held, since the JIT wants one answer at every instruction.

use untorn_classfile::edit::{Label, Pool};
use untorn_classfile::read::{PoolIndex, VType};
use untorn_classfile::{EditError, Held, MethodEditor, Op};

use super::survey::Survey;

/// What a handler calls before it throws on: a method that takes these arguments and the thread's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleanup {
    pub method: PoolIndex,
    pub arguments: Vec<Argument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A reference in a local variable.
    Local(u16),
    Number(i32),
    Null,
}

#[derive(Debug, PartialEq, Eq)]
struct Surroundings {
    enclosing: Vec<usize>,
    held: Held,
    locals: Vec<(u16, VType)>,
    cleanup: Cleanup,
}

#[derive(Debug, Default)]
pub struct Guards(Vec<(Surroundings, Vec<(Label, Label)>)>);

impl Guards {
    /// Whether an instruction can be guarded.
    pub fn possible(survey: &Survey, index: usize) -> bool {
        survey.needed_locals(index).is_some()
    }

    /// Guards what is inserted around an instruction, between two labels.
    pub fn add(
        &mut self,
        survey: &Survey,
        index: usize,
        place: (Label, Label),
        cleanup: Cleanup,
        extra: &[(u16, VType)],
    ) {
        let mut locals = survey.needed_locals(index).unwrap_or_default();
        locals.extend_from_slice(extra);
        let surroundings = Surroundings {
            enclosing: survey.enclosing(index),
            held: survey.held(index),
            locals,
            cleanup,
        };
        match self.0.iter_mut().find(|(known, _)| *known == surroundings) {
            Some((_, places)) => places.push(place),
            None => self.0.push((surroundings, vec![place])),
        }
    }

    /// Writes the handlers; `kept` are local variables that all code of the method has, the context first.
    pub fn write(
        self,
        body: &mut MethodEditor<'_>,
        pool: &mut Pool<'_>,
        survey: &Survey,
        kept: &[(u16, VType)],
    ) -> Result<(), EditError> {
        let Some(&(context, _)) = kept.first() else {
            return Ok(());
        };
        let throwable = pool.object_type("java/lang/Throwable")?;
        for (around, places) in self.0 {
            let (start, end) = (body.new_label(), body.new_label());
            for (from, to) in places {
                body.protect(from, to, start, PoolIndex::NONE, true);
            }
            let mut locals = around.locals;
            locals.extend_from_slice(kept);
            let Cleanup { method, arguments } = around.cleanup;
            let mut code = body.append();
            code.bind(start).frame(&locals, &[throwable]);
            for argument in arguments {
                match argument {
                    Argument::Local(slot) => code.local(Op::Aload, slot),
                    Argument::Number(number) => code.push_int(number, pool)?,
                    Argument::Null => code.op(Op::AconstNull),
                };
            }
            code.local(Op::Aload, context)
                .invoke(Op::Invokestatic, method)
                .op(Op::Athrow)
                .bind(end);
            for number in around.enclosing {
                let range = survey.ranges[number];
                let handler = body.label(range.handler);
                body.protect(start, end, handler, range.catch_type, false);
            }
        }
        Ok(())
    }
}
