//! The stack of held locks at each instruction.

use rustc_hash::FxHashMap;

use super::{LockKind, LockRef, Locks, Region};
use crate::assumptions::Assumption;
use crate::classes::Classes;
use crate::ids::{BlockId, InstrId, MethodId, RegionId, ValueId};
use crate::ir::{Body, Op, Test};
use crate::library::{Library, LockAction, LockMode};

type Stack = Vec<RegionId>;

/// Each join can only shrink a stack, so this is never reached by real code.
const MOST_VISITS: usize = 64;

pub(super) fn find(body: &Body, classes: &Classes, library: &Library) -> Locks {
    let actions = actions(body, classes, library);
    if actions.is_empty() {
        return Locks::default();
    }
    let mut flow = Flow {
        body,
        actions,
        regions: Vec::new(),
        by_enter: FxHashMap::default(),
        unmatched: None,
    };
    flow.number_regions();
    let entries = flow.solve();
    flow.record(&entries)
}

/// What each lock operation of a body does, by instruction.
fn actions(
    body: &Body,
    classes: &Classes,
    library: &Library,
) -> FxHashMap<InstrId, (LockAction, LockRef)> {
    let view = |method: MethodId| {
        library
            .effect(classes, method)
            .and_then(|effect| effect.view)
    };
    let stable = |method: MethodId| view(method).is_some();
    let mut actions = FxHashMap::default();
    for (id, instr) in body.all_instrs() {
        let (action, lock) = match &instr.op {
            Op::MonitorEnter { object } | Op::MonitorExit { object } => {
                let enter = matches!(instr.op, Op::MonitorEnter { .. });
                let action = if enter {
                    LockAction::Acquire
                } else {
                    LockAction::Release
                };
                let path = body.access_path(*object, &stable);
                (
                    action,
                    LockRef {
                        kind: LockKind::Monitor,
                        mode: LockMode::Exclusive,
                        value: *object,
                        path,
                    },
                )
            }
            Op::Invoke { method, args, .. } if !args.is_empty() => {
                let Some((action, mode)) = library
                    .effect(classes, *method)
                    .and_then(|effect| effect.lock)
                else {
                    continue;
                };
                let (value, mode) = underlying(body, args[0], mode, &view);
                let path = body.access_path(value, &stable);
                (
                    action,
                    LockRef {
                        kind: LockKind::Explicit,
                        mode,
                        value,
                        path,
                    },
                )
            }
            _ => continue,
        };
        actions.insert(id, (action, lock));
    }
    actions
}

/// The lock behind a read or write view, and the mode of the view.
fn underlying(
    body: &Body,
    value: ValueId,
    mode: LockMode,
    view: &dyn Fn(MethodId) -> Option<LockMode>,
) -> (ValueId, LockMode) {
    match body.defining(value).map(|instr| &instr.op) {
        Some(Op::Invoke { method, args, .. }) if args.len() == 1 => match view(*method) {
            Some(mode) => (args[0], mode),
            None => (value, mode),
        },
        Some(Op::Cast { value, .. }) => underlying(body, *value, mode, view),
        _ => (value, mode),
    }
}

struct Flow<'a> {
    body: &'a Body,
    actions: FxHashMap<InstrId, (LockAction, LockRef)>,
    regions: Vec<Region>,
    by_enter: FxHashMap<InstrId, RegionId>,
    unmatched: Option<Assumption>,
}

