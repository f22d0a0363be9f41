//! Whether a value that is read before the tear is used after it: definitions and uses in the region's own code.
//!
//! The two ends of a tear are found in the code by their lines and by what they access; an end that lies in something the region calls stands for that call, and the value read there for what the call returns.
//! From the values of the first end all that is computed of them is followed forward.
//! Behind the second end a merge of control passes a value on only along edges that lie behind it too: on other ways the second end was never met, and nothing is stale there.
//!
//! *Approximations.* A value that goes through the heap or into a callee is not followed further than the callee's result, or the object that a constructor makes of it.
//! Where an end is not found, or several calls could be meant, nothing is claimed.

use std::collections::BTreeSet;

use untorn_program::ir::{Body, Def, Instr, InvokeKind, Op};
use untorn_program::{BlockId, InstrId, ValueId};

use crate::apart;
use crate::code::RegionBody;
use crate::ends::{Access, End, Ends};

/// What a stale value is used for, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stale {
    /// It decides whether the second end is reached.
    Checked,
    /// It is returned, passed on or tested after the second end.
    Returned,
    /// It is written, or decides what is.
    Written,
}

/// The ends in the code, and what becomes of the first one's value.
#[derive(Debug)]
pub struct Flow {
    pub first: Vec<InstrId>,
    pub second: Vec<InstrId>,
    /// All that is computed of what the first end reads.
    pub derived: BTreeSet<ValueId>,
    pub stale: Option<Stale>,
    /// What the first end reads is stored somewhere.
    pub is_stored: bool,
}

impl Flow {
    pub fn of(region: &RegionBody<'_>, ends: &Ends) -> Option<Self> {
        let mut first = locate(region, &ends.first);
        let mut second = locate(region, &ends.second);
        if first == second && first.len() > 1 {
            // The same line or the same callee twice: what comes first in the code leaves the region.
            second = first.split_off(1);
        }
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let body = &region.body;
        let graph = Graph::behind(body, &second);
        // A call that gives up a lock at its end returns what it read under it.
        let reads = ends.first.access != Access::Write;
        let sources: Vec<ValueId> = (first.iter())
            .filter_map(|&id| body.instr(id).result)
            .filter(|_| reads)
            .collect();
        let derived = derived(body, &sources, &|_, _| true);
        let still = self::derived(body, &sources, &|merge, from| {
            graph.leads_there(merge) || graph.is_behind(from)
        });
        let writes = matches!(ends.second.access, Access::Write | Access::Update);
        let mut stale = uses(body, &still, &derived, &second, &graph, writes);
        // What was learned under a lock is handed to what takes the lock again.
        if reads && ends.second.access == Access::Take {
            stale = stale.max(handed_over(region, &still, &second));
        }
        // A method that throws unless all is well decides what comes after it, though it returns nothing.
        let guards = |id: &InstrId| {
            (second.iter()).all(|second| id < second) && apart::is_guard(region, *id, &ends.first)
        };
        if reads && first.iter().all(guards) {
            let decided = if writes {
                Stale::Written
            } else {
                Stale::Checked
            };
            stale = stale.max(Some(decided));
        }
        let is_stored = body.instrs.iter().any(|instr| match &instr.op {
            Op::PutField { value, .. }
            | Op::PutStatic { value, .. }
            | Op::ArrayStore { value, .. } => derived.contains(value),
            _ => false,
        });
        Some(Self {
            first,
            second,
            derived,
            stale,
            is_stored,
        })
    }

    /// Whether the ends are fields of two objects that the code names apart: the receiver, and what comes from elsewhere.
    pub fn on_two_objects(&self, region: &RegionBody<'_>) -> bool {
        let body = &region.body;
        let objects = |ids: &[InstrId]| -> Vec<Option<Def>> {
            let object = |id: &InstrId| match &body.instr(*id).op {
                Op::GetField { object, .. } | Op::PutField { object, .. } => {
                    Some(body.value(*object).def)
                }
                _ => None,
            };
            ids.iter().map(object).collect()
        };
        let param = |defs: &[Option<Def>]| match defs {
            [Some(Def::Param(n))] => Some(*n),
            _ => None,
        };
        let (first, second) = (objects(&self.first), objects(&self.second));
        matches!((param(&first), param(&second)), (Some(one), Some(other)) if one != other)
    }

    /// All that is computed of some values.
    pub fn derived_of(body: &Body, values: &[ValueId]) -> BTreeSet<ValueId> {
        derived(body, values, &|_, _| true)
    }

    /// Whether the value of an instruction is tested by a branch.
    pub fn is_tested(body: &Body, id: InstrId) -> bool {
        let Some(value) = body.instr(id).result else {
            return false;
        };
        let all = derived(body, &[value], &|_, _| true);
        body.instrs.iter().any(|instr| {
            matches!(instr.op, Op::If { .. } | Op::Switch { .. }) && uses_any(&instr.op, &all)
        })
    }
}

