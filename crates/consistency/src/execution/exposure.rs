//! Where the values that a body reads go: the paper's experiment with reads that do not leave their lock (section 4).
//!
//! Followed through arithmetic, casts, phis and string concatenation within one body.
//! A value leaves by being stored, captured, passed to a call (what that does with it is not followed), returned or thrown; a test alone does not make it leave.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::ir::{Body, Op};
use untorn_program::{InstrId, MethodId, Program, ValueId};

/// Where the value of one instruction goes.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// Into the heap or a call.
    pub stored: bool,
    /// To the caller.
    pub returned: bool,
    /// All instructions that use it or what is computed from it.
    pub uses: Vec<InstrId>,
}

/// The flows of one body.
#[derive(Debug, Default)]
pub struct Exposure {
    flows: FxHashMap<InstrId, Flow>,
}

impl Exposure {
    /// Where the value of a read or call goes; `None` if it defines none.
    pub fn flow(&self, instr: InstrId) -> Option<&Flow> {
        self.flows.get(&instr)
    }

    fn find(body: &Body) -> Self {
        let mut users: FxHashMap<ValueId, Vec<InstrId>> = FxHashMap::default();
        for (id, instr) in body.all_instrs() {
            instr
                .op
                .for_each_operand(|value| users.entry(value).or_default().push(id));
        }
        let mut phis: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for phi in body.blocks.iter().flat_map(|block| &block.phis) {
            for input in &phi.inputs {
                phis.entry(*input).or_default().push(phi.result);
            }
        }
        let reads = body.all_instrs().filter(|(_, instr)| {
            matches!(
                instr.op,
                Op::GetField { .. }
                    | Op::GetStatic { .. }
                    | Op::ArrayLoad { .. }
                    | Op::Invoke { .. }
            )
        });
        let flows = reads
            .filter_map(|(id, instr)| Some((id, flow(body, instr.result?, &users, &phis))))
            .collect();
        Self { flows }
    }
}

fn flow(
    body: &Body,
    value: ValueId,
    users: &FxHashMap<ValueId, Vec<InstrId>>,
    phis: &FxHashMap<ValueId, Vec<ValueId>>,
) -> Flow {
    let mut flow = Flow::default();
    let mut met: FxHashSet<ValueId> = FxHashSet::default();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if !met.insert(value) {
            continue;
        }
        pending.extend(phis.get(&value).into_iter().flatten());
        for user in users.get(&value).into_iter().flatten() {
            flow.uses.push(*user);
            let instr = body.instr(*user);
            match &instr.op {
                Op::Compute { .. } | Op::Cast { .. } | Op::Concat { .. } => {
                    pending.extend(instr.result);
                }
                Op::PutField { value: stored, .. }
                | Op::PutStatic { value: stored, .. }
                | Op::ArrayStore { value: stored, .. } => flow.stored |= *stored == value,
                Op::Invoke { kind, args, .. } => {
                    let receiver = usize::from(*kind != untorn_program::ir::InvokeKind::Static);
                    flow.stored |= args[receiver.min(args.len())..].contains(&value);
                }
                Op::Lambda { .. } | Op::Dynamic { .. } => flow.stored = true,
                Op::Return { .. } | Op::Throw { .. } => flow.returned = true,
                _ => {}
            }
        }
    }
    flow
}

/// The flows of all bodies, found when first asked for.
#[derive(Debug)]
pub struct Exposures<'a> {
    program: &'a Program,
    known: FxHashMap<MethodId, Rc<Exposure>>,
}

impl<'a> Exposures<'a> {
    /// Nothing is known yet.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            known: FxHashMap::default(),
        }
    }

    /// The flows of a method's body.
    pub fn of(&mut self, method: MethodId) -> Rc<Exposure> {
        let program = self.program;
        let exposure = self.known.entry(method).or_insert_with(|| {
            Rc::new(program.body(method).map(Exposure::find).unwrap_or_default())
        });
        Rc::clone(exposure)
    }
}
