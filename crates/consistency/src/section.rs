//! Ours: whether all that a method does to a group of variables lies in one critical section.
//!
//! The literal rule of the paper flags every update under a lock beside a getter: the lock views {x/r} and {x/w} never form a chain.
//! Nothing can come between the parts of a method if there is only one critical section on any of its paths, not in a loop, with every access inside it and no further critical section on these variables nested in it.
//! The section may be the method's own or that of something it calls, for what merely delegates is as atomic as its delegate.
//! A section in shared mode counts if it only reads.
//! Waiting ends a section and begins another.
//! It counts as one if what comes before is only read, and read again afterwards: the loop around `wait` makes up its mind anew.
//! What is read without a lock (`tryOptimisticRead`) and then read again under it counts once as well.
//! Calls of concurrent collections and atomic variables are sections by themselves; reads that lead to one update which checks what it finds (`compareAndSet`, `putIfAbsent`) count as that update.
//! A nested section on another lock speaks of other objects than the outer one protects (a buffer that appends another buffer), so it does not count as inside.

use rustc_hash::FxHashMap;
use untorn_program::ir::Body;
use untorn_program::library::LockMode;
use untorn_program::locks::{LockKind, Locks};
use untorn_program::{BlockId, InstrId, Program, RegionId};

use crate::domain::Entry;
use crate::execution::{Execution, StateId};
use crate::groups::{GroupId, Grouping};

/// Decides for the states of one execution.
pub struct Sections<'a> {
    program: &'a Program,
    execution: &'a Execution,
    grouping: &'a Grouping<'a>,
    known: FxHashMap<(StateId, GroupId), bool>,
    depth: usize,
}

/// Delegation deeper than this is not followed.
const DEEPEST: usize = 64;

/// What is executed without another thread seeing the middle of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A critical section.
    Region(RegionId),
    /// A call of something that is one critical section itself.
    Call(InstrId),
    /// A call of a concurrent collection or atomic variable.
    Step(InstrId),
}

impl<'a> Sections<'a> {
    /// Nothing is decided yet.
    pub fn new(program: &'a Program, execution: &'a Execution, grouping: &'a Grouping<'a>) -> Self {
        Self {
            program,
            execution,
            grouping,
            known: FxHashMap::default(),
            depth: 0,
        }
    }

    /// Whether every path through a state has at most one critical section on the group, and no access outside.
    pub fn is_one(&mut self, id: StateId, group: GroupId) -> bool {
        if let Some(known) = self.known.get(&(id, group)) {
            return *known;
        }
        // What calls itself has as many sections as it has rounds.
        self.known.insert((id, group), false);
        self.depth += 1;
        let one = self.depth <= DEEPEST && self.decide(id, group);
        self.depth -= 1;
        self.known.insert((id, group), one);
        one
    }

