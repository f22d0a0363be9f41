//! Follows the edited code in a straight line to find its frames and stack depth.
//!
//! The frames of the file stay where they were.
//! A label of inserted code is reached from above, by jumps seen before it, or both; its frame is
//! what these ways have in common, so no fixpoint is needed (a loop inside inserted code must
//! leave the types as they are at its head, which is checked).

use crate::edit::error::{EditError, Result};
use crate::edit::flatten::{Flat, Mark};
use crate::edit::layout::Layout;
use crate::edit::method::MethodEditor;
use crate::edit::pool::Pool;
use crate::edit::snippet::{Label, Spot};
use crate::edit::state::{State, Widen};
use crate::insn::Op;
use crate::read::frames::FrameStyle;
use crate::read::{FrameTable, VType};

/// What following the code shows.
#[derive(Debug)]
pub(crate) struct Simulation {
    /// The entry's frame, then all frames to be written, by position in the flat list.
    pub(crate) frames: FrameTable,
    pub(crate) max_stack: usize,
}

struct Walk<'s, 'm, 'a, 'p> {
    method: &'s MethodEditor<'a>,
    flat: &'s Flat<'m>,
    pool: &'s Pool<'p>,
    /// The next frame of the file.
    frame: usize,
    /// The next label or frame of inserted code.
    mark: usize,
    /// What jumps bring to each fresh label: seen so far, or its frame once it is passed.
    waiting: Vec<Option<State>>,
    /// States no longer waited for, kept for their memory.
    spare: Vec<State>,
    /// How each fresh label is jumped to.
    jumps: Vec<Jumps>,
    frames: FrameTable,
    framed: bool,
}

/// Which jumps name a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Jumps {
    None,
    /// Only from above: once passed, the label is done with.
    Down,
    /// Also from below, which must bring what the label's frame says.
    Up,
}

/// Follows `flat`; `method.infer` must have run.
pub(crate) fn run(
    method: &MethodEditor<'_>,
    flat: &Flat<'_>,
    layout: &Layout,
    pool: &Pool<'_>,
) -> Result<Simulation> {
    if method.framed {
        for &index in &flat.jumped_to {
            let last = method.frames.count_up_to(index as u32).saturating_sub(1);
            if last == 0
                || method
                    .frames
                    .get(last)
                    .is_none_or(|frame| frame.at as usize != index)
            {
                return Err(EditError::NoFrame { index });
            }
        }
    }
    let mut jumps = vec![Jumps::None; method.fresh as usize];
    if method.fresh > 0 {
        for (from, insn) in flat.insns.iter().enumerate() {
            for target in insn.targets() {
                if let Spot::Fresh(number) = target.spot() {
                    let up = flat.position(target)? as usize <= from;
                    jumps[number] = jumps[number].max(if up { Jumps::Up } else { Jumps::Down });
                }
            }
        }
    }
    let mut walk = Walk {
        method,
        flat,
        pool,
        frame: 1,
        mark: 0,
        waiting: vec![None; method.fresh as usize],
        spare: Vec::new(),
        jumps,
        frames: FrameTable::default(),
        framed: method.framed,
    };
    let mut state = State::default();
    if let Some(entry) = method.frames.get(0) {
        state.load(entry.locals, entry.stack);
        walk.frames
            .push(0, entry.locals, entry.stack, FrameStyle::Shortest);
    }
    let mut skipped = layout.skipped(flat).peekable();
    let mut reachable = true;
    let mut max_stack = 0;
    for position in 0..flat.insns.len() as u32 {
        let framed_here = walk.arrive(position, &mut state, &mut reachable)?;
        if skipped.next_if_eq(&position).is_some() && !framed_here {
            walk.emit(position, &mut state, FrameStyle::Shortest);
        }
        if !reachable {
            if walk.framed {
                return Err(EditError::Unreachable { at: position });
            }
            continue;
        }
        let insn = flat.insns[position as usize];
        max_stack = max_stack.max(state.stack.len());
        let jsr = matches!(insn.op(), Op::Jsr | Op::JsrW).then(|| state.clone());
        state
            .step(insn, position, method.context(pool))
            .map_err(|what| EditError::IllTyped { at: position, what })?;
        max_stack = max_stack.max(state.stack.len());
        for target in insn.targets() {
            if let Spot::Fresh(number) = target.spot() {
                walk.leave(number, position, &state)?;
            }
        }
        reachable = insn.falls_through();
        if let Some(before) = jsr {
            state = before;
        }
    }
    Ok(Simulation {
        frames: walk.frames,
        max_stack,
    })
}

