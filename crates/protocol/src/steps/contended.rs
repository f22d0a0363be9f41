//! `UntornShadow`: contended words, which are locked before the access and freed at the thread's next safe point.

use super::Steps;
use crate::checks::{Check, Checks};
use crate::state::{At, Held, Mode, State, Store, Word};

impl Steps<'_> {
    /// `UntornShadow.lockContended` and `take`: locks the word unless another thread holds it.
    pub(super) fn keep(&self, t: usize) {
        let thread = &self.from.threads[t];
        if thread.held.is_some() {
            return self.fenced(t, "recover: frees the word before", |n| {
                n.abandon(t, self.checks);
            });
        }
        let object = thread.object;
        match self.from.words[object as usize] {
            Word::Untracked => self.step(t, "lockContended: given up before", |n| {
                n.threads[t].advance();
            }),
            Word::Owned(..) | Word::Shared(_) => {
                self.step(t, "lockContended: to be locked no more", |n| {
                    n.threads[t].to(At::Begin);
                });
            }
            Word::Locked { .. } => {
                self.step(t, "take: another thread holds it", |n| {
                    n.threads[t].to(At::Contend);
                });
            }
            before @ (Word::Untouched | Word::Free(..) | Word::FreeShared(_)) => {
                self.fenced(t, "take: locks the word", |n| {
                    n.words[object as usize] = Word::Locked {
                        by: t as u8,
                        asked: false,
                    };
                    let thread = &mut n.threads[t];
                    thread.loaded = before;
                    thread.held = Some(Held {
                        object,
                        before,
                        after: None,
                    });
                    thread.to(At::Transition);
                });
            }
        }
    }

    /// `UntornShadow.contend`: waits for a word.
    pub(super) fn contend(&self, t: usize) {
        self.wait(t);
        let object = self.from.threads[t].object as usize;
        let word = self.from.words[object];
        let Word::Locked { by, .. } = word else {
            return self.step(t, "contend: it is free", |n| n.threads[t].to(At::Keep));
        };
        let holder = &self.from.threads[by as usize];
        if !holder.request_lock {
            self.fenced(t, "revoke: takes the holder's request lock", |n| {
                n.threads[by as usize].request_lock = true;
                n.threads[t].loaded = word;
                n.threads[t].to(At::RevokeMark);
            });
        }
        if self.is_lost(by as usize) {
            self.fenced(t, "contend: no patience left", |n| {
                n.words[object] = Word::Untracked;
                n.threads[t].advance();
            });
        }
    }

    /// `UntornShadow.revoke`: frees a word whose holder has made its access and is at a safe point.
    pub(super) fn revoke(&self, t: usize, at: At) {
        let thread = &self.from.threads[t];
        let object = thread.object as usize;
        let Word::Locked { by, .. } = thread.loaded else {
            return;
        };
        let u = by as usize;
        let deferred_first = self.checks.has(Check::DeferredBeforeLook);
        let looks = |n: &mut State, at: At| n.threads[t].to(at);
        let leaves = |n: &mut State| {
            n.threads[u].request_lock = false;
            n.threads[t].revoked = None;
            n.threads[t].to(At::Contend);
        };
        match at {
            At::RevokeMark => self.fenced(t, "revoke: marks the word", |n| {
                let marks = self.checks.has(Check::RevokeMark);
                let marked = Word::Locked { by, asked: marks };
                if n.words[object] == n.threads[t].loaded {
                    n.words[object] = marked;
                    n.threads[t].loaded = marked;
                    looks(
                        n,
                        if deferred_first {
                            At::RevokeLoad
                        } else {
                            At::RevokeBarrier
                        },
                    );
                } else {
                    leaves(n);
                }
            }),
            At::RevokeLoad => self.fenced(t, "revoke: is the access recorded?", |n| {
                n.threads[t].revoked = n.threads[u].deferred;
                if n.threads[t].revoked.is_none() {
                    leaves(n);
                } else if deferred_first {
                    looks(n, At::RevokeBarrier);
                } else {
                    looks(n, At::RevokeCas);
                }
            }),
            At::RevokeBarrier => self.fenced(t, "isAtSafePoint: is it blocked? the barrier", |n| {
                if n.threads[u].blocked {
                    looks(
                        n,
                        if deferred_first {
                            At::RevokeCas
                        } else {
                            At::RevokeLoad
                        },
                    );
                } else {
                    if self.checks.has(Check::Membarrier) {
                        n.drain_all(u);
                    }
                    looks(n, At::RevokeLook);
                }
            }),
            At::RevokeLook => {
                let away = self.is_away(u);
                self.fenced(t, "isAtSafePoint: is it away?", |n| {
                    if !away {
                        leaves(n);
                    } else if deferred_first {
                        looks(n, At::RevokeCas);
                    } else {
                        looks(n, At::RevokeLoad);
                    }
                });
            }
            At::RevokeCas => self.fenced(
                t,
                "revoke: frees the word, releases the request lock",
                |n| {
                    if n.words[object] == n.threads[t].loaded
                        && let Some(free) = n.threads[t].revoked
                    {
                        n.words[object] = free;
                    }
                    leaves(n);
                },
            ),
            _ => {}
        }
    }

    /// `UntornShadow.transition`: the edges that the next state asks for.
    pub(super) fn transition(&self, t: usize, at: At) {
        let thread = &self.from.threads[t];
        let (before, writes) = (thread.loaded, thread.writes);
        let own = |mode| Word::Free(mode, t as u8);
        if at == At::TransitionNap {
            return self.fenced(t, "backOff: is awake again", |n| {
                n.threads[t].blocked = false;
                n.threads[t].to(At::Transition);
            });
        }
        if self.from.global.is_some() || !thread.is_drained() {
            return;
        }
        if at == At::TransitionShare {
            return self.step(t, "transition: to read-shared", |n| {
                n.number(t);
                n.become_next(t, Word::FreeShared(n.threads[t].number));
            });
        }
        self.nap(t, At::TransitionNap);
        if self.scenario.throws {
            self.step(t, "transition: runs out of stack", |n| {
                n.threads[t].advance();
            });
        }
        self.step(t, "transition: edges", |n| match before {
            Word::Free(mode, u) => {
                let is_own = u as usize == t;
                if !is_own {
                    n.edge_from(t, u as usize);
                }
                match (writes, mode) {
                    (true, _) => n.become_next(t, own(Mode::WrEx)),
                    (false, _) if is_own => n.become_next(t, before),
                    (false, Mode::WrEx) => n.become_next(t, own(Mode::RdEx)),
                    (false, Mode::RdEx) => n.threads[t].to(At::TransitionShare),
                }
            }
            Word::FreeShared(_) if writes => {
                n.edges_from_all(t);
                n.become_next(t, own(Mode::WrEx));
            }
            Word::FreeShared(number) => {
                if n.threads[t].seen < number {
                    n.catch_up(t, self.checks.has(Check::EdgeFromShared));
                }
                n.become_next(t, before);
            }
            _ => n.become_next(t, own(if writes { Mode::WrEx } else { Mode::RdEx })),
        });
    }

    /// `UntornShadow.rebiased`: a word that stays as it is may be owned, or shared, again.
    pub(super) fn rebias(&self, t: usize) {
        let thread = &self.from.threads[t];
        let (loaded, mine) = (thread.loaded, thread.mine);
        let stays = thread.held.and_then(|held| held.after) == Some(loaded);
        self.step(t, "lockContended: the word stays contended", |n| {
            n.threads[t].to(At::Settle);
        });
        let biased = match loaded {
            Word::Free(mode, _) => Word::Owned(mode, mine),
            Word::FreeShared(number) => Word::Shared(number),
            _ => return,
        };
        if stays && mine != 0 {
            self.step(t, "rebiased: the word is re-biased", |n| {
                n.become_next(t, biased);
                n.threads[t].to(At::Settle);
            });
        }
    }

    /// `UntornShadow.deferUnlock`: the record, and the promise to free the word.
    pub(super) fn settle(&self, t: usize) {
        let thread = &self.from.threads[t];
        if !thread.has_room(4) || !thread.pending.contains(&None) {
            return;
        }
        self.step(t, "deferUnlock: the record", |n| {
            n.record(t);
            let after = n.threads[t].held.and_then(|held| held.after);
            n.threads[t].store(Store::Deferred(after));
            if self.checks.has(Check::DeferredPoll) {
                n.threads[t].store(Store::Poll(true));
            }
            n.threads[t].to(At::Access);
        });
    }
}

impl State {
    /// The locked word's next state is known.
    fn become_next(&mut self, t: usize, after: Word) {
        if let Some(held) = &mut self.threads[t].held {
            held.after = Some(after);
        }
        self.threads[t].to(At::Rebias);
    }

    /// `UntornShadow.abandon`: frees the word that this thread holds, unless somebody has done so.
    pub fn abandon(&mut self, t: usize, checks: Checks) {
        let Some(held) = self.threads[t].held.take() else {
            return;
        };
        let word = &mut self.words[held.object as usize];
        if matches!(*word, Word::Locked { by, .. } if by as usize == t) {
            *word = held.after.unwrap_or(if checks.has(Check::RestoreWord) {
                held.before
            } else {
                Word::Free(Mode::WrEx, t as u8)
            });
        }
        if held.after.is_some() && checks.has(Check::DeferredCleared) {
            self.threads[t].store(Store::Deferred(None));
        }
    }
}
