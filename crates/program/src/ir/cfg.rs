//! Basic blocks from bytecode, subroutines expanded.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use untorn_classfile::insn::Op as Jvm;
use untorn_classfile::read::ExceptionEntry;
use untorn_classfile::{Insn, PoolIndex};

use super::build::BodyError;

/// No compiler nests finally blocks deeper; hostile code does.
const DEEPEST_SUBROUTINE: usize = 16;
/// A method has at most 65,535 bytes of code; expansion of subroutines may multiply that.
const MOST_BLOCKS: usize = 1 << 17;

/// A block of bytecode, before SSA.
#[derive(Debug)]
pub struct RawBlock {
    /// The instructions, by position in the decoded code.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Normal successors, as in [`super::Block::succs`].
    pub succs: SmallVec<[usize; 2]>,
    /// Handlers with the constant that names what they catch.
    pub handlers: SmallVec<[(usize, PoolIndex); 1]>,
    /// Whether the block starts with a caught exception.
    pub is_handler: bool,
}

/// A block's place: its first instruction and the return positions of the subroutines it is in.
type Place = (usize, SmallVec<[usize; 2]>);

/// The blocks that are reachable from the entry, the entry first.
pub fn blocks(
    code: &[(u32, Insn)],
    exceptions: &[ExceptionEntry],
) -> Result<Vec<RawBlock>, BodyError> {
    let leaders = Leaders::find(code, exceptions);
    let mut places: IndexMap<Place, (), FxBuildHasher> = IndexMap::default();
    places.insert((0, SmallVec::new()), ());
    let mut raw: Vec<RawBlock> = Vec::new();
    let mut handler_blocks = Vec::new();
    while raw.len() < places.len() {
        if places.len() > MOST_BLOCKS {
            return Err(BodyError::TooComplex);
        }
        let Some(((start, context), ())) = places.get_index(raw.len()) else {
            return Err(BodyError::TooComplex);
        };
        let (start, context) = (*start, context.clone());
        let end = leaders.block_end(start, code.len());
        let mut at = |position: usize, context: SmallVec<[usize; 2]>| {
            places.insert_full((position, context), ()).0
        };
        let last = &code[end - 1].1;
        let mut succs = SmallVec::new();
        match last {
            Insn::Jump {
                op: Jvm::Jsr | Jvm::JsrW,
                target,
            } => {
                if context.len() >= DEEPEST_SUBROUTINE {
                    return Err(BodyError::TooComplex);
                }
                let mut inner = context.clone();
                inner.push(end);
                succs.push(at(leaders.position(*target)?, inner));
            }
            Insn::Local { op: Jvm::Ret, .. } => {
                let mut outer = context.clone();
                let back = outer
                    .pop()
                    .ok_or(BodyError::Malformed("ret outside a subroutine"))?;
                if back >= code.len() {
                    return Err(BodyError::FallsOff);
                }
                succs.push(at(back, outer));
            }
            _ => {
                for target in last.targets() {
                    succs.push(at(leaders.position(target)?, context.clone()));
                }
                if last.falls_through() {
                    if end >= code.len() {
                        return Err(BodyError::FallsOff);
                    }
                    succs.push(at(end, context.clone()));
                }
            }
        }
        let mut handlers = SmallVec::new();
        if code[start..end].iter().any(|(_, insn)| can_throw(insn)) {
            let pc = code[start].0;
            for entry in exceptions
                .iter()
                .filter(|entry| entry.start <= pc && pc < entry.end)
            {
                let block = at(leaders.position(entry.handler)?, context.clone());
                handler_blocks.push(block);
                handlers.push((block, entry.catch_type));
                if entry.catch_type.is_none() {
                    break;
                }
            }
        }
        raw.push(RawBlock {
            start,
            end,
            succs,
            handlers,
            is_handler: false,
        });
    }
    for block in handler_blocks {
        raw[block].is_handler = true;
    }
    Ok(with_own_entry(raw))
}

/// Gives code that jumps back to its first instruction an entry of its own, so that parameters can meet phis.
fn with_own_entry(mut raw: Vec<RawBlock>) -> Vec<RawBlock> {
    let targets = |block: &RawBlock| {
        block.succs.contains(&0) || block.handlers.iter().any(|(to, _)| *to == 0)
    };
    if !raw.iter().any(targets) {
        return raw;
    }
    for block in &mut raw {
        block.succs.iter_mut().for_each(|succ| *succ += 1);
        block
            .handlers
            .iter_mut()
            .for_each(|(handler, _)| *handler += 1);
    }
    let entry = RawBlock {
        start: 0,
        end: 0,
        succs: [1].into_iter().collect(),
        handlers: SmallVec::new(),
        is_handler: false,
    };
    raw.insert(0, entry);
    raw
}

