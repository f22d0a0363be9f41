//! From the operand stack to SSA.
//!
//! Blocks are simulated in reverse postorder; a block with several predecessors gets a phi for each stack entry and each live local, and phis that turn out to choose nothing are removed at the end.

use rayon::prelude::*;
use untorn_classfile::ClassFile;
use untorn_classfile::Insn;
use untorn_classfile::read::LineNumber;

use super::body::{Block, Body, Def, Handler, Instr, Op, Phi, Value};
use super::cfg::{self, RawBlock};
use super::liveness::Liveness;
use super::simplify;
use super::stack::Frame;
use crate::classes::{Classes, Link, Links, Type};
use crate::ids::{BlockId, InstrId, MethodId, ValueId};

/// Bounds the memory hostile code can claim; real methods stay a hundred times below.
const MOST_PHI_INPUTS: usize = 4 << 20;

/// Why a method has no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is abstract or native, or its class is missing.
    #[error("the method has no code")]
    NoCode,
    /// The class file reader refused the code.
    #[error(transparent)]
    Unreadable(#[from] untorn_classfile::Error),
    /// The code breaks a rule that every verifier checks.
    #[error("malformed code: {0}")]
    Malformed(&'static str),
    /// Control runs past the last instruction.
    #[error("control falls off the end of the code")]
    FallsOff,
    /// The code exceeds the bounds that keep memory small.
    #[error("the code is too complex")]
    TooComplex,
}

/// Builds the body of a method whose class is linked.
pub fn build_body(classes: &Classes, method: MethodId) -> Result<Body, BodyError> {
    let class = classes.class(classes.method(method).class);
    if class.links.is_none() {
        return Err(BodyError::NoCode);
    }
    build_in(classes, method, &ClassFile::parse(&class.bytes)?)
}

/// Builds the bodies of methods whose classes are linked, in parallel, and reads each class file once if its methods are neighbours.
pub fn build_bodies(
    classes: &Classes,
    methods: &[MethodId],
) -> Vec<(MethodId, Result<Body, BodyError>)> {
    let of_class: Vec<&[MethodId]> = methods
        .chunk_by(|a, b| classes.method(*a).class == classes.method(*b).class)
        .collect();
    let build = |methods: &&[MethodId]| {
        let class = classes.class(classes.method(methods[0]).class);
        let file = match class.links {
            Some(_) => ClassFile::parse(&class.bytes).map_err(BodyError::from),
            None => Err(BodyError::NoCode),
        };
        let body = |method: &MethodId| match &file {
            Ok(file) => (*method, build_in(classes, *method, file)),
            Err(error) => (*method, Err(*error)),
        };
        methods.iter().map(body).collect::<Vec<_>>()
    };
    of_class.par_iter().flat_map_iter(build).collect()
}

fn build_in(classes: &Classes, method: MethodId, file: &ClassFile<'_>) -> Result<Body, BodyError> {
    let info = classes.method(method);
    let class = classes.class(info.class);
    let links = class.links.as_deref().ok_or(BodyError::NoCode)?;
    let member = file
        .methods
        .get(info.position as usize)
        .ok_or(BodyError::NoCode)?;
    let code = member.code(&file.pool)?.ok_or(BodyError::NoCode)?;
    let insns = code.decode()?;
    // Lines that do not parse cost their information, not the body.
    let mut lines = code.line_numbers().unwrap_or_default();
    lines.sort_by_key(|line| line.start);
    let blocks = cfg::blocks(&insns, &code.exceptions)?;
    let liveness = Liveness::compute(&insns, &blocks)?;
    let order = reverse_postorder(&blocks);
    let mut builder = Builder {
        classes,
        links,
        file,
        insns: &insns,
        lines: &lines,
        values: Vec::new(),
        drafts: Vec::new(),
    };
    let entry = builder.parameters(method)?;
    let params: Vec<ValueId> = (0..builder.values.len()).map(ValueId::new).collect();
    builder.simulate(&blocks, &order, &liveness, entry)?;
    let mut body = builder.assemble(method, &blocks, &order, params)?;
    simplify::remove_trivial_phis(&mut body);
    simplify::infer_types(&mut body, classes);
    simplify::mark_loops(&mut body);
    Ok(body)
}

/// A block in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    edges: Vec<Edge>,
    phis: Vec<(Slot, ValueId)>,
    pub(super) instrs: Vec<Instr>,
    entry: Frame,
    exit: Frame,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    from: usize,
    exceptional: bool,
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Stack(usize),
    Local(u16),
}

