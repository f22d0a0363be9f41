//! Offsets for every instruction, with jumps made wide where 16 bits do not reach.

use crate::edit::error::{EditError, Result};
use crate::edit::flatten::Flat;
use crate::insn::{Insn, Op};

/// Where every instruction goes.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Per instruction and for the end.
    pub(crate) offsets: Vec<u32>,
    /// Jumps of three bytes that must become wide, in order.
    wide: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(flat: &Flat<'_>) -> Result<Self> {
        let mut layout = Self {
            offsets: Vec::with_capacity(flat.insns.len() + 1),
            wide: Vec::new(),
        };
        loop {
            layout.assign(flat);
            // Jumps only ever get wider, so this ends; below 32 KiB none has to.
            if layout.length() <= 0x7fff || !layout.widen(flat)? {
                break;
            }
        }
        if layout.length() > 65535 {
            return Err(EditError::MethodTooLarge {
                length: layout.length(),
            });
        }
        Ok(layout)
    }

    pub(crate) fn length(&self) -> u32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    pub(crate) fn is_wide(&self, position: u32) -> bool {
        self.wide.binary_search(&position).is_ok()
    }

    /// Conditional jumps that were turned into a short one around a wide `goto`: the instruction
    /// behind each has become a jump target.
    pub(crate) fn skipped<'l>(&'l self, flat: &'l Flat<'_>) -> impl Iterator<Item = u32> + 'l {
        self.wide
            .iter()
            .filter(|&&position| flat.insns[position as usize].op().inverted().is_some())
            .map(|&position| position + 1)
    }

    fn assign(&mut self, flat: &Flat<'_>) {
        self.offsets.clear();
        let mut at = 0_u32;
        let mut wide = self.wide.iter().copied().peekable();
        for (position, insn) in flat.insns.iter().enumerate() {
            self.offsets.push(at);
            let mut size = insn.size(at);
            if wide.next_if_eq(&(position as u32)).is_some() {
                size += if insn.op().inverted().is_some() { 5 } else { 2 };
            }
            at = at.saturating_add(size);
        }
        self.offsets.push(at);
    }

    /// Marks short jumps that do not reach; says whether there were any.
    fn widen(&mut self, flat: &Flat<'_>) -> Result<bool> {
        let known = self.wide.len();
        for (position, insn) in flat.insns.iter().enumerate() {
            let Insn::Jump { op, target } = insn else {
                continue;
            };
            if matches!(op, Op::GotoW | Op::JsrW) {
                continue;
            }
            let target = self.offsets[flat.position(*target)? as usize];
            let distance = i64::from(target) - i64::from(self.offsets[position]);
            if i16::try_from(distance).is_err()
                && self.wide[..known]
                    .binary_search(&(position as u32))
                    .is_err()
            {
                self.wide.push(position as u32);
            }
        }
        let grown = self.wide.len() > known;
        self.wide.sort_unstable();
        Ok(grown)
    }

    /// Writes the code.
    pub(crate) fn encode(&self, flat: &Flat<'_>, code: &mut Vec<u8>) -> Result<()> {
        for insn in &flat.insns {
            for target in insn.targets() {
                flat.position(target)?;
            }
        }
        let offset = |target| {
            // Every label was found above.
            flat.position(target)
                .ok()
                .and_then(|position| self.offsets.get(position as usize))
                .map_or(0, |&at| at)
        };
        for (position, insn) in flat.insns.iter().enumerate() {
            let at = self.offsets[position];
            match insn {
                Insn::Jump { op, target } if self.is_wide(position as u32) => {
                    let target = *target;
                    if let Some(inverted) = op.inverted() {
                        code.extend([inverted as u8, 0, 8]);
                        Insn::Jump {
                            op: Op::GotoW,
                            target,
                        }
                        .encode(at + 3, code, offset);
                    } else {
                        let op = if *op == Op::Goto { Op::GotoW } else { Op::JsrW };
                        Insn::Jump { op, target }.encode(at, code, offset);
                    }
                }
                _ => insn.encode(at, code, offset),
            }
        }
        Ok(())
    }
}
