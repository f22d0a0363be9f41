//! `UntornShadow.record` and `UntornOwner.claim`: an access by a thread that owns the word, and how it comes to own it.

use super::Steps;
use crate::checks::Check;
use crate::scenario::Op;
use crate::state::{At, Epoch, Held, Mode, Point, Request, RequestAt, Respond, Store, Word};

impl Steps<'_> {
    /// Goes on with the program: the word is loaded for an access.
    pub(super) fn program(&self, t: usize) {
        let op = self.from.threads[t].op(self.scenario, t);
        let (object, writes) = match op {
            Op::Read(object) => (object, false),
            Op::Write(object) => (object, true),
            _ => return self.pause(t, op),
        };
        self.step(t, "record: loads the word", |n| {
            let word = n.words[object as usize];
            let thread = &mut n.threads[t];
            (thread.object, thread.writes, thread.loaded) = (object, writes, word);
            thread.to(At::Compare);
        });
    }

    /// Whether the thread may make the access without asking anybody.
    pub(super) fn compare(&self, t: usize) {
        self.step(t, "record: loads its epoch and compares", |n| {
            let thread = &mut n.threads[t];
            let allowed = match thread.loaded {
                Word::Owned(mode, epoch) => {
                    epoch == thread.mine && (mode == Mode::WrEx || !thread.writes)
                }
                Word::Shared(number) => !thread.writes && number <= thread.seen,
                _ => false,
            };
            thread.to(if allowed {
                At::Record
            } else if thread.loaded.is_contended() {
                At::Keep
            } else {
                At::Begin
            });
        });
    }

    pub(super) fn record(&self, t: usize) {
        let thread = &self.from.threads[t];
        if thread.has_room(2) && thread.pending.contains(&None) {
            self.step(t, "write: the record", |n| {
                n.record(t);
                n.threads[t].to(At::Access);
            });
        }
    }

    /// The program's own access.
    pub(super) fn access(&self, t: usize) {
        let thread = &self.from.threads[t];
        let stored = |place| thread.buffer.contains(&Some(Store::Data(place)));
        let place = u8::from(thread.pending[0].is_none() || stored(0));
        self.step(t, "the access", |n| {
            if n.threads[t].writes {
                n.threads[t].store(Store::Data(place));
            } else {
                n.perform(t, place as usize);
            }
            n.threads[t].advance();
        });
    }

    /// `UntornOwner.begin`.
    pub(super) fn begin(&self, t: usize) {
        let polled = self.from.threads[t].is_polled();
        self.step(t, "claim: begin", |n| {
            if polled {
                n.threads[t].respond = Respond::Clear;
            } else {
                n.threads[t].to(At::Load);
            }
        });
    }

    pub(super) fn load(&self, t: usize) {
        self.step(t, "claim: loads the word", |n| {
            n.threads[t].loaded = n.words[n.threads[t].object as usize];
            n.threads[t].to(At::Decide);
        });
    }

    pub(super) fn decide(&self, t: usize) {
        let thread = &self.from.threads[t];
        let (mine, word, writes) = (thread.mine, thread.loaded, thread.writes);
        let mode = if writes { Mode::WrEx } else { Mode::RdEx };
        let place = (thread.object, word, Word::Owned(mode, mine));
        match word {
            Word::Untracked => self.step(t, "claim: given up before", |n| n.threads[t].advance()),
            Word::Untouched if mine == 0 => {
                self.step(t, "claim: to be locked", |n| n.threads[t].to(At::Keep));
            }
            Word::Untouched => self.cas(
                t,
                "claim: takes what nobody has touched",
                place,
                |n| n.threads[t].to(At::Record),
                At::Begin,
            ),
            Word::Free(..) | Word::FreeShared(_) | Word::Locked { .. } => {
                self.step(t, "claim: to be locked", |n| n.threads[t].to(At::Keep));
            }
            Word::Shared(_) if writes => self.lock(t, At::UnshareNext(0)),
            Word::Shared(number) => {
                if number <= thread.seen {
                    self.step(t, "claim: has seen that", |n| n.threads[t].to(At::Record));
                } else {
                    self.catch_up(t);
                }
            }
            Word::Owned(Mode::RdEx, epoch) if epoch == mine && writes => self.cas(
                t,
                "claim: RdEx to WrEx",
                place,
                |n| n.threads[t].to(At::Record),
                At::Begin,
            ),
            Word::Owned(_, epoch) if epoch == mine => {
                self.step(t, "claim: owns it", |n| n.threads[t].to(At::Record));
            }
            Word::Owned(..) => self.step(t, "claim: loads its epoch", |n| {
                n.threads[t].worn = mine;
                n.threads[t].to(At::Owner);
            }),
        }
    }

    /// The word is of another epoch.
    pub(super) fn owner(&self, t: usize) {
        let thread = &self.from.threads[t];
        let Word::Owned(mode, epoch) = thread.loaded else {
            return;
        };
        let (u, end) = match self.from.epochs[epoch as usize] {
            Epoch::Current(u) | Epoch::Unanswered(u) => (u, None),
            Epoch::Revoked(point) => (point.thread, Some(point)),
            // What a thread finds there that comes before the epoch is known.
            Epoch::Unused => (t as u8, Some(Point::default())),
        };
        let unknown = self.from.epochs[epoch as usize] == Epoch::Unused;
        let (worn, object, word) = (thread.worn, thread.object, thread.loaded);
        if u as usize == t && !unknown {
            if worn == 0 {
                return self.step(t, "claim: an epoch of its own", |n| {
                    n.threads[t].to(At::Claim);
                });
            }
            // While it only reads, others can read beside it and need not ask again.
            let kept = if thread.writes { mode } else { Mode::RdEx };
            let renewed = (object, word, Word::Owned(kept, worn));
            let done = |n: &mut crate::state::State| n.threads[t].to(At::Begin);
            return self.cas(t, "claim: its own of before", renewed, done, At::Begin);
        }
        if end.is_none() && self.from.threads[u as usize].registered {
            if mode == Mode::RdEx && !thread.writes && worn != 0 {
                return self.step(t, "claim: RdEx to RdSh", |n| n.threads[t].to(At::ShareEdge));
            }
            return self.step(t, "claim: asks the owner", |n| {
                n.threads[t].request = Some(Request {
                    to: u,
                    epoch,
                    at: RequestAt::Gate,
                    early: 0,
                });
                n.threads[t].to(At::Requested);
            });
        }
        // An ended thread's exit stands for all that it wrote.
        if thread.has_room(1) {
            self.step(t, "claim: an edge from where the epoch ended", |n| {
                if self.checks.has(Check::EdgeFromEpoch) {
                    n.edge(t, end.unwrap_or(n.last_exit));
                }
                n.threads[t].to(At::Claim);
            });
        }
    }

    /// The old owner is past, and the edges are drawn.
    pub(super) fn claim(&self, t: usize) {
        let thread = &self.from.threads[t];
        let (word, worn) = (thread.loaded, thread.worn);
        let mode = if thread.writes {
            Mode::WrEx
        } else {
            Mode::RdEx
        };
        if worn == 0 || thread.contended {
            self.lock(t, At::Settle);
        } else {
            let claimed = (thread.object, word, Word::Owned(mode, worn));
            let done = |n: &mut crate::state::State| n.threads[t].to(At::Record);
            self.cas(t, "claim: takes the word", claimed, done, At::Begin);
        }
    }

    /// `UntornOwner.lock`.
    fn lock(&self, t: usize, then: At) {
        let thread = &self.from.threads[t];
        if thread.held.is_some() {
            return self.fenced(t, "lock: frees the word before", |n| {
                n.abandon(t, self.checks);
            });
        }
        let (object, before) = (thread.object, thread.loaded);
        let mode = if thread.writes {
            Mode::WrEx
        } else {
            Mode::RdEx
        };
        let after = (then == At::Settle).then_some(Word::Free(mode, t as u8));
        let locked = Word::Locked {
            by: t as u8,
            asked: false,
        };
        let held = Held {
            object,
            before,
            after,
        };
        let early = !self.checks.has(Check::EpochAfterResponses);
        let done = |n: &mut crate::state::State| {
            n.threads[t].held = Some(held);
            if early {
                n.threads[t].worn = n.threads[t].mine;
            }
            n.threads[t].to(then);
        };
        self.cas(
            t,
            "lock: takes the word",
            (object, before, locked),
            done,
            At::Begin,
        );
    }

    /// A request has come back.
    pub(super) fn give_up(&self, t: usize) {
        let thread = &self.from.threads[t];
        if thread.at == At::GiveUp {
            let place = (thread.object, thread.loaded, Word::Untracked);
            let done = |n: &mut crate::state::State| n.threads[t].to(At::Begin);
            return self.cas(
                t,
                "giveUp: tracks the object no more",
                place,
                done,
                At::Begin,
            );
        }
        // A write to another thread's object makes it contended, and every second read.
        self.step(t, "claim: the word is contended from here on", |n| {
            n.threads[t].contended = true;
            n.threads[t].to(At::Begin);
        });
        if !thread.writes {
            self.step(t, "claim: the word stays biased", |n| {
                n.threads[t].contended = false;
                n.threads[t].to(At::Begin);
            });
        }
    }
}