    fn decide(&mut self, id: StateId, group: GroupId) -> bool {
        let execution = self.execution;
        let state = execution.state(id);
        let node = self.program.heap().node(state.node);
        let Some(body) = self.program.heap().body(state.node) else {
            return false;
        };
        let locks = self.program.locks(node.method);
        if locks.method_lock().is_some()
            && !self.nests(id, locks, None, None, group)
            && self.waits_as_guard(id, body, None, group)
        {
            return true;
        }
        let mut parts: Vec<(Part, Vec<InstrId>)> = Vec::new();
        let mut add = |part: Part, instr: InstrId| match parts.iter_mut().find(|(p, _)| *p == part)
        {
            Some((_, instrs)) => instrs.push(instr),
            None => parts.push((part, vec![instr])),
        };
        for (instr, entry) in &state.accesses {
            if !self.grouping.has(group, *entry) {
                continue;
            }
            let is_step = state.steps.iter().any(|(step, _)| step == instr);
            match self.solid(id, body, (*instr, None), group) {
                Some(region) => add(Part::Region(region), *instr),
                None if is_step => add(Part::Step(*instr), *instr),
                None => return false,
            }
        }
        for (instr, callee) in &state.calls {
            let total = execution.summary(*callee).total;
            if execution.goes_round(id, *callee) || !self.grouping.touches(group, total) {
                continue;
            }
            match self.solid(id, body, (*instr, Some(*callee)), group) {
                Some(region) => add(Part::Region(region), *instr),
                None if self.is_one(*callee, group) => add(Part::Call(*instr), *instr),
                None => return false,
            }
        }
        let reach = Reach::new(body, parts.iter().flat_map(|(_, instrs)| instrs));
        if self.is_checked_update(id, &parts, &reach, group) {
            return true;
        }
        let repeats = |part: Part| match part {
            Part::Region(region) => in_loop(body, locks.region(region).enter),
            Part::Call(instr) | Part::Step(instr) => in_loop(body, instr),
        };
        // What was read without the lock is forgotten where it is read again with it.
        let reads_again = |part: Part, later: Part| match (part, later) {
            (Part::Region(first), Part::Region(later)) => {
                locks.region(first).optimistic && !self.writes(id, locks, later, group)
            }
            _ => false,
        };
        parts.iter().enumerate().all(|(number, (part, instrs))| {
            let others = parts
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number);
            let follows = |(_, (other, later)): (usize, &(Part, Vec<InstrId>))| {
                !reads_again(*part, *other)
                    && (instrs.iter()).any(|from| later.iter().any(|to| reach.leads(*from, *to)))
            };
            !repeats(*part) && !others.into_iter().any(follows)
        })
    }

    /// Whether all parts are steps, and what is read leads to one update that checks what it finds.
    fn is_checked_update(
        &self,
        id: StateId,
        parts: &[(Part, Vec<InstrId>)],
        reach: &Reach<'_>,
        group: GroupId,
    ) -> bool {
        let state = self.execution.state(id);
        let mut update = None;
        for (part, _) in parts {
            let Part::Step(instr) = *part else {
                return false;
            };
            let writes = |(at, entry): &(InstrId, Entry)| {
                *at == instr && entry.is_write() && self.grouping.has(group, *entry)
            };
            if state.accesses.iter().any(writes) {
                if update.is_some() || !state.steps.contains(&(instr, true)) {
                    return false;
                }
                update = Some(instr);
            }
        }
        let leads = |update: InstrId, part: &Part| match part {
            Part::Step(instr) => *instr == update || reach.leads(*instr, update),
            _ => false,
        };
        update.is_some_and(|update| parts.iter().all(|(part, _)| leads(update, part)))
    }

    /// Whether all that happens to the group before a lock is given up for a while is to read what is read again.
    fn waits_as_guard(
        &self,
        id: StateId,
        body: &Body,
        of: Option<RegionId>,
        group: GroupId,
    ) -> bool {
        let state = self.execution.state(id);
        let locks = self.program.locks(body.method);
        let gaps: Vec<InstrId> = (locks.gaps().iter())
            .filter(|gap| gap.of == of)
            .map(|gap| gap.at)
            .collect();
        if gaps.is_empty() {
            return true;
        }
        let inside = |instr: InstrId| of.is_none_or(|of| locks.held_at(instr).contains(&of));
        let own = state.accesses.iter().filter_map(|(instr, entry)| {
            let counts = inside(*instr) && self.grouping.has(group, *entry);
            counts.then_some((*instr, entry.is_write()))
        });
        let called = self.calls(id).filter_map(|(instr, callee)| {
            let total = self.execution.summary(callee).total;
            let counts = inside(instr) && self.grouping.touches(group, total);
            counts.then_some((instr, self.grouping.writes(group, total)))
        });
        let accesses: Vec<(InstrId, bool)> = own.chain(called).collect();
        let reach = Reach::new(body, accesses.iter().map(|(at, _)| at).chain(&gaps));
        gaps.iter().all(|gap| {
            let before = |at: InstrId| at == *gap || reach.leads(at, *gap);
            (accesses.iter()).all(|(at, writes)| {
                !before(*at) || *at == *gap && !writes || !writes && reach.leads(*gap, *at)
            })
        })
    }

    /// The outermost critical section around an instruction that no other one divides.
    fn solid(
        &self,
        id: StateId,
        body: &Body,
        (instr, callee): (InstrId, Option<StateId>),
        group: GroupId,
    ) -> Option<RegionId> {
        let locks = self.program.locks(body.method);
        locks.held_at(instr).iter().copied().find(|region| {
            let exclusive = locks.region(*region).lock.mode == LockMode::Exclusive;
            (exclusive || !self.writes(id, locks, *region, group))
                && !self.nests(
                    id,
                    locks,
                    Some(*region),
                    callee.map(|callee| (instr, callee)),
                    group,
                )
                && self.waits_as_guard(id, body, Some(*region), group)
        })
    }

    /// Whether a critical section, or a whole body, has another one on the group in its scope.
    ///
    /// For a `chosen` call, what else its instruction might have called does not run.
    fn nests(
        &self,
        id: StateId,
        locks: &Locks,
        around: Option<RegionId>,
        chosen: Option<(InstrId, StateId)>,
        group: GroupId,
    ) -> bool {
        let state = self.execution.state(id);
        let inside =
            |instr: InstrId| around.is_none_or(|region| locks.held_at(instr).contains(&region));
        let by_call = self.calls(id).any(|(instr, callee)| {
            let summary = self.execution.summary(callee);
            let takes = self.execution.state(callee).takes_method_lock;
            inside(instr)
                && chosen.is_none_or(|(at, of)| at != instr || of == callee)
                && (self.grouping.touches(group, summary.locked)
                    || takes && self.grouping.touches(group, summary.total))
        });
        let begins_inside = |region: &RegionId| {
            Some(*region) != around
                && !around.is_some_and(|outer| is_upgrade(locks, *region, outer))
                && !state.reentrant.contains(region)
                && inside(locks.region(*region).enter)
        };
        by_call
            || (0..locks.regions().len())
                .map(RegionId::new)
                .filter(begins_inside)
                .any(|region| self.touched(id, locks, region, group))
    }

    fn touched(&self, id: StateId, locks: &Locks, region: RegionId, group: GroupId) -> bool {
        let inside = |instr: InstrId| locks.held_at(instr).contains(&region);
        (self.execution.state(id).accesses.iter())
            .any(|(instr, entry)| inside(*instr) && self.grouping.has(group, *entry))
            || self.calls(id).any(|(instr, callee)| {
                let total = self.execution.summary(callee).total;
                inside(instr) && self.grouping.touches(group, total)
            })
    }

    /// Whether a section writes to the group, otherwise than where it holds the same lock alone.
    fn writes(&self, id: StateId, locks: &Locks, region: RegionId, group: GroupId) -> bool {
        let inside = |instr: InstrId| {
            let held = locks.held_at(instr);
            held.contains(&region) && !held.iter().any(|inner| is_upgrade(locks, *inner, region))
        };
        let own = (self.execution.state(id).accesses.iter()).any(|(instr, entry)| {
            inside(*instr) && entry.is_write() && self.grouping.has(group, *entry)
        });
        own || self.calls(id).any(|(instr, callee)| {
            let total = self.execution.summary(callee).total;
            inside(instr) && self.grouping.writes(group, total)
        })
    }

    /// The calls by which a state is judged.
    fn calls(&self, id: StateId) -> impl Iterator<Item = (InstrId, StateId)> + '_ {
        let calls = self.execution.state(id).calls.iter().copied();
        calls.filter(move |(_, callee)| !self.execution.goes_round(id, *callee))
    }
}