struct Leaders {
    /// For each instruction whether a block starts there.
    starts: Vec<bool>,
    /// For each code offset the position of its instruction.
    positions: Vec<u32>,
}

impl Leaders {
    fn find(code: &[(u32, Insn)], exceptions: &[ExceptionEntry]) -> Self {
        let length = code.last().map_or(0, |(pc, _)| *pc as usize + 1);
        let mut positions = vec![u32::MAX; length + 1];
        for (position, (pc, _)) in code.iter().enumerate() {
            positions[*pc as usize] = position as u32;
        }
        let mut starts = vec![false; code.len() + 1];
        let mut protected = vec![0i32; code.len() + 1];
        starts[0] = true;
        let position = |pc: u32| {
            positions
                .get(pc as usize)
                .map_or(code.len(), |at| (*at as usize).min(code.len()))
        };
        for entry in exceptions {
            for pc in [entry.start, entry.end, entry.handler] {
                starts[position(pc)] = true;
            }
            if entry.start < entry.end {
                protected[position(entry.start)] += 1;
                protected[position(entry.end)] -= 1;
            }
        }
        let mut depth = 0;
        for (at, (_, insn)) in code.iter().enumerate() {
            depth += protected[at];
            for target in insn.targets() {
                starts[position(target)] = true;
            }
            let ends = !insn.falls_through()
                || matches!(insn, Insn::Jump { .. } | Insn::Switch(_))
                || depth > 0 && stores_local(insn);
            if ends {
                starts[at + 1] = true;
            }
        }
        Self { starts, positions }
    }

    fn position(&self, pc: u32) -> Result<usize, BodyError> {
        match self.positions.get(pc as usize) {
            Some(position) if *position != u32::MAX => Ok(*position as usize),
            _ => Err(BodyError::Malformed("jump into an instruction")),
        }
    }

    fn block_end(&self, start: usize, length: usize) -> usize {
        (start + 1..length)
            .find(|position| self.starts[*position])
            .unwrap_or(length)
    }
}

fn stores_local(insn: &Insn) -> bool {
    match insn {
        Insn::Iinc { .. } => true,
        Insn::Local { op, .. } => (Jvm::Istore..=Jvm::Astore).contains(op),
        _ => false,
    }
}

/// As [`super::Op::can_throw`], before there is an operation.
fn can_throw(insn: &Insn) -> bool {
    match insn {
        Insn::Plain(op) => {
            matches!(
                op,
                Jvm::Idiv
                    | Jvm::Ldiv
                    | Jvm::Irem
                    | Jvm::Lrem
                    | Jvm::Arraylength
                    | Jvm::Athrow
                    | Jvm::Monitorenter
            ) || (Jvm::Iaload..=Jvm::Saload).contains(op)
                || (Jvm::Iastore..=Jvm::Sastore).contains(op)
        }
        Insn::Type { op, .. } => *op != Jvm::Instanceof,
        Insn::Ldc { .. }
        | Insn::Field { .. }
        | Insn::Invoke { .. }
        | Insn::InvokeDynamic { .. }
        | Insn::NewArray(_)
        | Insn::MultiNewArray { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use untorn_classfile::Insn;
    use untorn_classfile::insn::{Form, Op as Jvm};

    use super::{BodyError, blocks};

    fn local(op: Jvm) -> Insn {
        Insn::Local {
            op,
            index: 0,
            form: Form::Shortest,
        }
    }

    #[test]
    fn a_subroutine_is_expanded_at_each_call() {
        let code = [
            (
                0,
                Insn::Jump {
                    op: Jvm::Jsr,
                    target: 7,
                },
            ),
            (
                3,
                Insn::Jump {
                    op: Jvm::Jsr,
                    target: 7,
                },
            ),
            (6, Insn::Plain(Jvm::Return)),
            (7, local(Jvm::Astore)),
            (8, local(Jvm::Ret)),
        ];
        let blocks = blocks(&code, &[]).unwrap();
        let chain: Vec<usize> =
            std::iter::successors(Some(0), |at: &usize| blocks[*at].succs.first().copied())
                .collect();
        let starts: Vec<usize> = chain.iter().map(|block| blocks[*block].start).collect();
        assert_eq!(
            starts,
            [0, 3, 1, 3, 2],
            "call, body, call, body again, return"
        );
        assert_eq!(blocks.len(), 5);
    }

    #[test]
    fn endless_subroutines_are_refused() {
        let code = [(
            0,
            Insn::Jump {
                op: Jvm::Jsr,
                target: 0,
            },
        )];
        assert_eq!(blocks(&code, &[]).unwrap_err(), BodyError::TooComplex);
        let code = [(0, local(Jvm::Ret))];
        assert!(matches!(blocks(&code, &[]), Err(BodyError::Malformed(_))));
    }
}
