//! One step of one thread: at most one access to what threads share.
//!
//! Loads see what has left the buffers of the other threads, stores of the program and plain stores of the runtime wait in the buffer (total store order, as on x86), and a compare-and-set, an atomic addition and a volatile store wait until their own buffer is empty: this is the fence.
//! Each step is named after the method of the runtime that it is a part of.

mod access;
mod contended;
mod life;
mod request;
mod shared;

use std::cell::RefCell;

use crate::checks::{Check, Checks};
use crate::scenario::Scenario;
use crate::state::{At, Respond, State, Store, THREADS, Word};

/// What was done, by which thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub thread: usize,
    pub what: &'static str,
}

/// All that can happen next.
pub struct Steps<'m> {
    scenario: &'m Scenario,
    checks: Checks,
    from: &'m State,
    out: RefCell<&'m mut Vec<(Step, State)>>,
}

impl std::fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps")
            .field("from", self.from)
            .finish_non_exhaustive()
    }
}

/// The states after a state.
pub fn successors(scenario: &Scenario, checks: Checks, from: &State, out: &mut Vec<(Step, State)>) {
    let steps = Steps {
        scenario,
        checks,
        from,
        out: RefCell::new(out),
    };
    for t in 0..THREADS {
        steps.of(t);
    }
}

impl Steps<'_> {
    fn of(&self, t: usize) {
        let thread = &self.from.threads[t];
        if !thread.is_drained() {
            self.step(t, "a store leaves the buffer", |n| n.drain(t));
        }
        if thread.respond != Respond::No {
            self.respond(t);
        } else if thread.request.is_some() {
            self.request(t);
        } else {
            self.at(t, thread.at);
        }
    }

    fn at(&self, t: usize, at: At) {
        match at {
            At::Program => self.program(t),
            At::Compare => self.compare(t),
            At::Record => self.record(t),
            At::Access => self.access(t),
            At::Begin => self.begin(t),
            At::Load => self.load(t),
            At::Decide => self.decide(t),
            At::Owner => self.owner(t),
            At::Claim => self.claim(t),
            At::Requested | At::GiveUp => self.give_up(t),
            At::CatchUpDone => self.catch_up_done(t),
            At::ShareEdge
            | At::ShareSection
            | At::ShareNap
            | At::ShareSeen
            | At::ShareMark
            | At::ShareCas => self.share(t, at),
            At::UnshareNext(_) | At::UnshareMet(_) | At::UnshareEdges => self.unshare(t, at),
            At::Keep => self.keep(t),
            At::Contend => self.contend(t),
            At::RevokeMark
            | At::RevokeLoad
            | At::RevokeBarrier
            | At::RevokeLook
            | At::RevokeCas => self.revoke(t, at),
            At::Transition | At::TransitionNap | At::TransitionShare => self.transition(t, at),
            At::Rebias => self.rebias(t),
            At::Settle => self.settle(t),
            At::Blocked | At::Entering | At::Native | At::Ending | At::Spin => self.life(t, at),
            At::Gone | At::Parked | At::Stray => {}
        }
    }

    /// Something that happens.
    fn step(&self, t: usize, what: &'static str, change: impl FnOnce(&mut State)) {
        let mut next = self.from.clone();
        change(&mut next);
        self.out.borrow_mut().push((Step { thread: t, what }, next));
    }

    /// Something that happens once the thread's own stores are seen by all.
    fn fenced(&self, t: usize, what: &'static str, change: impl FnOnce(&mut State)) {
        if self.from.threads[t].is_drained() {
            self.step(t, what, change);
        }
    }

    /// The same, unless a mutation takes the fence away.
    fn fenced_if(
        &self,
        check: Check,
        t: usize,
        what: &'static str,
        change: impl FnOnce(&mut State),
    ) {
        if self.from.threads[t].is_drained() || !self.checks.has(check) {
            self.step(t, what, change);
        }
    }

    /// A compare-and-set of a word; what follows if it was the expected one, and if not.
    fn cas(
        &self,
        t: usize,
        what: &'static str,
        (object, from, to): (u8, Word, Word),
        done: impl FnOnce(&mut State),
        failed: At,
    ) {
        self.fenced(t, what, |n| {
            if n.words[object as usize] == from {
                n.words[object as usize] = to;
                done(n);
            } else {
                n.threads[t].to(failed);
            }
        });
    }
}

impl State {
    /// The oldest store of a thread is seen by all.
    pub fn drain(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        let Some(store) = thread.buffer[0].take() else {
            return;
        };
        thread.buffer.rotate_left(1);
        match store {
            Store::Position(position) => thread.position = position,
            Store::Data(place) => self.perform(t, place as usize),
            Store::SharedSeen(number) => thread.shared_seen = number,
            Store::Poll(set) => thread.poll = set,
            Store::Deferred(word) => thread.deferred = word,
            Store::Entering(entering) => thread.entering = entering,
            Store::Blocked(blocked) => thread.blocked = blocked,
        }
    }

    /// `membarrier`: the same for all its stores.
    pub fn drain_all(&mut self, t: usize) {
        while !self.threads[t].is_drained() {
            self.drain(t);
        }
    }
}