/// Whether a section turns another one into one that holds the same lock alone.
fn is_upgrade(locks: &Locks, inner: RegionId, outer: RegionId) -> bool {
    let (held, taken) = (&locks.region(outer).lock, &locks.region(inner).lock);
    inner != outer
        && (held.kind, held.mode, taken.mode)
            == (LockKind::Explicit, LockMode::Shared, LockMode::Exclusive)
        && held.path == taken.path
}

fn in_loop(body: &Body, instr: InstrId) -> bool {
    body.block(body.instr(instr).block).in_loop
}

/// Which blocks some instructions lead to.
struct Reach<'a> {
    body: &'a Body,
    blocks: FxHashMap<BlockId, Vec<bool>>,
}

impl<'a> Reach<'a> {
    fn new<'i>(body: &'a Body, from: impl Iterator<Item = &'i InstrId>) -> Self {
        let mut reach = Self {
            body,
            blocks: FxHashMap::default(),
        };
        for instr in from {
            let block = body.instr(*instr).block;
            if !reach.blocks.contains_key(&block) {
                reach.blocks.insert(block, reach.after(block));
            }
        }
        reach
    }

    fn after(&self, block: BlockId) -> Vec<bool> {
        let next = |block: BlockId| {
            let block = self.body.block(block);
            let handlers = block.handlers.iter().map(|handler| handler.block);
            block.succs.iter().copied().chain(handlers)
        };
        let mut met = vec![false; self.body.blocks.len()];
        let mut pending: Vec<BlockId> = next(block).collect();
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut met[block.index()], true) {
                pending.extend(next(block));
            }
        }
        met
    }

    fn leads(&self, from: InstrId, to: InstrId) -> bool {
        let (start, end) = (self.body.instr(from).block, self.body.instr(to).block);
        let after = self.blocks.get(&start);
        start == end && from < to || after.is_some_and(|after| after[end.index()])
    }
}