/// The instructions that an end can be.
fn locate(region: &RegionBody<'_>, end: &End) -> Vec<InstrId> {
    let Some(place) = &end.place else {
        return Vec::new();
    };
    if !region.holds(place) {
        return region.calls_to(place);
    }
    let Some(line) = place.line else {
        return Vec::new();
    };
    let here =
        || (region.body.all_instrs()).filter(move |(_, instr)| u32::from(instr.line) == line);
    let fits = |instr: &Instr| match end.access {
        Access::Read => matches!(instr.op, Op::GetField { .. } | Op::GetStatic { .. }),
        Access::Write => matches!(instr.op, Op::PutField { .. } | Op::PutStatic { .. }),
        _ => false,
    };
    let is_library_call = |instr: &Instr| {
        (region.callee(instr)).is_some_and(|(class, method)| {
            class.starts_with("java/") && !is_wrapper(class) && method != "<init>"
        })
    };
    // `new ArrayList<>(other)` reads the other one.
    let copies = |instr: &Instr| {
        let of_library = (region.callee(instr))
            .is_some_and(|(class, method)| class.starts_with("java/util/") && method == "<init>");
        of_library && matches!(&instr.op, Op::Invoke { args, .. } if args.len() > 1)
    };
    let ids = |wanted: &dyn Fn(&Instr) -> bool| -> Vec<InstrId> {
        let wanted = here().filter(|(_, instr)| wanted(instr));
        wanted.map(|(id, _)| id).collect()
    };
    match end.field() {
        Some(field) => {
            let own = ids(&|instr| fits(instr) && region.field(instr) == Some(field));
            if !own.is_empty() {
                return own;
            }
            // A field of another class, at the line that calls it.
            let called = ids(&|instr| {
                (region.callee(instr))
                    .is_some_and(|(class, method)| !is_wrapper(class) && method != "<init>")
            });
            if !called.is_empty() {
                return called;
            }
            let copied = ids(&copies);
            if !copied.is_empty() {
                return copied;
            }
            // The place is that of another access of the same critical section.
            (region.body.all_instrs())
                .filter(|(_, instr)| fits(instr) && region.field(instr) == Some(field))
                .map(|(id, _)| id)
                .collect()
        }
        None if end.is_content() => {
            let elements =
                ids(&|instr| matches!(instr.op, Op::ArrayLoad { .. } | Op::ArrayStore { .. }));
            if elements.is_empty() {
                ids(&is_library_call)
            } else {
                elements
            }
        }
        // What a collection or an atomic holds is accessed by calls.
        None => {
            let library = ids(&is_library_call);
            if !library.is_empty() {
                return library;
            }
            let called = ids(&|instr| {
                (region.callee(instr))
                    .is_some_and(|(class, method)| !is_wrapper(class) && method != "<init>")
            });
            if !called.is_empty() {
                return called;
            }
            ids(&copies)
        }
    }
}

/// Boxes and strings have no state that could be torn.
fn is_wrapper(class: &str) -> bool {
    matches!(
        class,
        "java/lang/Integer"
            | "java/lang/Long"
            | "java/lang/Boolean"
            | "java/lang/String"
            | "java/lang/Double"
            | "java/lang/Object"
            | "java/lang/Math"
    )
}

fn uses_any(op: &Op, values: &BTreeSet<ValueId>) -> bool {
    let mut found = false;
    op.for_each_operand(|value| found |= values.contains(&value));
    found
}

