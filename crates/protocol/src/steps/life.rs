//! What a thread does besides accesses: it polls, sleeps, waits, is in native code, ends.

use super::Steps;
use crate::checks::Check;
use crate::scenario::Op;
use crate::state::{At, Point, Respond, State, Store};

impl Steps<'_> {
    pub(super) fn pause(&self, t: usize, op: Op) {
        let thread = &self.from.threads[t];
        let deferred = thread.held.is_some_and(|held| held.after.is_some());
        match op {
            Op::Read(_) | Op::Write(_) => {}
            Op::Poll => self.step(t, "poll", |n| {
                if n.threads[t].is_polled() {
                    n.threads[t].respond = Respond::Clear;
                }
                n.threads[t].advance();
            }),
            Op::Sleep | Op::Park if deferred => self.fenced(t, "blocks: frees its word", |n| {
                n.abandon(t, self.checks);
            }),
            Op::Sleep | Op::Nap | Op::Park => self.fenced(t, "blocks", |n| {
                n.threads[t].blocked = true;
                n.threads[t].to(if op == Op::Park {
                    At::Parked
                } else {
                    At::Blocked
                });
            }),
            Op::Block => {
                if thread.has_room(1) {
                    self.step(t, "waits for a monitor", |n| {
                        n.threads[t].store(Store::Entering(true));
                        n.threads[t].to(At::Entering);
                    });
                }
            }
            Op::Native => self.fenced(t, "enters native code", |n| {
                n.threads[t].native = true;
                n.threads[t].to(At::Native);
            }),
            Op::Spin => self.step(t, "loops", |n| n.threads[t].to(At::Spin)),
            Op::Stray => self.fenced(t, "strays", |n| n.threads[t].to(At::Stray)),
            Op::End if thread.held.is_some() => self.fenced(t, "end: frees its word", |n| {
                n.abandon(t, self.checks);
            }),
            Op::End => {
                if self.from.global.is_none() {
                    self.fenced(t, "end: takes the global lock", |n| {
                        if self.checks.has(Check::ExitBeforeGone) {
                            n.exit(t);
                        } else {
                            n.threads[t].registered = false;
                        }
                        n.threads[t].to(At::Ending);
                    });
                }
            }
        }
    }

    pub(super) fn life(&self, t: usize, at: At) {
        match at {
            At::Blocked if self.checks.has(Check::WakeFence) => {
                self.fenced(t, "unblocks", |n| {
                    n.threads[t].blocked = false;
                    n.threads[t].advance();
                });
            }
            At::Blocked => self.step(t, "unblocks, without a fence", |n| {
                n.threads[t].store(Store::Blocked(false));
                n.threads[t].advance();
            }),
            At::Entering if self.from.threads[t].has_room(1) => {
                self.step(t, "has the monitor", |n| {
                    n.threads[t].store(Store::Entering(false));
                    n.threads[t].advance();
                });
            }
            At::Native => self.fenced(t, "is back from native code", |n| {
                n.threads[t].native = false;
                n.threads[t].advance();
            }),
            At::Spin if self.from.threads[t].is_polled() => {
                self.step(t, "poll", |n| n.threads[t].respond = Respond::Clear);
            }
            At::Ending => self.fenced(t, "end: the context is gone", |n| {
                if !self.checks.has(Check::ExitBeforeGone) {
                    n.exit(t);
                }
                n.threads[t].registered = false;
                n.threads[t].mine = 0;
                n.threads[t].to(At::Gone);
            }),
            _ => {}
        }
    }
}

impl State {
    /// This thread's exit follows every earlier one.
    fn exit(&mut self, t: usize) {
        if self.threads[t].written == 0 {
            return;
        }
        self.edge(t, self.last_exit);
        self.last_exit = Point {
            thread: t as u8,
            position: self.threads[t].written,
        };
    }
}