fn label(&(_, mark): &(u32, Mark<'_>)) -> Option<usize> {
    match mark {
        Mark::Label(number) => Some(number),
        Mark::Frame(_) => None,
    }
}

/// Loads the last frame that inserted code states at a position.
fn explicit_frame(marks: &[(u32, Mark<'_>)], state: &mut State) -> Option<FrameStyle> {
    let frame = marks.iter().rev().find_map(|&(_, mark)| match mark {
        Mark::Frame(frame) => Some(frame),
        Mark::Label(_) => None,
    })?;
    state.load(&[], &[]);
    for &(slot, kind) in &frame.locals {
        state.set_local(slot, kind);
    }
    state
        .stack
        .extend(frame.stack.iter().flat_map(|slot| slot.slots()));
    Some(FrameStyle::Shortest)
}

impl Walk<'_, '_, '_, '_> {
    /// Applies what holds at a position besides falling into it; says whether a frame stands there.
    fn arrive(&mut self, position: u32, state: &mut State, reachable: &mut bool) -> Result<bool> {
        let flat = self.flat;
        let first = self.mark;
        while flat
            .marks
            .get(self.mark)
            .is_some_and(|&(at, _)| at <= position)
        {
            self.mark += 1;
        }
        let marks = &flat.marks[first..self.mark];
        let mut style = self.frame_of_file(position, state);
        if style.is_none() {
            style = explicit_frame(marks, state);
        }
        *reachable |= style.is_some();
        let settled = style.is_some();
        for number in marks.iter().filter_map(label) {
            if self.jumps[number] == Jumps::None {
                continue;
            }
            style = style.or(Some(FrameStyle::Shortest));
            let Some(brought) = self.waiting[number].take() else {
                continue;
            };
            if !*reachable {
                state.clone_from(&brought);
                *reachable = true;
            } else if !settled && !state.merge(&brought, self.pool, self.widen()) {
                return Err(EditError::Merge { at: position });
            }
            self.spare.push(brought);
        }
        for number in marks.iter().filter_map(label) {
            if self.jumps[number] == Jumps::Up {
                self.waiting[number] = Some(state.clone());
            }
        }
        match style {
            Some(style) if *reachable => {
                self.emit(position, state, style);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Loads the frame that the file has at a position; of several that met there, the last.
    fn frame_of_file(&mut self, position: u32, state: &mut State) -> Option<FrameStyle> {
        let mut style = None;
        while let Some(frame) = self.method.frames.get(self.frame)
            && let target = self.flat.targets[frame.at as usize]
            && target <= position
        {
            self.frame += 1;
            if target < position {
                continue;
            }
            state.load(frame.locals, frame.stack);
            for slot in state.locals.iter_mut().chain(&mut state.stack) {
                if let VType::Uninitialized(at) = slot {
                    *at = self.flat.exact[*at as usize];
                }
            }
            for &(slot, kind) in &self.method.kept_locals {
                state.set_local(slot, kind);
            }
            style = Some(frame.style);
        }
        style
    }

    fn widen(&self) -> Widen {
        if self.framed {
            Widen::Never
        } else {
            Widen::ToObject
        }
    }

    fn emit(&mut self, position: u32, state: &mut State, style: FrameStyle) {
        if style == FrameStyle::Shortest && self.method.is_edited() {
            state.trim();
        }
        if self.framed {
            self.frames
                .push(position, &state.locals, &state.stack, style);
        }
    }

    /// A jump at `from` goes to a fresh label.
    fn leave(&mut self, number: usize, from: u32, state: &State) -> Result<()> {
        let label = Label::new(Spot::Fresh(number));
        let target = self.flat.position(label)?;
        let widen = self.widen();
        let pool = self.pool;
        match &mut self.waiting[number] {
            slot @ None => {
                let mut brought = self.spare.pop().unwrap_or_default();
                brought.clone_from(state);
                *slot = Some(brought);
            }
            Some(known) if target > from => {
                if !known.merge(state, pool, widen) {
                    return Err(EditError::Merge { at: target });
                }
            }
            Some(known) => {
                let mut merged = known.clone();
                if !merged.merge(state, pool, widen) {
                    return Err(EditError::Merge { at: target });
                }
                // The frame of a label already passed must not have to change.
                merged.trim();
                let mut head = known.clone();
                head.trim();
                if merged != head && self.framed {
                    return Err(EditError::Merge { at: target });
                }
            }
        }
        Ok(())
    }
}
