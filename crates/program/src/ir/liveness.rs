//! Which local variables a block may still read: phis are made for these only.

use rustc_hash::FxHashMap;
use untorn_classfile::Insn;
use untorn_classfile::insn::Op as Jvm;

use super::build::BodyError;
use super::cfg::RawBlock;

/// Bounds the bit matrix, and with it the frames kept per block, at 16 million locals.
const MOST_WORDS: usize = 1 << 18;

/// The live locals at each block's entry.
#[derive(Debug)]
pub struct Liveness {
    words: usize,
    live: Vec<u64>,
    /// Local variable indices are mapped to dense bits, since code may use few of many.
    bits: FxHashMap<u16, usize>,
}

impl Liveness {
    pub fn compute(code: &[(u32, Insn)], blocks: &[RawBlock]) -> Result<Self, BodyError> {
        let mut bits = FxHashMap::default();
        for (_, insn) in code {
            if let Insn::Local { index, .. } | Insn::Iinc { index, .. } = insn {
                let next = bits.len();
                bits.entry(*index).or_insert(next);
            }
        }
        let words = bits.len().div_ceil(64);
        if words * blocks.len() > MOST_WORDS {
            return Err(BodyError::TooComplex);
        }
        let mut result = Self {
            words,
            live: vec![0; words * blocks.len()],
            bits,
        };
        result.solve(code, blocks);
        Ok(result)
    }

    /// The live locals of a block, in ascending order.
    pub fn locals(&self, block: usize) -> Vec<u16> {
        let mut locals: Vec<u16> = self
            .bits
            .iter()
            .filter(|(_, bit)| self.live[block * self.words + *bit / 64] & (1 << (*bit % 64)) != 0)
            .map(|(local, _)| *local)
            .collect();
        locals.sort_unstable();
        locals
    }

    fn solve(&mut self, code: &[(u32, Insn)], blocks: &[RawBlock]) {
        if self.words == 0 {
            return;
        }
        let mut preds: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            for succ in block
                .succs
                .iter()
                .chain(block.handlers.iter().map(|(handler, _)| handler))
            {
                preds[*succ].push(index as u32);
            }
        }
        let mut pending: Vec<usize> = (0..blocks.len()).collect();
        let mut queued = vec![true; blocks.len()];
        let mut live = vec![0; self.words];
        while let Some(index) = pending.pop() {
            queued[index] = false;
            self.block_entry(code, blocks, index, &mut live);
            let old = &mut self.live[index * self.words..(index + 1) * self.words];
            if old != live {
                old.copy_from_slice(&live);
                for pred in &preds[index] {
                    if !queued[*pred as usize] {
                        queued[*pred as usize] = true;
                        pending.push(*pred as usize);
                    }
                }
            }
        }
    }

    fn block_entry(
        &self,
        code: &[(u32, Insn)],
        blocks: &[RawBlock],
        index: usize,
        live: &mut [u64],
    ) {
        let block = &blocks[index];
        live.fill(0);
        let join = |live: &mut [u64], other: usize| {
            let other = &self.live[other * self.words..(other + 1) * self.words];
            live.iter_mut()
                .zip(other)
                .for_each(|(word, other)| *word |= other);
        };
        for succ in &block.succs {
            join(live, *succ);
        }
        for (_, insn) in code[block.start..block.end].iter().rev() {
            let (Insn::Local { index, .. } | Insn::Iinc { index, .. }) = insn else {
                continue;
            };
            let bit = self.bits[index];
            let (word, mask) = (bit / 64, 1 << (bit % 64));
            match insn {
                Insn::Local { op, .. } if (Jvm::Istore..=Jvm::Astore).contains(op) => {
                    live[word] &= !mask;
                }
                _ => live[word] |= mask,
            }
        }
        // Exceptions leave with the locals of the block's entry.
        for (handler, _) in &block.handlers {
            join(live, *handler);
        }
    }
}
