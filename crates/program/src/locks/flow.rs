//! The stack of held locks at each instruction.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::actions::{Act, Action, Actions, is_zero};
use super::stretch::Stretches;
use super::summary::{Done, returns};
use super::{Gap, LockKind, LockRef, Locks, MethodLock, Region};
use crate::assumptions::Assumption;
use crate::ids::{BlockId, InstrId, RegionId, ValueId};
use crate::ir::{Body, Def, Op, Root, Test};
use crate::library::LockMode;

/// What is held at a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct State {
    held: Vec<RegionId>,
    /// Locks of the caller that were given up, by their number; ascending.
    freed: Vec<usize>,
}

/// Each join can only shrink a stack, so this is never reached by real code.
const MOST_VISITS: usize = 64;

/// Finds the regions of a body, and what it does to locks of its callers.
pub(super) fn find(
    body: &Body,
    actions: Actions,
    method_lock: Option<MethodLock>,
) -> (Locks, Vec<Done>) {
    let mut flow = Flow {
        body,
        actions,
        method_lock,
        regions: Vec::new(),
        by_enter: FxHashMap::default(),
        same_as: Vec::new(),
        foreign: Vec::new(),
        waits: BTreeSet::new(),
        unmatched: None,
        joined: false,
    };
    flow.number_regions();
    let entries = loop {
        let entries = flow.solve();
        if !std::mem::take(&mut flow.joined) {
            break entries;
        }
        (flow.unmatched, flow.waits) = (None, BTreeSet::new());
    };
    let done = flow.done(&entries);
    let mut locks = flow.record(&entries);
    locks.method_lock = method_lock;
    if !locks.gaps.is_empty() {
        locks.stretches = Stretches::find(body, &locks);
    }
    (locks, done)
}

struct Flow<'a> {
    body: &'a Body,
    actions: Actions,
    method_lock: Option<MethodLock>,
    regions: Vec<Region>,
    by_enter: FxHashMap<(InstrId, usize), RegionId>,
    /// For each region the first one that goes on with the same lock where paths meet.
    same_as: Vec<RegionId>,
    /// Locks of the caller that are given up.
    foreign: Vec<LockRef>,
    /// Locks of the caller that are given up and taken again, by their number.
    waits: BTreeSet<usize>,
    unmatched: Option<Assumption>,
    /// Whether regions were found to be one since the last look.
    joined: bool,
}