/// All that is computed of some values; `passes` says for a merge and a block before it whether a value comes that way.
fn derived(
    body: &Body,
    sources: &[ValueId],
    passes: &dyn Fn(BlockId, BlockId) -> bool,
) -> BTreeSet<ValueId> {
    let mut known: BTreeSet<ValueId> = sources.iter().copied().collect();
    loop {
        let before = known.len();
        for instr in &body.instrs {
            // A store's value goes through the heap and is not followed, but for an object that is made of it.
            if let Some(result) = instr.result
                && uses_any(&instr.op, &known)
            {
                known.insert(result);
            }
            if let Some(made) = made(body, &instr.op)
                && uses_any(&instr.op, &known)
            {
                known.insert(made);
            }
        }
        for at in body.block_ids() {
            let block = body.block(at);
            for phi in &block.phis {
                let comes = (phi.inputs.iter().zip(&block.preds))
                    .any(|(input, from)| known.contains(input) && passes(at, *from));
                if comes {
                    known.insert(phi.result);
                }
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// The new object that a constructor is called on.
fn made(body: &Body, op: &Op) -> Option<ValueId> {
    let Op::Invoke {
        kind: InvokeKind::Special,
        args,
        ..
    } = op
    else {
        return None;
    };
    let on = *args.first()?;
    match body.value(on).def {
        Def::Instr(id) => matches!(body.instr(id).op, Op::New { .. }).then_some(on),
        _ => None,
    }
}

/// What the stale value is used for at or behind the second end.
fn uses(
    body: &Body,
    still: &BTreeSet<ValueId>,
    derived: &BTreeSet<ValueId>,
    second: &[InstrId],
    graph: &Graph,
    writes: bool,
) -> Option<Stale> {
    let mut worst = None;
    for (id, instr) in body.all_instrs() {
        let at = second.contains(&id);
        let behind = graph.is_behind_instr(instr.block, id);
        if (at || behind) && uses_any(&instr.op, still) {
            let used = match &instr.op {
                Op::PutField { value, .. }
                | Op::PutStatic { value, .. }
                | Op::ArrayStore { value, .. } => still.contains(value).then_some(Stale::Written),
                // The second end itself, a call that changes something.
                Op::Invoke { .. } if at && writes => Some(Stale::Written),
                Op::Return { .. } | Op::Throw { .. } => Some(Stale::Returned),
                Op::Invoke { .. } if behind => Some(Stale::Returned),
                Op::If { .. } | Op::Switch { .. } if behind => Some(Stale::Returned),
                _ => None,
            };
            worst = worst.max(used);
        }
        let is_branch = matches!(instr.op, Op::If { .. } | Op::Switch { .. });
        if is_branch && !behind && uses_any(&instr.op, derived) && graph.decides(body, instr.block)
        {
            let used = if writes {
                Stale::Written
            } else {
                Stale::Checked
            };
            worst = worst.max(Some(used));
        }
    }
    worst
}

/// What a stale value is for that is an argument of a call at the second end.
fn handed_over(
    region: &RegionBody<'_>,
    still: &BTreeSet<ValueId>,
    second: &[InstrId],
) -> Option<Stale> {
    let handed = second.iter().filter_map(|&id| {
        let instr = region.body.instr(id);
        let Op::Invoke { kind, args, .. } = &instr.op else {
            return None;
        };
        let receiver = usize::from(*kind != InvokeKind::Static);
        let is_handed = args.iter().skip(receiver).any(|arg| still.contains(arg));
        is_handed.then(|| {
            let writes = |inner: &RegionBody<'_>| {
                inner.body.instrs.iter().any(|instr| {
                    matches!(
                        instr.op,
                        Op::PutField { .. } | Op::PutStatic { .. } | Op::ArrayStore { .. }
                    )
                })
            };
            if region.called(instr).as_ref().is_some_and(writes) {
                Stale::Written
            } else {
                Stale::Returned
            }
        })
    });
    handed.max()
}

/// What lies behind the second end, and what leads to it.
#[derive(Debug)]
struct Graph {
    /// Blocks that control can enter after the second end.
    behind: BTreeSet<BlockId>,
    /// Blocks from whose begin the second end can be reached.
    before: BTreeSet<BlockId>,
    second: Vec<(BlockId, InstrId)>,
}

impl Graph {
    fn behind(body: &Body, second: &[InstrId]) -> Self {
        let second: Vec<(BlockId, InstrId)> = second
            .iter()
            .map(|&id| (body.instr(id).block, id))
            .collect();
        let mut behind = BTreeSet::new();
        let mut open: Vec<BlockId> = (second.iter())
            .flat_map(|(block, _)| successors(body, *block))
            .collect();
        while let Some(at) = open.pop() {
            if behind.insert(at) {
                open.extend(successors(body, at));
            }
        }
        let mut before = BTreeSet::new();
        let mut open: Vec<BlockId> = second.iter().map(|(block, _)| *block).collect();
        while let Some(at) = open.pop() {
            if before.insert(at) {
                open.extend(body.block(at).preds.iter().copied());
            }
        }
        Self {
            behind,
            before,
            second,
        }
    }

    /// Whether control can leave the end of this block after the second end.
    fn is_behind(&self, block: BlockId) -> bool {
        self.behind.contains(&block) || self.second.iter().any(|(at, _)| *at == block)
    }

    /// Whether an instruction can be executed after the second end.
    fn is_behind_instr(&self, block: BlockId, id: InstrId) -> bool {
        // Instructions are numbered in the order of their block.
        self.behind.contains(&block)
            || (self.second.iter()).any(|(at, second)| *at == block && id > *second)
    }

    fn leads_there(&self, block: BlockId) -> bool {
        self.before.contains(&block)
    }

    /// Whether the branch at the end of this block decides if the second end is reached.
    fn decides(&self, body: &Body, block: BlockId) -> bool {
        let succs = &body.block(block).succs;
        let reach = |at: &BlockId| self.before.contains(at);
        succs.iter().any(reach) && !succs.iter().all(reach)
    }
}

fn successors(body: &Body, block: BlockId) -> impl Iterator<Item = BlockId> {
    let block = body.block(block);
    let handlers = block.handlers.iter().map(|handler| handler.block);
    block.succs.iter().copied().chain(handlers)
}
