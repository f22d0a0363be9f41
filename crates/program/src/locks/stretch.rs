//! The stretches into which gaps divide what holds a lock.

use rustc_hash::FxHashMap;

use super::{Gap, Locks};
use crate::ids::{InstrId, RegionId};
use crate::ir::Body;

/// Which instructions are in which stretch; kept only where there are gaps.
#[derive(Debug, Clone, Default)]
pub(super) struct Stretches {
    before: FxHashMap<Option<RegionId>, Vec<bool>>,
    after: Vec<Vec<bool>>,
}

impl Stretches {
    /// Divides the regions of a body at their gaps.
    pub fn find(body: &Body, locks: &Locks) -> Self {
        let mut stretches = Self::default();
        for gap in &locks.gaps {
            let first = gap.of.map(|region| locks.region(region).enter);
            stretches
                .before
                .entry(gap.of)
                .or_insert_with(|| walk(body, locks, gap.of, first.unwrap_or(InstrId(0))));
            stretches.after.push(walk(body, locks, gap.of, gap.at));
        }
        stretches
    }

    pub fn before(&self, of: Option<RegionId>, instr: InstrId) -> bool {
        self.before
            .get(&of)
            .is_none_or(|within| within[instr.index()])
    }

    pub fn after(&self, gap: usize, instr: InstrId) -> bool {
        self.after
            .get(gap)
            .is_some_and(|within| within[instr.index()])
    }
}

/// The instructions that are reached from one without passing a gap; the gap itself belongs to both sides.
fn walk(body: &Body, locks: &Locks, of: Option<RegionId>, from: InstrId) -> Vec<bool> {
    let is_gap = |instr: InstrId| locks.gaps.contains(&Gap { at: instr, of });
    let inside = |instr: InstrId| of.is_none_or(|region| locks.held_at(instr).contains(&region));
    let mut met = vec![false; body.instrs.len()];
    let mut pending = vec![from];
    let mut starts = true;
    while let Some(first) = pending.pop() {
        let block = body.block(body.instr(first).block);
        let mut at = first;
        loop {
            // Where a region begins, its lock is not held yet.
            let begins = std::mem::take(&mut starts);
            if !begins && (met[at.index()] || !inside(at)) {
                break;
            }
            met[at.index()] = true;
            if body.instr(at).op.can_throw() {
                let handlers = block
                    .handlers
                    .iter()
                    .map(|handler| body.block(handler.block).first);
                pending.extend(handlers.filter(|handler| !met[handler.index()]));
            }
            if is_gap(at) && !begins {
                break;
            }
            at = InstrId(at.0 + 1);
            if at == block.end {
                let next = block.succs.iter().map(|next| body.block(*next).first);
                pending.extend(next.filter(|next| !met[next.index()]));
                break;
            }
        }
    }
    met
}