impl Flow<'_> {
    fn number_regions(&mut self) {
        let mut enters: Vec<(InstrId, usize)> = Vec::new();
        for (instr, actions) in &self.actions {
            for (position, action) in actions.iter().enumerate() {
                if matches!(action.act, Act::Acquire | Act::Try | Act::Look)
                    && action.lock.is_some()
                {
                    enters.push((*instr, position));
                }
            }
        }
        enters.sort_unstable();
        for (instr, position) in enters {
            let action = &self.actions[&instr][position];
            let (Some(lock), optimistic) = (action.lock.clone(), action.act == Act::Look) else {
                continue;
            };
            let id = RegionId::new(self.regions.len());
            self.by_enter.insert((instr, position), id);
            self.same_as.push(id);
            self.regions.push(Region {
                enter: instr,
                exits: Vec::new(),
                lock,
                optimistic,
            });
        }
    }

    /// The state at the entry of each reachable block.
    fn solve(&mut self) -> Vec<Option<State>> {
        let mut entries: Vec<Option<State>> = vec![None; self.body.blocks.len()];
        let mut visits = vec![0usize; self.body.blocks.len()];
        entries[0] = Some(State::default());
        let mut pending = vec![BlockId(0)];
        while let Some(block) = pending.pop() {
            visits[block.index()] += 1;
            if visits[block.index()] > MOST_VISITS {
                continue;
            }
            let entry = entries[block.index()].clone().unwrap_or_default();
            for (target, state) in self.leave(block, entry) {
                let joined = match &entries[target.index()] {
                    None => state,
                    Some(known) if *known == state => continue,
                    Some(known) => {
                        let common = self.join(&known.clone(), &state);
                        if self.joined {
                            return entries;
                        }
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

    /// What two paths that meet have in common.
    fn join(&mut self, known: &State, other: &State) -> State {
        let pairs = || known.held.iter().zip(&other.held);
        let goes_on = |left: &Region, right: &Region| {
            left.lock.kind == right.lock.kind && is_same(&left.lock, &right.lock)
        };
        if known.held.len() == other.held.len()
            && known.held != other.held
            && pairs()
                .all(|(a, b)| a == b || goes_on(&self.regions[a.index()], &self.regions[b.index()]))
        {
            for (left, right) in known.held.iter().zip(&other.held) {
                self.unite(*left, *right);
            }
            self.joined = true;
            return known.clone();
        }
        let real = |flow: &Self, state: &State| -> Vec<RegionId> {
            let held = state.held.iter().copied();
            held.filter(|region| !flow.regions[region.index()].optimistic)
                .collect()
        };
        let (left, right) = (real(self, known), real(self, other));
        if left != right || known.freed != other.freed {
            let kind = self.disagreement(&left, &right);
            self.unmatched.get_or_insert(kind);
        }
        State {
            held: known
                .held
                .iter()
                .filter(|region| other.held.contains(region))
                .copied()
                .collect(),
            freed: known
                .freed
                .iter()
                .filter(|lock| other.freed.contains(lock))
                .copied()
                .collect(),
        }
    }

    fn unite(&mut self, left: RegionId, right: RegionId) {
        let (first, later) = (left.min(right), left.max(right));
        if first == later {
            return;
        }
        for same in &mut self.same_as {
            if *same == later {
                *same = first;
            }
        }
        let shared = self.regions[later.index()].lock.mode == LockMode::Shared;
        if shared {
            self.regions[first.index()].lock.mode = LockMode::Shared;
        }
        let optimistic = self.regions[later.index()].optimistic;
        self.regions[first.index()].optimistic &= optimistic;
    }

    /// The states with which a block is left, by edge.
    fn leave(&mut self, block: BlockId, mut state: State) -> Vec<(BlockId, State)> {
        let body = self.body;
        let mut thrown: Option<State> = None;
        for (id, instr) in body.block_instrs(block) {
            let released = (self.actions.get(&id).into_iter().flatten())
                .any(|action| matches!(action.act, Act::Release | Act::ReleaseAll));
            if instr.op.can_throw() && !released {
                meet(&mut thrown, &state);
            }
            self.step(id, &mut state);
            if instr.op.can_throw() && released {
                meet(&mut thrown, &state);
            }
        }
        let data = body.block(block);
        let mut edges: Vec<(BlockId, State)> = data
            .succs
            .iter()
            .map(|succ| (*succ, state.clone()))
            .collect();
        if let Some((region, position)) = self.taken_by_branch(block)
            && let Some((_, state)) = edges.get_mut(position)
        {
            state.held.push(region);
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

    fn step(&mut self, id: InstrId, state: &mut State) {
        let Some(actions) = self.actions.get(&id).cloned() else {
            return;
        };
        for (position, action) in actions.iter().enumerate() {
            self.act(id, position, action, state);
        }
    }

    fn act(&mut self, id: InstrId, position: usize, action: &Action, state: &mut State) {
        let Some(lock) = &action.lock else {
            return;
        };
        match action.act {
            Act::Acquire | Act::Look => {
                let region = self.same_as[self.by_enter[&(id, position)].index()];
                // To lock for good ends looking without the lock.
                self.end_looking(lock, state);
                state.held.push(region);
            }
            Act::Try => {}
            Act::Wait => {
                // Whoever holds it as well, further out, loses it too.
                let number = self.foreign(lock);
                self.waits.insert(number);
            }
            Act::Validate => self.end_looking(lock, state),
            Act::ReleaseAll => {
                let before = state.held.len();
                let regions = &self.regions;
                let other = |region: &RegionId| {
                    let held = &regions[region.index()].lock;
                    held.kind != lock.kind || !is_same(held, lock)
                };
                state.held.retain(other);
                if state.held.len() == before {
                    self.free(lock, state);
                }
            }
            Act::Release => {
                let held = state.held.iter().rposition(|region| {
                    let held = &self.regions[region.index()].lock;
                    held.kind == lock.kind && held.mode == lock.mode && is_same(held, lock)
                });
                match held {
                    Some(position) => {
                        state.held.remove(position);
                    }
                    None if lock.kind == LockKind::Explicit => self.free(lock, state),
                    None => {
                        self.unmatched.get_or_insert(assumption(lock.kind));
                    }
                }
            }
        }
    }

    fn end_looking(&self, lock: &LockRef, state: &mut State) {
        state.held.retain(|region| {
            let region = &self.regions[region.index()];
            !(region.optimistic && is_same(&region.lock, lock))
        });
    }

    fn free(&mut self, lock: &LockRef, state: &mut State) {
        let number = self.foreign(lock);
        if let Err(position) = state.freed.binary_search(&number) {
            state.freed.insert(position, number);
        }
    }

    fn foreign(&mut self, lock: &LockRef) -> usize {
        let known = (self.foreign.iter())
            .position(|of| of.kind == lock.kind && of.mode == lock.mode && is_same(of, lock));
        known.unwrap_or_else(|| {
            self.foreign.push(lock.clone());
            self.foreign.len() - 1
        })
    }

    /// The region that is given up for a while; for an unknown lock the innermost explicit one.
    fn waited(&self, lock: Option<&LockRef>, state: &State) -> Option<RegionId> {
        let fits = |region: &&RegionId| {
            let held = &self.regions[region.index()].lock;
            match lock {
                Some(lock) => held.kind == lock.kind && is_same(held, lock),
                None => held.kind == LockKind::Explicit,
            }
        };
        state.held.iter().rev().find(fits).copied()
    }

    /// Whether a lock is that of the synchronized method itself.
    fn is_own(&self, lock: &LockRef) -> bool {
        let own = match self.method_lock {
            Some(MethodLock::Receiver) => self.body.receiver().map(Root::Value),
            Some(MethodLock::Class(class)) => Some(Root::Class(class)),
            None => None,
        };
        lock.kind == LockKind::Monitor && lock.path.steps.is_empty() && own == Some(lock.path.root)
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
        let tried = self.tried(*left)?;
        match test {
            Test::Ne => Some((tried, 0)),
            Test::Eq => Some((tried, 1)),
            _ => None,
        }
    }

    /// The region that is begun if a value is not zero.
    fn tried(&self, value: ValueId) -> Option<RegionId> {
        let Def::Instr(instr) = self.body.value(value).def else {
            return None;
        };
        if let Op::Compute {
            op: untorn_classfile::Op::Lcmp,
            args,
        } = &self.body.instr(instr).op
            && is_zero(self.body, args[1])
        {
            return self.tried(args[0]);
        }
        let actions = self.actions.get(&instr)?;
        let position = actions.iter().position(|action| action.act == Act::Try)?;
        let region = self.by_enter.get(&(instr, position))?;
        Some(self.same_as[region.index()])
    }

    fn disagreement(&self, left: &[RegionId], right: &[RegionId]) -> Assumption {
        let differing = left
            .iter()
            .chain(right)
            .find(|region| left.contains(region) != right.contains(region));
        differing.map_or(Assumption::UnmatchedLock, |region| {
            assumption(self.regions[region.index()].lock.kind)
        })
    }

    /// What the body does to locks of its callers; counts what they could not make sense of.
    fn done(&mut self, entries: &[Option<State>]) -> Vec<Done> {
        let mut exits: Vec<State> = Vec::new();
        for block in self.body.block_ids() {
            let Some(mut state) = entries[block.index()].clone() else {
                continue;
            };
            if !matches!(self.body.terminator(block).op, Op::Return { .. }) {
                continue;
            }
            for (id, _) in self.body.block_instrs(block) {
                self.step(id, &mut state);
            }
            let regions = &self.regions;
            state
                .held
                .retain(|region| !regions[region.index()].optimistic);
            exits.push(state);
        }
        let mut all: Vec<Option<Done>> = Vec::new();
        let waits = self.waits.iter().map(|number| &self.foreign[*number]);
        let waits = waits.filter_map(|lock| Done::of(Act::Wait, lock, self.body));
        all.extend(waits.map(Some));
        if let Some(lock) = self.tried_for_caller() {
            all.push(Done::of(Act::Try, lock, self.body));
        }
        let kept = |flow: &Self, state: &State| -> Vec<LockRef> {
            let lock = |region: &RegionId| flow.regions[region.index()].lock.clone();
            state.held.iter().map(lock).collect()
        };
        let Some(first) = exits.first().cloned() else {
            return all.into_iter().flatten().collect();
        };
        let agree = exits.iter().all(|exit| {
            let (left, right) = (kept(self, &first), kept(self, exit));
            exit.freed == first.freed
                && left.len() == right.len()
                && (left.iter().zip(&right)).all(|(l, r)| l.mode == r.mode && is_same(l, r))
        });
        // Where paths have disagreed before, nothing is known of what is left.
        if agree && self.unmatched.is_none() {
            for number in &first.freed {
                all.push(Done::of(Act::Release, &self.foreign[*number], self.body));
            }
            for lock in kept(self, &first) {
                let explicit = lock.kind == LockKind::Explicit;
                let done = Done::of(Act::Acquire, &lock, self.body);
                all.push(done.filter(|_| explicit));
            }
        }
        if !agree || all.iter().any(Option::is_none) {
            let kind = exits.iter().flat_map(|exit| kept(self, exit)).next();
            let kind = kind.map_or(LockKind::Explicit, |lock| lock.kind);
            self.unmatched.get_or_insert(assumption(kind));
        }
        all.into_iter().flatten().collect()
    }

    /// `return lock.tryLock()`: whether the lock is held is for the caller to find out.
    fn tried_for_caller(&self) -> Option<&LockRef> {
        self.actions.iter().find_map(|(instr, actions)| {
            let action = actions.iter().find(|action| action.act == Act::Try)?;
            let result = self.body.instr(*instr).result?;
            let lock = action.lock.as_ref()?;
            returns(self.body, result).then_some(lock)
        })
    }

    /// Writes down the stack at each instruction, where regions end, and where there are gaps.
    fn record(mut self, entries: &[Option<State>]) -> Locks {
        let mut stacks: Vec<Vec<RegionId>> = vec![Vec::new()];
        let mut numbers: FxHashMap<Vec<RegionId>, u32> = FxHashMap::default();
        numbers.insert(Vec::new(), 0);
        let mut held = vec![0; self.body.instrs.len()];
        let mut gaps: Vec<Gap> = Vec::new();
        for block in self.body.block_ids() {
            let Some(mut state) = entries[block.index()].clone() else {
                continue;
            };
            for (id, _) in self.body.block_instrs(block) {
                held[id.index()] = *numbers.entry(state.held.clone()).or_insert_with(|| {
                    stacks.push(state.held.clone());
                    stacks.len() as u32 - 1
                });
                self.add_gaps(id, &state, &mut gaps);
                let before = state.held.clone();
                self.step(id, &mut state);
                for region in before.iter().filter(|region| !state.held.contains(region)) {
                    self.regions[region.index()].exits.push(id);
                }
            }
        }
        for (later, first) in self.same_as.iter().enumerate() {
            let (from, to) = (self.regions[first.index()].enter, self.regions[later].enter);
            if first.index() != later && leads(self.body, from, to) {
                gaps.push(Gap {
                    at: to,
                    of: Some(*first),
                });
            }
        }
        Locks {
            method_lock: None,
            regions: self.regions,
            held,
            stacks,
            gaps,
            stretches: Stretches::default(),
            unmatched: self.unmatched,
        }
    }

    fn add_gaps(&self, id: InstrId, state: &State, gaps: &mut Vec<Gap>) {
        for action in self.actions.get(&id).into_iter().flatten() {
            if action.act != Act::Wait {
                continue;
            }
            let region = self.waited(action.lock.as_ref(), state);
            if region.is_some() || action.lock.as_ref().is_some_and(|lock| self.is_own(lock)) {
                gaps.push(Gap { at: id, of: region });
            }
        }
    }
}

/// Whether one instruction may run after another.
fn leads(body: &Body, from: InstrId, to: InstrId) -> bool {
    let (start, end) = (body.instr(from).block, body.instr(to).block);
    if start == end && from < to {
        return true;
    }
    let mut met = vec![false; body.blocks.len()];
    let mut pending = vec![start];
    while let Some(block) = pending.pop() {
        let block = body.block(block);
        let handlers = block.handlers.iter().map(|handler| handler.block);
        for next in block.succs.iter().copied().chain(handlers) {
            if next == end {
                return true;
            }
            if !std::mem::replace(&mut met[next.index()], true) {
                pending.push(next);
            }
        }
    }
    false
}

fn meet(thrown: &mut Option<State>, state: &State) {
    match thrown {
        None => *thrown = Some(state.clone()),
        Some(known) => {
            known.held.retain(|region| state.held.contains(region));
            known.freed.retain(|lock| state.freed.contains(lock));
        }
    }
}

fn is_same(left: &LockRef, right: &LockRef) -> bool {
    left.value.is_some() && left.value == right.value || left.path == right.path
}

fn assumption(kind: LockKind) -> Assumption {
    match kind {
        LockKind::Monitor => Assumption::UnmatchedMonitor,
        LockKind::Explicit => Assumption::UnmatchedLock,
    }
}
