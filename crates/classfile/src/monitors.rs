//! Which monitors a method body holds where, from the code alone, without looking at objects.
//!
//! Compilers nest blocks properly, and a `monitorexit` closes the block entered last on every way to it.
//! A body where two ways disagree is *unstructured*: its blocks are no regions, since nobody could say where they end.
//!
//! An exception goes to the first range that covers the instruction and catches its class; what stands behind one that catches everything is never asked.
//! So a block inside `try` … `finally` is left by its own handler, and only what that one throws, with the monitor free again, reaches the outer one.
//! A `monitorexit` and instructions that compute nothing that can fail are taken not to throw, as structured locking guarantees of the former: `javac` lets the handler of a block cover its own `monitorexit`, Kotlin lets an outer handler do so.
//! A handler that nothing else leads to is followed from there all the same, since inserted code may fail.

use crate::insn::{Insn, Op};
use crate::read::{ConstantPool, PoolIndex};
use rustc_hash::FxHashMap;

/// A range of instructions, by number, and where its exceptions go.
#[derive(Debug, Clone, Copy)]
pub struct Protected {
    pub start: usize,
    pub end: usize,
    pub handler: usize,
    /// Nothing passes by.
    pub catches_all: bool,
}

/// Whether a range with this type catches whatever is thrown.
pub fn catches_all(catch_type: PoolIndex, pool: &ConstantPool<'_>) -> bool {
    catch_type.is_none()
        || (pool.class_name(catch_type)).is_ok_and(|name| name == "java/lang/Throwable")
}

/// The monitors held at an instruction, innermost last; equal numbers mean equal stacks.
pub type Held = u32;
const NOTHING_HELD: Held = 0;
const NOT_REACHED: Held = u32::MAX;

/// The monitors of a body; see the module.
#[derive(Debug, Clone)]
pub struct Monitors {
    held: Vec<Held>,
    /// The block on top of each stack of monitors and the stack below it; the first one is empty.
    stacks: Vec<(u32, Held)>,
    is_structured: bool,
}

impl Monitors {
    /// Follows a body; `target` gives the number of the instruction that a jump names.
    pub fn of<T: Copy>(
        insns: &[Insn<T>],
        target: impl Fn(T) -> Option<usize>,
        ranges: &[Protected],
    ) -> Self {
        let mut monitors = Self {
            held: Vec::new(),
            stacks: vec![(0, NOTHING_HELD)],
            is_structured: true,
        };
        if insns.iter().any(enters) {
            monitors.follow(insns, target, ranges);
        }
        monitors
    }

    /// Whether everybody can say where each block of the body ends.
    pub fn is_structured(&self) -> bool {
        self.is_structured
    }

    /// The monitors held before an instruction.
    pub fn held(&self, index: usize) -> Held {
        self.held.get(index).copied().unwrap_or(NOTHING_HELD)
    }

    /// The block that a `monitorexit` closes, by its number from 1.
    pub fn closes(&self, index: usize) -> Option<u32> {
        let held = self.held(index);
        if !self.is_structured || held == NOTHING_HELD || held == NOT_REACHED {
            return None;
        }
        self.stacks.get(held as usize).map(|&(block, _)| block)
    }

    fn follow<T: Copy>(
        &mut self,
        insns: &[Insn<T>],
        target: impl Fn(T) -> Option<usize>,
        ranges: &[Protected],
    ) {
        self.held = vec![NOT_REACHED; insns.len()];
        let mut blocks = vec![0; insns.len()];
        let mut count = 0;
        for (index, insn) in insns.iter().enumerate() {
            if enters(insn) {
                count += 1;
                blocks[index] = count;
            }
        }
        let mut known: FxHashMap<(u32, Held), Held> = FxHashMap::default();
        let mut pending = vec![(0, NOTHING_HELD)];
        // Handlers to which only instructions lead that do not throw.
        let mut unlikely: Vec<(usize, Held)> = Vec::new();
        loop {
            let Some((index, before)) = pending.pop() else {
                match unlikely.pop() {
                    None => break,
                    Some((handler, held)) => {
                        if self.held.get(handler) == Some(&NOT_REACHED) {
                            pending.push((handler, held));
                        }
                        continue;
                    }
                }
            };
            match self.held.get(index) {
                None => continue,
                Some(&NOT_REACHED) => self.held[index] = before,
                Some(&seen) => {
                    self.is_structured &= seen == before;
                    continue;
                }
            }
            let insn = &insns[index];
            let after = match insn.op() {
                Op::Monitorenter => *known.entry((blocks[index], before)).or_insert_with(|| {
                    self.stacks.push((blocks[index], before));
                    self.stacks.len() as Held - 1
                }),
                Op::Monitorexit => {
                    self.is_structured &= before != NOTHING_HELD;
                    self.stacks[before as usize].1
                }
                _ => before,
            };
            self.is_structured &= !insn.is_return() || before == NOTHING_HELD;
            let handlers = if throws(insn) {
                &mut pending
            } else {
                &mut unlikely
            };
            for range in ranges {
                if range.start <= index && index < range.end {
                    handlers.push((range.handler, before));
                    if range.catches_all {
                        break;
                    }
                }
            }
            pending.extend(insn.targets().filter_map(|to| Some((target(to)?, after))));
            if insn.falls_through() {
                pending.push((index + 1, after));
            }
        }
        // A block that nothing leads to is none.
        let reached = |index: usize| self.held[index] != NOT_REACHED;
        self.is_structured &= (0..insns.len()).all(|index| blocks[index] == 0 || reached(index));
    }
}

fn enters<T: Copy>(insn: &Insn<T>) -> bool {
    insn.op() == Op::Monitorenter
}

/// Whether an instruction may end with an exception, as far as blocks are concerned.
fn throws<T: Copy>(insn: &Insn<T>) -> bool {
    match insn {
        Insn::Push { .. }
        | Insn::Local { .. }
        | Insn::Iinc { .. }
        | Insn::Jump { .. }
        | Insn::Switch(_) => false,
        Insn::Plain(op) => {
            !(insn.is_return()
                || (Op::Nop..=Op::Dconst1).contains(op)
                || (Op::Pop..=Op::Swap).contains(op)
                || (Op::Iadd..=Op::Dcmpg).contains(op)
                    && !matches!(op, Op::Idiv | Op::Ldiv | Op::Irem | Op::Lrem)
                || *op == Op::Monitorexit)
        }
        _ => true,
    }
}