pub(super) struct Builder<'a> {
    pub(super) classes: &'a Classes,
    pub(super) links: &'a Links,
    pub(super) file: &'a ClassFile<'a>,
    insns: &'a [(u32, Insn)],
    lines: &'a [LineNumber],
    pub(super) values: Vec<Value>,
    drafts: Vec<Draft>,
}

impl Builder<'_> {
    pub(super) fn value(&mut self, ty: Type, def: Def) -> ValueId {
        self.values.push(Value { ty, def });
        ValueId::new(self.values.len() - 1)
    }

    pub(super) fn ty(&self, value: ValueId) -> Type {
        self.values[value.index()].ty
    }

    fn parameters(&mut self, method: MethodId) -> Result<Frame, BodyError> {
        let info = self.classes.method(method);
        let receiver = (!info.flags.is_static()).then_some(Type::Ref(info.class));
        let mut frame = Frame::default();
        let mut slot = 0u16;
        for (position, ty) in receiver
            .into_iter()
            .chain(info.params.iter().copied())
            .enumerate()
        {
            let value = self.value(ty, Def::Param(position as u16));
            frame.locals.insert(slot, value);
            let width = if ty.is_wide() { 2 } else { 1 };
            slot = slot
                .checked_add(width)
                .ok_or(BodyError::Malformed("too many parameters"))?;
        }
        Ok(frame)
    }

    fn simulate(
        &mut self,
        blocks: &[RawBlock],
        order: &[usize],
        liveness: &Liveness,
        entry: Frame,
    ) -> Result<(), BodyError> {
        self.drafts = edges(blocks);
        let mut phi_inputs = 0;
        let mut done = vec![false; blocks.len()];
        self.drafts[0].entry = entry;
        for &index in order {
            let live = liveness.locals(index);
            if index != 0 {
                self.enter(blocks, index, &live, &done)?;
            }
            phi_inputs += self.drafts[index].phis.len() * self.drafts[index].edges.len();
            if phi_inputs > MOST_PHI_INPUTS {
                return Err(BodyError::TooComplex);
            }
            let mut frame = self.drafts[index].entry.clone();
            if blocks[index].is_handler {
                let caught = self.caught_type(blocks, index);
                let value = self.value(caught, Def::Instr(InstrId(0)));
                let (pc, line) = self.place(blocks[index].start);
                let block = BlockId::new(index);
                self.drafts[index].instrs.push(Instr {
                    op: Op::Catch,
                    result: Some(value),
                    block,
                    pc,
                    line,
                });
                frame.stack = vec![value];
            }
            for position in blocks[index].start..blocks[index].end {
                self.instruction(index, position, &mut frame)?;
            }
            let ends = self.drafts[index].instrs.last().is_some_and(|last| {
                matches!(
                    last.op,
                    Op::Goto
                        | Op::If { .. }
                        | Op::Switch { .. }
                        | Op::Return { .. }
                        | Op::Throw { .. }
                )
            });
            if !ends {
                let last = blocks[index]
                    .end
                    .saturating_sub(1)
                    .max(blocks[index].start.min(self.insns.len() - 1));
                self.emit(index, last, Op::Goto, None);
            }
            self.drafts[index].exit = frame;
            done[index] = true;
        }
        Ok(())
    }

    /// Sets the entry frame of a block from its predecessors, with phis where there are several.
    fn enter(
        &mut self,
        blocks: &[RawBlock],
        index: usize,
        live: &[u16],
        done: &[bool],
    ) -> Result<(), BodyError> {
        let edges = std::mem::take(&mut self.drafts[index].edges);
        let known = edges
            .iter()
            .find(|edge| done[edge.from])
            .ok_or(BodyError::Malformed("unordered control flow"))?;
        let (from, exceptional) = (known.from, known.exceptional);
        let source = if exceptional {
            &self.drafts[from].entry
        } else {
            &self.drafts[from].exit
        };
        let mut frame = Frame::default();
        if !blocks[index].is_handler {
            frame.stack.clone_from(&source.stack);
        }
        for local in live {
            frame.locals.insert(*local, source.load(*local)?);
        }
        if edges.len() > 1 {
            let mut phis = Vec::new();
            for position in 0..frame.stack.len() {
                let ty = self.ty(frame.stack[position]);
                let value = self.value(ty, Def::Phi(BlockId::new(index)));
                frame.stack[position] = value;
                phis.push((Slot::Stack(position), value));
            }
            for local in live {
                let ty = self.ty(frame.load(*local)?);
                let value = self.value(ty, Def::Phi(BlockId::new(index)));
                frame.locals.insert(*local, value);
                phis.push((Slot::Local(*local), value));
            }
            self.drafts[index].phis = phis;
        }
        self.drafts[index].entry = frame;
        self.drafts[index].edges = edges;
        Ok(())
    }

    fn caught_type(&self, blocks: &[RawBlock], index: usize) -> Type {
        let throwable = Type::Ref(self.classes.well_known.throwable);
        let caught = self.drafts[index]
            .edges
            .iter()
            .filter(|edge| edge.exceptional)
            .flat_map(|edge| {
                blocks[edge.from]
                    .handlers
                    .iter()
                    .filter(|(block, _)| *block == index)
                    .map(|(_, class)| match self.links.at(*class) {
                        Link::Class { class, .. } => Type::Ref(class),
                        _ => throwable,
                    })
            });
        let joined = caught
            .reduce(|left, right| self.classes.join(left, right))
            .unwrap_or(throwable);
        // The superclass of a missing exception is unknown, but whatever is caught is a Throwable.
        if joined == Type::Ref(self.classes.well_known.object) {
            throwable
        } else {
            joined
        }
    }

    fn place(&self, position: usize) -> (u32, u16) {
        let pc = self.insns.get(position).map_or(0, |(pc, _)| *pc);
        let line = match self.lines.partition_point(|line| line.start <= pc) {
            0 => 0,
            after => self.lines[after - 1].line,
        };
        (pc, line)
    }

    fn instruction(
        &mut self,
        block: usize,
        position: usize,
        frame: &mut Frame,
    ) -> Result<(), BodyError> {
        let insns = self.insns;
        self.translate(block, position, &insns[position].1, frame)
    }

    /// Appends an instruction; its result, if it has a type, is a new value.
    pub(super) fn emit(
        &mut self,
        block: usize,
        position: usize,
        op: Op,
        ty: Option<Type>,
    ) -> Option<ValueId> {
        let result = ty.map(|ty| self.value(ty, Def::Instr(InstrId(0))));
        let (pc, line) = self.place(position);
        self.drafts[block].instrs.push(Instr {
            op,
            result,
            block: BlockId::new(block),
            pc,
            line,
        });
        result
    }

    /// Numbers blocks in reverse postorder and fills in phis.
    fn assemble(
        mut self,
        method: MethodId,
        blocks: &[RawBlock],
        order: &[usize],
        params: Vec<ValueId>,
    ) -> Result<Body, BodyError> {
        let mut number = vec![0; blocks.len()];
        for (position, index) in order.iter().enumerate() {
            number[*index] = position;
        }
        let id = |index: usize| BlockId::new(number[index]);
        let mut body = Body {
            method,
            blocks: Vec::with_capacity(blocks.len()),
            instrs: Vec::new(),
            values: Vec::new(),
            params,
            has_receiver: !self.classes.method(method).flags.is_static(),
        };
        for &index in order {
            let phis = self.fill_phis(index)?;
            for phi in &phis {
                self.values[phi.result.index()].def = Def::Phi(id(index));
            }
            let first = InstrId::new(body.instrs.len());
            for mut instr in std::mem::take(&mut self.drafts[index].instrs) {
                instr.block = id(index);
                if let Some(result) = instr.result {
                    self.values[result.index()].def = Def::Instr(InstrId::new(body.instrs.len()));
                }
                body.instrs.push(instr);
            }
            let catches = |constant| match self.links.at(constant) {
                Link::Class { class, .. } => Some(class),
                _ => None,
            };
            body.blocks.push(Block {
                phis,
                first,
                end: InstrId::new(body.instrs.len()),
                succs: blocks[index].succs.iter().map(|succ| id(*succ)).collect(),
                handlers: blocks[index]
                    .handlers
                    .iter()
                    .map(|(block, class)| Handler {
                        block: id(*block),
                        catches: catches(*class),
                    })
                    .collect(),
                preds: self.drafts[index]
                    .edges
                    .iter()
                    .map(|edge| id(edge.from))
                    .collect(),
                in_loop: false,
            });
        }
        body.values = self.values;
        Ok(body)
    }

    fn fill_phis(&self, index: usize) -> Result<Vec<Phi>, BodyError> {
        let draft = &self.drafts[index];
        draft
            .phis
            .iter()
            .map(|(slot, result)| {
                let inputs = draft
                    .edges
                    .iter()
                    .map(|edge| {
                        let from = &self.drafts[edge.from];
                        let frame = if edge.exceptional {
                            &from.entry
                        } else {
                            &from.exit
                        };
                        match slot {
                            Slot::Stack(_) if frame.stack.len() != draft.entry.stack.len() => {
                                Err(BodyError::Malformed("stack heights differ"))
                            }
                            Slot::Stack(position) => Ok(frame.stack[*position]),
                            Slot::Local(local) => frame.load(*local),
                        }
                    })
                    .collect::<Result<_, _>>()?;
                Ok(Phi {
                    result: *result,
                    inputs,
                })
            })
            .collect()
    }
}

