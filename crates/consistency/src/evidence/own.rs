//! The critical sections of the reported method itself, in the order of its code.

use untorn_findings::LockView;
use untorn_program::ir::{AccessPath, Body, Op, Root};
use untorn_program::library::LockMode;
use untorn_program::locks::{LockRef, Locks, MethodLock};
use untorn_program::{InstrId, MethodId, RegionId};

use super::Writer;
use crate::domain::{Entry, lock_view};
use crate::execution::{Execution, StateId};
use crate::report::Candidate;

/// How many sections a finding shows.
const MOST_SECTIONS: usize = 8;
/// How many places of one section.
const MOST_PLACES: usize = 3;

/// What holds accesses together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Method,
    Region(RegionId),
    Call(InstrId),
    Step(InstrId),
    Nothing,
}

struct Own {
    key: Key,
    method: MethodId,
    lock: String,
    entries: Vec<Entry>,
    instrs: Vec<InstrId>,
}

impl Writer<'_> {
    /// The lock that the method holds wherever it uses the fields in question, as it names it.
    pub(super) fn outer_lock(&self, candidate: &Candidate) -> Option<String> {
        let locks = self.program.locks(candidate.method);
        if locks.method_lock().is_some() {
            return Some(self.method_lock(locks));
        }
        let execution = &self.executions[candidate.execution];
        let state = execution.state(candidate.state);
        let (grouping, group) = (self.checker.grouping, candidate.group);
        let own = (state.accesses.iter())
            .filter(|(_, entry)| grouping.has(group, *entry))
            .map(|(instr, _)| *instr);
        let called = (state.calls.iter())
            .filter(|(_, callee)| grouping.touches(group, execution.summary(*callee).total))
            .map(|(instr, _)| *instr);
        let mut instrs = own.chain(called);
        let mut around = locks.held_at(instrs.next()?).to_vec();
        for instr in instrs {
            around.retain(|region| locks.held_at(instr).contains(region));
        }
        let region = locks.region(*around.first()?);
        Some(self.lock(candidate.method, &region.lock))
    }

    /// What the method does to the fields in question, a critical section at a time; the lock of what needs or has none is empty.
    pub(super) fn sections(&self, candidate: &Candidate) -> Vec<LockView> {
        let execution = &self.executions[candidate.execution];
        let state = execution.state(candidate.state);
        let Some(body) = self.program.heap().body(state.node) else {
            return Vec::new();
        };
        let grouping = self.checker.grouping;
        let group = candidate.group;
        let mut events: Vec<(InstrId, Option<StateId>, Vec<Entry>)> = Vec::new();
        for (instr, entry) in &state.accesses {
            if grouping.has(group, *entry) {
                events.push((*instr, None, vec![*entry]));
            }
        }
        for (instr, callee) in &state.calls {
            let total = execution.summary(*callee).total;
            let parts = grouping.parts(total);
            if let Some(part) = parts.iter().find(|part| part.group == group) {
                events.push((*instr, Some(*callee), grouping.entries(part.id).into_vec()));
            }
        }
        events.sort_by_key(|(instr, ..)| *instr);
        let mut all: Vec<Own> = Vec::new();
        for (instr, callee, entries) in events {
            let (key, method, lock) = self.holder(execution, candidate, body, (instr, callee));
            let last = all
                .iter_mut()
                .find(|own| own.key == key && key != Key::Nothing);
            match last {
                Some(own) => {
                    own.entries.extend(entries);
                    own.instrs.push(instr);
                }
                None => all.push(Own {
                    key,
                    method,
                    lock,
                    entries,
                    instrs: vec![instr],
                }),
            }
        }
        let thread = self.thread(execution);
        let shown = all.into_iter().take(MOST_SECTIONS).map(|mut own| {
            own.entries.sort_unstable();
            own.entries.dedup();
            let mut places = Vec::new();
            for place in own
                .instrs
                .iter()
                .filter_map(|instr| self.place(candidate.method, *instr))
            {
                if places.len() < MOST_PLACES && !places.contains(&place) {
                    places.push(place);
                }
            }
            LockView {
                method: self.region(own.method),
                lock: own.lock,
                accesses: self.entries(&lock_view(&own.entries)),
                places,
                thread: thread.clone(),
            }
        });
        shown.collect()
    }

    /// The section an access or call is in, the method that takes its lock, and the lock as the reported method names it.
    fn holder(
        &self,
        execution: &Execution,
        candidate: &Candidate,
        body: &Body,
        (instr, callee): (InstrId, Option<StateId>),
    ) -> (Key, MethodId, String) {
        let method = candidate.method;
        let locks = self.program.locks(method);
        let takes_lock = |callee: StateId| {
            let summary = execution.summary(callee);
            execution.state(callee).takes_method_lock
                || (self.checker.grouping).touches(candidate.group, summary.locked)
        };
        if let Some(callee) = callee
            && takes_lock(callee)
        {
            let of = self
                .program
                .heap()
                .node(execution.state(callee).node)
                .method;
            return (Key::Call(instr), of, self.lock_of_call(body, instr, of));
        }
        let steps = &execution.state(candidate.state).steps;
        match locks.held_at(instr).first() {
            Some(region) => {
                let lock = self.lock(method, &locks.region(*region).lock);
                (Key::Region(*region), method, lock)
            }
            None if locks.method_lock().is_some() => (Key::Method, method, self.method_lock(locks)),
            None if steps.iter().any(|(step, _)| *step == instr) => {
                (Key::Step(instr), method, String::new())
            }
            None => (Key::Nothing, method, String::new()),
        }
    }

    /// The lock that a called method takes, as its caller names it.
    fn lock_of_call(&self, body: &Body, instr: InstrId, callee: MethodId) -> String {
        let Op::Invoke { args, .. } = &body.instr(instr).op else {
            return String::new();
        };
        let locks = self.program.locks(callee);
        let named = |path: &AccessPath| match path.root {
            Root::Value(value) => {
                let of = self.program.body(callee)?;
                let position = of.params.iter().position(|param| *param == value)?;
                let mut own = body.access_path(*args.get(position)?, &|_| false);
                own.steps.extend_from_slice(&path.steps);
                Some(self.path(body, &own))
            }
            _ => Some(self.path(body, path)),
        };
        let lock = match (locks.method_lock(), first_lock(locks)) {
            (Some(MethodLock::Receiver), _) => {
                let own = args.first().map(|arg| body.access_path(*arg, &|_| false));
                own.map(|own| self.path(body, &own))
            }
            (Some(MethodLock::Class(_)), _) => Some(self.method_lock(locks)),
            (None, Some(lock)) => named(&lock.path).map(|name| match lock.mode {
                LockMode::Exclusive => name,
                LockMode::Shared => format!("{name} (shared)"),
            }),
            (None, None) => None,
        };
        lock.unwrap_or_else(|| "its lock".to_owned())
    }
}

fn first_lock(locks: &Locks) -> Option<&LockRef> {
    locks.regions().first().map(|region| &region.lock)
}