impl Flow<'_> {
    fn number_regions(&mut self) {
        let mut enters: Vec<InstrId> = self
            .actions
            .iter()
            .filter(|(_, (action, _))| *action != LockAction::Release)
            .map(|(instr, _)| *instr)
            .collect();
        enters.sort_unstable();
        for enter in enters {
            self.by_enter
                .insert(enter, RegionId::new(self.regions.len()));
            let lock = self.actions[&enter].1.clone();
            self.regions.push(Region {
                enter,
                exits: Vec::new(),
                lock,
            });
        }
    }

    /// The stack at the entry of each reachable block.
    fn solve(&mut self) -> Vec<Option<Stack>> {
        let mut entries: Vec<Option<Stack>> = vec![None; self.body.blocks.len()];
        let mut visits = vec![0usize; self.body.blocks.len()];
        entries[0] = Some(Stack::new());
        let mut pending = vec![BlockId(0)];
        while let Some(block) = pending.pop() {
            visits[block.index()] += 1;
            if visits[block.index()] > MOST_VISITS {
                continue;
            }
            let entry = entries[block.index()].clone().unwrap_or_default();
            for (target, stack) in self.leave(block, entry) {
                let joined = match &entries[target.index()] {
                    None => stack,
                    Some(known) if *known == stack => continue,
                    Some(known) => {
                        let kind = self.disagreement(known, &stack);
                        self.unmatched.get_or_insert(kind);
                        let common: Stack = known
                            .iter()
                            .filter(|region| stack.contains(region))
                            .copied()
                            .collect();
                        if common == *known {
                            continue;
                        }
                        common
                    }
                };
                entries[target.index()] = Some(joined);
                pending.push(target);
            }
        }
        entries
    }

    /// The stacks with which a block is left, by edge.
    fn leave(&mut self, block: BlockId, mut stack: Stack) -> Vec<(BlockId, Stack)> {
        let body = self.body;
        let mut thrown: Option<Stack> = None;
        for (id, instr) in body.block_instrs(block) {
            let released = self
                .actions
                .get(&id)
                .is_some_and(|(action, _)| *action == LockAction::Release);
            if instr.op.can_throw() && !released {
                meet(&mut thrown, &stack);
            }
            self.step(id, &mut stack);
            if instr.op.can_throw() && released {
                meet(&mut thrown, &stack);
            }
        }
        let data = body.block(block);
        let mut edges: Vec<(BlockId, Stack)> = data
            .succs
            .iter()
            .map(|succ| (*succ, stack.clone()))
            .collect();
        if let Some((region, position)) = self.taken_by_branch(block)
            && let Some((_, stack)) = edges.get_mut(position)
        {
            stack.push(region);
        }
        if let Some(thrown) = thrown {
            edges.extend(
                data.handlers
                    .iter()
                    .map(|handler| (handler.block, thrown.clone())),
            );
        }
        edges
    }

    fn step(&mut self, id: InstrId, stack: &mut Stack) {
        let Some((action, lock)) = self.actions.get(&id) else {
            if matches!(self.body.instr(id).op, Op::Return { .. }) && !stack.is_empty() {
                let kind = self.disagreement(stack, &Stack::new());
                self.unmatched.get_or_insert(kind);
            }
            return;
        };
        match action {
            LockAction::Acquire => stack.push(self.by_enter[&id]),
            LockAction::Try => {}
            LockAction::Release => {
                let held = stack
                    .iter()
                    .rposition(|region| same(&self.regions[region.index()].lock, lock));
                if let Some(position) = held {
                    stack.remove(position);
                } else {
                    self.unmatched.get_or_insert(assumption(lock.kind));
                }
            }
        }
    }

    /// The region that a successful `tryLock` begins, and the successor it begins at.
    fn taken_by_branch(&self, block: BlockId) -> Option<(RegionId, usize)> {
        let Op::If {
            test,
            left,
            right: None,
        } = &self.body.terminator(block).op
        else {
            return None;
        };
        let crate::ir::Def::Instr(tried) = self.body.value(*left).def else {
            return None;
        };
        let (LockAction::Try, _) = self.actions.get(&tried)? else {
            return None;
        };
        match test {
            Test::Ne => Some((self.by_enter[&tried], 0)),
            Test::Eq => Some((self.by_enter[&tried], 1)),
            _ => None,
        }
    }

    fn disagreement(&self, left: &Stack, right: &Stack) -> Assumption {
        let differing = left
            .iter()
            .chain(right)
            .find(|region| left.contains(region) != right.contains(region));
        differing.map_or(Assumption::UnmatchedMonitor, |region| {
            assumption(self.regions[region.index()].lock.kind)
        })
    }

    /// Writes down the stack at each instruction and where regions end.
    fn record(mut self, entries: &[Option<Stack>]) -> Locks {
        let mut stacks: Vec<Stack> = vec![Stack::new()];
        let mut numbers: FxHashMap<Stack, u32> = FxHashMap::default();
        numbers.insert(Stack::new(), 0);
        let mut held = vec![0; self.body.instrs.len()];
        for block in self.body.block_ids() {
            let mut stack = entries[block.index()].clone().unwrap_or_default();
            for (id, _) in self.body.block_instrs(block) {
                held[id.index()] = *numbers.entry(stack.clone()).or_insert_with(|| {
                    stacks.push(stack.clone());
                    stacks.len() as u32 - 1
                });
                let before = stack.clone();
                self.step(id, &mut stack);
                for region in before.iter().filter(|region| !stack.contains(region)) {
                    self.regions[region.index()].exits.push(id);
                }
            }
        }
        Locks {
            method_lock: None,
            regions: self.regions,
            held,
            stacks,
            unmatched: self.unmatched,
        }
    }
}

fn meet(thrown: &mut Option<Stack>, stack: &Stack) {
    match thrown {
        None => *thrown = Some(stack.clone()),
        Some(known) => known.retain(|region| stack.contains(region)),
    }
}

fn same(held: &LockRef, released: &LockRef) -> bool {
    held.kind == released.kind
        && held.mode == released.mode
        && (held.value == released.value || held.path == released.path)
}

fn assumption(kind: LockKind) -> Assumption {
    match kind {
        LockKind::Monitor => Assumption::UnmatchedMonitor,
        LockKind::Explicit => Assumption::UnmatchedLock,
    }
}