/// The incoming edges of each block, each predecessor once per kind.
fn edges(blocks: &[RawBlock]) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = blocks.iter().map(|_| Draft::default()).collect();
    for (from, block) in blocks.iter().enumerate() {
        let normal = block.succs.iter().map(|to| (*to, false));
        let exceptional = block.handlers.iter().map(|(to, _)| (*to, true));
        for (to, exceptional) in normal.chain(exceptional) {
            let known = &mut drafts[to].edges;
            // Edges of one block arrive together, so a repetition is among the last two.
            if !known
                .iter()
                .rev()
                .take(2)
                .any(|edge| edge.from == from && edge.exceptional == exceptional)
            {
                known.push(Edge { from, exceptional });
            }
        }
    }
    drafts
}

fn reverse_postorder(blocks: &[RawBlock]) -> Vec<usize> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = vec![false; blocks.len()];
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((index, next)) = stack.last_mut() {
        let block = &blocks[*index];
        let normal = block.succs.len();
        // Handlers first, so that in reverse order the normal path stays together.
        let target = if *next < block.handlers.len() {
            Some(block.handlers[*next].0)
        } else {
            (*next - block.handlers.len() < normal)
                .then(|| block.succs[normal - 1 - (*next - block.handlers.len())])
        };
        *next += 1;
        match target {
            Some(target) if !seen[target] => {
                seen[target] = true;
                stack.push((target, 0));
            }
            Some(_) => {}
            None => {
                order.push(*index);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
