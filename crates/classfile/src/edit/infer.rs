//! Types at jump targets of bodies without frames (class files before version 50).
//!
//! A data-flow fixpoint as in the JVM's old verifier (JVMS 4.10.2), with two simplifications that
//! are harmless because nothing of it is written: different classes meet in `Object`, and a
//! subroutine is taken to leave its caller's locals as they were.
//! Guaranteed for code that verifies: stack depth, kinds of slots, and whether `this` is
//! initialized; classes may be less precise than the verifier's.

use crate::edit::error::{EditError, Result};
use crate::edit::method::MethodEditor;
use crate::edit::pool::Pool;
use crate::edit::snippet::Spot;
use crate::edit::state::{State, Widen};
use crate::insn::{Insn, Op};
use crate::read::frames::FrameStyle;
use crate::read::{FrameTable, TypeName, VType};

/// Merges of one state into another; no compiled method needs a hundredth.
const MAX_MERGES: usize = 1 << 22;

struct Range {
    start: usize,
    end: usize,
    handler: usize,
    caught: VType,
}

struct Inference<'m, 'a, 'p> {
    method: &'m MethodEditor<'a>,
    pool: &'m Pool<'p>,
    /// What was found at each instruction that does not only follow its predecessor.
    at: Vec<Option<State>>,
    leader: Vec<bool>,
    pending: Vec<usize>,
    ranges: Vec<Range>,
    merges: usize,
}

/// The frames of a body that has none of its own, the entry's first.
pub(crate) fn frames(method: &MethodEditor<'_>, pool: &Pool<'_>) -> Result<FrameTable> {
    let count = method.insns.len();
    let mut leader = vec![false; count];
    for (index, insn) in method.insns.iter().enumerate() {
        for target in insn.targets() {
            if let Spot::Target(target) = target.spot() {
                leader[target] = true;
            }
        }
        if matches!(insn.op(), Op::Jsr | Op::JsrW) && index + 1 < count {
            leader[index + 1] = true;
        }
    }
    let ranges: Vec<Range> = method
        .code
        .exceptions
        .iter()
        .map(|entry| Range {
            start: method.index_at(entry.start),
            end: method.index_at(entry.end),
            handler: method.index_at(entry.handler),
            caught: pool
                .class_type(entry.catch_type)
                .unwrap_or(VType::Object(TypeName::THROWABLE)),
        })
        .collect();
    for range in &ranges {
        leader[range.handler] = true;
    }
    let mut inference = Inference {
        method,
        pool,
        at: vec![None; count],
        leader,
        pending: Vec::new(),
        ranges,
        merges: 0,
    };
    let mut table = FrameTable::default();
    if let Some(entry) = method.frames.get(0) {
        table.push(0, entry.locals, entry.stack, FrameStyle::Shortest);
        inference.flow(
            0,
            &State {
                locals: entry.locals.to_vec(),
                stack: Vec::new(),
            },
        )?;
    }
    while let Some(index) = inference.pending.pop() {
        inference.block(index)?;
    }
    for (index, state) in inference.at.iter().enumerate() {
        if let Some(state) = state {
            table.push(
                index as u32,
                &state.locals,
                &state.stack,
                FrameStyle::Shortest,
            );
        }
    }
    Ok(table)
}

impl Inference<'_, '_, '_> {
    /// Control reaches `index` with `state`.
    fn flow(&mut self, index: usize, state: &State) -> Result<()> {
        self.merges += 1;
        if self.merges > MAX_MERGES {
            return Err(EditError::TooComplex);
        }
        let Some(slot) = self.at.get_mut(index) else {
            return Err(EditError::Unreachable { at: index as u32 });
        };
        match slot {
            None => {
                *slot = Some(state.clone());
                self.pending.push(index);
            }
            Some(known) => {
                let before = known.clone();
                if !known.merge(state, self.pool, Widen::ToObject) {
                    return Err(EditError::Merge { at: index as u32 });
                }
                if *known != before {
                    self.pending.push(index);
                }
            }
        }
        Ok(())
    }

    /// An instruction that may throw is reached with `state`: its handlers are too.
    fn throw(&mut self, index: usize, state: &State, entered: bool) -> Result<()> {
        for number in 0..self.ranges.len() {
            let range = &self.ranges[number];
            if !(range.start..range.end).contains(&index) || !(entered || range.start == index) {
                continue;
            }
            let caught = State {
                locals: state.locals.clone(),
                stack: vec![range.caught],
            };
            let handler = range.handler;
            self.flow(handler, &caught)?;
        }
        self.merges += self.ranges.len() / 16;
        Ok(())
    }

    /// Follows the code from a leader to where control ends or meets another leader.
    fn block(&mut self, start: usize) -> Result<()> {
        let method = self.method;
        let Some(mut state) = self.at[start].clone() else {
            return Ok(());
        };
        let mut index = start;
        let mut locals_changed = true;
        loop {
            self.throw(index, &state, locals_changed)?;
            let insn = &method.insns[index];
            let before_jsr = matches!(insn.op(), Op::Jsr | Op::JsrW).then(|| state.clone());
            let at = index as u32;
            state
                .step(insn, at, method.context(self.pool))
                .map_err(|what| EditError::IllTyped { at, what })?;
            locals_changed = matches!(
                insn,
                Insn::Local { .. }
                    | Insn::Invoke {
                        op: Op::Invokespecial,
                        ..
                    }
            );
            for target in insn.targets() {
                if let Spot::Target(target) = target.spot() {
                    self.flow(target, &state)?;
                }
            }
            if !insn.falls_through() {
                return Ok(());
            }
            index += 1;
            if let Some(back) = before_jsr {
                return self.flow(index, &back);
            }
            if self.leader.get(index) != Some(&false) {
                return self.flow(index, &state);
            }
        }
    }
}
